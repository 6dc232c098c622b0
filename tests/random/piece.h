/* SPDX-License-Identifier: MIT */
/*
 * The pieces of drawn programs: short pieces of code with declared effects, a row for each
 * instruction in the order of execution. The code is in tests/random/piece.asm; every piece ends
 * with two instructions that jump to the next entry of the program's table. Pure.
 */
#ifndef TESTS_RANDOM_PIECE_H
#define TESTS_RANDOM_PIECE_H

#include "spec/types.h"

enum row_flags {
	ROW_BRANCH = 1 << 0,
	ROW_CONDITIONAL = 1 << 1,
	ROW_TAKEN = 1 << 2,
	ROW_CALL = 1 << 3,
	ROW_RETURN = 1 << 4,		/* near */
	ROW_FAR = 1 << 5,
	ROW_LOCKED = 1 << 6,
	ROW_MICROCODE = 1 << 7,		/* its accesses may be more or fewer micro-operations */
	ROW_WRMSR = 1 << 8,
	ROW_RDMSR = 1 << 9,
	ROW_RDPMC = 1 << 10,
	ROW_TO_USER = 1 << 11,		/* to CPL 3, 1 or 2: what USR selects */
	ROW_TO_KERNEL = 1 << 12,
	ROW_NOT_HERE = 1 << 13,		/* its address is none of tests/random/piece.asm's */
	ROW_IF_SET = 1 << 14,		/* RFLAGS.IF */
	ROW_IF_CLEARED = 1 << 15,
	ROW_STOP = 1 << 16,		/* the last one that counts */
	ROW_DF = 1 << 17,		/* executed with RFLAGS.DF set, also afterwards */
	ROW_XMM0_ZERO = 1 << 18,	/* XMM0 is 0 after it */
	ROW_XMM0 = 1 << 19,		/* XMM0 changes */
	ROW_INDIRECT = 1 << 20,		/* a near jump or call */
	ROW_REFUSED = 1 << 21,		/* raises #GP, which leads to the next row */
	ROW_PREFETCH = 1 << 22,		/* by software */
	ROW_STORE_FENCE = 1 << 23,	/* SFENCE, MFENCE */
	ROW_FAST_STRING = 1 << 24,	/* REP MOVS or STOS */
	ROW_LOOP = 1 << 25,		/* LOOP or JRCXZ */
	ROW_CPUID = 1 << 26,
};

/* Which register an operand's address is relative to. */
enum row_base { AT_NONE, AT_SI, AT_BP, AT_BX, AT_14, AT_13, AT_15, AT_SP, ROW_BASES };

struct row_operand {
	u8 base, size;
	int16_t offset;
};

struct draw_row {
	u32 offset;			/* from draw_code */
	u32 flags;
	u8 length, loads, stores;
	int8_t stack;			/* what it adds to RSP */
	struct row_operand load, store;	/* the first of several; the others follow it */
};

enum piece_flags {
	PIECE_KERNEL = 1 << 0,
	PIECE_WRITE = 1 << 1,
	PIECE_READ = 1 << 2,
	PIECE_RDPMC = 1 << 3,
	PIECE_SPECIAL = 1 << 4,
	PIECE_EXITS = 1 << 5,		/* changes RBX, too */
	PIECE_MOVES_SI = 1 << 6,	/* changes RSI for a while */
	PIECE_REFUSED = 1 << 7,		/* it must be refused */
	PIECE_OPERATION = PIECE_WRITE | PIECE_READ | PIECE_RDPMC | PIECE_REFUSED,
};

struct draw_piece {
	const char *name;
	u8 flags, instance;
	u16 first;			/* row */
	u16 begin, next;		/* offsets: of the piece; of its two last instructions */
};

#define DRAW_OPERATIONS	8
#define DRAW_SLOT_REFUSED (DRAW_OPERATIONS - 1)
#define DRAW_INSTANCES	3
#define DRAW_VECTORS	16

struct draw_operation {			/* an entry of the table at R13 */
	u32 msr, low, high, unused;
};
struct draw_result {			/* RAX and RDX after RDMSR or RDPMC */
	u64 rax, rdx;
};

/* At R14. piece.asm makes its `struc frame` of the same frame.def, where no comment can be. */
struct draw_frame {
#define WORD(name) u64 name;
#include "tests/random/frame.def"
#undef WORD
	struct draw_result result[DRAW_OPERATIONS];
	u64 vector[DRAW_VECTORS][2];	/* XMM0 to XMM15 */
};

#define DRAW_DECLARE(type, name) extern type name __attribute__((visibility("hidden")))
DRAW_DECLARE(const u8, draw_code[]);		/* what rows' offsets are relative to */
DRAW_DECLARE(const struct draw_row, draw_rows[]);
DRAW_DECLARE(const struct draw_row, draw_rows_end[]);
DRAW_DECLARE(const struct draw_piece, draw_pieces[]);
DRAW_DECLARE(const struct draw_piece, draw_pieces_end[]);
DRAW_DECLARE(u64, draw_elsewhere);	/* where a #GP of no piece goes on */
#undef DRAW_DECLARE

/* The two instructions at the end of each piece, and at the beginning of a program. */
#define DRAW_NEXT_ADD	4
#define DRAW_NEXT_JMP	4

unsigned piece_count(void);
const struct draw_piece *piece_get(unsigned i);
/* The number of its rows. */
unsigned piece_rows(unsigned i);
/* The piece of this name and instance; -1: none. */
int piece_find(const char *name, unsigned instance);

#endif
