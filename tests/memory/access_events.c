/* SPDX-License-Identifier: MIT */
/*
 * Accesses that must have an event or a bit, together with accesses that must not: accesses whose
 * translation is only in the second-level TLB, and accesses to uncacheable memory and devices. Also
 * counts of the events of Table 18-45. SDM chapter 19, Tables 18-24, 18-33 and 18-34. A prefetcher
 * or an interrupt may change the outcome of an access, so only most of the accesses must have the
 * intended outcome.
 */
#include "kernel/memory/paging.h"
#include "kernel/memory/pages.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

#define STLB_MISS	BIT(4)	/* in A0H: Tables 18-33 and 18-34 */
#define DCU_HIT		BIT(0)	/* Table 18-46 */
#define SPLIT_LOAD_END	64u	/* workload_split: the boundary that its load crosses */
#define SPLIT_STORE_END	128u	/* and its store */
#define CODE(source)	((source) & 0xf)
#define CODE_IO		BIT(0xe)
#define CODE_UNCACHEABLE BIT(0xf)

/*
 * LL-28  Bit 4 of the data source must be 0 for a translation found in the DTLB or STLB, and 1
 *        when the STLB missed.
 *        SDM 18.9.4.2 Load Latency Performance Monitoring Facility, Table 18-33 Layout of Data
 *        Source Field of Load Latency Record
 *
 * Given  loads whose translation the first-level TLB has lost and the second-level TLB, the STLB,
 *        has
 * When   IA32_PMC3 makes records of them
 * Then   at A0H bit 4 is 0 in most of them: "the load did not miss the STLB (hit the DTLB or
 *        STLB)"
 * Control: bit 4 is 1 in most records of loads after INVLPG, which need a page walk
 */
TEST(ll, latency_record_of_an_stlb_hit_has_no_stlb_miss_bit, REQS(LL_28),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_stlb_lock))
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	mem_sample_check_most(t, CONTROL_AT(LL_28), &setup, ACCESS_PAGE_WALK, SHARE_MORE,
			      mem_sample_has_bit, STLB_MISS, "have bit 4");
	mem_sample_check_most(t, AT(LL_28), &setup, ACCESS_STLB, SHARE_FEWER, mem_sample_has_bit,
			      STLB_MISS, "have bit 4");
}

/*
 * PS-06  Bit 4 of A0H must be 1 for a store that missed the STLB and 0 for one that didn't.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  stores whose translation the first-level TLB has lost and the second-level TLB, the STLB,
 *        has
 * When   IA32_PMC3 makes precise-store records of them
 * Then   at A0H bit 4 is 0 in most of them
 * Control: bit 4 is 1 in most records of stores after INVLPG, which need a page walk
 */
TEST(ps, precise_store_record_of_an_stlb_hit_has_no_stlb_miss_bit, REQS(PS_06),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores(t);

	mem_sample_check_most(t, CONTROL_AT(PS_06), &setup, ACCESS_STORE_PAGE_WALK, SHARE_MORE,
			      mem_sample_has_bit, STLB_MISS, "have bit 4");
	mem_sample_check_most(t, AT(PS_06), &setup, ACCESS_STORE_STLB, SHARE_FEWER,
			      mem_sample_has_bit, STLB_MISS, "have bit 4");
}

/*
 * LL-44  A request of I/O must be reported with code 0EH.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  loads of a register of the HPET, a device in memory
 * When   IA32_PMC3 makes records of them
 * Then   most have code 0EH (I/O) or 0FH (uncacheable) in bits 3:0 at A0H; the manual doesn't say
 *        which of the two is right, and no code of a cache is right
 */
TEST(ll, load_of_a_device_register_has_data_source_0eh_or_0fh, REQS(LL_44),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	mem_sample_check_most(t, AT(LL_44), &setup, ACCESS_DEVICE, SHARE_MORE, mem_sample_has_code,
			      CODE_IO | CODE_UNCACHEABLE, "have code 0EH or 0FH");
}

/*
 * LL-45  A load from uncacheable memory must be reported with code 0FH.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  loads of a page of memory that isn't cacheable
 * When   IA32_PMC3 makes records of them
 * Then   most have code 0FH in bits 3:0 at A0H
 */
