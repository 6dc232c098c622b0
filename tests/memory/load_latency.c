/* SPDX-License-Identifier: MIT */
/*
 * Load latency: the counts and the records. SDM "Load Latency Performance Monitoring Facility". The
 * tests don't assert which load is tagged, or its exact latency. For Nehalem the page prints
 * IA32_PerfEvtSelX[15:0] = 100H, in which a digit is missing (event 0BH, umask 10H); no test
 * programs this value.
 */
#include "kernel/interrupt/fault.h"
#include "tests/measure/mem_sample.h"
#include "tests/frame/needs.h"

#define SOME		128	/* rounds of a counted window */
#define OTHERS		8	/* most loads of a window that aren't the workload's */
#define LATENCY_LEAST	4u	/* "smallest detectable", core cycles */
#define RECORDS_ENOUGH	2	/* for each counter */
#define THRESHOLD_BITS	16	/* Figure 18-23 */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

/*
 * Decides LL-01, LL-02, LL-06, LL-16, LL-17, LL-18, LL-26, REC-HSW-05, REC-HSW-07, REC-HSW-08
 * (claims/requirement.def has their sentences).
 *
 * Given  loads from one address; load latency on IA32_PMC3 with both enables, a threshold of 3
 * When   it makes records
 * Then   each has that address at 98H, and at A8H a latency of at least 4 cycles, the smallest
 *        detectable
 */
TEST(ll, latency_record_holds_latency_and_address_of_its_load,
     REQS(LL_01, LL_02, LL_06, LL_16, LL_17, LL_18, LL_26, REC_HSW_05, REC_HSW_07, REC_HSW_08),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, AT(LL_01), &setup, ACCESS_L1, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++) {
		const struct mem_sample_record *r = &records[i];

		CHECK_RANGE(t, LL_06, LATENCY_LEAST, ~0ULL, r->latency, "latency of record %u", i);
		CHECK_RANGE(t, IDS(LL_02, LL_16, LL_17), 1, ~0ULL, r->latency,
			    "latency of record %u of IA32_PMC3, 3F1H = 0x%lx", i,
			    setup.enable.bits);
		CHECK_EQ(t, IDS(LL_18, LL_26), h.first, r->address,
			 "address of record %u, all loads from one", i);
		if (!record_has(counter_caps()->record_format, RECORD_eventing_ip))
			continue;
		CHECK_EQ(t, REC_HSW_05, h.first, r->address, "address of record %u at 98H", i);
		CHECK_RANGE(t, IDS(REC_HSW_07, REC_HSW_08), 1, ~0ULL, r->latency,
			    "latency of record %u at A8H", i);
	}
}

/*
 * LL-26  The data linear address of a load-latency record must be the linear address of the target
 *        of the load, segment base included.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility
 *
 * Given  loads by each form of an operand: with a segment base, and after an index
 * When   IA32_PMC3 makes a record of each
 * Then   the address at 98H is the linear one: segment base plus effective address
 */
TEST(ll, latency_record_address_is_linear_for_each_operand_form, REQS(LL_26),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	mem_sample_check_addressing_modes(t, AT(LL_26), &setup, ACCESS_L1, addressing_mode_of_load,
					  records);
}

/* A control: take records with a latency. Later runs have at most as many rounds. */
static bool with_both_enables(struct test *t, struct test_claim claim,
			      struct mem_sample_setup *setup, struct cache_workload *h)
{
	unsigned count;

	if (!mem_sample_collect(t, claim, setup, ACCESS_L1, h, records, &count))
		return false;
	test_check_range(t, claim, LATENCY_LEAST, ~0ULL, records[0].latency,
			 "latency of record 0, 3F1H = 0x%lx", setup->enable.bits);
	setup->most = setup->rounds;
	return true;
}

/* Take records with these enable bits; none may have a latency. Returns their number. */
static unsigned check_no_latency(struct test *t, struct test_claim claim,
				 struct mem_sample_setup *setup, const struct cache_workload *h)
{
	unsigned count = mem_sample_take(setup, h, records);

