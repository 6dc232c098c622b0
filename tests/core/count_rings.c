/* SPDX-License-Identifier: MIT */
/*
 * All four privilege levels: SDM "Architectural Performance Monitoring Version 1 Facilities" (USR
 * is about levels 1, 2 and 3, OS about level 0), "Version 2" (enable 2 of a fixed counter: any ring
 * above 0).
 */
#include "pmu/counter.h"
#include "spec/event.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/window.h"

#define FEWER	10
#define MORE	90
#define LONG	4000	/* rounds, for counters of cycles and slots; then three times as many */
#define STRICT_LONG 400

/* Fixed counters 1 to 3. Those from 4 on count slots of which the work may have none. */
#define CYCLES_OR_SLOTS	(BIT(PMC_FIXED(1)) | BIT(PMC_FIXED(2)) | BIT(PMC_FIXED(3)))

static const u64 flags[] = { COUNT_OS, COUNT_USR, COUNT_BOTH };

static bool has_cycles(void)
{
	char reason[128];

	return need_cycles(reason, sizeof(reason));
}

/* Run the work at cpl; these counters count with these OS and USR bits, general-purpose ones this
 * event. */
static void count_at(struct pmc_mask counters, u16 event, unsigned cpl, u64 level, u64 rounds,
		     u64 value[WINDOW_COUNTERS])
{
	const u64 all = counters.bits;

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(all & BIT(c)))
			continue;
		counter_program(c, event, level);
		counter_write(c, 0);
	}
	counters_enable(counters);
	if (cpl)
		workload_run_at_cpl(cpl, &workload_load, rounds);
	else
		workload_run_uncounted(&workload_load, rounds);
	counters_disable();
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		value[c] = all & BIT(c) ? counter_read(c) : 0;
}

/* General-purpose counters of cycles, and fixed ones of cycles and slots, with the level of the
 * work and with the others. The way to the work and back is at another level, so only the growth
 * with more work is judged there. */
static void check_cycles(struct test *t, unsigned cpl)
{
	const bool shared = counter_caps()->hypervisor && !test_is_strict(t);
	/* The host's NMI watchdog may have one that counts cycles, so that a guest hasn't all at
	 * once (Linux, watchdog_perf.c). */
	const struct pmc_mask counters = shared ? counters_fixed() : counters_all();
	const u64 general = shared || !has_cycles() ? 0 : counters_gp().bits;
	const u64 level = cpl ? COUNT_USR : COUNT_OS;
	const u64 rounds = test_rounds(t, STRICT_LONG, LONG), longer = 3 * rounds;
	u64 own[WINDOW_COUNTERS], other[WINDOW_COUNTERS];
	u64 more_own[WINDOW_COUNTERS], more_other[WINDOW_COUNTERS];

	count_at(counters, EVENT_UNHALTED_CORE_CYCLES, cpl, level, rounds, own);
	count_at(counters, EVENT_UNHALTED_CORE_CYCLES, cpl, COUNT_BOTH & ~level, rounds, other);
	count_at(counters, EVENT_UNHALTED_CORE_CYCLES, cpl, level, longer, more_own);
	count_at(counters, EVENT_UNHALTED_CORE_CYCLES, cpl, COUNT_BOTH & ~level, longer,
		 more_other);
	FOR_EACH_COUNTER (c, general | (counters_fixed().bits & CYCLES_OR_SLOTS)) {
		const struct test_claim claim = PMC_IS_FIXED(c) ? AT(CNT_28) : AT(CNT_10);

		if (!PMC_IS_FIXED(c) && !level_counts_despite_errata(t, c, COUNT_USR))
			continue;
		test_check_range(t, claim, rounds / 8, ~0ULL, own[c],
				 "counter %u with the level of CPL %u alone, over %lu rounds there",
				 c, cpl, rounds);
		if (shared && more_own[c] <= own[c]) {
			test_inconclusive(t, "counter %u counts %lu over %lu rounds, %lu over %lu",
					  c, own[c], rounds, more_own[c], longer);
			return;
		}
		test_check_range(t, claim, 0,
				 cpl ? window_other_level_most(other[c], own[c], more_own[c]) : 0,
				 more_other[c],
				 "counter %u with the other levels alone, over %lu rounds at CPL "
				 "%u; %lu had %lu",
				 c, longer, cpl, rounds, other[c]);
	}
}

static void check_instructions(struct test *t, unsigned cpl, u64 level)
{
	u64 few[WINDOW_COUNTERS], many[WINDOW_COUNTERS];
	const u64 far = window_far_slack(t), slack = window_slack(t, PMC_FIXED(0)) + far;
	u64 want = level & (cpl ? COUNT_USR : COUNT_OS) ?
			   workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, MORE - FEWER) -
				   workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, 0) :
			   0;

	count_at(counters_all(), EVENT_INST_RETIRED_ANY_P, cpl, level, FEWER, few);
	count_at(counters_all(), EVENT_INST_RETIRED_ANY_P, cpl, level, MORE, many);
	FOR_EACH_COUNTER (c, counters_gp().bits)
		if (!want || level_counts_despite_errata(t, c, level))
			CHECK_RANGE(t, CNT_10, want, want + 2 * far, many[c] - few[c] + far,
				    "instructions of 80 more rounds at CPL %u, and %lu, IA32_PMC%u "
				    "with OS = %u USR = %u",
				    cpl, far, c, !!(level & COUNT_OS), !!(level & COUNT_USR));
	CHECK_RANGE(t, CNT_28, want, want + 2 * slack,
		    many[PMC_FIXED(0)] - few[PMC_FIXED(0)] + slack,
		    "instructions of 80 more rounds at CPL %u, and %lu, fixed counter 0 with OS = "
		    "%u, USR = %u",
		    cpl, slack, !!(level & COUNT_OS), !!(level & COUNT_USR));
}

/*
 * CNT-10  A counter must count only at the privilege levels that its OS and USR bits select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: USR, OS
 * CNT-28  A fixed counter must count only at the privilege levels that its two enable bits select.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  all counters with OS, with USR, and with both
 * When   they count the same work at CPL 0, 1, 2 and 3, in FEWER and in MORE rounds
 * Then   those of instructions grow by the declared ones at CPL 0 with OS alone, and at CPL 1, 2
 *        and 3 with USR alone; with both at each level. Counters of cycles and slots count them
 *        with the level of the work alone; over more work the counts with the other levels alone
 *        grow by at most half as much, and at CPL 0 they are 0. In a guest only the fixed ones are
 *        on for these
 */
TEST(count, usr_selects_cpl_1_2_and_3_and_os_cpl_0, REQS(CNT_10, CNT_28),
     NEEDS(need_perfmon, need_instructions, need_fixed_0_to_2))
{
	for (unsigned cpl = 0; cpl < 4; cpl++) {
		for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			check_instructions(t, cpl, flags[i]);
		check_cycles(t, cpl);
	}
}