TEST(ll, load_of_uncacheable_memory_has_data_source_0fh, REQS(LL_45),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	mem_sample_check_most(t, AT(LL_45), &setup, ACCESS_UNCACHEABLE, SHARE_MORE,
			      mem_sample_has_code, CODE_UNCACHEABLE, "have code 0FH");
}

/* ------------------------------------------------------------------ counts of Table 18-45 */
#define ROUNDS		64
#define STRICT_ROUNDS	16	/* of accesses that hit no L2 and no L3 */
#define COUNTER		2u	/* counts and makes the records here */
#define PEBS_COUNTERS	4u
#define SLACK(rounds)	((rounds) / 8)	/* tolerance of a count: interrupts, prefetchers */
#define SLACK_LIKELY	(ROUNDS / 2 - 1)	/* tolerance if only most accesses miss */
#define PAGE_ACCESSES	(2 * PAGES_SMALL)	/* accesses in two rounds of all pages of 4 KiB */
#define STRICT_PAGE_ACCESSES PAGES_SMALL

/* The number of a round's accesses that an event counts: each, or none. */
struct counted {
	enum event_kind kind;
	enum access access;
	unsigned each;
};

static struct mem_sample_setup setup_on(unsigned counter, u16 code)
{
	return (struct mem_sample_setup){ .counter = counter, .event = code,
					  .period = MEM_SAMPLE_PERIOD,
					  .enable = pmc_one(counter) };
}

/* false: this processor has no such event. */
static bool setup_of(enum event_kind kind, unsigned counter, struct mem_sample_setup *setup)
{
	struct event event;

	if (!event_get(kind, EV_PEBS, &event))
		return false;
	*setup = setup_on(counter, event.code);
	return true;
}

/* mem_sample_count(), but at CPL 3. */
static u64 count_at_cpl_3(const struct mem_sample_setup *setup, const struct cache_workload *h,
			  u64 n)
{
	u64 count;

	counter_program(setup->counter, setup->event, COUNT_USR);
	counter_write(setup->counter, 0);
	counters_enable(pmc_one(setup->counter));
	workload_run_user_at(h->workload, n, &h->at);
	counters_disable();
	count = counter_read(setup->counter);
	mem_sample_off(setup);
	return count;
}

/* The increase of the count for n more rounds: a window's other events are in both counts. */
static u64 more_by(u64 (*count)(const struct mem_sample_setup *setup,
				const struct cache_workload *h, u64 n),
		   const struct mem_sample_setup *setup, const struct cache_workload *h, u64 n)
{
	u64 few, many;

	count(setup, h, n);	/* brings caches and TLBs into the state after such rounds */
	few = count(setup, h, n);
	many = count(setup, h, 2 * n);
	return many > few ? many - few : 0;
}

static u64 more_events(const struct mem_sample_setup *setup, const struct cache_workload *h, u64 n)
{
	return more_by(mem_sample_count, setup, h, n);
}

/* A cache with random replacement keeps some of the lines that visits in turn should evict. */
static bool is_likely_only(enum access access)
{
	return access == ACCESS_L2 || access == ACCESS_L3;
}

/* The piece has no INVLPG. */
static bool runs_at_cpl_3(enum access access)
{
	return access != ACCESS_PAGE_WALK && access != ACCESS_LOCKED_PAGE_WALK &&
	       access != ACCESS_STORE_PAGE_WALK;
}

static void check_count(struct test *t, struct test_claim claim, const struct counted *c,
			const struct mem_sample_setup *setup, const struct cache_workload *h)
{
	const bool likely = is_likely_only(c->access);
	const u64 rounds = likely ? ROUNDS : test_rounds(t, STRICT_ROUNDS, ROUNDS);
	u64 slack = likely ? SLACK_LIKELY : SLACK(rounds);
	u64 low = c->each && !mem_sample_event_is_short(t, c->kind) ? c->each * (rounds - slack) :
								      0,
	    high = c->each * rounds + slack;

	test_check_range(t, claim, low, high, more_events(setup, h, rounds),
			 "events of code 0x%x in %lu rounds of %s, IA32_PMC%u", setup->event,
			 rounds, h->name, setup->counter);
	if (runs_at_cpl_3(c->access))
		test_check_range(t, claim, low, high, more_by(count_at_cpl_3, setup, h, rounds),
				 "events of code 0x%x in %lu rounds of %s at CPL 3, IA32_PMC%u",
				 setup->event, rounds, h->name, setup->counter);
}

