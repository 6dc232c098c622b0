/* SPDX-License-Identifier: MIT */
/*
 * Pages with protected blocks: stores of processors to these pages are intercepted (code_page.h; in
 * host tests by mprotect). Writes by devices aren't intercepted; they are found by a checksum of
 * the bytes that blocks were made from, when block_page_same() is called.
 */
#ifndef REFPMU_ENGINE_DBT_BLOCK_PAGE_H
#define REFPMU_ENGINE_DBT_BLOCK_PAGE_H

#include "refpmu/engine/dbt/block.h"

/* The page with this address, for making protected blocks; NULL: it can't be protected. */
struct block_page *block_page_hold(struct block_cache *cache, u64 linear);

/* A block will be made from the 64 bytes at this offset, and those after them. */
void block_page_use(struct block_page *page, unsigned offset);

/* Are the bytes of its blocks unchanged? */
bool block_page_same(const struct block_page *page);

/* The bytes have changed although no processor has stored to them. If this happens repeatedly, the
 * page isn't used for protected blocks until block_flush(). */
void block_page_mistaken(struct block_page *page);

/* Drop the page's blocks; a jump to one of them then exits. Not during a run; settle first. */
void block_page_drop(struct block_cache *cache, struct block_page *page);

#endif
