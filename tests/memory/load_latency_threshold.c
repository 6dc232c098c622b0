/* SPDX-License-Identifier: MIT */
/*
 * Which loads the load latency event counts and records, by the threshold: SDM "Load Latency
 * Performance Monitoring Facility". "Loads with latencies greater than this value are eligible for
 * counting and latency data reporting." How long a load takes isn't asserted: a threshold is set
 * below what the slow loads of this machine were seen to take.
 */
#include "tests/measure/mem_sample.h"
#include "tests/frame/needs.h"

#define WINDOW		1024	/* loads of a window that is counted */
#define LOADS_WANTED	512	/* slow ones, where all are counted */
#define BYTE		0xffu	/* thresholds around a byte: with other bits than the usual ones */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

/* The least latency of the loads that are recorded with the least threshold. 0: the test ended. */
static u64 least_latency(struct test *t, struct test_claim claim, enum access access,
			 struct cache_workload *h)
{
	struct mem_sample_setup setup = mem_sample_loads();
	u64 least = ~0ULL;
	unsigned count;

	if (!mem_sample_collect(t, claim, &setup, access, h, records, &count))
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (records[i].latency < least)
			least = records[i].latency;
	return least;
}

/* Slow loads count, and leave records that hold more than the threshold. */
static bool check_eligible(struct test *t, const struct cache_workload *h, u64 threshold)
{
	struct mem_sample_setup setup = mem_sample_loads();
	unsigned count;
	u64 n = WINDOW, events;

	setup.threshold = threshold;
	setup.wanted = 2;
	do
		events = mem_sample_count(&setup, h, n);
	while (!events && (n *= 8) <= MEM_SAMPLE_ROUNDS_MOST);
	CHECK_RANGE(t, LL_24, 1, ~0ULL, events, "events of %s, threshold %lu", h->name, threshold);
	count = mem_sample_take(&setup, h, records);
	if (!mem_sample_enough(t, AT(LL_05), h, count, setup.wanted))
		return false;
	for (unsigned i = 0; i < count; i++)
		CHECK_RANGE(t, LL_05, threshold + 1, ~0ULL, records[i].latency,
			    "latency of record %u of %s, threshold %lu", i, h->name, threshold);
	return true;
}

/* Below what this machine's slow loads take, each load is eligible: 50 first, then half of it, and
 * all but one cycle. */
TEST(ll, slow_loads_exceed_thresholds_above_3, REQS(LL_05, LL_24),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct cache_workload h;
	u64 least = least_latency(t, AT(LL_05), ACCESS_MEMORY, &h);
	const u64 thresholds[] = { 50, least / 2, least - 1 };

	if (!least)
		return;
	test_note(t, "the least latency of %s is %lu", h.name, least);
	for (unsigned i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++)
		if (thresholds[i] > LATENCY_THRESHOLD_LEAST && thresholds[i] < least &&
		    !check_eligible(t, &h, thresholds[i]))
			return;
}

static const enum access slow[] = {
	ACCESS_SLOW, ACCESS_DEVICE, ACCESS_UNCACHEABLE, ACCESS_MEMORY,
};

/* Where some load of this machine takes more than 256 cycles: a latency has more bits than eight,
 * and so has a threshold. */
TEST(ll, slow_loads_exceed_a_threshold_of_256, REQS(LL_05, LL_24),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct cache_workload h = { .name = "no load" };
	u64 events = 0;

	for (unsigned i = 0; i < sizeof(slow) / sizeof(slow[0]) && !events; i++) {
		struct mem_sample_setup setup = mem_sample_loads();
		char reason[96];

		if (!cache_workload_get(slow[i], &h, reason, sizeof(reason)))
			continue;
		setup.threshold = BYTE + 1;
		events = mem_sample_count(&setup, &h, WINDOW);
	}
	if (!events) {
		test_inconclusive(t, "no load of this machine takes more than %u cycles", BYTE + 1);
		return;
	}
	check_eligible(t, &h, BYTE);
	check_eligible(t, &h, BYTE + 1);
}

/* Loads of one line, which no threshold here lets through, before and after those that it does:
 * each bit of the threshold counts, and the one written last. */