static bool is_of_l3(const struct counted *c)
{
	return c->access == ACCESS_L3 && (c->kind == EK_L3_HIT || c->kind == EK_L3_MISS);
}

/* No source says whether a locked addition's load or its store walks, how many loads microcode has
 * for a locked addition across a line's end, and whether the CLFLUSH of each round is a load that
 * hits the L1. */
static bool is_open(const struct counted *c)
{
	const bool flushes = c->access == ACCESS_PENDING || c->access == ACCESS_MEMORY;

	return (c->kind == EK_L1_HIT && flushes) || c->access == ACCESS_LOCKED_SPLIT ||
	       (c->access == ACCESS_LOCKED_PAGE_WALK && c->kind == EK_STLB_MISS_LOADS);
}

static void check_counts(struct test *t, struct test_claim claim, const struct counted *rows,
			 unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct mem_sample_setup setup;
		struct cache_workload h;

		if (is_open(&rows[i]) && !test_is_strict(t))
			continue;
		if (is_of_l3(&rows[i]) && test_erratum(t, ERRATUM_VICTIM_L3))
			continue;
		if (rows[i].kind == EK_L3_HIT && test_erratum(t, ERRATUM_LLC_EVENTS))
			continue;
		if (!setup_of(rows[i].kind, i % PEBS_COUNTERS, &setup))
			continue;
		if (!mem_sample_prepare(t, rows[i].access, &h))
			return;
		check_count(t, claim, &rows[i], &setup, &h);
	}
}

#define CHECK_COUNTS(t, claim, rows) \
	check_counts((t), (claim), (rows), sizeof(rows) / sizeof((rows)[0]))

/*
 * DLA-13  An event of Table 18-45 must count each access that its name is about, locked or not, in
 *         one page or in two, and no access of another kind.
 *         SDM chapter 19: MEM_UOPS_RETIRED, MEM_LOAD_UOPS_RETIRED; Table 18-45
 * CNT-49  An event of retired loads or stores must count each that its name is about, whatever
 *         else it is: locked, split, in two pages, with a page walk, one of several of an
 *         instruction.
 *         SDM chapter 19: MEM_UOPS_RETIRED of Sandy Bridge to Broadwell, MEM_INST_RETIRED
 *
 * Given  loads that hit the L1, plain and locked; loads of a line that is on its way, three of the
 *        four in each round; loads from the L2 and from memory
 * When   64 rounds more of each (in strict runs 16, except of lines that the L2 or the L3 has)
 *        are counted at CPL 0, and at CPL 3, on each counter in turn
 * Then   MEM_LOAD_UOPS_RETIRED.L1_HIT counts the first only, HIT_LFB the three of four only. Where
 *        rounds flush a line, L1_HIT is judged only where every requirement is
 */
TEST(dla, l1_hit_and_hit_lfb_count_different_loads, REQS(DLA_13, CNT_49),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	static const struct counted rows[] = {
		{ EK_L1_HIT, ACCESS_L1, 1 }, { EK_L1_HIT, ACCESS_PENDING, 0 },
		{ EK_L1_HIT, ACCESS_L2, 0 }, { EK_L1_HIT, ACCESS_MEMORY, 0 },
		{ EK_L1_HIT, ACCESS_LOCKED, 1 },
		{ EK_HIT_LFB, ACCESS_PENDING, 3 }, { EK_HIT_LFB, ACCESS_L1, 0 },
		{ EK_HIT_LFB, ACCESS_MEMORY, 0 },
	};

	CHECK_COUNTS(t, AT(DLA_13, CNT_49), rows);
}

