/* SPDX-License-Identifier: MIT */
/*
 * First visits: code that has run only a few times, carried out in C. What runs the hypervisor
 * translates each piece of code before it runs it, which costs as much as running it some dozens of
 * times; so a block, which is code of its own for each instruction, is worth its while only where
 * the program comes by often. Pure: where memory is, and whether the program may go there, the
 * caller says.
 *
 * Stretches, straight pieces of code up to a branch, are decoded once and kept. Each instruction's
 * bytes are compared with those that it was decoded from just before it runs, so nobody has to say
 * what has changed. Flags are the processor's own: each operation is done by its instruction.
 *
 * A list of what is done (code_fields.h, visit_decode.c), not of what isn't. Nothing has an effect
 * but what all of its instruction has: one that can't be completed hasn't begun.
 */
#ifndef REFPMU_ENGINE_VISIT_VISIT_H
#define REFPMU_ENGINE_VISIT_VISIT_H

#include "refpmu/engine/decode.h"
#include "refpmu/model/bulk.h"

#define VISIT_INSNS	65536		/* of all stretches */
#define VISIT_STRETCHES	8192		/* by their address */
#define VISIT_LONGEST	64
#define VISIT_LONG	2048		/* a run ends behind the stretch that comes to so many */
#define VISIT_PAGES	64		/* by the number of a page of data */
#define VISIT_ACCESSES	1		/* of a kind, that an instruction has at most */

/* An operand that is nowhere: its value is 0. */
#define VISIT_ZERO	REG_COUNT

/* An instruction's kind: what it does and how wide its operands are, or one of VISIT_NOP on. */
enum visit_operation {
	/* as opcodes 00H to 3FH have them */
	VISIT_ADD, VISIT_OR, VISIT_ADC, VISIT_SBB, VISIT_AND, VISIT_SUB, VISIT_XOR, VISIT_CMP,
	/* C0H */
	VISIT_ROL, VISIT_ROR, VISIT_RCL, VISIT_RCR, VISIT_SHL, VISIT_SHR, VISIT_SAR,
	/* F6H, from 2 on; MUL and IMUL of RAX */
	VISIT_NOT, VISIT_NEG, VISIT_MUL, VISIT_IMUL,
	VISIT_INC, VISIT_DEC,
	VISIT_TEST, VISIT_MOV, VISIT_XCHG, VISIT_CMOV,
	VISIT_MULTIPLY,		/* IMUL of two operands, */
	VISIT_MULTIPLY_BY,	/* and of three: the last is the immediate one */
	VISIT_OPERATIONS
};

/* A result of 32 bits clears the upper half of a register, but not what is behind it in memory. */
enum visit_width {
	VISIT_8, VISIT_16, VISIT_32, VISIT_64, VISIT_32_MEMORY,
	VISIT_WIDTHS
};

#define VISIT_KIND(operation, width) ((int)(operation) * (int)VISIT_WIDTHS + (int)(width))

enum visit_kind {
	VISIT_NOP = (int)VISIT_OPERATIONS * (int)VISIT_WIDTHS,
	/* MOVZX and MOVSX: from, to; a zero-extended result of 32 bits is one of 64. */
	VISIT_ZERO_8_16, VISIT_ZERO_8_64, VISIT_ZERO_16_16, VISIT_ZERO_16_64,
	VISIT_SIGN_8_16, VISIT_SIGN_8_32, VISIT_SIGN_8_64,
	VISIT_SIGN_16_16, VISIT_SIGN_16_32, VISIT_SIGN_16_64, VISIT_SIGN_32_64,
	VISIT_CBW, VISIT_CWDE, VISIT_CDQE, VISIT_CWD, VISIT_CDQ, VISIT_CQO,
	VISIT_LEA_32, VISIT_LEA_64,
	VISIT_SET,
	VISIT_PUSH, VISIT_POP, VISIT_LEAVE,
	/* the rest end their stretch */
	VISIT_CONDITIONAL,
	VISIT_COUNTED,		/* LOOP and kin */
	VISIT_JUMP, VISIT_CALL, VISIT_RETURN,
};

