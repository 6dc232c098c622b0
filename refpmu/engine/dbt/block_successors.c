/* SPDX-License-Identifier: MIT */
/*
 * See block.h: translates blocks before they are needed, and links them to each other. Only the
 * page of the first block, which is being executed, is translated, because the program may never
 * reach other pages.
 */
#include "refpmu/engine/dbt/block_emit.h"

#define PAGE		4096u
#define MOST_SURE	32	/* blocks at a time, if there was no conditional branch */
#define MOST_UNSURE	24	/* blocks at a time, after a conditional branch */

u32 block_way_to(struct block_cache *cache, const struct block *from, u32 exit)
{
	const struct block *to = from->target[exit] == from->rip ?
					 from :
					 block_find(cache, from->target[exit], BLOCK_MAX_INSNS);
	u32 saved = 0;

	if (!to || to->unchained || from->unchained || from->limit != BLOCK_MAX_INSNS)
		return 0;
	if (from->keeps_rcx && (from->check_first || from->page == BLOCK_PAGE_NONE))
		saved = EMIT_SAVE;
	if (saved && from->keeps_rax && from->page == BLOCK_PAGE_NONE)
		saved += EMIT_SAVE;
	/* The block jumps to itself and has no stores: its bytes are still the same. */
	if (from == to && !to->stores)
		return emit_entry(to, saved) + to->again - to->entry;
	return emit_entry(to, saved);
}

/* Make blocks for the exits of a block that have none yet. */
static void make_successors(struct block_cache *cache, const struct block *block, u64 page,
			    unsigned *sure, unsigned *unsure)
{
	bool conditional = block->patch[BLOCK_FALLTHROUGH] && block->patch[BLOCK_TAKEN];

	for (u32 exit = BLOCK_FALLTHROUGH; exit <= BLOCK_TAKEN; exit++) {
		unsigned *left = conditional ? unsure : sure;
		u64 target = block->target[exit];

		if (!block->patch[exit] || target / PAGE != page || !*left ||
		    block_find(cache, target, BLOCK_MAX_INSNS) || !block_room(cache))
			continue;
		if (block_translate(cache, target, BLOCK_MAX_INSNS))
			--*left;
	}
}

void block_translate_successors(struct block_cache *cache, const struct block *first)
{
	unsigned sure = MOST_SURE, unsure = MOST_UNSURE;
	u32 begin = (u32)(first - cache->block), end;

	for (u32 i = begin; i < cache->n_blocks; i++)
		make_successors(cache, &cache->block[i], first->rip / PAGE, &sure, &unsure);
	/* Blocks that were made after the blocks that lead to them. */
	end = cache->n_blocks;
	for (u32 i = begin; i < end; i++) {
		const struct block *block = &cache->block[i];

		for (u32 exit = BLOCK_FALLTHROUGH; exit <= BLOCK_TAKEN; exit++) {
			const struct block *to;

			if (!block->patch[exit])
				continue;
			to = block_find(cache, block->target[exit], BLOCK_MAX_INSNS);
			if (to && to > block && block_way_to(cache, block, exit))
				emit_patch(cache, block->patch[exit],
					   block_way_to(cache, block, exit));
		}
	}
}
