/* SPDX-License-Identifier: MIT */
/*
 * An assist and another counter's overflow interrupt on one load: SDM "Processor Event Based
 * Sampling (PEBS)", the paragraphs on performance counter prioritization.
 */
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

/* *ip: the instruction of the only record of `sampled`. `plain` has INT and overflows on load
 * number preset. */
static bool record_of(struct test *t, struct test_claim claim, unsigned sampled, unsigned plain,
		      u64 preset, u64 *ip)
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;

	counter_program(plain, LOADS, COUNT_BOTH | COUNT_INT);
	counter_preset(plain, preset);
	sampling_run(&setup, sampled, LOADS, COUNT_BOTH, &workload_sample, pmc_one(plain));
	if (!sampling_one_record(t, claim, &record))
		return false;
	*ip = sampling_ip(&workload_sample, &record);
	return true;
}

/* Counters, by index. */
struct meeting {
	unsigned with_assist, with_interrupt;
};

/*
 * The load after the one that arms counter `sampled` starts its assist. On the same load counter
 * `plain` wraps with its interrupt; both count all loads of one window. The load is known from
 * records without an overflow of `plain`; if these differ, the two actions don't meet.
 */
static void check_meeting(struct test *t, struct test_claim claim, struct meeting pair)
{
	unsigned sampled = pair.with_assist, plain = pair.with_interrupt;
	const struct pmi_log *log;
	u64 alone = 0, again = 0, met = 0;

	if (!record_of(t, claim, sampled, plain, NEVER, &alone) ||
	    !record_of(t, claim, sampled, plain, NEVER, &again))
		return;
	if (alone != again) {
		test_inconclusive(t, "IA32_PMC%u by itself records 0x%lx and 0x%lx", sampled, alone,
				  again);
		return;
	}
	counters_clear(counters_status());
	pmi_open(NULL);
	if (record_of(t, claim, sampled, plain, calibration_period(LOADS, PERIOD + 1), &met)) {
		/* The order is stated, but not that the assist can't come an event later. */
		if (met != alone && !test_is_strict(t))
			test_inconclusive(t,
					  "IA32_PMC%u records 0x%lx and, where IA32_PMC%u wraps, "
					  "0x%lx",
					  sampled, alone, plain, met);
		else
			test_check_eq(t, claim, alone, met,
				      "instruction of IA32_PMC%u's record: the load on which "
				      "IA32_PMC%u wraps",
				      sampled, plain);
	}
	log = pmi_end();
	if (test_check_range(t, claim, 1, overflow_allowed(t, 1, log->count), log->count,
			     "interrupts: IA32_PMC%u wraps where an assist of IA32_PMC%u is due",
			     plain, sampled))
		test_check_eq(t, claim, BIT(plain), log->entry[0].status & BIT(plain),
			      "status bit of IA32_PMC%u at the handler's entry", plain);
	counters_clear(counters_status());
	counter_reset();
}

/*
 * PRIO-06  An overflow interrupt of IA32_PMC1 must be serviced before a PEBS assist of IA32_PMC2
 *          that is due at the same time.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  a PEBS counter that is armed, and a counter of lower index with INT. Both count all loads
 *        of one window; without the other one the assist is always of the same load
 * When   the lower counter overflows on the very load that starts the assist
 * Then   the record is of that load, there is one interrupt, and its handler finds the lower
 *        counter's status bit
 */
TEST(priority, assist_meets_interrupt_of_a_lower_counter_and_neither_is_lost, REQS(PRIO_06),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	if (!sampling_assists_are_prompt(t))
		return;
	check_meeting(t, AT(PRIO_06), (struct meeting){ .with_assist = 2, .with_interrupt = 1 });
	check_meeting(t, AT(PRIO_06), (struct meeting){ .with_assist = 3, .with_interrupt = 0 });
}

/*
 * PRIO-07  A PEBS assist of IA32_PMC1 must be serviced before an overflow interrupt of IA32_PMC2
 *          that is due at the same time.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  a PEBS counter without PDist that is armed, and a counter of higher index with INT. Both
 *        count all loads of one window; without the other one the assist is always of the same load
 * When   the higher counter overflows on the very load that starts the assist
 * Then   the record is of that load, there is one interrupt, and its handler finds the higher
 *        counter's status bit
 */
