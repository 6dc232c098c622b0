/* SPDX-License-Identifier: MIT */
/* See pages.h. */
#include "kernel/memory/pages.h"
#include "kernel/memory/arena.h"
#include "kernel/memory/paging.h"

/* Tables to split the surrounding large pages: up to two of 2 MiB, and four levels for each of the
 * high addresses. These are the last pages before the multiple of 4 GiB and the pages after it. */
#define TABLES	14u

static struct pages pages;

u64 pages_need(void)
{
	return (u64)(PAGES_SMALL + 1 + TABLES) * PAGE_SIZE;
}

/* Map the first n pages a second time, from this address on. */
static bool map_again(u64 linear, unsigned n)
{
	for (u64 at = 0; at < (u64)n * PAGE_SIZE; at += PAGE_SIZE)
		if (!paging_map(linear + at, (u64)(uintptr_t)pages.small + at, PAGE_DATA))
			return false;
	return true;
}

bool pages_init(u64 hpet_base)
{
	pages = (struct pages){
		.small = arena_alloc((size_t)PAGES_SMALL * PAGE_SIZE),
		.high = (u8 *)(uintptr_t)PAGES_HIGH_LINEAR,
		.carry = (u8 *)(uintptr_t)PAGES_CARRY_LINEAR - (PAGES_CARRY - 1) * PAGE_SIZE,
		.uncacheable = arena_alloc(PAGE_SIZE),
		.device = (u8 *)(uintptr_t)hpet_base,
	};
	if (!pages.small || !pages.uncacheable ||
	    !paging_set_range((u64)(uintptr_t)pages.small, (u64)PAGES_SMALL * PAGE_SIZE,
			      PAGE_DATA) ||
	    !paging_set((u64)(uintptr_t)pages.uncacheable, PAGE_DEVICE))
		return false;
	return map_again((u64)(uintptr_t)pages.high, PAGES_HIGH) &&
	       map_again((u64)(uintptr_t)pages.carry, PAGES_CARRY);
}

const struct pages *pages_get(void)
{
	return &pages;
}
