/* SPDX-License-Identifier: MIT */
/*
 * The increments of the uncore's general-purpose counters: SDM "Uncore Performance Event
 * Configuration Facility", Figure 18-25: CMASK and INV; "Uncore Performance Monitoring Management
 * Facility".
 */
#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "tests/frame/needs.h"
#include "tests/measure/cache_workload.h"
#include "tests/uncore/uncore.h"

#define ALL_COUNTERS	BITS(0, UNCORE_COUNTERS - 1)
#define NEVER		0	/* roles of counters in one window: CMASK that no clock reaches */
#define ALWAYS		1	/* clocks with fewer events than that: all clocks */
#define REACHED		2	/* clocks with an event */
#define BELOW		3	/* clocks without an event */
#define RISES		4	/* rises: a clock with an event follows one without */
#define FALLS		5	/* falls: a clock without an event follows one with */

static const u64 filters[] = {
	[NEVER] = UNCORE_CMASK(255),
	[ALWAYS] = UNCORE_CLOCKS,
	[REACHED] = UNCORE_CMASK(1),
	[BELOW] = UNCORE_CMASK(1) | UNCORE_INVERT,
	[RISES] = UNCORE_CMASK(1) | UNCORE_EDGE,
	[FALLS] = UNCORE_CMASK(1) | UNCORE_INVERT | UNCORE_EDGE,
};

/* NEVER in later turns: a bit of CMASK alone, of no fewer events than a clock can have. */
#define LEAST_BIT	3
#define ROLES		(sizeof(filters) / sizeof(filters[0]))

static unsigned counter_of(unsigned turn, unsigned role)
{
	return (turn + role) % UNCORE_COUNTERS;
}

/*
 * UNC-09  With its edge detect bit set an uncore counter must count the transitions of its
 *         condition from deasserted to asserted.
 *         SDM 18.8.2.2 Uncore Performance Event Configuration Facility, Figure 18-25: edge detect
 * UNC-10  With CMASK n and INV 0 an uncore counter must count the clocks with at least n events,
 *         with INV 1 those with fewer.
 *         SDM 18.8.2.2 Uncore Performance Event Configuration Facility, Figure 18-25: counter
 *         mask, invert
 *
 * Given  six counters count reads that miss the L3, with CMASK 255 or 8, 16, 32, 64 or 128, with
 *        255 and INV, with CMASK 1, with it and INV, with it and edge detect, with it and both;
 *        each counter has each of these in turn
 * When   flushed lines are loaded: the misses are many clocks apart
 * Then   CMASK 8 and more counts nothing; CMASK 1 counts at least half as many clocks as there are
 *        loads, and not every clock; CMASK 1 and the same with INV count together what CMASK 255
 *        with INV does, every clock; with edge detect CMASK 1 counts at least half of the loads,
 *        and not more than without it; with INV and edge detect it counts the same number, except
 *        for the first or the last edge: rises and falls of a condition alternate
 * Control: there were more clocks than loads
 */
