/* SPDX-License-Identifier: MIT */
/*
 * Counters without PEBS beside a counter with PEBS: each behaves as it does alone. SDM "Processor
 * Event Based Sampling (PEBS)", "Architectural Performance Monitoring Version 2"; Table 18-55,
 * offset 90H.
 */
#include "kernel/output/fmt.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

#define RECORDERS	4u	/* counters that make records on each generation */
#define MEETINGS	4u	/* loads around the recorded load */
#define WAY		24u	/* instructions around the recorded one */

static bool need_named_counters(char *reason, size_t size)
{
	if (record_has(counter_caps()->record_format, RECORD_applicable))
		return true;
	fmt_print(reason, size, "records don't name counters (IA32_PERF_CAPABILITIES = %#lx)",
		  counter_caps()->perf_capabilities);
	return false;
}

/* Check the counters that the record of `sampled` names when `plain` overflows near it. false: the
 * test has ended. */
static bool check_named(struct test *t, unsigned sampled, unsigned plain)
{
	const bool adaptive = counter_caps()->record_format == RECORD_ADAPTIVE ||
			      counter_caps()->record_format == RECORD_ADAPTIVE_BASIC;
	const struct test_claim claim = adaptive ? AT(ADP_35) : AT(SKL_05);
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;

	sampling_run(&setup, sampled, LOADS, COUNT_BOTH, &workload_sample, pmc_one(plain));
	if (!sampling_one_record(t, test_control(claim), &record))
		return false;
	test_check_eq(t, test_control(claim), BIT(plain), counters_status() & BIT(plain),
		      "status bit of counter %u, without PEBS", plain);
	test_check_eq(t, claim, BIT(sampled), sampling_field(&record, RECORD_applicable),
		      "counters that a record of IA32_PMC%u names, counter %u overflows near it",
		      sampled, plain);
	counter_reset();
	return true;
}

/*
 * SKL-05  The quadword at 90H must not have the bit of a counter that overflowed without PEBS.
 *         SDM 18.13.1.1 6th Generation Intel Core: PEBS Data Format
 * ADP-35  The applicable counters must have bit n for IA32_PMCn and bit 32+i for fixed counter i.
 *         Linux; kvm-unit-tests pmu_pebs
 *
 * Given  a PEBS counter; each other of IA32_PMC0 to IA32_PMC3, without PEBS, overflows on the load
 *        before the recorded one, on it, or on the next two; fixed counter 0 on each of the
 *        instructions around it
 * When   the record is made
 * Then   it names the PEBS counter alone
 * Control: the other counter's status bit is set
 */
TEST(record, counter_without_pebs_that_overflows_with_a_record_is_not_named, REQS(SKL_05, ADP_35),
     NEEDS(need_perfmon, need_any_pebs, need_events, need_named_counters, need_fixed_0_to_2))
{
	const unsigned fixed = PMC_FIXED(0);

	for (unsigned c = 0; c < RECORDERS; c++)
		for (unsigned plain = 0; plain < RECORDERS; plain++)
			for (unsigned n = 0; n < MEETINGS && plain != c; n++) {
				counter_program(plain, LOADS, COUNT_BOTH);
				counter_preset(plain, calibration_period(LOADS, PERIOD + n));
				if (!check_named(t, c, plain))
					return;
			}
	for (unsigned n = 0; n < WAY; n++) {
		counter_program(fixed, 0, COUNT_BOTH);
		counter_preset(fixed, 3 * PERIOD + n);
		if (!check_named(t, 1, fixed))
			return;
	}
}

/* Counter c interrupts while counter `recorder` counts with PEBS; records: and makes a record
 * too. */
static void check_overflow_beside(struct test *t, unsigned c, unsigned recorder, bool records)
{
	struct pmc_mask both = pmc_or(pmc_one(c), pmc_one(recorder));
	struct ds_setup setup = sampling_setup(8);
	const struct pmi_log *log;

	ds_open(&setup);
	pmi_open(NULL);
	overflow_prepare(c, COUNT_INT);
	pebs_arm(recorder, sampling_event(EK_BRANCHES), COUNT_BOTH, records ? PERIOD / 2 : NEVER);
	for (unsigned windows = 0; overflow_needs_window(c, windows); windows++)
		workload_run(&workload_sled, overflow_rounds(c), both);
	log = pmi_end();
	if (records)
		sampling_want(t, 1);
	/* A shadow may let the events soon after the overflow pass without a record;
	 * sampling_want() has judged that. */
	test_check_range(t, PMC_IS_FIXED(c) ? CONTROL_AT(PMI_02) : CONTROL_AT(PMI_01), 0, records,
			 ds_records(), "records of IA32_PMC%u", recorder);
	test_check_range(t, PMC_IS_FIXED(c) ? AT(PMI_02) : AT(PMI_01), 1,
			 overflow_allowed(t, 1 + overflow_extra(t, c), log->count), log->count,
			 "interrupts of counter %u with INT, PEBS on IA32_PMC%u", c, recorder);
	counter_reset();
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-02  The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *         LVTPC.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  PEBS on IA32_PMC1, or on IA32_PMC2, which is out of reach of its overflow, or makes a
 *        record before
 * When   each other counter, general-purpose or fixed, that overflows in a window does so, without
 *        PEBS, with its interrupt enabled
 * Then   there is one interrupt
 * Control: the PEBS counter has no record where it is out of reach, and at most one elsewhere
 */
TEST(pmi, counter_interrupts_beside_one_with_pebs, REQS(PMI_01, PMI_02),
     NEEDS(need_perfmon, need_any_pebs, need_events, need_branches, need_fixed_0_to_2))
{
	const bool precise = sampling_event(EK_BRANCHES);

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(counters_all().bits & BIT(c)) || !overflow_comes(c))
			continue;
		check_overflow_beside(t, c, c == 1 ? 2 : 1, false);
		if (precise && c != OVERFLOW_SLOW)
			check_overflow_beside(t, c, c == 1 ? 2 : 1, true);
	}
}
