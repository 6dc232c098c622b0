/* SPDX-License-Identifier: MIT */
/* See pages.h. */
#include "kernel/memory/pages.h"
#include "kernel/memory/arena.h"
#include "kernel/memory/paging.h"

/* To split the large pages around: up to two of 2 MiB, and four levels for the high address. */
#define TABLES	8u

static struct pages pages;

u64 pages_need(void)
{
	return (u64)(PAGES_SMALL + 1 + TABLES) * PAGE_SIZE;
}

bool pages_init(u64 hpet_base)
{
	pages = (struct pages){
		.small = arena_alloc((size_t)PAGES_SMALL * PAGE_SIZE),
		.high = (u8 *)(uintptr_t)PAGES_HIGH_LINEAR,
		.uncacheable = arena_alloc(PAGE_SIZE),
		.device = (u8 *)(uintptr_t)hpet_base,
	};
	if (!pages.small || !pages.uncacheable ||
	    !paging_set_range((u64)(uintptr_t)pages.small, (u64)PAGES_SMALL * PAGE_SIZE,
			      PAGE_DATA) ||
	    !paging_set((u64)(uintptr_t)pages.uncacheable, PAGE_DEVICE))
		return false;
	for (unsigned i = 0; i < PAGES_HIGH; i++)
		if (!paging_map(PAGES_HIGH_LINEAR + (u64)i * PAGE_SIZE,
				(u64)(uintptr_t)pages.small + (u64)i * PAGE_SIZE, PAGE_DATA))
			return false;
	return true;
}

const struct pages *pages_get(void)
{
	return &pages;
}
