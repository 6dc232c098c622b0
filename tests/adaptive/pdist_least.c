/* SPDX-License-Identifier: MIT */
/*
 * PDist with its smallest period, PDIST_LEAST_PERIOD: intel/perfmon README, "PDist: Precise
 * Distribution"; docs/READINGS.md. tests/adaptive/pdist.c has longer periods.
 */
#include "kernel/output/fmt.h"
#include "tests/adaptive/adaptive.h"

#define AT_EVENTING_IP	0x08u
#define PERIODS		4u	/* tried periods: the smallest, and the next ones */
#define MARK		3u	/* the marked load that overflows */

/*
 * FIX-13  IA32_PMC0 that overflows 256 events at least after its start must record the very event
 *         on which it overflowed.
 *         intel/perfmon README: PDist, Precise Distribution
 *
 * Given  loads, then marked ones, each at a different address
 * When   IA32_PMC0 overflows on a marked one, exactly 256 events after its start, 257, 258 and 259
 * Then   EventingIP is exactly that one
 */
TEST(adaptive, pdist_record_of_pmc0_names_the_event_at_the_least_distance, REQS(FIX_13),
     NEEDS(need_perfmon, need_baseline, need_events, need_pdist))
{
	const u64 opening = calibration_period(LOADS, 0);	/* added by opening the window */

	for (u64 period = PDIST_LEAST_PERIOD; period < PDIST_LEAST_PERIOD + PERIODS; period++) {
		const struct adaptive_run run = { .counter = 0, .config = CONFIG_GPR };
		const u64 rounds = period - opening - MARK - 1;
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);

		ds_open(&setup);
		pebs_arm(0, LOADS, COUNT_BOTH, period);
		workload_run(&workload_sample, rounds, pmc_one(0));
		pebs_disarm();
		counter_program_disabled(0, 0, 0);
		counters_clear(counters_status());
		if (!adaptive_one_record(t, AT(FIX_13), &run))
			return;
		CHECK_EQ(t, FIX_13, workload_mark(&workload_sample, MARK),
			 adaptive_at(AT_EVENTING_IP),
			 "EventingIP, overflow %lu events after the start, on mark %u", period,
			 MARK);
	}
}