TEST(unc, uncore_cmask_and_inv_compare_with_the_events_of_each_clock, REQS(UNC_09, UNC_10),
     NEEDS(need_uncore))
{
	struct cache_workload h;
	u64 got[ROLES];

	if (!cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	for (unsigned turn = 0; turn < UNCORE_COUNTERS; turn++) {
		for (unsigned role = 0; role < ROLES; role++)
			uncore_count_filtered(counter_of(turn, role), filters[role]);
		if (turn >= LEAST_BIT)
			uncore_count_filtered(counter_of(turn, NEVER), UNCORE_CMASK(BIT(turn)));
		uncore_enable(ALL_COUNTERS);
		cache_workload_run(&h, MISSES, (struct pmc_mask){ 0 });
		uncore_enable(0);
		for (unsigned role = 0; role < ROLES; role++)
			got[role] = uncore_read(counter_of(turn, role));
		CONTROL_RANGE(t, UNC_10, MISSES + 1, ~0ULL, got[ALWAYS],
			      "clocks with fewer than 255 events, counter %u",
			      counter_of(turn, ALWAYS));
		CHECK_EQ(t, UNC_10, 0, got[NEVER], "clocks with %u events, counter %u",
			 turn >= LEAST_BIT ? 1u << turn : 255u, counter_of(turn, NEVER));
		CHECK_RANGE(t, UNC_10, MISSES / 2, got[ALWAYS] - 1, got[REACHED],
			    "clocks with an event, counter %u", counter_of(turn, REACHED));
		CHECK_EQ(t, UNC_10, got[ALWAYS], got[REACHED] + got[BELOW],
			 "clocks with an event, counter %u, and those without one, counter %u",
			 counter_of(turn, REACHED), counter_of(turn, BELOW));
		CHECK_RANGE(t, UNC_09, MISSES / 2, got[REACHED], got[RISES],
			    "rises of CMASK 1, counter %u", counter_of(turn, RISES));
		CHECK_RANGE(t, IDS(UNC_09, UNC_10), got[RISES] - 1, got[RISES] + 1, got[FALLS],
			    "falls of CMASK 1, counter %u", counter_of(turn, FALLS));
		uncore_off();
	}
}

/* Start values from which a count carries through each part of the width, or wraps. */
static const u64 starts[UNCORE_COUNTERS] = {
	0,
	BIT(UNCORE_WIDTH) - 1,
	BIT(UNCORE_WIDTH) - MISSES / 2,
	BIT(UNCORE_WIDTH) - 1000000,
	BIT(UNCORE_WIDTH - 1) - 1,
	BIT(40) - 3,
	BIT(32) - 3,
	BIT(16) - 3,
};

/*
 * UNC-01  Each uncore counter must hold 48 bits, and its event select what is written to it.
 *         SDM 18.8.2.2 Uncore Performance Event Configuration Facility
 * UNC-03  An uncore counter that wraps must set its bit of MSR_UNCORE_PERF_GLOBAL_STATUS.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  all eight counters count reads that miss the L3, each from another value: two close to the
 *        end, the others just below a carry into another part of the 48 bits; each counter has each
 *        of these values in turn
 * When   flushed lines are loaded
 * Then   all add the same number, modulo 2^48, and the status shows those that have wrapped and no
 *        other
 * Control: the counter that began at 0 has counted at least half of the loads
 */
TEST(unc, uncore_counters_add_alike_from_any_value, REQS(UNC_01, UNC_03), NEEDS(need_uncore))
{
	const u64 mask = BIT(UNCORE_WIDTH) - 1;
	struct cache_workload h;

	if (!cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	for (unsigned turn = 0; turn < UNCORE_COUNTERS; turn++) {
		u64 added, wrapped = 0;

		for (unsigned i = 0; i < UNCORE_COUNTERS; i++) {
			uncore_program(counter_of(turn, i), UNC_L3_MISS_READ, false);
			uncore_write(counter_of(turn, i), starts[i]);
		}
		uncore_enable(ALL_COUNTERS);
		cache_workload_run(&h, MISSES, (struct pmc_mask){ 0 });
		uncore_enable(0);
		added = uncore_read(counter_of(turn, 0));
		CONTROL_RANGE(t, IDS(UNC_01, UNC_03), MISSES / 2, 1000, added,
			      "what counter %u has counted from 0", counter_of(turn, 0));
		for (unsigned i = 1; i < UNCORE_COUNTERS; i++) {
			CHECK_EQ(t, UNC_01, (starts[i] + added) & mask,
				 uncore_read(counter_of(turn, i)),
				 "counter %u, which has begun at %#lx", counter_of(turn, i),
				 starts[i]);
			wrapped |= starts[i] + added > mask ? BIT(counter_of(turn, i)) : 0;
		}
		CHECK_EQ(t, UNC_03, wrapped, uncore_status() & (ALL_COUNTERS | OVF_FC0),
			 "uncore status, the counter that has begun at 0 is %u", turn);
		uncore_off();
	}
}

/*
 * UNC-02  An uncore counter must count only while it is enabled in its control register and in
 *         MSR_UNCORE_PERF_GLOBAL_CTRL.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  each general-purpose counter counts clocks; all others do too, enabled
 * When   it runs under each combination of EN in its event select and its bit of
 *        MSR_UNCORE_PERF_GLOBAL_CTRL
 * Then   it has counted only where both are 1
 * Control: the others have counted each time
 */
TEST(unc, each_uncore_counter_needs_both_of_its_enables, REQS(UNC_02), NEEDS(need_uncore))
{
	for (unsigned c = 0; c < UNCORE_COUNTERS; c++) {
		for (unsigned both = 0; both < 4; both++) {
			const bool own = both & 1, global = both & 2;

			for (unsigned i = 0; i < UNCORE_COUNTERS; i++)
				uncore_count_filtered(i, UNCORE_CLOCKS);
			if (!own)
				msr_write(MSR_UNCORE_PERFEVTSEL0 + c,
					  UNC_L3_MISS_READ | UNCORE_CLOCKS);
			uncore_enable(global ? ALL_COUNTERS : ALL_COUNTERS & ~BIT(c));
			uncore_spin();
			uncore_enable(0);
			CHECK_EQ(t, UNC_02, own && global, uncore_read(c) != 0,
				 "counter %u has counted, EN = %u, EN_PC%u = %u", c, own, c,
				 global);
			for (unsigned i = 0; i < UNCORE_COUNTERS; i++)
				if (i != c)
					CONTROL_RANGE(t, UNC_02, 1, ~0ULL, uncore_read(i),
						      "counter %u beside it", i);
		}
		uncore_off();
	}
}

/* Write EN of the counter's control register. A general-purpose counter counts clocks, as the fixed
 * one does. */
static void uncore_switch(unsigned c, bool on)
{
	if (c == UNCORE_FIXED)
		msr_write(MSR_UNCORE_FIXED_CTR_CTRL, on ? UNCORE_FIXED_CTR_CTRL_EN : 0);
	else
		msr_write(MSR_UNCORE_PERFEVTSEL0 + c,
			  UNC_L3_MISS_READ | UNCORE_CLOCKS | (on ? UNCORE_PERFEVTSEL_EN : 0));
}

/* The counter's increase during several hundred clocks. The first wait lets earlier writes take
 * effect. */
static u64 uncore_gain(unsigned c)
{
	u64 before;

	uncore_spin();
	before = uncore_read(c);
	uncore_spin();
	return uncore_read(c) - before;
}

/*
 * UNC-02  An uncore counter must count only while it is enabled in its control register and in
 *         MSR_UNCORE_PERF_GLOBAL_CTRL.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  each of the nine counters, of clocks; its bit of MSR_UNCORE_PERF_GLOBAL_CTRL stays 1 from
 *        now on, and EN of its control register is 0
 * When   EN is set; then the bit of another counter in MSR_UNCORE_PERF_GLOBAL_CTRL is set, and
 *        cleared; then EN is cleared
 * Then   it counts nothing before the first, counts until the last, and counts nothing then
 */
TEST(unc, uncore_enables_act_while_the_counter_is_globally_enabled, REQS(UNC_02),
     NEEDS(need_uncore))
{
	for (unsigned n = 0; n <= UNCORE_COUNTERS; n++) {
		const unsigned c = n < UNCORE_COUNTERS ? n : UNCORE_FIXED;
		const unsigned other = (n + 1) % UNCORE_COUNTERS;

		uncore_switch(c, false);
		uncore_switch(other, true);
		uncore_write(c, 0);
		uncore_enable(BIT(c));
		CHECK_EQ(t, UNC_02, 0, uncore_gain(c), "clocks of counter %u, EN = 0", c);
		uncore_switch(c, true);
		CHECK_RANGE(t, UNC_02, 1, ~0ULL, uncore_gain(c),
			    "clocks of counter %u, EN set while its bit of 391H is 1", c);
		uncore_enable(BIT(c) | BIT(other));
		CHECK_RANGE(t, UNC_02, 1, ~0ULL, uncore_gain(c),
			    "clocks of counter %u, 391H[%u] set beside its bit", c, other);
		uncore_enable(BIT(c));
		CHECK_RANGE(t, UNC_02, 1, ~0ULL, uncore_gain(c),
			    "clocks of counter %u, 391H[%u] cleared beside its bit", c, other);
		uncore_switch(c, false);
		CHECK_EQ(t, UNC_02, 0, uncore_gain(c),
			 "clocks of counter %u, EN cleared while its bit of 391H is 1", c);
		uncore_off();
	}
}

/*
 * UNC-01  Each uncore counter must hold 48 bits, and its event select what is written to it.
 *         SDM 18.8.2.2 Uncore Performance Event Configuration Facility
 *
 * Given  each of the nine counters counts clocks from 0
 * When   a value of 48 bits is written to it while it counts
 * Then   it reads that value and the clocks since then, fewer than 2^32
 * Control: it has counted from 0, and goes on from the value
 */
TEST(unc, uncore_counter_takes_each_value_while_it_counts, REQS(UNC_01), NEEDS(need_uncore))
{
	const u64 value = 0x5a5aULL << 32;

	for (unsigned n = 0; n <= UNCORE_COUNTERS; n++) {
		const unsigned c = n < UNCORE_COUNTERS ? n : UNCORE_FIXED;

		uncore_write(c, 0);
		uncore_switch(c, true);
		uncore_enable(BIT(c));
		CONTROL_RANGE(t, UNC_01, 1, value - 1, uncore_gain(c), "clocks of counter %u", c);
		uncore_write(c, value);
		CHECK_RANGE(t, UNC_01, value, value + BIT(32) - 1, uncore_read(c),
			    "counter %u, written while it counts", c);
		CONTROL_RANGE(t, UNC_01, 1, value, uncore_gain(c),
			      "clocks of counter %u after that", c);
		uncore_off();
	}
}

/*
 * UNC-08  An uncore counter must count the events of each core of the package.
 *         SDM 18.8.2 Performance Monitoring Facility in the Uncore
 *
 * Given  all eight counters count reads that miss the L3
 * When   flushed lines are loaded at CPL 3
 * Then   each counter has counted at least half of the loads
 * Control: the same at CPL 0
 */
TEST(unc, uncore_counters_count_what_code_at_cpl_3_does, REQS(UNC_08), NEEDS(need_uncore))
{
	struct cache_workload h;

	if (!cache_workload_or_skip(t, ACCESS_MEMORY, &h))
		return;
	for (unsigned user = 0; user < 2; user++) {
		for (unsigned c = 0; c < UNCORE_COUNTERS; c++)
			uncore_program(c, UNC_L3_MISS_READ, false);
		uncore_enable(ALL_COUNTERS);
		if (user)
			workload_run_user(h.workload, MISSES);
		else
			workload_run_uncounted(h.workload, MISSES);
		uncore_enable(0);
		for (unsigned c = 0; c < UNCORE_COUNTERS; c++) {
			if (user)
				CHECK_RANGE(t, UNC_08, MISSES / 2, ~0ULL, uncore_read(c),
					    "misses of loads at CPL 3, counter %u", c);
			else
				CONTROL_RANGE(t, UNC_08, MISSES / 2, ~0ULL, uncore_read(c),
					      "misses of loads at CPL 0, counter %u", c);
		}
		uncore_off();
	}
}

#define READS	512

/* Check all counters over these loads: with an event of hits, or of misses. */
static void check_reads(struct test *t, const struct cache_workload *h, u16 event, bool counts)
{
	cache_workload_run(h, READS, (struct pmc_mask){ 0 });	/* caches as it leaves them */
	for (unsigned c = 0; c < UNCORE_COUNTERS; c++) {
		uncore_program(c, event, false);
		uncore_write(c, 0);
	}
	uncore_enable(ALL_COUNTERS);
	cache_workload_run(h, READS, (struct pmc_mask){ 0 });
	uncore_enable(0);
	for (unsigned c = 0; c < UNCORE_COUNTERS; c++)
		CHECK_RANGE(t, UNC_14, counts ? READS / 2 : 0, counts ? ~0ULL : READS / 4,
			    uncore_read(c), "event %#x, counter %u, %u %s", event, c, READS,
			    h->name);
	uncore_off();
}

/*
 * UNC-14  UNC_L3_HITS.READ must count reads that hit the L3 and UNC_L3_MISS.READ those that miss
 *         it, and neither the others.
 *         SDM chapter 19, non-architectural events in the processor uncore of Nehalem
 *
 * Given  each counter counts UNC_L3_HITS.READ, then UNC_L3_MISS.READ
 * When   lines are loaded that the L2 has lost and the L3 hasn't; then flushed lines
 * Then   each counts at least half of the loads of its kind, and at most a quarter of the others:
 *        other processors and prefetchers may change the rest
 */
TEST(unc, uncore_events_tell_hits_of_the_l3_from_misses, REQS(UNC_14), NEEDS(need_uncore))
{
	static const enum access accesses[] = { ACCESS_L3, ACCESS_MEMORY };
	struct cache_workload h;

	for (unsigned i = 0; i < 2; i++) {
		if (!cache_workload_or_skip(t, accesses[i], &h))
			return;
		check_reads(t, &h, UNC_L3_HITS_READ, accesses[i] == ACCESS_L3);
		check_reads(t, &h, UNC_L3_MISS_READ, accesses[i] == ACCESS_MEMORY);
	}
}
