/* SPDX-License-Identifier: MIT */
/* The path of an address through page tables, with tables in an array. */
#include "host/check.h"
#include "refpmu/hv/page_walk.h"

#define TABLES		6
#define TABLE(n)	((u64)(n) << 12)	/* address of table n in the guest's memory */
#define USER		(PTE_P | PTE_W | PTE_U)
#define LINEAR		0x0000123456789abcULL

static u64 table[TABLES][512];
static struct page_walk walk;

/* Table 0 isn't mapped, nor are the tables from TABLES on. */
static void *host(u64 physical)
{
	return physical >= TABLE(1) && physical < TABLE(TABLES) ? table[physical >> 12] : NULL;
}

static u64 *entry_of(unsigned n, unsigned level)
{
	return &table[n][LINEAR >> (3 + 9 * level) & 511];
}

/* Table n has level n, and points to the next table. */
static void build(unsigned levels)
{
	memset(table, 0, sizeof(table));
	for (unsigned level = levels; level > 1; level--)
		*entry_of(level, level) = TABLE(level - 1) | USER;
	*entry_of(1, 1) = 0x7654321000 | USER;
}

static bool go(unsigned levels)
{
	return page_walk(TABLE(levels) | 0x18, levels, LINEAR, host, &walk);
}

static void four_and_five_levels_lead_to_the_page(void)
{
	for (unsigned levels = 4; levels <= 5; levels++) {
		build(levels);
		CHECK(go(levels));
		CHECK_EQ(1, walk.level);
		CHECK_EQ(12, walk.shift);
		CHECK_EQ(0x7654321abc, walk.physical);
		for (unsigned level = 1; level <= levels; level++)
			CHECK(walk.entry[level] == entry_of(level, level), "level %u", level);
	}
}

/* The address bits below the page's size come from the linear address. */
static void large_pages_end_the_path(void)
{
	build(4);
	*entry_of(2, 2) = 0x7654200000 | USER | PTE_PS | PTE_PAT_LARGE;
	CHECK(go(4));
	CHECK_EQ(2, walk.level);
	CHECK_EQ(21, walk.shift);
	CHECK_EQ(0x7654200000 | (LINEAR & 0x1fffff), walk.physical);
	*entry_of(3, 3) = 0x7640000000 | USER | PTE_PS;
	CHECK(go(4));
	CHECK_EQ(3, walk.level);
	CHECK_EQ(0x7640000000 | (LINEAR & 0x3fffffff), walk.physical);
	/* In the top level, bit 7 doesn't mean a large page. */
	build(4);
	*entry_of(4, 4) |= PTE_PS;
	CHECK(go(4));
	CHECK_EQ(1, walk.level);
}

static void the_bits_of_all_levels_are_combined(void)
{
	build(4);
	*entry_of(3, 3) &= ~PTE_W;
	*entry_of(2, 2) |= PTE_NX | PTE_A;
	CHECK(go(4));
	CHECK_EQ(PTE_U, walk.all & (PTE_U | PTE_W | PTE_A));
	CHECK_EQ(PTE_W | PTE_NX | PTE_A, walk.any & (PTE_W | PTE_NX | PTE_A));
}

static void an_absent_entry_ends_the_path(void)
{
	for (unsigned level = 1; level <= 4; level++) {
		build(4);
		*entry_of(level, level) &= ~PTE_P;
		CHECK(!go(4));
		CHECK_EQ(level, walk.level);
		CHECK(walk.entry[level] == entry_of(level, level));
	}
}

static void a_table_that_is_no_memory_ends_the_path(void)
{
	build(4);
	*entry_of(3, 3) = TABLE(TABLES) | USER;
	CHECK(!go(4));
	CHECK_EQ(2, walk.level);
	CHECK(!walk.entry[2]);
	CHECK(walk.entry[3] == entry_of(3, 3));
}

int main(void)
{
	RUN(four_and_five_levels_lead_to_the_page);
	RUN(large_pages_end_the_path);
	RUN(the_bits_of_all_levels_are_combined);
	RUN(an_absent_entry_ends_the_path);
	RUN(a_table_that_is_no_memory_ends_the_path);
	return check_end();
}
