/* SPDX-License-Identifier: MIT */
/*
 * One assist for two, three and four counters: SDM "Processor Event Based Sampling (PEBS)". Each
 * set of IA32_PMC0 to IA32_PMC3 is tried. In one case its counters overflow on one load. In the
 * other case all except one have overflowed on the last store of a window and wait for another
 * store, and the record of a load covers them. The manual doesn't say whether an assist covers a
 * counter that wraps on its instruction: in the first case there may be a record for each counter.
 */
#include "kernel/interrupt/apic.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"
#include "tests/pebs/shared_assist.h"

#define SETS		BIT(PEBS_COUNTERS)
#define OVF_BUF		IA32_PERF_GLOBAL_STATUS_OVF_BUF
#define HANDLER_LOADS	40000	/* of a few interrupts, at most: less than two periods differ */
#define COUNTING_SLACK	32	/* events at the window's end, and of microcode */
#define WAITING_EVENT	STORES	/* an event that doesn't occur again */

/* Sets of counters, as bits. */
struct sharing {
	u64 set;		/* counters with PEBS */
	u64 with_int;		/* of these, counters with INT */
	u64 recorded;		/* overflow on the recorded load; the others overflowed before */
};

bool shared_assist_covers_waiting(const struct test *t)
{
	return test_is_strict(t) || !record_has(counter_caps()->record_format, RECORD_applicable);
}

static bool is_several(u64 set)
{
	return set & (set - 1);
}

static u64 period_of(unsigned c)
{
	return ((u64)c + 1) * 100000;
}

static u64 interrupts_of(const struct sharing *s, unsigned c)
{
	return s->with_int & BIT(c) ? COUNT_INT : 0;
}

/* A counter with PDist never waits: it records the event on which it overflows. */
static bool has_pdist(u64 set)
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++)
		if (set & BIT(c) && pebs_has_pdist(c))
			return true;
	return false;
}

static void arm_all(const struct sharing *s, u64 counters, u16 event, u64 period)
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++)
		if (counters & BIT(c))
			pebs_arm(c, event, COUNT_BOTH | interrupts_of(s, c), period);
}

/*
 * Open the DS area, listen to interrupts, and make the counters overflow. false: the waiting ones
 * haven't overflowed as needed, and the test is INCONCLUSIVE. pmi_end() returns the interrupts.
 */
static bool share(struct test *t, const struct sharing *s, unsigned threshold)
{
	struct ds_setup setup = sampling_setup(8);
	u64 waiting = s->set & ~s->recorded;

	setup.threshold = threshold;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++)
		setup.reset[c] = pebs_reset_value(c, period_of(c));
	pmi_open(NULL);
	ds_open(&setup);
	if (waiting) {
		arm_all(s, waiting, WAITING_EVENT, PERIOD);
		workload_run(&workload_store, PERIOD, (struct pmc_mask){ waiting });
		if (ds_records() || waiting & ~counters_status()) {
			pmi_close();
			test_inconclusive(t, "the last store of the window doesn't arm 0x%lx",
					  waiting);
			return false;
		}
	}
	arm_all(s, s->recorded, LOADS, calibration_period(LOADS, PERIOD));
	workload_run(&workload_sample, PERIOD, (struct pmc_mask){ s->set });
	sampling_want(t, 1);
	return true;
}

/* The counters have their reset values, plus the events after that and so many of a handler. */
static void check_reloaded(struct test *t, struct test_claim claim, const struct sharing *s,
			   u64 of_handler)
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		u64 reset = pebs_reset_value(c, period_of(c)) & (BIT(counter_width(c)) - 1);
		u64 events = s->recorded & BIT(c) ? SAMPLE_MARKS : 0;

		if (s->set & BIT(c))
			test_check_range(t, claim, reset,
					 reset + events + of_handler + COUNTING_SLACK,
					 counter_read(c),
					 "IA32_PMC%u, which overflowed with others of 0x%lx", c,
					 s->set);
	}
}

/*
 * DS-13  After a record every counter that overflowed and is PEBS-enabled must be loaded with its
 *        reset value.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-22  An assist must clear the overflow bits of the counters that overflowed and are enabled
 *        for PEBS, and no others.
 *        SDM 18.9.4.1 PEBS Record Format
 *
 * Given  each set of two to four PEBS counters that overflow on one load, with reset values that
 *        differ
 * When   the assist occurs, or one assist for each counter
 * Then   each counter reads its own slot's value and the loads after it, and no status bit is left
 * Control: there is at least one record, and at most one for each counter
 */
