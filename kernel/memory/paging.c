/* SPDX-License-Identifier: MIT */
/*
 * Page tables of the borrowed machine. 2 MiB pages below 4 GiB, where MTRRs vary most; above it 1
 * GiB pages if the processor has them ("Large Page Size Considerations": a large page should be in
 * memory of one type). Not handled: protection keys, PCIDs, global pages; all are off.
 */
#include "kernel/processor/cpu.h"
#include "kernel/processor/cpuid.h"
#include "kernel/memory/arena.h"
#include "kernel/memory/paging.h"

#define ADDRESS_MASK	BITS(12, 51)
#define ENTRIES		512u
#define FOUR_GIB	BIT(32)
#define TOP_LEVEL	4u			/* of PAGING_HIGH and PAGING_UPPER */

static u64 *root;
static unsigned depth;
static u64 flags_mask;		/* without NX if the processor doesn't have it */

static u64 page_size(unsigned level)
{
	return BIT(12 + 9 * (level - 1));
}

static unsigned index_of(u64 address, unsigned level)
{
	return (unsigned)(address >> (12 + 9 * (level - 1))) % ENTRIES;
}

static u64 *table_of(u64 entry)
{
	return (u64 *)(uintptr_t)(entry & ADDRESS_MASK);
}

/* Upper-level entries allow everything; the lowest level decides. */
static bool new_table(u64 *entry)
{
	void *table = arena_alloc(PAGE_SIZE);

	if (!table)
		return false;
	*entry = (u64)(uintptr_t)table | PTE_P | PTE_W | PTE_U | PTE_A;
	return true;
}

/* Turn a large page into a table of pages of the next size, with the same flags. */
static bool split(u64 *entry, unsigned level)
{
	u64 large = *entry;
	u64 flags = large & ~ADDRESS_MASK;

	if (level == 2)
		flags &= ~PTE_PS;	/* bit 7 of a 4 KiB entry is PAT */
	if (!new_table(entry))
		return false;
	for (unsigned i = 0; i < ENTRIES; i++)
		table_of(*entry)[i] = ((large & ADDRESS_MASK) + i * page_size(level - 1)) | flags;
	return true;
}

/* The entry that maps address at this level. Missing tables are made. NULL: no memory. */
static u64 *walk(u64 address, unsigned level)
{
	u64 *table = root;

	for (unsigned l = depth; l > level; l--) {
		u64 *entry = &table[index_of(address, l)];

		if (!(*entry & PTE_P) && !new_table(entry))
			return NULL;
		if ((*entry & PTE_PS) && !split(entry, l))
			return NULL;
		table = table_of(*entry);
	}
	return &table[index_of(address, level)];
}

/* Map it by the same tables: later changes in the lower tables apply there too. */
static bool map_again(u64 address)
{
	const u64 *low = walk(0, TOP_LEVEL);
	u64 *high = walk(address, TOP_LEVEL);

	if (!low || !high || *high & PTE_P)
		return false;
	*high = *low;
	return true;
}

bool paging_init(u64 top)
{
	bool huge = cpuid_get(CPUID_PAGE_1GB);
	u64 address = 0;

	depth = cr4_read() & CR4_LA57 ? 5 : 4;
	flags_mask = cpuid_get(CPUID_NX) ? ~0ULL : ~PTE_NX;
	root = arena_alloc(PAGE_SIZE);
	if (!root)
		return false;
	while (address < top) {
		unsigned level = huge && address >= FOUR_GIB ? 3 : 2;
		u64 *entry = walk(address, level);

		if (!entry)
			return false;
		*entry = address | (PAGE_DATA & flags_mask) | PTE_PS;
		address += page_size(level);
	}
	return map_again(PAGING_HIGH) && map_again(PAGING_UPPER);
}

bool paging_map(u64 linear, u64 physical, u64 flags)
{
	u64 *entry = walk(linear, 1);

	if (!entry)
		return false;
	*entry = flags ? (physical & ADDRESS_MASK) | (flags & flags_mask) : 0;
	return true;
}

bool paging_set(u64 page, u64 flags)
{
	return paging_map(page, page, flags);
}

bool paging_set_range(u64 base, u64 size, u64 flags)
{
	u64 end = base + size;

	for (u64 page = base & ~(PAGE_SIZE - 1ULL); page < end; page += PAGE_SIZE)
		if (!paging_set(page, flags))
			return false;
	return true;
}

u64 paging_root(void)
{
	return (u64)(uintptr_t)root;
}

bool paging_uses_nx(void)
{
	return flags_mask & PTE_NX;
}