/*
 * DLA-13  An event of Table 18-45 must count each access that its name is about, locked or not, in
 *         one page or in two, and no access of another kind.
 *         SDM chapter 19: MEM_UOPS_RETIRED, MEM_LOAD_UOPS_RETIRED; Table 18-45
 * CNT-49  An event of retired loads or stores must count each that its name is about, whatever
 *         else it is: locked, split, in two pages, with a page walk, one of several of an
 *         instruction.
 *         SDM chapter 19: MEM_UOPS_RETIRED of Sandy Bridge to Broadwell, MEM_INST_RETIRED
 *
 * Given  loads that hit the L1, the L2 and the L3, and loads from memory
 * When   64 rounds more of each (in strict runs 16, except of lines that the L2 or the L3 has)
 *        are counted at CPL 0, and at CPL 3, on each counter in turn
 * Then   the event of L1 misses counts all but the first, that of L2 hits the second only
 */
TEST(dla, l1_miss_counts_loads_of_l2_l3_and_memory_l2_hit_of_the_l2, REQS(DLA_13, CNT_49),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	static const struct counted rows[] = {
		{ EK_L1_MISS, ACCESS_L1, 0 }, { EK_L1_MISS, ACCESS_L2, 1 },
		{ EK_L1_MISS, ACCESS_L3, 1 }, { EK_L1_MISS, ACCESS_MEMORY, 1 },
		{ EK_L2_HIT, ACCESS_L1, 0 }, { EK_L2_HIT, ACCESS_L2, 1 },
		{ EK_L2_HIT, ACCESS_L3, 0 }, { EK_L2_HIT, ACCESS_MEMORY, 0 },
	};

	CHECK_COUNTS(t, AT(DLA_13, CNT_49), rows);
}

/*
 * DLA-13  An event of Table 18-45 must count each access that its name is about, locked or not, in
 *         one page or in two, and no access of another kind.
 *         SDM chapter 19: MEM_UOPS_RETIRED, MEM_LOAD_UOPS_RETIRED; Table 18-45
 * CNT-49  An event of retired loads or stores must count each that its name is about, whatever
 *         else it is: locked, split, in two pages, with a page walk, one of several of an
 *         instruction.
 *         SDM chapter 19: MEM_UOPS_RETIRED of Sandy Bridge to Broadwell, MEM_INST_RETIRED
 *
 * Given  loads that hit the L2 and the L3, and loads from memory
 * When   64 rounds more of each (in strict runs 16, except of lines that the L2 or the L3 has)
 *        are counted at CPL 0, and at CPL 3, on each counter in turn
 * Then   the event of L2 misses counts all but the first, that of L3 hits the second only, and
 *        that of L3 misses the third only
 */
TEST(dla, l2_miss_counts_loads_of_l3_and_memory_l3_hit_of_the_l3, REQS(DLA_13, CNT_49),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	static const struct counted rows[] = {
		{ EK_L2_MISS, ACCESS_L2, 0 }, { EK_L2_MISS, ACCESS_L3, 1 },
		{ EK_L2_MISS, ACCESS_MEMORY, 1 }, { EK_L3_HIT, ACCESS_L2, 0 },
		{ EK_L3_HIT, ACCESS_L3, 1 }, { EK_L3_HIT, ACCESS_MEMORY, 0 },
		{ EK_L3_MISS, ACCESS_L3, 0 }, { EK_L3_MISS, ACCESS_MEMORY, 1 },
	};

	CHECK_COUNTS(t, AT(DLA_13, CNT_49), rows);
}

/*
 * DLA-13  An event of Table 18-45 must count each access that its name is about, locked or not, in
 *         one page or in two, and no access of another kind.
 *         SDM chapter 19: MEM_UOPS_RETIRED, MEM_LOAD_UOPS_RETIRED; Table 18-45
 * CNT-49  An event of retired loads or stores must count each that its name is about, whatever
 *         else it is: locked, split, in two pages, with a page walk, one of several of an
 *         instruction.
 *         SDM chapter 19: MEM_UOPS_RETIRED of Sandy Bridge to Broadwell, MEM_INST_RETIRED
 *
 * Given  accesses across a line's end, accesses after INVLPG, locked ones with and without it and
 *        across a line's end, and plain loads and stores of one line. In strict runs only: locked
 *        ones across a line's end, and STLB misses of locked ones
 * When   64 rounds more of each (in strict runs 16) are counted by the events of split accesses,
 *        of STLB misses and of locked loads, on each counter in turn; those without INVLPG at
 *        CPL 3 too
 * Then   an event counts each access that it is about, one a round, and no plain one
 */
