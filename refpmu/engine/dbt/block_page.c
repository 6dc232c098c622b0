/* SPDX-License-Identifier: MIT */
/* See block_page.h. */
#include "refpmu/engine/dbt/block_emit.h"
#include "refpmu/engine/dbt/block_page.h"

#define LINE		64u
#define MOST_LOSSES	8
#define ODD		0x9e3779b97f4a7c15ULL

struct block_page *block_page_hold(struct block_cache *cache, u64 linear)
{
	struct block_page *page = &cache->page[linear / BLOCK_PAGE_SIZE % BLOCK_PAGES];

	linear -= linear % BLOCK_PAGE_SIZE;
	if (!cache->source->hold)
		return NULL;
	if (page->protected && page->linear == linear)
		return page;
	/* Several pages share this entry; it holds one of them. */
	if (page->protected || (page->linear == linear && page->losses >= MOST_LOSSES))
		return NULL;
	if (page->linear != linear)
		*page = (struct block_page){ .linear = linear };
	page->protected = cache->source->hold(cache->source->ctx, linear, page);
	page->blocks = BLOCK_NONE;
	page->lines = page->sum = 0;
	return page->protected ? page : NULL;
}

/* Two lines, or the same line at two places, have different sums, except with a chance of 1 in
 * 2^64. */
static u64 sum_of(const struct block_page *page, unsigned line)
{
	const u64 *word = (const u64 *)(const void *)(page->bytes + line * LINE);
	u64 sum = line + 1;

	for (unsigned i = 0; i < LINE / sizeof(*word); i++) {
		sum = (sum ^ word[i]) * ODD;
		sum ^= sum >> 32;
	}
	return sum;
}

static void use_line(struct block_page *page, unsigned line)
{
	if (line >= BLOCK_PAGE_SIZE / LINE || (page->lines & BIT(line)))
		return;
	page->sum ^= sum_of(page, line);
	page->lines |= BIT(line);
}

void block_page_use(struct block_page *page, unsigned offset)
{
	use_line(page, offset / LINE);
	use_line(page, offset / LINE + 1);
}

bool block_page_same(const struct block_page *page)
{
	u64 sum = 0;

	for (u64 left = page->lines; left; left &= left - 1)
		sum ^= sum_of(page, (unsigned)__builtin_ctzll(left));
	return sum == page->sum;
}

void block_page_mistaken(struct block_page *page)
{
	if (page->losses < MOST_LOSSES)
		page->losses++;
}

void block_page_drop(struct block_cache *cache, struct block_page *page)
{
	for (u32 number = page->blocks; number != BLOCK_NONE;
	     number = cache->block[number].next_on_page) {
		struct block *block = &cache->block[number];

		cache->dropped += !block->dead;
		block->dead = true;
		cache->region->jump_cache[block->rip % BLOCK_TARGETS] = 0;
		if (block->limit == BLOCK_MAX_INSNS)
			emit_drop(cache, block);
	}
	page->blocks = BLOCK_NONE;
	page->protected = false;
}
