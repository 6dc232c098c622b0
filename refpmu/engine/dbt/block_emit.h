/* SPDX-License-Identifier: MIT */
/*
 * Writes the code of a block: a prologue that checks and counts, the instructions, the exits.
 * Except the guest's own instructions no emitted code changes a flag that the guest could see.
 */
#ifndef REFPMU_ENGINE_DBT_BLOCK_EMIT_H
#define REFPMU_ENGINE_DBT_BLOCK_EMIT_H

#include "refpmu/engine/dbt/block.h"

/* struct block_insn.restore: RAX and RCX are saved in the context; another register is saved
 * too. */
#define RESTORE_RAX	BIT(0)
#define RESTORE_RCX	BIT(1)
#define RESTORE_SCRATCH BIT(2)
#define RESTORE_SHIFT	4		/* its number */

/*
 * An entry begins by saving RCX, and RAX unless it is protected, with EMIT_SAVE bytes each. If the
 * previous block doesn't change one of them, its saved value is still valid, and the jump skips the
 * saving.
 */
#define EMIT_SAVE	7

/* The mask of the identification after the exit instruction and the opcode of a JMP: 4 * block +
 * BLOCK_FALLTHROUGH or another exit. The byte above it may be the first of the next exit
 * instruction. */
#define LEAVE_ID	0xffffffu
_Static_assert(4 * BLOCK_MAX + BLOCK_DROPPED <= LEAVE_ID, "numbers of blocks");

/* More bytes than any block has. */
#define EMIT_MAX	8192

/*
 * Code is made in a buffer and then written with few wide stores, because QEMU intercepts each
 * store to a page that holds code.
 */
struct emitter {
	struct block_cache *cache;
	u32 begin, at;		/* offsets in code[]: of the buffer, aligned, and the next byte */
	u32 over_budget_jump;	/* where the jump of emit_late_check() has its distance, or 0 */
	u8 buffer[EMIT_MAX] __attribute__((aligned(8)));
};

void emit_begin(struct emitter *e, struct block_cache *cache);
/* Write the buffer to code[], and mark the space as used. */
void emit_store(struct emitter *e);

/* The code at offset 0: an indirect branch to a place without a block. */
void emit_miss(struct emitter *e);

/* Prologue: fills in first, entry, again, body. The block's bytes are guest[length]. */
void emit_prologue(struct emitter *e, struct block *block, u32 number, const u8 *guest,
		   unsigned length);
/* The same of a protected one, with block->check_first and late as they are to be. */
void emit_protected_prologue(struct emitter *e, struct block *block, u32 number);
/* The check of the budget before instruction `late`, where the flags may be changed. */
void emit_late_check(struct emitter *e, const struct block *block, u32 number);

/* One instruction that doesn't end the block: its RESTORE_*. */
u8 emit_op(struct emitter *e, const struct block_op *op);

/* The one that does, with the block's targets and ways out: its RESTORE_*. */
u8 emit_terminator(struct emitter *e, const struct block_op *op, struct block *block, u32 number);

/* The end of a block without a terminator, and the code at the end of every block. late: the
 * instruction after emit_late_check(), which runs before the block exits there, so that the flags
 * of the check aren't visible; or NULL. */
void emit_end(struct emitter *e, struct block *block, u32 number, bool falls_through,
	      const struct block_op *late);

/* Make the block exit at once when it is entered. */
void emit_drop(struct block_cache *cache, const struct block *block);

/* Make the jump at this offset go to another offset of code[]. */
void emit_patch(struct block_cache *cache, u32 at, u32 to);

/* The entry of a block for a jump from another block that has already saved registers; saved: bytes
 * of code to skip. */
u32 emit_entry(const struct block *block, u32 saved);

/* Replace the entry of a block by jumps to another block's. */
void emit_forward(struct block_cache *cache, const struct block *from, const struct block *to);

#endif