	for (unsigned i = 0; i < count; i++)
		test_check_eq(t, claim, 0, records[i].latency,
			      "latency of record %u with 3F1H = 0x%lx", i, setup->enable.bits);
	return count;
}

/*
 * LL-02  Both the PEBS enable bit and the load-latency enable bit of a counter must be set for
 *        load-latency records; the load-latency bit alone must cause none.
 * LL-29  A record of a counter without its load-latency enable bit must hold no latency.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility
 *
 * Given  loads of one line, as many as were needed for records with a latency while LL_EN_PMC3 and
 *        PEBS_EN_PMC3 of IA32_PEBS_ENABLE (3F1H) were both 1
 * When   they run with LL_EN_PMC3 alone, and with PEBS_EN_PMC3 alone
 * Then   there is no record; then there may be some, each with 0 as its latency
 * Control: with both bits there are records with a latency of at least 4 cycles
 */
TEST(ll, load_latency_needs_pebs_enable_and_latency_enable, REQS(LL_02, LL_29),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;

	if (!with_both_enables(t, CONTROL_AT(LL_02), &setup, &h))
		return;
	setup.enable.bits = latency_enable(setup.counter).bits & ~BIT(setup.counter);
	CHECK_EQ(t, LL_02, 0, mem_sample_take(&setup, &h, records), "records with 3F1H = 0x%lx",
		 setup.enable.bits);
	setup.enable = pmc_one(setup.counter);
	if (!check_no_latency(t, AT(LL_29), &setup, &h))
		test_note(t, "no record with PEBS_EN alone");
}

/*
 * LL-02  Both the PEBS enable bit and the load-latency enable bit of a counter must be set for
 *        load-latency records; the load-latency bit alone must cause none.
 * LL-29  A record of a counter without its load-latency enable bit must hold no latency.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility
 *
 * Given  loads of one line, as many as were needed for records with a latency while LL_EN_PMC3 and
 *        PEBS_EN_PMC3 of IA32_PEBS_ENABLE (3F1H) were both 1
 * When   they run with PEBS_EN_PMC3 and the LL_EN bit of each other counter
 * Then   what records there are have 0 as their latency
 * Control: with both bits of IA32_PMC3 there are records with a latency of at least 4 cycles
 */
TEST(ll, latency_enable_of_another_counter_yields_no_latency, REQS(LL_02, LL_29),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;

	/* This is a check: if other enable bits give no record at all, it decides LL-02. */
	if (!with_both_enables(t, AT(LL_02), &setup, &h))
		return;
	for (unsigned other = 0; other < PEBS_COUNTERS; other++) {
		if (other == setup.counter)
			continue;
		setup.enable.bits = BIT(setup.counter) |
				    BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + other);
		check_no_latency(t, AT(LL_29), &setup, &h);
	}
}

/* Code 01H of Table 18-24. */
static bool is_of_l1(const struct mem_sample_record *record, u64 unused)
{
	(void)unused;
	return (record->source & 0xf) == 1;
}

/*
 * LL-30  Load latency must work on each of IA32_PMC0 to IA32_PMC3.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility: for example IA32_PMC0
 *
 * Given  load latency on each of IA32_PMC0 to IA32_PMC3, with its own two enables; with the latency
 *        enables of the others too
 * When   each makes records of loads from one address, which hit the L1
 * Then   they have that address at 98H, a latency of at least 4 cycles, and most have code 01H in
 *        bits 3:0 at A0H; the pages' example is IA32_PMC0, and Intel's event files name IA32_PMC3
 *        alone for some processors
 */
