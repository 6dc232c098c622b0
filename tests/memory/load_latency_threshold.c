/* SPDX-License-Identifier: MIT */
/*
 * Which loads the load latency event counts and records, by the threshold: SDM "Load Latency
 * Performance Monitoring Facility". "Loads with latencies greater than this value are eligible for
 * counting and latency data reporting". No test expects a duration of a load. The thresholds are
 * below the measured latency of this machine's slow loads.
 */
#include "tests/measure/mem_sample.h"
#include "tests/frame/needs.h"

#define WINDOW		1024	/* loads of a counted window */
#define STRICT_WINDOW	128	/* the reference PMU tags one of some loads */
#define LOADS_WANTED	512	/* slow loads, if all are counted */
#define QUICK		50	/* cycles: more than an L1 hit takes, less than memory */
#define SLACK		(LOADS_WANTED / 8)	/* slow loads that were in a cache anyway */
#define BYTE		0xffu	/* thresholds around a byte, with unusual bits */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

/* The smallest latency of the loads that are recorded with the smallest threshold. 0: the test has
 * ended. */
static u64 least_latency(struct test *t, struct test_claim claim, enum access access,
			 struct cache_workload *h)
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	u64 least = ~0ULL;
	unsigned count;

	if (!mem_sample_collect(t, claim, &setup, access, h, records, &count))
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (records[i].latency < least)
			least = records[i].latency;
	return least;
}

/* Slow loads must count, and their records must have more than the threshold. */
static bool check_eligible(struct test *t, const struct cache_workload *h, u64 threshold)
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	unsigned count;
	u64 n = test_rounds(t, STRICT_WINDOW, WINDOW), events;

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

/*
 * LL-05  Loads with a latency greater than the programmed threshold, whichever it is, must be
 *        eligible for counting and recording, and no others.
 * LL-24  The counter itself must count loads above the threshold, from Sandy Bridge on the tagged
 *        ones of them, and no others.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  loads of a flushed line, whose least latency on this machine is known from records
 * When   thresholds of 50, half of that latency, and one below it are set
 * Then   such loads count, and are recorded with latencies greater than the threshold
 * Control: such loads are recorded, from which their least latency is known
 */
