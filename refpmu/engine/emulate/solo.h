/* SPDX-License-Identifier: MIT */
/*
 * Solo instructions: one instruction at a time, run in the hypervisor's own mode without a world
 * switch. Instructions with general registers and at most one memory operand, or with XMM registers
 * only, are executed directly; the memory operand is replaced by [reg] with a free register;
 * branches and stack instructions are carried out in C. Pure: where memory is, and whether the
 * program may go there, the caller says.
 *
 * A list of what is done, not of what isn't: whatever could fault, but by its access to memory,
 * isn't. So nothing here ever faults.
 */
#ifndef REFPMU_ENGINE_EMULATE_SOLO_H
#define REFPMU_ENGINE_EMULATE_SOLO_H

#include "refpmu/engine/decode_insn.h"

enum solo_kind {
	SOLO_UNKNOWN,		/* not looked at yet */
	SOLO_REFUSED,
	SOLO_RUN,		/* code[], by the processor */
	SOLO_NOTHING,		/* RIP moves on: NOP, prefetches */
	SOLO_FLUSH,		/* CLFLUSH */
	SOLO_LEA,
	SOLO_PUSH,
	SOLO_POP,
	SOLO_LEAVE,
	SOLO_CONDITIONAL,	/* Jcc, JRCXZ */
	SOLO_COUNTED,		/* LOOP and kin */
	SOLO_JUMP,
	SOLO_CALL,
	SOLO_RETURN,
};

struct solo_op {
	u8 kind;
	u8 pointer;		/* SOLO_RUN: register that holds where access[0] is, or REG_NONE */
	u8 stack;		/* and the one that stands for RSP, or REG_NONE */
	/* SOLO_PUSH, SOLO_JUMP, SOLO_CALL: what is pushed, or the target: this register, or
	 * REG_NONE and what access[0] reads, or else `value`. Of SOLO_POP and SOLO_LEA: what is
	 * written. */
	u8 reg;
	bool memory;
	/* SOLO_RUN: on XMM registers, which must be the program's, enabled, without exceptions. */
	bool vector;
	u16 release;		/* SOLO_RETURN */
	u64 value;
	struct insn_access address;	/* SOLO_LEA, SOLO_FLUSH */
	u8 code[INSN_MAX_BYTES + 1];	/* the instruction and a RET */
};

#define SOLO_SLOTS	2048
#define SOLO_SLOT	16
/* Where code[] is run from: pages that hold nothing else. */
struct solo_code {
	u8 slot[SOLO_SLOTS][SOLO_SLOT];
};

struct solo_world {
	void *ctx;
	struct solo_code *code;
	/* The linear address of an access, with these registers. */
	u64 (*linear)(void *ctx, const struct instruction *insn, const struct insn_access *access,
		      const u64 gpr[REG_COUNT]);
	/* Where so many bytes at a linear address are; NULL: the program can't go there without
	 * more than an access, or it isn't plain memory in one piece. */
	void *(*at)(void *ctx, u64 linear, unsigned bytes, bool write);
};

struct solo_state {
	u64 *gpr;		/* [REG_COUNT] */
	u64 *rip, *rflags;
};

/* Look at an instruction that decode_fill() has filled in. Sets everything in *op. */
void solo_decode(const ZydisDecoder *decoder, struct solo_op *op, const struct instruction *insn);

/* Run it. false: it isn't for this, and nothing has changed. */
bool solo_run(const struct solo_op *op, const struct instruction *insn,
	      const struct solo_state *state, const struct solo_world *world);

/* solo.asm: load all registers but RSP and these flags, call the code, store them again. */
void solo_call(u64 gpr[REG_COUNT], u64 *rflags, const void *code);

#endif