TEST(ll, load_latency_works_on_each_counter, REQS(LL_30),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;

	for (unsigned n = 0; n < 2 * PEBS_COUNTERS; n++) {
		unsigned count;

		setup.wanted = RECORDS_ENOUGH;
		setup.counter = n / 2;
		setup.enable = latency_enable(setup.counter);
		if (n & 1)
			setup.enable.bits |= BITS(0, PEBS_COUNTERS - 1)
					     << IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT;
		if (!mem_sample_collect(t, AT(LL_30), &setup, ACCESS_L1, &h, records, &count))
			return;
		for (unsigned i = 0; i < count; i++) {
			CHECK_RANGE(t, LL_30, LATENCY_LEAST, ~0ULL, records[i].latency,
				    "latency of record %u of IA32_PMC%u, 3F1H = 0x%lx", i,
				    setup.counter, setup.enable.bits);
			CHECK_EQ(t, LL_30, h.first, records[i].address,
				 "address of record %u of IA32_PMC%u, 3F1H = 0x%lx", i,
				 setup.counter, setup.enable.bits);
		}
		mem_sample_check_most(t, AT(LL_30), &setup, ACCESS_L1, SHARE_MORE, is_of_l1, 0,
				      "have code 01H in bits 3:0");
	}
}

/*
 * LL-03  The load-latency event must ignore stores.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  stores to one line, and in strict runs to a flushed line, and after INVLPG
 * When   the load latency event counts 128 rounds of each
 * Then   it counts none
 * Control: loads make records
 */
TEST(ll, load_latency_event_does_not_count_stores, REQS(LL_03),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	static const enum access stores[] = {
		ACCESS_STORE_HIT, ACCESS_STORE_MISS, ACCESS_STORE_PAGE_WALK,
	};
	/* An event of loads may count CLFLUSH and INVLPG. */
	const unsigned kinds = test_is_strict(t) ? sizeof(stores) / sizeof(stores[0]) : 1;
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	unsigned count;

	for (unsigned i = 0; i < kinds; i++) {
		if (!mem_sample_prepare(t, stores[i], &h))
			return;
		CHECK_EQ(t, LL_03, 0, mem_sample_count_least(&setup, &h, SOME), "events of %u %s",
			 SOME, h.name);
	}
	mem_sample_collect(t, CONTROL_AT(LL_03), &setup, ACCESS_L1, &h, records, &count);
}

/*
 * LL-03  The load-latency event must ignore stores.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  locked additions to one line and after INVLPG: a load and a store each
 * When   the load latency event counts 128 of each
 * Then   it counts no more than their loads
 * Control: it counts some
 */
TEST(ll, load_latency_event_counts_only_the_load_of_a_locked_addition, REQS(LL_03),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	static const enum access locked[] = { ACCESS_LOCKED, ACCESS_LOCKED_PAGE_WALK };
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;

	for (unsigned i = 0; i < sizeof(locked) / sizeof(locked[0]); i++) {
		u64 n = SOME, events;

		if (!mem_sample_prepare(t, locked[i], &h))
			return;
		while (!(events = mem_sample_count_least(&setup, &h, n)) &&
		       (n *= 8) <= MEM_SAMPLE_ROUNDS_MOST)
			;
		if (locked[i] == ACCESS_LOCKED && mem_sample_hits_are_short(t, events))
			return;
		CONTROL_RANGE(t, LL_03, 1, ~0ULL, events, "events of %lu %s", n, h.name);
		CHECK_RANGE(t, LL_03, 0, n + OTHERS, events, "events of %lu %s", n, h.name);
	}
}

/*
 * LL-09  Only retired demand loads may be counted and recorded: no prefetches and no loads that
 *        were given up.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  a software prefetch of a flushed line by each of the five instructions; the event is of
 *        "retired demand load operations"
 * When   the load latency event counts 128 rounds of each
 * Then   it counts none; from Sandy Bridge on it may on a processor, whose loads may be software
 *        prefetches too
 * Control: loads of the same line, flushed as well, make records
 */