TEST(ds, each_set_of_counters_that_overflow_together_is_reloaded, REQS(DS_13, DS_22),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	for (u64 set = 1; set < SETS; set++) {
		struct sharing s = { .set = set, .recorded = set };

		if (!is_several(set))
			continue;
		if (!share(t, &s, 8))
			return;
		pmi_end();
		CONTROL_RANGE(t, IDS(DS_13, DS_22), 1, bits_set(set), ds_records(),
			      "records of 0x%lx", set);
		check_reloaded(t, AT(DS_13), &s, 0);
		if (sampling_clears_status(t))
			CHECK_EQ(t, DS_22, 0, counters_status() & set,
				 "status bits of 0x%lx afterwards", set);
		counter_reset();
	}
}

/*
 * DS-13  After a record every counter that overflowed and is PEBS-enabled must be loaded with its
 *        reset value.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-22  An assist must clear the overflow bits of the counters that overflowed and are enabled
 *        for PEBS, and no others.
 *        SDM 18.9.4.1 PEBS Record Format
 *
 * Given  each set of two to four PEBS counters, all but one of which have overflowed in stores and
 *        wait for the next store; the counter that hasn't overflowed is each of them in turn
 * When   that one makes a record of a load
 * Then   all of them read their own slot's value plus the events after the record, and no status
 *        bit is left
 * Control: there is one record
 */
TEST(ds, one_record_reloads_each_set_of_counters_that_wait, REQS(DS_13, DS_22),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!shared_assist_covers_waiting(t)) {
		test_skip(t, WAITING_NOT_ASKED);
		return;
	}
	for (u64 set = 1; set < SETS; set++) {
		for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
			struct sharing s = { .set = set, .recorded = BIT(c) };

			if (!is_several(set) || !(set & BIT(c)) || has_pdist(set))
				continue;
			if (!share(t, &s, 8))
				return;
			pmi_end();
			CONTROL_EQ(t, IDS(DS_13, DS_22), 1, ds_records(),
				   "records of IA32_PMC%u, the others of 0x%lx waiting", c, set);
			check_reloaded(t, AT(DS_13), &s, 0);
			if (sampling_clears_status(t))
				CHECK_EQ(t, DS_22, 0, counters_status() & set,
					 "status bits of 0x%lx afterwards", set);
			counter_reset();
		}
	}
}

/* All counters that the records name. */
static u64 named(void)
{
	struct pebs_record record;
	u64 all = 0;

	for (unsigned i = 0; i < ds_records(); i++)
		if (record_decode(counter_caps()->record_format, ds_record(i), ds_record_size(),
				  &record))
			all |= sampling_field(&record, RECORD_applicable);
	return all;
}

static bool check_named(struct test *t, const struct sharing *s)
{
	if (!share(t, s, 8))
		return false;
	pmi_end();
	CONTROL_RANGE(t, SKL_04, 1, bits_set(s->set), ds_records(), "records of 0x%lx", s->set);
	CHECK_EQ(t, SKL_04, s->set, named(),
		 "counters at 90H of the records of 0x%lx, of which 0x%lx overflows last", s->set,
		 s->recorded);
	counter_reset();
	return true;
}

/*
 * SKL-04  The quadword at 90H must name the counters whose overflow the record is for.
 *         SDM 18.13.1.1 6th Generation Intel Core: PEBS Data Format
 *
 * Given  each set of two to four PEBS counters that overflow on one load; in a strict run, also
 *        each set of which all counters except one wait for the next store
 * When   the assist occurs, or one assist for each counter
 * Then   the records' quadwords at 90H, taken together, name the counters of the set and no other
 * Control: there is at least one record, and at most one for each counter
 */
TEST(record, records_of_each_set_of_counters_name_all_of_them, REQS(SKL_04),
     NEEDS(need_perfmon, need_pebs, need_format3, need_events))
{
	for (u64 set = 1; set < SETS; set++) {
		const struct sharing together = { .set = set, .recorded = set };

		if (!is_several(set))
			continue;
		if (!check_named(t, &together))
			return;
		for (unsigned c = 0; c < PEBS_COUNTERS && shared_assist_covers_waiting(t); c++) {
			const struct sharing waiting = { .set = set, .recorded = BIT(c) };

			if (set & BIT(c) && !has_pdist(set) && !check_named(t, &waiting))
				return;
		}
	}
}

/* A record that several counters may share reaches the threshold. */
static bool check_threshold(struct test *t, const struct sharing *s)
{
	/* One record for all; otherwise perhaps one for each counter. */
	bool one = s->recorded != s->set && shared_assist_covers_waiting(t);
	const struct pmi_log *log;
	unsigned records;

	if (!share(t, s, bits_set(s->set) + 1))
		return false;
	CHECK_EQ(t, DS_06, 0, pmi_end()->count, "interrupts of 0x%lx below the threshold", s->set);
	CONTROL_RANGE(t, DS_06, 1, bits_set(s->set), ds_records(), "records meanwhile");
	CHECK_EQ(t, DS_21, 0, counters_status() & OVF_BUF, "OvfBuf below the threshold");
	counter_reset();
	if (!share(t, s, 1))
		return false;
	log = pmi_end();
	records = ds_records();
	if (CHECK_RANGE(t, DS_05, 1, one ? 1 : records, log->count,
			"interrupts of the counters 0x%lx, threshold after one record", s->set)) {
		CHECK_RANGE(t, DS_05, ds_buffer() + ds_record_size(),
			    ds_buffer() + (one ? 1 : bits_set(s->set)) * ds_record_size(),
			    log->entry[0].index, "index at the handler's entry");
		CHECK_EQ(t, DS_21, OVF_BUF, log->entry[0].status & OVF_BUF,
			 "OvfBuf at the handler's entry");
	}
	counter_reset();
	return true;
}