TEST(dla, split_stlb_and_lock_events_count_only_their_accesses, REQS(DLA_13, CNT_49),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	static const struct counted rows[] = {
		{ EK_SPLIT_LOADS, ACCESS_SPLIT, 1 }, { EK_SPLIT_LOADS, ACCESS_L1, 0 },
		{ EK_SPLIT_STORES, ACCESS_SPLIT, 1 }, { EK_SPLIT_STORES, ACCESS_STORE_HIT, 0 },
		{ EK_STLB_MISS_LOADS, ACCESS_PAGE_WALK, 1 }, { EK_STLB_MISS_LOADS, ACCESS_L1, 0 },
		{ EK_STLB_MISS_LOADS, ACCESS_LOCKED_PAGE_WALK, 1 },
		{ EK_STLB_MISS_STORES, ACCESS_STORE_PAGE_WALK, 1 },
		{ EK_STLB_MISS_STORES, ACCESS_STORE_HIT, 0 },
		{ EK_LOCK_LOADS, ACCESS_LOCKED, 1 }, { EK_LOCK_LOADS, ACCESS_L1, 0 },
		{ EK_SPLIT_LOADS, ACCESS_LOCKED_SPLIT, 1 },
		{ EK_LOCK_LOADS, ACCESS_LOCKED_SPLIT, 1 },
	};

	CHECK_COUNTS(t, AT(DLA_13, CNT_49), rows);
}

/*
 * DLA-13  An event of Table 18-45 must count each access that its name is about, locked or not, in
 *         one page or in two, and no access of another kind.
 *         SDM chapter 19: MEM_UOPS_RETIRED, MEM_LOAD_UOPS_RETIRED; Table 18-45
 * CNT-49  An event of retired loads or stores must count each that its name is about, whatever
 *         else it is: locked, split, in two pages, with a page walk, one of several of an
 *         instruction.
 *         SDM chapter 19: MEM_UOPS_RETIRED of Sandy Bridge to Broadwell, MEM_INST_RETIRED
 *
 * Given  a load, and a store, whose two lines are in different pages
 * When   64 rounds more (16 in strict runs) are counted by the events of split loads and of
 *        split stores, at CPL 0 and at CPL 3
 * Then   one event is counted a round
 */
TEST(dla, split_events_count_accesses_across_a_page_boundary, REQS(DLA_13, CNT_49),
     NEEDS(need_perfmon, need_pebs, need_events), .under_every_fault = true)
{
	static const struct counted loads = { EK_SPLIT_LOADS, ACCESS_SPLIT, 1 };
	static const struct counted stores = { EK_SPLIT_STORES, ACCESS_SPLIT, 1 };
	struct mem_sample_setup setup;
	struct cache_workload h;

	if (!setup_of(EK_SPLIT_LOADS, COUNTER, &setup) || !mem_sample_prepare(t, ACCESS_SPLIT, &h))
		return;
	h.at.memory = pages_get()->small + PAGE_SIZE - SPLIT_LOAD_END;
	h.name = "loads across a page's end";
	check_count(t, AT(DLA_13, CNT_49), &loads, &setup, &h);
	if (!setup_of(EK_SPLIT_STORES, COUNTER, &setup))
		return;
	h.at.memory = pages_get()->small + PAGE_SIZE - SPLIT_STORE_END;
	h.name = "stores across a page's end";
	check_count(t, AT(DLA_13, CNT_49), &stores, &setup, &h);
}