TEST(ll, load_latency_event_does_not_count_prefetches, REQS(LL_09),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	static const struct workload *const prefetches[] = {
		&workload_prefetch_t0, &workload_prefetch_t1, &workload_prefetch_t2,
		&workload_prefetch_nta, &workload_prefetch_w,
	};
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_prepare(t, ACCESS_PREFETCH, &h))
		return;
	for (unsigned i = 0; i < sizeof(prefetches) / sizeof(prefetches[0]); i++) {
		u64 events;

		h.workload = prefetches[i];
		events = mem_sample_count_least(&setup, &h, SOME);
		if (!events || !test_erratum(t, ERRATUM_PREFETCH_LOADS))
			CHECK_EQ(t, LL_09, 0, events, "events of %u %s, %s", SOME, h.name,
				 h.workload->name);
	}
	/* Loads of one line, which is flushed too. */
	mem_sample_collect(t, CONTROL_AT(LL_09), &setup, ACCESS_MEMORY, &h, records, &count);
}

/*
 * LL-24  The counter itself must count loads above the threshold, from Sandy Bridge on the tagged
 *        ones of them, and no others.
 * LL-05  Loads with a latency greater than the programmed threshold, whichever it is, must be
 *        eligible for counting and recording, and no others.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  loads of one line; no load takes 65535 cycles
 * When   the load latency event counts them with the threshold 65535
 * Then   it counts none
 * Control: as many are counted with the threshold 3
 */
TEST(ll, load_latency_event_counts_no_load_below_the_threshold, REQS(LL_24, LL_05),
     NEEDS(need_perfmon, need_pebs, need_load_latency), .under_every_fault = true)
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	u64 none, n = SOME, some;

	if (!mem_sample_prepare(t, ACCESS_L1, &h))
		return;
	do
		some = mem_sample_count(&setup, &h, n);
	while (!some && (n *= 8) <= MEM_SAMPLE_ROUNDS_MOST);
	if (!CONTROL_RANGE(t, LL_24, 1, ~0ULL, some, "events with a threshold of 3"))
		return;
	setup.threshold = LATENCY_THRESHOLD_MOST;
	none = mem_sample_count_least(&setup, &h, n);
	CHECK_EQ(t, IDS(LL_24, LL_05), 0, none, "events of %lu loads of one line, threshold 65535",
		 n);
}

/* The threshold is the smallest latency seen: the latencies must be greater, not equal. */
static void check_above(struct test *t, enum access access)
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	u64 least = ~0ULL;
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, AT(LL_05), &setup, access, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++) {
		CHECK_RANGE(t, LL_05, setup.threshold + 1, ~0ULL, records[i].latency,
			    "latency of record %u of %s, threshold %lu", i, h.name,
			    setup.threshold);
		if (records[i].latency < least)
			least = records[i].latency;
	}
	if (least < LATENCY_THRESHOLD_LEAST || least > LATENCY_THRESHOLD_MOST)
		return;
	setup.threshold = least;
	setup.most = setup.rounds;
	count = mem_sample_take(&setup, &h, records);
	for (unsigned i = 0; i < count; i++)
		CHECK_RANGE(t, LL_05, least + 1, ~0ULL, records[i].latency,
			    "latency of record %u of %s, threshold %lu", i, h.name, least);
}

/*
 * LL-05  Loads with a latency greater than the programmed threshold, whichever it is, must be
 *        eligible for counting and recording, and no others.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  loads of one line, and of a flushed line
 * When   records are made with the threshold 3, and then with the least latency of these as the
 *        threshold
 * Then   each latency is greater than the threshold, not equal to it
 */
TEST(ll, recorded_latency_is_greater_than_the_threshold, REQS(LL_05),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_above(t, ACCESS_L1);
	check_above(t, ACCESS_MEMORY);
}

#define SLOWER	2	/* times an L1 hit: the least latency of a load from memory */

static u64 mean_latency(unsigned count)
{
	u64 sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += records[i].latency;
	return sum / count;
}

/* Compare the mean latencies of loads from memory and of loads from nearer caches. */
static void check_far_is_slower(struct test *t, struct test_claim claim, enum access near)
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	unsigned count;
	u64 mean;

	if (!mem_sample_collect(t, claim, &setup, near, &h, records, &count))
		return;
	mean = mean_latency(count);
	if (!mem_sample_collect(t, claim, &setup, ACCESS_MEMORY, &h, records, &count))
		return;
	test_check_range(t, claim, SLOWER * mean, ~0ULL, mean_latency(count),
			 "mean latency of %s, those of what is nearer %lu", h.name, mean);
}