TEST(ll, quick_loads_are_below_thresholds_above_255, REQS(LL_05, LL_24),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	static const u64 thresholds[] = { BYTE, BYTE + 1, 0x1000, 0x8003 };
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;
	u64 n = WINDOW, some, none;

	if (!mem_sample_prepare(t, ACCESS_L1, &h))
		return;
	for (unsigned i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
		setup.threshold = LATENCY_THRESHOLD_LEAST;
		while (!(some = mem_sample_count(&setup, &h, n)) &&
		       (n *= 8) <= MEM_SAMPLE_ROUNDS_MOST)
			;
		if (!CHECK_RANGE(t, LL_24, 1, ~0ULL, some, "events with a threshold of 3"))
			return;
		setup.threshold = thresholds[i];
		none = mem_sample_count_least(&setup, &h, n);
		CHECK_EQ(t, LL_05, 0, none, "events of %lu loads of one line, threshold 0x%lx", n,
			 setup.threshold);
		CHECK_EQ(t, LL_24, 0, none, "events of %lu loads of one line, threshold 0x%lx", n,
			 setup.threshold);
	}
}

/* "IA32_PMCx will accumulate event counts for architecturally visible loads which exceed the
 * programmed latency threshold": on a processor that doesn't count tagged loads only, all. */
TEST(ll, every_load_above_the_threshold_counts, REQS(LL_46),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;
	u64 least, events;

	if (counter_caps()->facilities & FAC_LL_TAGGED) {
		test_skip(t, "the event counts tagged loads only (facilities 0x%x)",
			  counter_caps()->facilities);
		return;
	}
	least = least_latency(t, AT(LL_46), ACCESS_MEMORY, &h);
	if (!least)
		return;
	setup.threshold = least / 2;
	events = mem_sample_count_least(&setup, &h, LOADS_WANTED);
	CHECK_RANGE(t, LL_46, LOADS_WANTED - LOADS_WANTED / 8, LOADS_WANTED + LOADS_WANTED / 8,
		    events, "events of %u %s, threshold %lu", LOADS_WANTED, h.name,
		    setup.threshold);
}

/* "Load operations are randomly selected by hardware and tagged", "MEM_TRANS_RETIRED ... counts
 * only tagged retired loads": some of many, and not all. */
TEST(ll, the_event_counts_tagged_loads_only, REQS(LL_12),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;
	u64 n = WINDOW, events;

	if (!(counter_caps()->facilities & FAC_LL_TAGGED)) {
		test_skip(t, "the event counts all loads (facilities 0x%x)",
			  counter_caps()->facilities);
		return;
	}
	if (!mem_sample_prepare(t, ACCESS_L1, &h))
		return;
	while (!(events = mem_sample_count(&setup, &h, n)) && (n *= 8) <= MEM_SAMPLE_ROUNDS_MOST)
		;
	CHECK_RANGE(t, LL_12, 1, n - 1, events, "events of %lu loads of one line", n);
}

#define STEP		8	/* loads at a time, while a record is waited for */
#define STEPS_MOST	20000
#define OTHERS		8	/* loads of a window that aren't the workload's, at most */

/* "The SAV controls the number of tagged loads ... that will be written": right after a record a
 * whole period lies ahead, less what the last few loads of the window have counted. */
TEST(ll, a_record_is_followed_by_a_whole_period, REQS(LL_25),
     NEEDS(need_perfmon, need_pebs, need_load_latency), .under_every_fault = true)
{
	static const u64 periods[] = { 64, 1000 };
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;

	if (!mem_sample_prepare(t, ACCESS_L1, &h))
		return;
	for (unsigned p = 0; p < sizeof(periods) / sizeof(periods[0]); p++) {
		struct ds_setup ds = sampling_setup(8);
		u64 reload = pebs_reset_value(setup.counter, periods[p]), value;

		ds.reset[setup.counter] = reload;
		ds_open(&ds);
		mem_sample_arm(&setup, MEM_SAMPLE_PERIOD);
		for (unsigned i = 0; i < STEPS_MOST && !ds_records(); i++)
			cache_workload_run(&h, STEP, pmc_one(setup.counter));
		value = counter_read(setup.counter);
		mem_sample_off(&setup);
		if (!mem_sample_enough(t, AT(LL_25), &h, ds_records(), 1))
			return;
		CHECK_RANGE(t, LL_25, reload, reload + STEP + OTHERS, value,
			    "IA32_PMC%u after a record, its reset value is -%lu", setup.counter,
			    periods[p]);
	}
}
