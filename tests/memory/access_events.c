/* SPDX-License-Identifier: MIT */
/*
 * What the accesses that an event or a bit is about have in common, and its neighbours haven't:
 * translations that only the first-level TLB has lost, uncacheable memory and devices, and the
 * counts of Table 18-45's events. SDM chapter 19, Tables 18-24, 18-33 and 18-34. A prefetcher or
 * an interrupt may change what an access meets: most of them have to be as they were made.
 */
#include "kernel/memory/paging.h"
#include "kernel/memory/pages.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

#define STLB_MISS	BIT(4)	/* of A0H: Tables 18-33 and 18-34 */
#define DCU_HIT		BIT(0)	/* Table 18-46 */
#define CODE(source)	((source) & 0xf)
#define CODE_IO		BIT(0xe)
#define CODE_UNCACHEABLE BIT(0xf)

static bool has_bit(const struct mem_sample_record *record, u64 bit)
{
	return record->source & bit;
}

static bool has_code(const struct mem_sample_record *record, u64 codes)
{
	return codes >> CODE(record->source) & 1;
}

/* "The load did not miss the STLB (hit the DTLB or STLB)": here it hits the STLB. */
TEST(ll, a_translation_of_the_stlb_is_no_miss, REQS(LL_28),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_stlb_lock))
{
	struct mem_sample_setup setup = mem_sample_loads();

	mem_sample_check_most(t, AT(LL_28), &setup, ACCESS_PAGE_WALK, true, has_bit, STLB_MISS,
			      "have bit 4");
	mem_sample_check_most(t, AT(LL_28), &setup, ACCESS_STLB, false, has_bit, STLB_MISS,
			      "have bit 4");
}

TEST(ps, a_translation_of_the_stlb_is_no_miss, REQS(PS_06),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores();

	mem_sample_check_most(t, AT(PS_06), &setup, ACCESS_STORE_PAGE_WALK, true, has_bit,
			      STLB_MISS, "have bit 4");
	mem_sample_check_most(t, AT(PS_06), &setup, ACCESS_STORE_STLB, false, has_bit, STLB_MISS,
			      "have bit 4");
}

/* Which of the two codes a register in memory has isn't stated; it has none of a cache. */
TEST(ll, a_load_of_a_device_register_has_a_code_of_its_own, REQS(LL_44),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads();

	mem_sample_check_most(t, AT(LL_44), &setup, ACCESS_DEVICE, true, has_code,
			      CODE_IO | CODE_UNCACHEABLE, "have code 0EH or 0FH");
}

TEST(ll, a_load_of_uncacheable_memory_is_code_15, REQS(LL_45),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads();

	mem_sample_check_most(t, AT(LL_45), &setup, ACCESS_UNCACHEABLE, true, has_code,
			      CODE_UNCACHEABLE, "have code 0FH");
}

/* ------------------------------------------------------------------ counts of Table 18-45 */
#define ROUNDS		64

/* Of the accesses of a round, how many an event counts: each, or none. */
struct counted {
	enum event_kind kind;
	enum access access;
	unsigned each;
};

static bool setup_of(struct test *t, enum event_kind kind, struct mem_sample_setup *setup)
{
	struct event event;

	if (!HARNESS_CHECK(t, event_get(kind, EV_DLA, &event), "the event is in the table"))
		return false;
	*setup = (struct mem_sample_setup){ .counter = 2, .event = event.code,
					.period = MEM_SAMPLE_PERIOD, .enable = pmc_one(2) };
	return true;
}

/* What n rounds more count: what a window counts besides drops out. */
static u64 more_events(const struct mem_sample_setup *setup, const struct cache_workload *h, u64 n)
{
	u64 few, many;

	mem_sample_count(setup, h, n);	/* caches and TLBs as the rounds leave them */
	few = mem_sample_count(setup, h, n);
	many = mem_sample_count(setup, h, 2 * n);
	return many > few ? many - few : 0;
}

