/* SPDX-License-Identifier: MIT */
/* See pages.h. */
#include "kernel/memory/pages.h"
#include "kernel/memory/arena.h"
#include "kernel/memory/paging.h"

/* Tables to split the surrounding large pages: up to two of 2 MiB, and four levels for each of the
 * high addresses. These are the last pages before the multiple of 4 GiB and the pages after it. */
#define TABLES	14u
#define MOVED	2u	/* the page that isn't mapped to itself, and the one that it is mapped to */

static struct pages pages;

u64 pages_need(void)
{
	return (u64)(PAGES_SMALL + 1 + MOVED + TABLES) * PAGE_SIZE;
}

/* Map the first n pages a second time, from this address on. */
static bool map_again(u64 linear, unsigned n)
{
	for (u64 at = 0; at < (u64)n * PAGE_SIZE; at += PAGE_SIZE)
		if (!paging_map(linear + at, (u64)(uintptr_t)pages.small + at, PAGE_DATA))
			return false;
	return true;
}

/* Map a page to the page after it; its own frame is seen after the high pages. */
static bool move(void)
{
	const u64 frame = (u64)(uintptr_t)pages.moved;

	return pages.moved && paging_map(frame, frame + PAGE_SIZE, PAGE_DATA) &&
	       paging_map((u64)(uintptr_t)pages.moved_frame, frame, PAGE_DATA);
}

bool pages_init(u64 hpet_base)
{
	pages = (struct pages){
		.small = arena_alloc((size_t)PAGES_SMALL * PAGE_SIZE),
		.high = (u8 *)(uintptr_t)PAGES_HIGH_LINEAR,
		.carry = (u8 *)(uintptr_t)PAGES_CARRY_LINEAR - (PAGES_CARRY - 1) * PAGE_SIZE,
		.uncacheable = arena_alloc(PAGE_SIZE),
		.moved = arena_alloc((size_t)MOVED * PAGE_SIZE),
		.moved_frame = (u8 *)(uintptr_t)PAGES_HIGH_LINEAR + PAGES_HIGH * PAGE_SIZE,
		.device = (u8 *)(uintptr_t)hpet_base,
	};
	if (!pages.small || !pages.uncacheable ||
	    !paging_set_range((u64)(uintptr_t)pages.small, (u64)PAGES_SMALL * PAGE_SIZE,
			      PAGE_DATA) ||
	    !paging_set((u64)(uintptr_t)pages.uncacheable, PAGE_DEVICE))
		return false;
	return move() && map_again((u64)(uintptr_t)pages.high, PAGES_HIGH) &&
	       map_again((u64)(uintptr_t)pages.carry, PAGES_CARRY);
}

const struct pages *pages_get(void)
{
	return &pages;
}
