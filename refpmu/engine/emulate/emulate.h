/* SPDX-License-Identifier: MIT */
/*
 * Emulated instructions: one instruction at a time, run in host mode without a world switch.
 * Executed directly are instructions with general registers and at most one memory operand,
 * instructions with only XMM registers, and unaligned moves of XMM registers. The memory operand is
 * replaced by [reg] with a free register. Branches, stack and string instructions are carried out
 * in C. Pure: the caller finds the memory and checks the program's access rights.
 *
 * The code lists the instructions that are emulated. An instruction that could fault for another
 * reason than its memory access isn't emulated. So no instruction faults here.
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
	EMULATE_COUNTED,	/* LOOP, LOOPE, LOOPNE */
	EMULATE_JUMP,
	EMULATE_CALL,
	EMULATE_RETURN,
	EMULATE_STRING,		/* without a repeat prefix */
};

struct emulate_op {
	u8 kind;
	u8 pointer;	/* EMULATE_DIRECT: register with the address of access[0], or REG_NONE */
	u8 stack;		/* the register that is used as RSP, or REG_NONE */
	/* EMULATE_PUSH, EMULATE_JUMP, EMULATE_CALL: the source of the pushed value or of the
	 * target: this register; if REG_NONE, access[0] or else `value`. EMULATE_POP and
	 * EMULATE_LEA: the destination. */
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
/* The pages from which code[] is run; they hold nothing else. */
struct emulate_code {
	u8 slot[EMULATE_SLOTS][EMULATE_SLOT];
};

struct emulate_ops {
	void *ctx;
	struct emulate_code *code;
	/* The linear address of an access, with these registers. */
	u64 (*linear)(void *ctx, const struct instruction *insn, const struct insn_access *access,
		      const u64 gpr[REG_COUNT]);
	/* The host's address of that many bytes at a linear address. NULL: the access would do more
	 * than access memory, or it isn't contiguous plain memory. */
	void *(*at)(void *ctx, u64 linear, unsigned bytes, bool write);
};

struct emulate_state {
	u64 *gpr;		/* [REG_COUNT] */
	u64 *rip, *rflags;
};

/* Decide how to emulate an instruction that decode_fill() has filled in. Sets all members of
 * *op. */
void emulate_decode(const ZydisDecoder *decoder, struct emulate_op *op,
		    const struct instruction *insn);

/* Run it. false: it can't be emulated, and nothing has changed. */
bool emulate_run(const struct emulate_op *op, const struct instruction *insn,
		 const struct emulate_state *state, const struct emulate_ops *world);

/*
 * String instructions in 64-bit code with 64-bit addresses. string_places: the memory at the two
 * address registers, NULL if the instruction has no such operand. One iteration, with RFLAGS.DF =
 * 0, with or without a repeat prefix; the caller handles RCX and RIP.
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
