/* SPDX-License-Identifier: MIT */
/*
 * From Zydis' view of an instruction to ours: pure, for the host too. Both engines take kind,
 * branch and accesses from here, so that they can't differ in what they count.
 */
#ifndef REFPMU_ENGINE_DECODE_INSN_H
#define REFPMU_ENGINE_DECODE_INSN_H

#include <Zydis/Zydis.h>

#include "refpmu/engine/decode.h"

/* Everything in *insn after linear, rip, mode and bytes, which are the caller's; the rest is 0
 * before. */
void decode_fill(struct instruction *insn, const ZydisDecodedInstruction *zi,
		 const ZydisDecodedOperand *operands);

/* A memory operand of the instruction, whether it accesses memory or not. */
struct insn_access decode_operand(const struct instruction *insn, const ZydisDecodedInstruction *zi,
				  const ZydisDecodedOperand *o);

/* decode_transaction.c: does it abort a transaction, whatever it does? */
bool decode_unfriendly(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *operands);

/* General register of any width up to 64; REG_NONE for others (IP, vector, none, AH to BH). */
u8 decode_gpr_number(ZydisRegister reg);

#endif