/*
 * DS-05  A threshold interrupt must be raised when the index has reached the threshold after a
 *        record.
 * DS-06  No threshold interrupt may be raised while the index is below the threshold.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-21  When a record has brought the index to the threshold, OvfBuf
 *        (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *        SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 *
 * Given  each set of two to four PEBS counters that share a record, because they overflow on one
 *        load or because all of them except one wait for a store; INT = 0
 * When   the threshold is out of their reach, then after one record
 * Then   there is no interrupt and no OvfBuf; then one, whose handler finds OvfBuf and the index
 *        after the record. Where each counter may have its own record, each record may interrupt
 * Control: below the threshold there are records too
 */
TEST(ds, record_of_several_counters_interrupts_at_the_threshold, REQS(DS_05, DS_06, DS_21),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	for (u64 set = 1; set < SETS; set++) {
		struct sharing together = { .set = set, .recorded = set };
		struct sharing waiting = { .set = set, .recorded = set & -set };

		if (!is_several(set))
			continue;
		if (!check_threshold(t, &together))
			return;
		if (!has_pdist(set) && !check_threshold(t, &waiting))
			return;
	}
}

/*
 * DS-13  After a record every counter that overflowed and is PEBS-enabled must be loaded with its
 *        reset value.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  each set of two to four PEBS counters that overflow on one load, with reset values that
 *        differ, and a threshold of one record
 * When   the assist occurs, or one assist for each counter
 * Then   each counter reads its own slot's value, the loads after it and those of the handler
 * Control: there is at least one record, and at most one for each counter; an interrupt came
 */
TEST(ds, each_set_of_counters_is_reloaded_by_a_record_that_reaches_the_threshold, REQS(DS_13),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	for (u64 set = 1; set < SETS; set++) {
		struct sharing s = { .set = set, .recorded = set };

		if (!is_several(set))
			continue;
		if (!share(t, &s, 1))
			return;
		CONTROL_RANGE(t, DS_13, 1, ~0ULL, pmi_end()->count, "interrupts of 0x%lx", set);
		CONTROL_RANGE(t, DS_13, 1, bits_set(set), ds_records(), "records of 0x%lx", set);
		check_reloaded(t, AT(DS_13), &s, HANDLER_LOADS);
		counter_reset();
	}
}

static bool check_interrupt(struct test *t, const struct sharing *s, unsigned c)
{
	unsigned count;

	if (!share(t, s, 8))
		return false;
	count = pmi_end()->count;
	CONTROL_RANGE(t, PMI_01, 1, bits_set(s->set), ds_records(), "records of 0x%lx", s->set);
	CHECK_RANGE(t, PMI_01, 1, overflow_allowed(t, 1, count), count,
		    "interrupts of IA32_PMC%u, of 0x%lx the only one with INT, 0x%lx recorded", c,
		    s->set, s->recorded);
	counter_reset();
	return true;
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each set of two to four PEBS counters that share a record, because they overflow on one
 *        load or because all of them except one wait for a store; one of them has INT, each in
 *        turn; the threshold is out of reach
 * When   the assist takes place
 * Then   there is one interrupt, no matter which counter the record is made for. From format 3 on a
 *        record of the counters without INT is judged in a strict run only
 * Control: there is a record
 */
TEST(arm, overflow_with_int_interrupts_although_another_counter_has_the_record, REQS(PMI_01),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	if (!sampling_int_or_skip(t))
		return;
	for (u64 set = 1; set < SETS; set++) {
		for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
			struct sharing together = { .set = set, .recorded = set,
						    .with_int = BIT(c) };
			struct sharing waits = { .set = set, .recorded = set & ~BIT(c),
						 .with_int = BIT(c) };
			struct sharing records = { .set = set, .recorded = BIT(c),
						   .with_int = BIT(c) };

			if (!is_several(set) || !(set & BIT(c)))
				continue;
			if (!check_interrupt(t, &together, c))
				return;
			if (has_pdist(set))
				continue;
			if (shared_assist_covers_waiting(t) && !check_interrupt(t, &waits, c))
				return;
			if (!check_interrupt(t, &records, c))
				return;
		}
	}
}