/*
 * LL-08  The latency must run from the first dispatch of the load to the final data writeback, so
 *        that a load that misses takes longer than one that hits.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  loads of one line, which hit the L1, and of a flushed line
 * When   records are made of each
 * Then   the mean latency of the second is at least twice that of the first: it lasts from the
 *        first dispatch to the data, replays included
 */
TEST(ll, latency_of_loads_from_memory_is_larger_than_of_l1_hits, REQS(LL_08),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_far_is_slower(t, AT(LL_08), ACCESS_L1);
}

/*
 * LL-08  The latency must run from the first dispatch of the load to the final data writeback, so
 *        that a load that misses takes longer than one that hits.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  loads that hit the L2, and loads of a flushed line
 * When   records are made of each
 * Then   the mean latency of the second is at least twice that of the first: it lasts until the
 *        data are there, and not only until the nearer caches have missed
 */
TEST(ll, latency_of_loads_from_memory_is_larger_than_of_l2_hits, REQS(LL_08),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_far_is_slower(t, AT(LL_08), ACCESS_L2);
}

#define LINE	64u	/* bytes between the two near addresses of workload_two_places */

static bool is_far(const struct cache_workload *h, const struct mem_sample_record *record)
{
	return record->address - h->first == TWO_PLACES_COLD;
}

static unsigned far_ones(const struct cache_workload *h, unsigned count)
{
	unsigned far = 0;

	for (unsigned i = 0; i < count; i++)
		far += is_far(h, &records[i]);
	return far;
}

/* The median latency of the records of far loads, or of near ones: a single very slow load (DRAM
 * refresh, an SMI) doesn't change it. 0: there are none. */
static u64 median_latency(const struct cache_workload *h, unsigned count, bool far)
{
	unsigned all = 0;

	for (unsigned i = 0; i < count; i++)
		all += is_far(h, &records[i]) == far;
	for (unsigned i = 0; i < count; i++) {
		unsigned below = 0, up_to = 0;

		if (is_far(h, &records[i]) != far)
			continue;
		for (unsigned j = 0; j < count; j++) {
			if (is_far(h, &records[j]) != far)
				continue;
			below += records[j].latency < records[i].latency;
			up_to += records[j].latency <= records[i].latency;
		}
		if (2 * below <= all && all <= 2 * up_to)
			return records[i].latency;
	}
	return 0;
}

/*
 * LL-11  Latency, address and data source of a record must be those of the last tagged load that
 *        retired before the assist.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  each round has loads of two near addresses, which are quick, and of a far flushed line,
 *        which is slow
 * When   records are made of them
 * Then   every address is one of the three; at least 3 of 4 records are near with a latency below
 *        the middle of both medians, or far with one above it
 * Control: there are records of both kinds, else the test is INCONCLUSIVE
 */
TEST(ll, latency_and_address_of_a_record_are_of_the_same_load, REQS(LL_11),
     NEEDS(need_perfmon, need_pebs, need_load_latency), .under_every_fault = true)
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	u64 middle;
	unsigned right = 0, far, count;
	struct cache_workload h;

	/* Take more records if the first ones are all of one kind. */
	do {
		if (!mem_sample_collect(t, AT(LL_11), &setup, ACCESS_TWO_PLACES, &h, records,
					&count))
			return;
		far = far_ones(&h, count);
		setup.wanted += MEM_SAMPLE_RECORDS_SURE - MEM_SAMPLE_RECORDS;
	} while ((!far || far == count) && setup.wanted <= MEM_SAMPLE_RECORDS_SURE);
	for (unsigned i = 0; i < count; i++) {
		u64 offset = records[i].address - h.first;

		CHECK(t, LL_11, offset == 0 || offset == LINE || offset == TWO_PLACES_COLD,
		      "address 0x%lx of record %u, loads from 0x%lx and %u and %u after it",
		      records[i].address, i, h.first, LINE, TWO_PLACES_COLD);
	}
	middle = (median_latency(&h, count, false) + median_latency(&h, count, true)) / 2;
	for (unsigned i = 0; i < count; i++)
		right += is_far(&h, &records[i]) == (records[i].latency > middle);
	if (!far || far == count) {
		test_inconclusive(t, "%u records of near loads, %u of far ones", count - far, far);
		return;
	}
	CHECK_RANGE(t, LL_11, count - count / 4, count, right,
		    "of %u records, near with a latency up to %lu or far with more", count, middle);
}