#define PLACE_FROM	BIT(0)		/* that operand is in memory */
#define PLACE_TO	BIT(1)
#define PLACE_WRITES	BIT(2)		/* which is written */
#define PLACE_IMMEDIATE	BIT(3)		/* `from` is the immediate */

/* An emulator takes as long for a load as for several operations on registers: what each
 * instruction needs is in one word. */
union visit_head {
	struct {
		u8 kind, length;
		u8 to, from;	/* operands: offsets in struct visit_registers */
		u8 place;	/* PLACE_*: where they are instead */
		u8 condition;
		u8 loads, stores;
	};
	u64 all;
};

struct visit_insn {
	union visit_head head;
	u64 bytes[2];		/* the first eight; the last eight, if there are more */
	u64 immediate;		/* or a branch's target */
	u64 address;		/* constant part of the memory operand's address */
	u8 base, index, scale;	/* REG_* or VISIT_ZERO */
	u8 segment;		/* 0; 1: FS; 2: GS */
	u8 width;		/* of the operand in memory, in bytes */
	u8 branch;
};

struct visit_stretch {
	u64 rip;
	u32 first;		/* in insn[] */
	u8 n;
	bool edge;		/* an instruction at the end of a page */
	u16 visits;
	u8 loads, stores;	/* of all of it, */
	u8 branch;		/* and its last instruction may be one */
};

struct visit_registers {
	u64 gpr[REG_COUNT], zero;
};

struct visit_page {
	u64 number[2];		/* that may be read, written */
	u8 *host;
};

struct visit_world {
	/* Where so many bytes at a linear address are; NULL: see struct solo_world. What it has
	 * said before may not hold any more: visit_forget_pages() then. */
	void *(*at)(void *ctx, u64 linear, unsigned bytes, bool write);
	/* Where code is that may be executed, up to the end of its page; or NULL. */
	const u8 *(*text)(void *ctx, u64 linear);
	u64 (*segment)(void *ctx, unsigned segment);	/* base of FS (1), GS (2) */
	/* Told of each conditional branch, if cache->tells: is it mispredicted? */
	bool (*mispredicted)(void *ctx, u64 rip, bool taken);
};

struct visit_cache {
	const struct visit_world *world;
	void *ctx;
	u16 enough;			/* visits, after which a stretch is somebody else's, */
	bool tells;			/* unless the world has to know of each branch */
	/* of a run */
	struct visit_registers r;
	u64 rip, flags;
	u64 text_page;			/* number; */
	const u8 *text;			/* where it is */
	struct model_events events;
	bool changed;			/* the stretch that was left isn't what it was */
	struct visit_page page[VISIT_PAGES];
	u32 used;
	struct visit_stretch stretch[VISIT_STRETCHES];
	struct visit_insn insn[VISIT_INSNS];
};

/* No stretch is known any more. Once to begin with; world, ctx and `enough` are the caller's. */
void visit_forget(struct visit_cache *cache);

/* What is known of pages doesn't hold any more. */
void visit_forget_pages(struct visit_cache *cache);

/* Hasn't the stretch at rip had enough visits? */
bool visit_wants(const struct visit_cache *cache, u64 rip);

/*
 * Run at most so many instructions from *rip on, until one that isn't for this, or a stretch with
 * enough visits: how many, and in cache->events what they did. Of *rflags only CF PF AF ZF SF OF
 * are looked at or changed.
 */
u64 visit_run(struct visit_cache *cache, u64 gpr[REG_COUNT], u64 *rip, u64 *rflags, u64 most);

/* visit_decode.c: the instruction with these bytes, of which CODE_FIELDS_ROOM are given. false: it
 * isn't for this. */
bool visit_decode(struct visit_insn *insn, u64 rip, const u8 *bytes);

/* visit_carry_out.c: the first n of these, whose code is at `text`: how many have been done. The
 * next one is at cache->rip then, which is at the first to begin with. Sets cache->changed if it
 * stops at one with other bytes. */
unsigned visit_carry_out(struct visit_cache *cache, const struct visit_insn *insn, unsigned n,
			 const u8 *text);

#endif
