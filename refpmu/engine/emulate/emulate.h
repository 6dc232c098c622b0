/* SPDX-License-Identifier: MIT */
/*
 * Emulated instructions: one instruction at a time, run in the hypervisor's own mode without a
 * world switch. Instructions with general registers and at most one memory operand, with XMM
 * registers only, and unaligned moves of those, are executed directly; the memory operand is
 * replaced by [reg] with a free register; branches, stack and string instructions are carried out
 * in C. Pure: where memory is, and whether the program may go there, the caller says.
 *
 * A list of what is done, not of what isn't: whatever could fault, but by its access to memory,
 * isn't. So nothing here ever faults.
 */
#ifndef REFPMU_ENGINE_EMULATE_EMULATE_H
#define REFPMU_ENGINE_EMULATE_EMULATE_H

#include "refpmu/engine/decode_insn.h"

enum emulate_kind {
	EMULATE_UNKNOWN,	/* not looked at yet */
	EMULATE_REFUSED,
	EMULATE_DIRECT,		/* code[], by the processor */
	EMULATE_NOTHING,	/* RIP moves on: NOP, prefetches */
	EMULATE_FLUSH,		/* CLFLUSH */
	EMULATE_LEA,
	EMULATE_PUSH,
	EMULATE_POP,
	EMULATE_LEAVE,
	EMULATE_CONDITIONAL,	/* Jcc, JRCXZ */
	EMULATE_COUNTED,	/* LOOP and kin */
	EMULATE_JUMP,
	EMULATE_CALL,
	EMULATE_RETURN,
	EMULATE_STRING,		/* without a repeat prefix */
};

struct emulate_op {
	u8 kind;
	u8 pointer;	/* EMULATE_DIRECT: register that holds where access[0] is, or REG_NONE */
	u8 stack;		/* and the one that stands for RSP, or REG_NONE */
	/* EMULATE_PUSH, EMULATE_JUMP, EMULATE_CALL: what is pushed, or the target: this register,
	 * or REG_NONE and what access[0] reads, or else `value`. Of EMULATE_POP and EMULATE_LEA:
	 * what is written. */
	u8 reg;
	bool memory;
	/* EMULATE_DIRECT: on XMM registers, which must be the program's, enabled, without
	 * exceptions. */
	bool vector;
	u16 release;		/* EMULATE_RETURN */
	u64 value;
	struct insn_access address;	/* EMULATE_LEA, EMULATE_FLUSH */
	u8 code[INSN_MAX_BYTES + 1];	/* the instruction and a RET */
};

#define EMULATE_SLOTS	2048
#define EMULATE_SLOT	16
/* Where code[] is run from: pages that hold nothing else. */
struct emulate_code {
	u8 slot[EMULATE_SLOTS][EMULATE_SLOT];
};

struct emulate_ops {
	void *ctx;
	struct emulate_code *code;
	/* The linear address of an access, with these registers. */
	u64 (*linear)(void *ctx, const struct instruction *insn, const struct insn_access *access,
		      const u64 gpr[REG_COUNT]);
	/* Where that many bytes at a linear address are; NULL: the program can't go there without
	 * more than an access, or it isn't plain memory in one piece. */
	void *(*at)(void *ctx, u64 linear, unsigned bytes, bool write);
};

struct emulate_state {
	u64 *gpr;		/* [REG_COUNT] */
	u64 *rip, *rflags;
};

/* Look at an instruction that decode_fill() has filled in. Sets everything in *op. */
void emulate_decode(const ZydisDecoder *decoder, struct emulate_op *op,
		    const struct instruction *insn);

/* Run it. false: it isn't for this, and nothing has changed. */
bool emulate_run(const struct emulate_op *op, const struct instruction *insn,
		 const struct emulate_state *state, const struct emulate_ops *world);

/*
 * Strings in 64-bit code with 64-bit addresses: what the two address registers lead to, NULL where
 * it has no such operand. One iteration of it, upwards (RFLAGS.DF = 0), with or without a repeat
 * prefix; RCX and RIP are the caller's.
 */
struct string_places {
	void *rsi, *rdi;
};
bool emulate_string_knows(const struct instruction *insn);
bool emulate_string_compares(const struct instruction *insn);	/* CMPS, SCAS */
void emulate_string(const struct instruction *insn, const struct emulate_state *state,
		    const struct string_places *at);

/* emulate.asm: load all registers but RSP and these flags, call the code, store them again. */
void emulate_call(u64 gpr[REG_COUNT], u64 *rflags, const void *code);

#endif