/*
 * LL-12  The event must count tagged retired loads only; a load that is cancelled must neither
 *        count nor be recorded, and the next available load is tagged in its place.
 *        SDM 18.9.4.2 Load Latency Performance Monitoring Facility
 * LL-09  Only retired demand loads may be counted and recorded: no prefetches and no loads that
 *        were given up.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  a load after a RET that goes to another address than its CALL expects: a processor may
 *        begin it and must give it up
 * When   records are made of the other loads of the round
 * Then   none has its address
 */
TEST(ll, latency_record_is_never_of_a_speculative_load, REQS(LL_12, LL_09),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, AT(LL_12), &setup, ACCESS_CANCELLED, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++)
		CHECK(t, IDS(LL_12, LL_09), records[i].address != h.first + CANCELLED_OFFSET,
		      "address 0x%lx of record %u", records[i].address, i);
}

/*
 * LL-15  MSR_PEBS_LD_LAT_THRESHOLD must have bits 15:0, and no bit above them may be kept.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Figure 18-23
 *
 * Given  MSR_PEBS_LD_LAT_THRESHOLD (3F6H), whose bits 15:0 are the threshold; the least is 3
 * When   each bit is written to it, with the threshold 3
 * Then   bits 15:2 read as written; bits 63:16 are refused with #GP, or read as 0
 */
TEST(msr, load_latency_threshold_register_has_16_bits, REQS(LL_15),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	u64 value = 0;

	for (unsigned bit = 2; bit < THRESHOLD_BITS; bit++) {
		latency_set_threshold(BIT(bit) | LATENCY_THRESHOLD_LEAST);
		CHECK(t, LL_15, !msr_try_read(MSR_PEBS_LD_LAT_THRESHOLD, &value).raised,
		      "reading 3F6H");
		CHECK_EQ(t, LL_15, BIT(bit) | LATENCY_THRESHOLD_LEAST, value,
			 "3F6H after writing it");
	}
	for (unsigned bit = THRESHOLD_BITS; bit < 64; bit++) {
		struct fault fault = msr_try_write(MSR_PEBS_LD_LAT_THRESHOLD,
						   BIT(bit) | LATENCY_THRESHOLD_LEAST);

		if (!fault.raised)
			msr_try_read(MSR_PEBS_LD_LAT_THRESHOLD, &value);
		CHECK(t, LL_15, fault.raised || value == LATENCY_THRESHOLD_LEAST,
		      "bit %u of 3F6H: refused, or reads as 0 (0x%lx)", bit, value);
	}
	latency_set_threshold(LATENCY_THRESHOLD_LEAST);
}

/*
 * LL-23  A processor with load latency must have a record format that holds it
 *        (IA32_PERF_CAPABILITIES[11:8] of 1 or more).
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility: requires the enhanced record
 *        format
 *
 * Given  a processor with load latency
 * When   IA32_PERF_CAPABILITIES[11:8], the record format, is read
 * Then   it isn't 0, the format without fields for latency, address and data source
 */
TEST(enumeration, load_latency_comes_with_record_format_1_or_later, REQS(LL_23),
     NEEDS(need_perfmon, need_load_latency, need_pebs_available))
{
	CHECK_RANGE(t, LL_23, 1, 15, msr_read(MSR_IA32_PERF_CAPABILITIES) >> 8 & 0xf,
		    "IA32_PERF_CAPABILITIES[11:8]");
}