TEST(ll, loads_slower_than_the_threshold_count_and_are_recorded, REQS(LL_05, LL_24),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct cache_workload h;
	u64 least = least_latency(t, CONTROL_AT(LL_05), ACCESS_MEMORY, &h);
	const u64 thresholds[] = { QUICK, least / 2, least - 1 };

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

/*
 * LL-05  Loads with a latency greater than the programmed threshold, whichever it is, must be
 *        eligible for counting and recording, and no others.
 * LL-24  The counter itself must count loads above the threshold, from Sandy Bridge on the tagged
 *        ones of them, and no others.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  a load of this machine that takes more than 256 cycles: a split one from memory, of a
 *        device, uncacheable or of a flushed line. INCONCLUSIVE where there is none
 * When   thresholds of 255 and 256 are set: a latency, and a threshold, have more than eight bits
 * Then   such loads count, and are recorded with latencies greater than the threshold
 */
TEST(ll, loads_slower_than_256_cycles_pass_thresholds_255_and_256, REQS(LL_05, LL_24),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct cache_workload h = { .name = "no load" };
	u64 events = 0;

	for (unsigned i = 0; i < sizeof(slow) / sizeof(slow[0]) && !events; i++) {
		struct mem_sample_setup setup = mem_sample_loads(t);
		char reason[96];

		if (!cache_workload_get(slow[i], &h, reason, sizeof(reason)))
			continue;
		setup.threshold = BYTE + 1;
		events = mem_sample_count(&setup, &h, test_rounds(t, STRICT_WINDOW, WINDOW));
	}
	if (!events) {
		test_inconclusive(t, "no load of this machine takes more than %u cycles", BYTE + 1);
		return;
	}
	check_eligible(t, &h, BYTE);
	check_eligible(t, &h, BYTE + 1);
}

/*
 * LL-05  Loads with a latency greater than the programmed threshold, whichever it is, must be
 *        eligible for counting and recording, and no others.
 * LL-24  The counter itself must count loads above the threshold, from Sandy Bridge on the tagged
 *        ones of them, and no others.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  loads of one line, which hit the L1
 * When   the load latency event counts them with thresholds of 255, 256, 1000H and 8003H: each bit
 *        of the threshold counts; at CPL 0, and at CPL 3 with USR alone
 * Then   it counts none
 * Control: before each, as many are counted with the threshold 3; the value written last holds
 */
TEST(ll, l1_hits_do_not_count_with_thresholds_of_255_or_more, REQS(LL_05, LL_24),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	static const u64 thresholds[] = { BYTE, BYTE + 1, 0x1000, 0x8003 };
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	u64 n = test_rounds(t, STRICT_WINDOW, WINDOW), some, none;

	if (!mem_sample_prepare(t, ACCESS_L1, &h))
		return;
	for (unsigned i = 0; i < 2 * sizeof(thresholds) / sizeof(thresholds[0]); i++) {
		setup.user = i % 2;
		setup.threshold = LATENCY_THRESHOLD_LEAST;
		while (!(some = mem_sample_count(&setup, &h, n)) &&
		       (n *= 8) <= MEM_SAMPLE_ROUNDS_MOST)
			;
		if (!CONTROL_RANGE(t, LL_24, 1, ~0ULL, some, "events with a threshold of 3"))
			return;
		setup.threshold = thresholds[i / 2];
		none = mem_sample_count_least(&setup, &h, n);
		CHECK_EQ(t, IDS(LL_05, LL_24), 0, none,
			 "events of %lu loads of one line at CPL %u, threshold 0x%lx", n,
			 setup.user ? 3 : 0, setup.threshold);
	}
}

/* The increase of the count in n rounds. The counter is already programmed; only the threshold is
 * written. */
static u64 more_with(const struct mem_sample_setup *setup, const struct cache_workload *h, u64 n,
		     u64 threshold)
{
	const u64 start = counter_read(setup->counter);

	latency_set_threshold(threshold);
	cache_workload_run(h, n, pmc_one(setup->counter));
	return counter_read(setup->counter) - start;
}

/*
 * LL-05  Loads with a latency greater than the programmed threshold, whichever it is, must be
 *        eligible for counting and recording, and no others.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  the load latency event, programmed and enabled for PEBS once, with the threshold 3; loads
 *        of one line, which hit the L1
 * When   between windows nothing but MSR_PEBS_LD_LAT_THRESHOLD is written: 3, FFFFH, 3
 * Then   loads are counted with 3 alone: what decides is "this value"
 * Control: with a threshold of 3 there are events
 */
TEST(ll, threshold_acts_while_the_event_stays_programmed, REQS(LL_05),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	const struct mem_sample_setup setup = mem_sample_loads(t);
	struct ds_setup ds = sampling_setup(8);
	struct cache_workload h;
	u64 n = test_rounds(t, STRICT_WINDOW, WINDOW), some;

	if (!mem_sample_prepare(t, ACCESS_L1, &h))
		return;
	ds_open(&ds);
	mem_sample_arm(&setup, NEVER);
	while (!(some = more_with(&setup, &h, n, LATENCY_THRESHOLD_LEAST)) &&
	       (n *= 8) <= MEM_SAMPLE_ROUNDS_MOST)
		;
	CONTROL_RANGE(t, LL_05, 1, ~0ULL, some, "events with a threshold of 3");
	CHECK_EQ(t, LL_05, 0, more_with(&setup, &h, n, LATENCY_THRESHOLD_MOST),
		 "events of %lu loads of one line, the threshold then FFFFH", n);
	CHECK_RANGE(t, LL_05, 1, ~0ULL, more_with(&setup, &h, n, LATENCY_THRESHOLD_LEAST),
		    "events of %lu loads of one line, the threshold then 3 again", n);
	mem_sample_off(&setup);
}

/*
 * LL-46  The counter must count every load above the threshold: nothing there speaks of tagged
 *        loads alone.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility
 *
 * Given  512 loads of a flushed line, and half of their least latency as the threshold; SKIP where
 *        the event counts tagged loads only
 * When   the load latency event counts them
 * Then   it counts 512, within an eighth
 */
TEST(ll, load_latency_event_counts_every_load_above_the_threshold, REQS(LL_46),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
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
	CHECK_RANGE(t, LL_46, LOADS_WANTED - SLACK, LOADS_WANTED + SLACK, events,
		    "events of %u %s, threshold %lu", LOADS_WANTED, h.name, setup.threshold);
}

/*
 * LL-12  The event must count tagged retired loads only; a load that is cancelled must neither
 *        count nor be recorded, and the next available load is tagged in its place.
 *        SDM 18.9.4.2 Load Latency Performance Monitoring Facility
 *
 * Given  loads of one line, on a processor of which the page says: "randomly selected by hardware
 *        and tagged", "counts only tagged retired loads"; SKIP on others
 * When   the load latency event counts them with the threshold 3
 * Then   it counts some, and not all
 */
TEST(ll, load_latency_event_counts_only_tagged_loads, REQS(LL_12),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	u64 n = test_rounds(t, STRICT_WINDOW, WINDOW), events;

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

#define STEP		8	/* loads at a time, until there is a record */
#define STEPS_MOST	20000
#define OTHERS		8	/* most loads of a window that aren't the workload's */

/*
 * LL-25  The reset value must govern the number of records: one for each time that the counter
 *        overflows, with the whole period of the reset value between two.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  reset values of -64 and -1000; loads run eight at a time. INCONCLUSIVE off strict runs
 *        where none of so few is tagged
 * When   the counter is read right after its first record
 * Then   it holds its reset value, plus at most what the last 16 loads can add
 */
TEST(ll, latency_counter_restarts_from_its_reset_value, REQS(LL_25),
     NEEDS(need_perfmon, need_pebs, need_load_latency), .under_every_fault = true)
{
	static const u64 periods[] = { 64, 1000 };
	struct mem_sample_setup setup = mem_sample_loads(t);
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
		/* The manual doesn't say whether hardware tags a load in so short a window. */
		if (!ds_records() && !test_is_strict(t)) {
			test_inconclusive(t, "no record of %u windows of %u loads", STEPS_MOST,
					  STEP);
			return;
		}
		if (!mem_sample_enough(t, AT(LL_25), &h, ds_records(), 1))
			return;
		CHECK_RANGE(t, LL_25, reload, reload + STEP + OTHERS, value,
			    "IA32_PMC%u after a record, its reset value is -%lu", setup.counter,
			    periods[p]);
	}
}