TEST(priority, assist_meets_interrupt_of_a_higher_counter_and_neither_is_lost, REQS(PRIO_07),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	if (!sampling_assists_are_prompt(t))
		return;
	check_meeting(t, AT(PRIO_07), (struct meeting){ .with_assist = 1, .with_interrupt = 2 });
	if (!pebs_has_pdist(0))	/* with PDist a near start value doesn't fix the load */
		check_meeting(t, AT(PRIO_07),
			      (struct meeting){ .with_assist = 0, .with_interrupt = 3 });
}

#define MEETING_COUNTERS 4u	/* that each pair is made of */

/* The interrupts of a meeting whose record reaches the threshold. false: the test has a verdict. */
static bool meet_at_threshold(struct test *t, struct meeting pair, unsigned *interrupts)
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	const struct pmi_log *log;

	setup.threshold = 1;
	pmi_open(NULL);
	counter_program(pair.with_interrupt, LOADS, COUNT_BOTH | COUNT_INT);
	counter_preset(pair.with_interrupt, calibration_period(LOADS, PERIOD + 1));
	sampling_run(&setup, pair.with_assist, LOADS, COUNT_BOTH, &workload_sample,
		     pmc_one(pair.with_interrupt));
	log = pmi_end();
	if (!sampling_one_record(t, CONTROL_AT(DS_05), &record))
		return false;
	*interrupts = log->count;
	counters_clear(counters_status());
	counter_reset();
	return CHECK_RANGE(t, DS_05, 1, overflow_allowed(t, 2, *interrupts), *interrupts,
			   "interrupts: IA32_PMC%u wraps where a record of IA32_PMC%u reaches the "
			   "threshold",
			   pair.with_interrupt, pair.with_assist);
}

/*
 * DS-05  A threshold interrupt must be raised when the index has reached the threshold after a
 *        record.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  each two of IA32_PMC0 to 3, one with PEBS and without PDist, the other with INT; both
 *        count all loads; a threshold of one record
 * When   the other one overflows on the load that starts the assist
 * Then   there are two interrupts, one of the overflow and one of the threshold. Where two that are
 *        requested on one load may arrive as one, one is INCONCLUSIVE; where every requirement is
 *        judged, all pairs have two if any has, else those whose overflow has the lower index, as
 *        in the probe. That the two meet on one load is shown by the tests of PRIO-06 and PRIO-07
 * Control: there is one record
 */
TEST(priority, threshold_and_another_counters_overflow_on_one_load_both_interrupt, REQS(DS_05),
     NEEDS(need_perfmon, need_any_pebs, need_events, need_two_counters))
{
	unsigned count[MEETING_COUNTERS][MEETING_COUNTERS] = { 0 }, most = 0;
	const unsigned counters = sampling_gp_counters() < MEETING_COUNTERS ?
					  sampling_gp_counters() :
					  MEETING_COUNTERS;

	if (!sampling_assists_are_prompt(t))
		return;
	for (unsigned i = 0; i < counters * counters; i++) {
		const struct meeting pair = { i / counters, i % counters };
		unsigned *n = &count[pair.with_assist][pair.with_interrupt];

		if (pair.with_assist == pair.with_interrupt || pebs_has_pdist(pair.with_assist))
			continue;
		if (!meet_at_threshold(t, pair, n))
			return;
		most = *n > most ? *n : most;
	}
	if (!sampling_two_interrupts_stay_two() && (!test_is_strict(t) || most < 2)) {
		test_inconclusive(t, "two interrupts that are requested on one load may arrive as "
				     "one here");
		return;
	}
	for (unsigned i = 0; i < counters * counters; i++)
		if (count[i / counters][i % counters] &&
		    (test_is_strict(t) || i % counters < i / counters))
			CHECK_RANGE(t, DS_05, 2, ~0ULL, count[i / counters][i % counters],
				    "interrupts of IA32_PMC%u's overflow and of the threshold that "
				    "a record of IA32_PMC%u reaches",
				    i % counters, i / counters);
}