/*
 * DLA-13  An event of Table 18-45 must count each access that its name is about, locked or not, in
 *         one page or in two, and no access of another kind.
 *         SDM chapter 19: MEM_UOPS_RETIRED, MEM_LOAD_UOPS_RETIRED; Table 18-45
 * CNT-49  An event of retired loads or stores must count each that its name is about, whatever
 *         else it is: locked, split, in two pages, with a page walk, one of several of an
 *         instruction.
 *         SDM chapter 19: MEM_UOPS_RETIRED of Sandy Bridge to Broadwell, MEM_INST_RETIRED
 *
 * Given  REP LODSQ of 16 quadwords, four bytes after a line's begin: two of its loads cross a
 *        line's end
 * When   64 rounds more of it (16 in strict runs) are counted by the events of split loads and
 *        of L1 hits, at CPL 0 and at CPL 3
 * Then   two and sixteen are counted a round, or one where the event is of instructions
 */
TEST(dla, split_loads_event_counts_each_split_load_of_one_instruction, REQS(DLA_13, CNT_49),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct counted rows[] = {
		{ EK_SPLIT_LOADS, ACCESS_SPLIT, 2 },
		{ EK_L1_HIT, ACCESS_SPLIT, 16 },
	};
	struct mem_sample_setup setup;
	struct cache_workload h;
	struct event event;

	if (!mem_sample_prepare(t, ACCESS_SPLIT, &h))
		return;
	h.workload = &workload_kind_rep_split;
	h.at.memory = pages_get()->small;
	h.name = "REP LODSQ across two lines' ends";
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!setup_of(rows[i].kind, COUNTER, &setup))
			continue;
		if (rows[i].each && event_get(rows[i].kind, EV_PEBS | EV_INSN, &event))
			rows[i].each = 1;
		check_count(t, AT(DLA_13, CNT_49), &rows[i], &setup, &h);
	}
}

/*
 * DLA-13  An event of Table 18-45 must count each access that its name is about, locked or not, in
 *         one page or in two, and no access of another kind.
 *         SDM chapter 19: MEM_UOPS_RETIRED, MEM_LOAD_UOPS_RETIRED; Table 18-45
 * CNT-49  An event of retired loads or stores must count each that its name is about, whatever
 *         else it is: locked, split, in two pages, with a page walk, one of several of an
 *         instruction.
 *         SDM chapter 19: MEM_UOPS_RETIRED of Sandy Bridge to Broadwell, MEM_INST_RETIRED
 *
 * Given  loads and stores whose translation the first-level TLB has lost and the second-level TLB,
 *        the STLB, has
 * When   two rounds more of all pages (one in strict runs) are counted by the events of STLB misses
 * Then   at most one access in eight is counted
 * Control: accesses after INVLPG, which need a page walk, are counted
 */
TEST(dla, stlb_miss_events_do_not_count_stlb_hits, REQS(DLA_13, CNT_49),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	static const struct counted walks[] = {
		{ EK_STLB_MISS_LOADS, ACCESS_PAGE_WALK, 1 },
		{ EK_STLB_MISS_STORES, ACCESS_STORE_PAGE_WALK, 1 },
	};
	const u64 accesses = test_rounds(t, STRICT_PAGE_ACCESSES, PAGE_ACCESSES);
	struct mem_sample_setup setup;
	struct cache_workload h;

	CHECK_COUNTS(t, AT(DLA_13, CNT_49), walks);
	if (!setup_of(EK_STLB_MISS_LOADS, COUNTER, &setup) ||
	    !mem_sample_prepare(t, ACCESS_STLB, &h))
		return;
	CHECK_RANGE(t, IDS(DLA_13, CNT_49), 0, accesses / 8, more_events(&setup, &h, accesses),
		    "events of %lu %s", accesses, h.name);
	if (!setup_of(EK_STLB_MISS_STORES, COUNTER, &setup) ||
	    !mem_sample_prepare(t, ACCESS_STORE_STLB, &h))
		return;
	CHECK_RANGE(t, IDS(DLA_13, CNT_49), 0, accesses / 8, more_events(&setup, &h, accesses),
		    "events of %lu %s", accesses, h.name);
}

/*
 * DLA-03  For the store events that Table 18-46 names, bit 0 of A0H must be 1 exactly when the
 *         store hit the L1 data cache.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 *
 * Given  locked additions to one line, which is in the L1
 * When   IA32_PMC2 makes records of the event of stores
 * Then   most have bit 0 at A0H, as Table 18-46 says of a store that hit the L1
 */
