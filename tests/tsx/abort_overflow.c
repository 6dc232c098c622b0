/* SPDX-License-Identifier: MIT */
/*
 * A counter of aborts that overflows on an abort: its interrupt, and the actions after its record.
 * Unlike other events, an abort isn't the retirement of an instruction.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/user.h"
#include "kernel/processor/cpuid.h"
#include "pmu/pebs.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define FEW	4	/* loads in a transaction */
#define NTH	3u	/* the abort that overflows */
#define RUNS	5u	/* all of them abort */
#define RELOAD	1000000u /* times the counter's number plus 1: never reached */

static const struct abort_event {
	const struct transaction *piece;
	const char *name;
	u16 code;
} events[] = {
	{ &transaction_xabort, "RTM_RETIRED.ABORTED", EVENT_RTM_RETIRED_ABORTED },
	{ &transaction_elided_pause, "HLE_RETIRED.ABORTED", EVENT_HLE_RETIRED_ABORTED },
};

/* On the reference PMU all locks are elided; a processor may elide any of them or none. */
static unsigned events_here(const struct test *t)
{
	return cpuid_get(CPUID_HLE) && test_is_strict(t) ? 2 : 1;
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each counter counts RTM_RETIRED.ABORTED, with INT, and overflows on the third abort; where
 *        every requirement is judged also HLE_RETIRED.ABORTED
 * When   XABORT ends five transactions; PAUSE five elisions
 * Then   there is one interrupt, with the status bit of its counter
 * Control: without INT there is none
 */
TEST(tsx, overflow_of_a_counter_of_aborts_raises_its_interrupt, REQS(PMI_01),
     NEEDS(need_perfmon, need_four_counters, need_rtm))
{
	for (unsigned i = 0; i < events_here(t) * 2 * PEBS_COUNTERS; i++) {
		const struct abort_event *event = &events[i / (2 * PEBS_COUNTERS)];
		const unsigned c = i / 2 % PEBS_COUNTERS, interrupts = i % 2;
		const struct pmi_log *log;

		counter_program(c, event->code, COUNT_BOTH | (interrupts ? COUNT_INT : 0));
		counter_preset(c, NTH);
		pmi_open(NULL);
		counters_enable(pmc_one(c));
		transaction_run(event->piece, FEW, RUNS);
		log = pmi_end();
		counters_disable();
		counter_program_disabled(c, 0, 0);
		counters_clear(BIT(c));
		if (!interrupts)
			CONTROL_EQ(t, PMI_01, 0, log->count, "interrupts of %s without INT",
				   event->name);
		else if (CHECK_EQ(t, PMI_01, 1, log->count,
				  "interrupts of IA32_PMC%u, which overflowed on abort %u, %s", c,
				  NTH, event->name))
			CHECK_EQ(t, PMI_01, BIT(c), log->entry[0].status & BIT(c),
				 "status bit of IA32_PMC%u in its handler, %s", c, event->name);
	}
}

#define FILTER	2u	/* IA32_PMC2, the only one that may have IN_TXCP */

/* What is left of one elided lock with loads, half-way through which a counter overflows. */
struct elision_left {
	const struct pmi_log *log;
	bool elided;		/* to its end */
	u64 aborts, inside;	/* HLE_RETIRED.ABORTED; loads of IA32_PMC2 with both filters */
};

static u64 run_elided(u64 loads)
{
	return transaction_elided.run(transaction_words(), loads);
}

static struct elision_left overflow_in_a_lock(unsigned c, u64 interrupt, bool user, u64 loads)
{
	const unsigned aborts = c == 3 ? 1 : 3;
	const u64 level = user ? COUNT_USR : COUNT_BOTH;
	struct pmc_mask on = pmc_or(pmc_one(c), pmc_one(aborts));
	struct elision_left left = { .inside = 0 };

	counter_program(aborts, EVENT_HLE_RETIRED_ABORTED, level);
	counter_write(aborts, 0);
	if (c != FILTER) {
		counter_program(FILTER, LOADS,
				level | IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP);
		counter_write(FILTER, 0);
		on = pmc_or(on, pmc_one(FILTER));
	}
	counter_program(c, LOADS, level | interrupt);
	counter_preset(c, loads / 2);
	pmi_open(NULL);
	counters_enable(on);
	left.elided = (user ? user_call(run_elided, loads) : run_elided(loads)) == COMMITTED;
	left.log = pmi_end();
	counters_disable();
	left.aborts = counter_read(aborts);
	left.inside = c == FILTER ? 0 : counter_read(FILTER);
	counter_program_disabled(c, 0, 0);
	counter_program_disabled(aborts, 0, 0);
	counter_program_disabled(FILTER, 0, 0);
	counters_clear(BIT(c));
	return left;
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * TSX-13  HLE_RETIRED.START, COMMIT and ABORTED must count the elided locks that begin, that end
 *         and that abort, and RTM_RETIRED none of them.
 *         SDM chapter 19, HLE_RETIRED
 * TSX-16  IN_TX and IN_TXCP must hold for elided locks as for transactions.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  each counter counts loads, with INT, and overflows half-way through an elided lock with
 *        1000 loads (200 in strict runs where an interrupt comes at once), at CPL 0, and at CPL 3
 *        with USR alone; another one counts HLE_RETIRED.ABORTED, and IA32_PMC2, where it is free,
 *        loads with IN_TX and IN_TXCP
 * When   the lock ends well, or the interrupt aborts it and its code runs again without elision
 * Then   there is one interrupt, with the status bit of its counter; if the lock is no longer
 *        elided, IA32_PMC2 counts nothing, and HLE_RETIRED.ABORTED one, on a processor at most one;
 *        it counts none that ends well
 * Control: without INT there is no interrupt
 */
TEST(tsx, overflow_in_an_elided_lock_raises_its_interrupt, REQS(PMI_01, TSX_13, TSX_16),
     NEEDS(need_perfmon, need_hle, need_events, need_four_counters))
{
	const bool exact = test_sees_exactly(t, REQ_TSX_13);
	const u64 loads = transaction_long(t);

	for (unsigned i = 0; i < 4 * PEBS_COUNTERS; i++) {
		const unsigned c = i / 4, interrupts = i % 2, cpl = i & 2 ? 3 : 0;
		struct elision_left left = overflow_in_a_lock(c, interrupts ? COUNT_INT : 0, cpl,
							      loads);

		CHECK_RANGE(t, TSX_13, exact ? !left.elided : 0, !left.elided, left.aborts,
			    "HLE_RETIRED.ABORTED of a lock that IA32_PMC%u overflows in, CPL %u", c,
			    cpl);
		if (left.elided && c != FILTER)
			CONTROL_RANGE(t, TSX_16, 1, ~0ULL, left.inside,
				      "loads of IA32_PMC2 with IN_TX and IN_TXCP in a lock that "
				      "stayed elided");
		if (!left.elided)
			CHECK_EQ(t, TSX_16, 0, left.inside,
				 "loads of IA32_PMC2 with IN_TX and IN_TXCP in a lock that was "
				 "aborted, IA32_PMC%u overflows, CPL %u",
				 c, cpl);
		if (!interrupts)
			CONTROL_EQ(t, PMI_01, 0, left.log->count, "interrupts without INT");
		else if (CHECK_EQ(t, PMI_01, 1, left.log->count,
				  "interrupts of IA32_PMC%u, which overflowed in an elided lock, "
				  "CPL %u",
				  c, cpl))
			CHECK_EQ(t, PMI_01, BIT(c), left.log->entry[0].status & BIT(c),
				 "status bit of IA32_PMC%u in its handler, CPL %u", c, cpl);
	}
}

/*
 * DS-05  A threshold interrupt must be raised when the index has reached the threshold after a
 *        record.
 * DS-12  After a record the counter that caused it must be loaded with its reset value.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-21  When a record has brought the index to the threshold, OvfBuf
 *        (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *        SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 * DS-22  An assist must clear the overflow bits of the counters that overflowed and are enabled
 *        for PEBS, and no others.
 *        SDM 18.9.4.1 PEBS Record Format
 *
 * Given  each counter samples RTM_RETIRED.ABORTED, where every requirement is judged also
 *        HLE_RETIRED.ABORTED; the threshold is after one record, and each counter has a different
 *        reset value
 * When   XABORT, or PAUSE, aborts until there is a record
 * Then   there is one interrupt, with OvfBuf and, where that is judged, without the counter's
 *        status bit; the counter holds its reset value and at most the aborts after it
 * Control: there is a record
 */
TEST(tsx, record_of_an_abort_reloads_its_counter_and_meets_the_threshold,
     REQS(DS_05, DS_12, DS_21, DS_22), NEEDS(need_perfmon, need_pebs, need_rtm))
{
	for (unsigned i = 0; i < events_here(t) * PEBS_COUNTERS; i++) {
		const struct abort_event *event = &events[i / PEBS_COUNTERS];
		const unsigned c = i % PEBS_COUNTERS;
		const unsigned runs = PERIOD + 1 + sampling_shadow_bound();
		const u64 reset = pebs_reset_value(c, RELOAD * (c + 1));
		const u64 start = reset & (BIT(counter_width(c)) - 1);
		struct ds_setup setup = sampling_setup(8);
		const struct pmi_log *log;
		u64 value;

		setup.threshold = 1;
		setup.reset[c] = reset;
		ds_open(&setup);
		pmi_open(NULL);
		pebs_arm(c, event->code, COUNT_BOTH, PERIOD);
		counters_enable(pmc_one(c));
		for (unsigned k = 0; k < runs && !ds_records(); k++)
			event->piece->run(transaction_words(), FEW);
		log = pmi_end();
		counters_disable();
		pebs_disarm();
		value = counter_read(c);
		counter_program_disabled(c, 0, 0);
		if (!CONTROL_EQ(t, IDS(DS_05, DS_12, DS_21, DS_22), 1, ds_records(),
				"records of %s, IA32_PMC%u", event->name, c))
			return;
		CHECK_RANGE(t, DS_12, start, start + runs, value,
			    "IA32_PMC%u after a record of %s, its reset slot being %#lx", c,
			    event->name, reset);
		if (!CHECK_EQ(t, DS_05, 1, log->count, "interrupts at the threshold, IA32_PMC%u",
			      c))
			continue;
		CHECK_EQ(t, DS_21, IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			 "OvfBuf in its handler, IA32_PMC%u", c);
		if (sampling_clears_status(t))
			CHECK_EQ(t, DS_22, 0, log->entry[0].status & BIT(c),
				 "status bit of IA32_PMC%u after its record of %s", c, event->name);
	}
}
