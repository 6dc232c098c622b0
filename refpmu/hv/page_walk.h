/* SPDX-License-Identifier: MIT */
/*
 * The path of an address through page tables of four or five levels: APM volume 2, "Long-Mode Page
 * Translation". Pure: it sets no bit and checks no right. The caller checks access rights, and sets
 * accessed and dirty bits.
 */
#ifndef REFPMU_HV_PAGE_WALK_H
#define REFPMU_HV_PAGE_WALK_H

#include "refpmu/hv/architecture.h"
#include "spec/types.h"

#define PAGE_WALK_LEVELS	5

struct page_walk {
	u64 *entry[PAGE_WALK_LEVELS + 1];	/* by level: from the top to the last one met */
	unsigned level;		/* of that one: where the page is, or where the path ends */
	u64 all, any;		/* bits that all entries have; that any of them has */
	unsigned shift;		/* the page has BIT(shift) bytes, */
	u64 physical;		/* and the address is there */
};

/*
 * host() returns the host's address of a table, or NULL if there is no memory. false: there is no
 * page; entry[level] is the entry that isn't present, or NULL if its table isn't in memory. linear
 * must be canonical.
 */
static inline bool page_walk(u64 root, unsigned levels, u64 linear, void *(*host)(u64 physical),
			     struct page_walk *walk)
{
	u64 table = root & PTE_ADDRESS, entry, *base;

	walk->all = ~0ULL;
	walk->any = 0;
	for (walk->level = levels;; walk->level--) {
		walk->shift = 3 + 9 * walk->level;
		base = host(table);
		walk->entry[walk->level] = base ? &base[linear >> walk->shift & 511] : NULL;
		if (!base)
			return false;
		entry = *walk->entry[walk->level];
		if (!(entry & PTE_P))
			return false;
		walk->all &= entry;
		walk->any |= entry;
		if (walk->level == 1 || (walk->level <= 3 && entry & PTE_PS))
			break;
		table = entry & PTE_ADDRESS;
	}
	walk->physical = (entry & PTE_ADDRESS & ~(BIT(walk->shift) - 1)) |
			 (linear & (BIT(walk->shift) - 1));
	return true;
}

#endif
