/* SPDX-License-Identifier: MIT */
/*
 * Writing the code of a block: a prologue that checks and counts, the instructions, the ways out.
 * Nothing that is emitted besides the guest's own instructions touches a flag.
 */
#ifndef REFPMU_ENGINE_DBT_BLOCK_EMIT_H
#define REFPMU_ENGINE_DBT_BLOCK_EMIT_H

#include "refpmu/engine/dbt/block.h"

/* struct block_insn.restore: RAX and RCX are in the context; another register is, too. */
#define RESTORE_RAX	BIT(0)
#define RESTORE_RCX	BIT(1)
#define RESTORE_SCRATCH BIT(2)
#define RESTORE_SHIFT	4		/* its number */

/*
 * An entry begins by saving RCX, and RAX unless it is protected, with EMIT_SAVE bytes each. From a
 * block that changes one of them not, the saved one is good already, and its saving is jumped over.
 */
#define EMIT_SAVE	7

/* What follows the exit instruction and the opcode of a JMP: 4 * block + BLOCK_FALLTHROUGH and its
 * kin. The byte above may be the next exit instruction's first. */
#define LEAVE_ID	0xffffffu
_Static_assert(4 * BLOCK_MAX + BLOCK_DROPPED <= LEAVE_ID, "numbers of blocks");

/* More than any block comes to. */
#define EMIT_MAX	8192

/*
 * Code is made in a buffer and then stored in few and wide stores: what runs this code watches
 * each store to a page that holds some.
 */
struct emitter {
	struct block_cache *cache;
	u32 begin, at;		/* offsets in code[]: of the buffer, aligned, and the next byte */
	u32 over_budget_jump;	/* where the jump of emit_late_check() has its distance, or 0 */
	u8 buffer[EMIT_MAX] __attribute__((aligned(8)));
};

void emit_begin(struct emitter *e, struct block_cache *cache);
/* Store what has been made, and take the room for it. */
void emit_store(struct emitter *e);

/* The code at offset 0: an indirect branch to a place without a block. */
void emit_miss(struct emitter *e);

/* Prologue: fills in first, entry, again, body. The block's bytes are guest[length]. */
void emit_prologue(struct emitter *e, struct block *block, u32 number, const u8 *guest,
		   unsigned length);
/* The same of a protected one, with block->check_first and late as they are to be. */
void emit_protected_prologue(struct emitter *e, struct block *block, u32 number);
/* What it does in front of instruction `late`, where the flags are free. */
void emit_late_check(struct emitter *e, const struct block *block, u32 number);

/* One instruction that doesn't end the block: its RESTORE_*. */
u8 emit_op(struct emitter *e, const struct block_op *op);

/* The one that does, with the block's targets and ways out: its RESTORE_*. */
u8 emit_terminator(struct emitter *e, const struct block_op *op, struct block *block, u32 number);

/* The end of a block without one, and what every block ends with. late: the instruction after
 * emit_late_check(), which runs before the block is left there, so that its flags aren't seen; or
 * NULL. */
void emit_end(struct emitter *e, struct block *block, u32 number, bool falls_through,
	      const struct block_op *late);

/* Have the block that is entered come out at once. */
void emit_drop(struct block_cache *cache, const struct block *block);

/* Make the jump at this offset go to another offset of code[]. */
void emit_patch(struct block_cache *cache, u32 at, u32 to);

/* Where one block may be entered from another that has saved `saved` bytes' worth. */
u32 emit_entry(const struct block *block, u32 saved);

/* Replace the entry of a block by jumps to another block's. */
void emit_forward(struct block_cache *cache, const struct block *from, const struct block *to);

#endif
