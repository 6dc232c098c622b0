/* SPDX-License-Identifier: MIT */
/*
 * Pages with protected blocks: code that doesn't change unnoticed, because stores to it are noticed
 * (code_page.h; in host tests, by mprotect). What a device writes isn't noticed, and is found by a
 * sum of the bytes that blocks were made from, when it is asked for.
 */
#ifndef REFPMU_ENGINE_DBT_BLOCK_PAGE_H
#define REFPMU_ENGINE_DBT_BLOCK_PAGE_H

#include "refpmu/engine/dbt/block.h"

/* The page with this address, to make protected blocks from it; NULL: it can't be relied on. */
struct block_page *block_page_hold(struct block_cache *cache, u64 linear);

/* A block is about to be made from the 64 bytes with this offset, and those after them. */
void block_page_use(struct block_page *page, unsigned offset);

/* Are the bytes of its blocks what they were? */
bool block_page_same(const struct block_page *page);

/* Something else was there, though no processor has stored to it: if that happens again and again,
 * it can't be relied on till block_flush(). */
void block_page_mistaken(struct block_page *page);

/* Drop the page's blocks; a jump to one leaves the blocks. Not within a run; settle first. */
void block_page_drop(struct block_cache *cache, struct block_page *page);

#endif
