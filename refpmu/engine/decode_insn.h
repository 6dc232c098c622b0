/* SPDX-License-Identifier: MIT */
/*
 * Converts Zydis' description of an instruction to struct instruction. Pure, also for host tests.
 * All engines take kind, branch and accesses from here, so their counts can't differ.
 */
#ifndef REFPMU_ENGINE_DECODE_INSN_H
#define REFPMU_ENGINE_DECODE_INSN_H

#include <Zydis/Zydis.h>

#include "refpmu/engine/decode.h"

/* Fill in *insn. The caller has set linear, rip, mode and bytes; all other members are 0. */
void decode_fill(struct instruction *insn, const ZydisDecodedInstruction *zi,
		 const ZydisDecodedOperand *operands);

/* A memory operand of the instruction, whether it accesses memory or not. */
struct insn_access decode_operand(const struct instruction *insn, const ZydisDecodedInstruction *zi,
				  const ZydisDecodedOperand *o);

/* decode_transaction.c: does the instruction always abort a transaction? */
bool decode_unfriendly(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *operands);

/* General register of any width up to 64; REG_NONE for others (IP, vector, none, AH to BH). */
u8 decode_gpr_number(ZydisRegister reg);

#endif