/* A cache that drops just any line still has some of those that visits in turn should lose. */
static bool is_likely_only(enum access access)
{
	return access == ACCESS_L2 || access == ACCESS_L3;
}

static void check_count(struct test *t, struct test_claim claim, const struct counted *c,
			const struct mem_sample_setup *setup, const struct cache_workload *h)
{
	u64 events = more_events(setup, h, ROUNDS);
	u64 slack = is_likely_only(c->access) ? ROUNDS / 2 - 1 : ROUNDS / 8;

	test_check_range(t, claim, c->each ? c->each * (ROUNDS - slack) : 0,
			 c->each * ROUNDS + slack, events,
			 "events of code 0x%x in %u rounds of %s", setup->event, ROUNDS, h->name);
}

static void check_counts(struct test *t, struct test_claim claim, const struct counted *rows,
			 unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct mem_sample_setup setup;
		struct cache_workload h;

		if (!setup_of(t, rows[i].kind, &setup) ||
		    !mem_sample_prepare(t, rows[i].access, &h))
			return;
		check_count(t, claim, &rows[i], &setup, &h);
	}
}

#define CHECK_COUNTS(t, claim, rows) \
	check_counts((t), (claim), (rows), sizeof(rows) / sizeof((rows)[0]))

TEST(dla, l1_hit_and_hit_lfb_count_different_loads, REQS(DLA_13),
     NEEDS(need_perfmon, need_format2, need_data_address))
{
	static const struct counted rows[] = {
		{ EK_L1_HIT, ACCESS_L1, 1 }, { EK_L1_HIT, ACCESS_PENDING, 0 },
		{ EK_L1_HIT, ACCESS_L2, 0 }, { EK_L1_HIT, ACCESS_MEMORY, 0 },
		{ EK_HIT_LFB, ACCESS_PENDING, 3 }, { EK_HIT_LFB, ACCESS_L1, 0 },
		{ EK_HIT_LFB, ACCESS_MEMORY, 0 },
	};

	CHECK_COUNTS(t, AT(DLA_13), rows);
}

TEST(dla, l1_miss_counts_all_that_l2_hit_counts_and_more, REQS(DLA_13),
     NEEDS(need_perfmon, need_format2, need_data_address))
{
	static const struct counted rows[] = {
		{ EK_L1_MISS, ACCESS_L1, 0 }, { EK_L1_MISS, ACCESS_L2, 1 },
		{ EK_L1_MISS, ACCESS_L3, 1 }, { EK_L1_MISS, ACCESS_MEMORY, 1 },
		{ EK_L2_HIT, ACCESS_L1, 0 }, { EK_L2_HIT, ACCESS_L2, 1 },
		{ EK_L2_HIT, ACCESS_L3, 0 }, { EK_L2_HIT, ACCESS_MEMORY, 0 },
	};

	CHECK_COUNTS(t, AT(DLA_13), rows);
}

TEST(dla, l2_miss_counts_all_that_l3_hit_counts_and_more, REQS(DLA_13),
     NEEDS(need_perfmon, need_format2, need_data_address))
{
	static const struct counted rows[] = {
		{ EK_L2_MISS, ACCESS_L2, 0 }, { EK_L2_MISS, ACCESS_L3, 1 },
		{ EK_L2_MISS, ACCESS_MEMORY, 1 }, { EK_L3_HIT, ACCESS_L2, 0 },
		{ EK_L3_HIT, ACCESS_L3, 1 }, { EK_L3_HIT, ACCESS_MEMORY, 0 },
		{ EK_L3_MISS, ACCESS_L3, 0 }, { EK_L3_MISS, ACCESS_MEMORY, 1 },
	};

	CHECK_COUNTS(t, AT(DLA_13), rows);
}

