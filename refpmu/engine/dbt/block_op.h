/* SPDX-License-Identifier: MIT */
/*
 * The treatment of an instruction in a block: copy it, rewrite it, end the block after it, or leave
 * it to a step. The code lists the instructions that may be in a block.
 */
#ifndef REFPMU_ENGINE_DBT_BLOCK_OP_H
#define REFPMU_ENGINE_DBT_BLOCK_OP_H

#include "refpmu/engine/decode_insn.h"

enum block_op_kind {
	OP_REFUSED,		/* not for blocks */
	OP_COPY,
	OP_RIP_RELATIVE,	/* its operand is at `target`: through a borrowed register */
	OP_CONSTANT,		/* LEA of RIP plus something: `borrow` becomes `target` */
	/* the rest end their block */
	OP_CONDITIONAL,		/* Jcc to target */
	OP_COUNTED,		/* LOOP, LOOPE, LOOPNE, JRCXZ, JECXZ */
	OP_JUMP,
	OP_CALL,
	OP_JUMP_INDIRECT,	/* operand in memory or a register */
	OP_CALL_INDIRECT,
	OP_RETURN,
	OP_POPF,		/* what follows it runs under other flags */
	OP_REP,			/* a repeated string: loads and stores are an iteration's */
};

#define INSN_ROOM	16	/* for one, in whole words */

struct block_op {
	enum block_op_kind kind;
	u8 length;
	u8 bytes[INSN_ROOM];
	u8 modrm, displacement;	/* offsets in bytes[], of OP_RIP_RELATIVE and the indirect ones */
	u8 scratch_register;	/* register number, below 8 */
	bool wide;		/* OP_CONSTANT: 64 bits, or 32 */
	bool rip_relative;	/* of an indirect branch: its memory operand is at `target` */
	u8 prefix[2];		/* of an indirect branch: segment and address size, or 0 */
	u8 rex;			/* its B and X bits */
	u8 condition;		/* OP_CONDITIONAL: low half of the opcode */
	u16 release;		/* OP_RETURN: bytes after the return address */
	bool shadow;		/* STI: interrupts wait for one more instruction */
	bool frees_flags;	/* writes all six, reads none, and can't fault */
	u64 target;
	u16 changes;		/* bit n: general register n, in whatever part */
	u8 loads, stores, locked, branch;
	u64 rip;
};

/* Decode the instruction at rip; `available` bytes are given. Always fills in op->kind. */
void block_op_decode(const ZydisDecoder *decoder, struct block_op *op, u64 rip, const u8 *bytes,
		     unsigned available);

/* block_op_fast.c: the same for the usual encodings only; false, with *op undefined, for others. At
 * least INSN_ROOM bytes are given. */
bool block_op_fast(struct block_op *op, u64 rip, const u8 *bytes);

/* Write the instruction of OP_RIP_RELATIVE with the borrowed register instead of RIP, for any value
 * of the register: at most INSN_MAX_BYTES bytes. Returns their number. */
u8 block_op_rewrite(const struct block_op *op, u8 *to);

#endif