TEST(dla, record_of_a_locked_store_that_hits_has_the_hit_bit, REQS(DLA_03),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address), .under_every_fault = true)
{
	struct mem_sample_setup setup;

	if (setup_of(EK_STORES, COUNTER, &setup))
		mem_sample_check_most(t, AT(DLA_03), &setup, ACCESS_LOCKED, SHARE_MORE,
				      mem_sample_has_bit, DCU_HIT, "have bit 0");
}

static struct mem_sample_record records[MEM_SAMPLE_MOST];

/*
 * CNT-52  Events of retired loads by the cache that had the line, of DTLB misses of loads and of
 *         stores, and of uncacheable loads must count those, and no others, and make records of
 *         them.
 *         SDM chapter 19: MEM_LOAD_RETIRED, MEM_STORE_RETIRED, MEM_UNCORE_RETIRED of Intel Core i7
 *
 * Given  loads of one line, of a line that is on its way (three of four), from the L2, the L3 and
 *        from memory; loads and stores after INVLPG; stores of one line; uncacheable loads
 * When   64 rounds more of each (in strict runs 16, except of lines that the L2 or the L3 has)
 *        are counted by MEM_LOAD_RETIRED.L1D_HIT, HIT_LFB, L2_HIT, LLC_MISS and DTLB_MISS,
 *        MEM_STORE_RETIRED.DTLB_MISS and MEM_UNCORE_RETIRED.UNCACHEABLE, those that this
 *        processor has, each row on another counter; the counter makes records of those that
 *        the event is about
 * Then   each event counts the accesses that its name describes, each time, and few others; there
 *        is a record
 */
TEST(count, retired_load_and_store_events_count_the_accesses_of_their_name, REQS(CNT_52),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	static const struct counted rows[] = {
		{ EK_L1_HIT, ACCESS_L1, 1 }, { EK_L1_HIT, ACCESS_L2, 0 },
		{ EK_L1_HIT, ACCESS_MEMORY, 0 }, { EK_L1_HIT, ACCESS_PENDING, 0 },
		{ EK_HIT_LFB, ACCESS_PENDING, 3 },
		{ EK_HIT_LFB, ACCESS_L1, 0 }, { EK_L2_HIT, ACCESS_L2, 1 },
		{ EK_L2_HIT, ACCESS_L1, 0 }, { EK_L2_HIT, ACCESS_L3, 0 },
		{ EK_L2_HIT, ACCESS_MEMORY, 0 }, { EK_L3_MISS, ACCESS_MEMORY, 1 },
		{ EK_L3_MISS, ACCESS_L2, 0 }, { EK_L3_MISS, ACCESS_L3, 0 },
		{ EK_DTLB_MISS_LOADS, ACCESS_PAGE_WALK, 1 }, { EK_DTLB_MISS_LOADS, ACCESS_L1, 0 },
		{ EK_DTLB_MISS_LOADS, ACCESS_STORE_PAGE_WALK, 0 },
		{ EK_DTLB_MISS_STORES, ACCESS_STORE_PAGE_WALK, 1 },
		{ EK_DTLB_MISS_STORES, ACCESS_STORE_HIT, 0 },
		{ EK_DTLB_MISS_STORES, ACCESS_PAGE_WALK, 0 },
		{ EK_UNCACHED, ACCESS_UNCACHEABLE, 1 }, { EK_UNCACHED, ACCESS_L1, 0 },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const unsigned counter = i % PEBS_COUNTERS;
		struct mem_sample_setup setup;
		struct cache_workload h;
		struct event event;

		if (!event_get(rows[i].kind, EV_PEBS, &event) ||
		    (is_open(&rows[i]) && !test_is_strict(t)))
			continue;
		setup = setup_on(counter, event.code);
		if (!mem_sample_prepare(t, rows[i].access, &h))
			return;
		check_count(t, AT(CNT_52), &rows[i], &setup, &h);
		if (!rows[i].each)
			continue;
		setup.wanted = 1;
		CHECK_RANGE(t, CNT_52, 1, ~0ULL, mem_sample_take(&setup, &h, records),
			    "records of code 0x%x on IA32_PMC%u, %s", event.code, counter, h.name);
	}
}