TEST(dla, split_stlb_and_lock_events_count_their_accesses, REQS(DLA_13),
     NEEDS(need_perfmon, need_format2, need_data_address))
{
	static const struct counted rows[] = {
		{ EK_SPLIT_LOADS, ACCESS_SPLIT, 1 }, { EK_SPLIT_LOADS, ACCESS_L1, 0 },
		{ EK_SPLIT_STORES, ACCESS_SPLIT, 1 }, { EK_SPLIT_STORES, ACCESS_STORE_HIT, 0 },
		{ EK_STLB_MISS_LOADS, ACCESS_PAGE_WALK, 1 }, { EK_STLB_MISS_LOADS, ACCESS_L1, 0 },
		{ EK_STLB_MISS_LOADS, ACCESS_LOCKED_PAGE_WALK, 1 },
		{ EK_STLB_MISS_STORES, ACCESS_STORE_PAGE_WALK, 1 },
		{ EK_STLB_MISS_STORES, ACCESS_STORE_HIT, 0 },
		{ EK_LOCK_LOADS, ACCESS_LOCKED, 1 }, { EK_LOCK_LOADS, ACCESS_L1, 0 },
	};

	CHECK_COUNTS(t, AT(DLA_13), rows);
}

/* Both lines in one page, and each in a page of its own. */
TEST(dla, split_accesses_count_across_pages_too, REQS(DLA_13),
     NEEDS(need_perfmon, need_format2, need_data_address), .under_every_fault = true)
{
	static const struct counted loads = { EK_SPLIT_LOADS, ACCESS_SPLIT, 1 };
	static const struct counted stores = { EK_SPLIT_STORES, ACCESS_SPLIT, 1 };
	struct mem_sample_setup setup;
	struct cache_workload h;

	if (!setup_of(t, EK_SPLIT_LOADS, &setup) || !mem_sample_prepare(t, ACCESS_SPLIT, &h))
		return;
	h.at.memory = pages_get()->small + PAGE_SIZE - 64;
	h.name = "loads across a page's end";
	check_count(t, AT(DLA_13), &loads, &setup, &h);
	if (!setup_of(t, EK_SPLIT_STORES, &setup))
		return;
	h.at.memory = pages_get()->small + PAGE_SIZE - 128;
	h.name = "stores across a page's end";
	check_count(t, AT(DLA_13), &stores, &setup, &h);
}

/* A hit of the second-level TLB is no miss of it. Page walks are the control. */
TEST(dla, translations_of_the_stlb_are_no_misses, REQS(DLA_13),
     NEEDS(need_perfmon, need_format2, need_data_address))
{
	static const struct counted walks[] = {
		{ EK_STLB_MISS_LOADS, ACCESS_PAGE_WALK, 1 },
		{ EK_STLB_MISS_STORES, ACCESS_STORE_PAGE_WALK, 1 },
	};
	struct mem_sample_setup setup;
	struct cache_workload h;

	CHECK_COUNTS(t, AT(DLA_13), walks);
	if (!setup_of(t, EK_STLB_MISS_LOADS, &setup) || !mem_sample_prepare(t, ACCESS_STLB, &h))
		return;
	CHECK_RANGE(t, DLA_13, 0, 2 * PAGES_SMALL / 8, more_events(&setup, &h, 2 * PAGES_SMALL),
		    "events of %u %s", 2 * PAGES_SMALL, h.name);
	if (!setup_of(t, EK_STLB_MISS_STORES, &setup) ||
	    !mem_sample_prepare(t, ACCESS_STORE_STLB, &h))
		return;
	CHECK_RANGE(t, DLA_13, 0, 2 * PAGES_SMALL / 8, more_events(&setup, &h, 2 * PAGES_SMALL),
		    "events of %u %s", 2 * PAGES_SMALL, h.name);
}

/* Table 18-46: a locked store whose line is near has hit as well. */
TEST(dla, a_locked_store_that_hits_has_the_hit_bit, REQS(DLA_03),
     NEEDS(need_perfmon, need_format2, need_data_address), .under_every_fault = true)
{
	struct mem_sample_setup setup;

	if (setup_of(t, EK_STORES, &setup))
		mem_sample_check_most(t, AT(DLA_03), &setup, ACCESS_LOCKED, true, has_bit, DCU_HIT,
				      "have bit 0");
}
