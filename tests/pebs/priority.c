/* SPDX-License-Identifier: MIT */
/*
 * Several counters, or several causes, at the same time: SDM "Processor Event Based Sampling
 * (PEBS)", the paragraphs on performance counter prioritization. If two interrupts are pending,
 * software can't see which was raised first. So the tests check that no action is lost, and check
 * the order of the actions' effects. The delay of an interrupt doesn't matter. A shadow of records
 * does, because no further event follows that could start an assist.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/output/fmt.h"
#include "pmu/pmi.h"
#include "spec/arch_pebs.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

#define OVF_BUF IA32_PERF_GLOBAL_STATUS_OVF_BUF

/*
 * Do counters of one event wrap on the same event? Their starts and stops may differ, so they must
 * show equal counts of one window, and no erratum may change the count of the next window.
 */
static bool counts_are_equal(struct test *t, struct pmc_mask counters, u16 event)
{
	u64 value[WINDOW_COUNTERS], first;

	if (counters.bits & BIT(PMC_FIXED(0)) && window_slack(t, PMC_FIXED(0))) {
		test_inconclusive(t, "fixed counter 0 may count otherwise in the next window");
		return false;
	}
	if (!window_count(counters, event, COUNT_BOTH, &workload_sled, PERIOD, value)) {
		test_inconclusive(t, "disturbed windows");
		return false;
	}
	first = value[__builtin_ctzll(counters.bits)];
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(counters.bits & BIT(c)) || value[c] == first)
			continue;
		test_inconclusive(t, "counter %u counts %lu, the first one %lu", c, value[c],
				  first);
		return false;
	}
	return true;
}

/* All these counters wrap; `interrupting` have INT set. */
static const struct pmi_log *overflow_all(struct pmc_mask counters, struct pmc_mask interrupting,
					  u16 event)
{
	pmi_open(NULL);
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(counters.bits & BIT(c)))
			continue;
		counter_program(c, event,
				COUNT_BOTH | (interrupting.bits & BIT(c) ? COUNT_INT : 0));
		counter_preset(c, calibration_period(event, PERIOD));
	}
	workload_run(&workload_sled, PERIOD, counters);
	return pmi_end();
}

/* The probe for two interrupts uses the threshold of the DS area. */
static bool need_no_arch_pebs(char *reason, size_t size)
{
	if ((counter_caps()->perf_capabilities & IA32_PERF_CAPABILITIES_PEBS_FMT) >>
		    IA32_PERF_CAPABILITIES_PEBS_FMT_SHIFT !=
	    PEBS_FORMAT_ARCHITECTURAL)
		return true;
	fmt_print(reason, size, "records of architectural PEBS show no threshold of the DS area");
	return false;
}

/*
 * Counters that wrapped on one instruction have raised one interrupt. More than one is always
 * wrong; exactly one is conclusive where a second interrupt would have been seen.
 */
static void check_one_interrupt(struct test *t, const struct pmi_log *log, u64 bits, bool exact)
{
	if (!CHECK_RANGE(t, PRIO_13, 1, overflow_allowed(t, 1, log->count), log->count,
			 "interrupts of the counters 0x%lx, which wrap on one instruction", bits))
		return;
	CHECK_EQ(t, PRIO_14, bits, log->entry[0].status & bits,
		 "their status bits at the handler's entry");
	if (!exact)
		test_inconclusive(t, "one interrupt, where two that are requested on one "
				     "instruction may arrive as one");
}

/*
 * PRIO-13  Counters that overflow on the same instruction must not raise one interrupt each.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 * PRIO-14  The interrupt of counters that overflowed together must find all their bits set in
 *          IA32_PERF_GLOBAL_STATUS.
 *          SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  all general-purpose counters with INT, counting branches from the same value: they show
 *        equal counts of the same window
 * When   they overflow on one instruction
 * Then   there is one interrupt, and its handler finds all their status bits; where two interrupts
 *        of one instruction may arrive as one, that is INCONCLUSIVE
 */
TEST(priority, counters_that_overflow_on_one_instruction_raise_one_interrupt,
     REQS(PRIO_13, PRIO_14),
     NEEDS(need_perfmon, need_branches, need_two_counters, need_no_arch_pebs))
{
	struct pmc_mask all = counters_gp();
	bool exact = sampling_two_interrupts_stay_two();

	if (!counts_are_equal(t, all, EVENT_BR_INST_RETIRED_ALL_BRANCHES))
		return;
	check_one_interrupt(t, overflow_all(all, all, EVENT_BR_INST_RETIRED_ALL_BRANCHES), all.bits,
			    exact);
}

/*
 * PRIO-13  Counters that overflow on the same instruction must not raise one interrupt each.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 * PRIO-14  The interrupt of counters that overflowed together must find all their bits set in
 *          IA32_PERF_GLOBAL_STATUS.
 *          SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each general-purpose counter in turn, and fixed counter 0, with INT, counting instructions
 *        from the same value: they show equal counts of the same window
 * When   both overflow on one instruction
 * Then   there is one interrupt, and its handler finds both status bits; where two interrupts of
 *        one instruction may arrive as one, that is INCONCLUSIVE
 */
TEST(priority, fixed_counter_overflowing_with_another_raises_no_second_interrupt,
     REQS(PRIO_13, PRIO_14),
     NEEDS(need_perfmon, need_instructions, need_fixed_0_to_2, need_no_arch_pebs))
{
	bool exact = sampling_two_interrupts_stay_two();

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		struct pmc_mask both = pmc_or(pmc_one(c), pmc_one(PMC_FIXED(0)));

		if (!counts_are_equal(t, both, EVENT_INST_RETIRED_ANY_P))
			return;
		check_one_interrupt(t, overflow_all(both, both, EVENT_INST_RETIRED_ANY_P),
				    both.bits, exact);
		counter_reset();
	}
}

/*
 * PMI-01   The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *          through the local APIC's LVTPC.
 *          SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-02   The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *          LVTPC.
 * PRIO-14  The interrupt of counters that overflowed together must find all their bits set in
 *          IA32_PERF_GLOBAL_STATUS.
 *          SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  pairs of counters, general-purpose and fixed, that count instructions from the same
 *        value, one with INT
 * When   both overflow on one instruction
 * Then   there is one interrupt, and its handler finds both status bits
 */
TEST(priority, overflow_without_int_hides_no_interrupt_of_another_counter,
     REQS(PMI_01, PMI_02, PRIO_14),
     NEEDS(need_perfmon, need_instructions, need_fixed_0_to_2, need_two_counters))
{
	static const u8 pairs[][2] = {
		{ 0, 1 }, { 1, 0 }, { 1, 2 }, { 0, 3 }, { 2, 3 }, { 3, 2 },
		{ 0, PMC_FIXED(0) }, { 3, PMC_FIXED(0) }, { PMC_FIXED(0), 1 }, { 2, 5 }, { 6, 7 },
	};

	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		unsigned silent = pairs[i][0], with_int = pairs[i][1];
		struct pmc_mask both = pmc_or(pmc_one(silent), pmc_one(with_int));
		struct test_claim claim = PMC_IS_FIXED(with_int) ? AT(PMI_02) : AT(PMI_01);
		const struct pmi_log *log;

		if (both.bits & ~counters_all().bits)
			continue;
		if (!counts_are_equal(t, both, EVENT_INST_RETIRED_ANY_P))
			return;
		log = overflow_all(both, pmc_one(with_int), EVENT_INST_RETIRED_ANY_P);
		if (test_check_range(t, claim, 1, overflow_allowed(t, 1, log->count), log->count,
				     "interrupts: counters %u (INT = 0) and %u (INT = 1) wrap on "
				     "one instruction",
				     silent, with_int))
			CHECK_EQ(t, PRIO_14, both.bits, log->entry[0].status & both.bits,
				 "their status bits at the handler's entry");
		counter_reset();
	}
}

/* Take one record of a counter. Returns its interrupts. */
static const struct pmi_log *run_record(unsigned c, u64 flags, unsigned threshold)
{
	struct ds_setup setup = sampling_setup(8);

	setup.threshold = threshold;
	pmi_open(NULL);
	sampling_run_on(&setup, c, COUNT_BOTH | flags);
	return pmi_end();
}

static u64 one_record_on(void)
{
	return ds_buffer() + record_size(counter_caps()->record_format);
}

/*
 * PRIO-12  When the threshold interrupt is taken, the record and the advanced index must be in
 *          memory.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  a PEBS threshold of one record, INT = 0
 * When   IA32_PMC0 makes a record
 * Then   the handler of the threshold's interrupt finds OvfBuf, the index after the record, and in
 *        memory the record of a marked load
 * Control: there is one interrupt
 */
TEST(priority, record_and_index_are_in_memory_at_the_threshold_interrupt, REQS(PRIO_12),
     NEEDS(need_perfmon, need_any_pebs, need_events), .under_every_fault = true)
{
	enum record_format format = counter_caps()->record_format;
	const struct pmi_log *log = run_record(0, 0, 1);
	struct pebs_record record;

	sampling_want(t, 1);
	if (!CONTROL_EQ(t, PRIO_12, 1, log->count,
			"interrupts of one record, which meets the threshold"))
		return;
	CHECK_EQ(t, PRIO_12, OVF_BUF, log->entry[0].status & OVF_BUF,
		 "OvfBuf at the handler's entry");
	CHECK_EQ(t, PRIO_12, one_record_on(), log->entry[0].index, "index at the handler's entry");
	record_decode(format, log->entry[0].record, RECORD_MAX_SIZE, &record);
	CHECK(t, PRIO_12, sampling_mark(&workload_sample, SAMPLE_MARKS, &record) >= 0,
	      "instruction 0x%lx of the record at the handler's entry is a marked load",
	      sampling_ip(&workload_sample, &record));
}

/* At CPL 3, where nothing else is counted: the handler's loads must not start the assist. */
static void check_assist_first(struct test *t, unsigned c)
{
	struct ds_setup setup = sampling_setup(8);
	const struct pmi_log *log;

	pmi_open(NULL);
	ds_open(&setup);
	pebs_arm(c, sampling_event_on(c), COUNT_USR | COUNT_INT, PERIOD);
	counters_enable(pmc_one(c));
	workload_run_user(&workload_load, ROUNDS_FOR(1));
	counters_disable();
	log = pmi_end();
	pebs_disarm();
	sampling_want(t, 1);
	if (CONTROL_RANGE(t, PRIO_08, 1, overflow_allowed(t, 1, log->count), log->count,
			  "interrupts of one record of IA32_PMC%u, INT = 1, threshold out of reach",
			  c))
		CHECK_EQ(t, PRIO_08, one_record_on(), log->entry[0].index,
			 "index at the entry of the overflow interrupt of IA32_PMC%u", c);
	counter_reset();
}

/*
 * PRIO-08  When one counter has both PEBS and its interrupt enabled, its assist must be completed
 *          before its overflow interrupt is raised.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  each PEBS counter with INT and USR, so that the handler's own loads can't start the
 *        assist; the threshold is out of reach
 * When   it overflows at CPL 3
 * Then   the handler of its interrupt finds the index after the record
 * Control: there is one interrupt
 */
TEST(priority, assist_comes_before_the_overflow_interrupt_of_its_counter, REQS(PRIO_08),
     NEEDS(need_perfmon, need_any_pebs, need_events), .under_every_fault = true)
{
	if (!sampling_int_or_skip(t))
		return;
	for (unsigned c = 0; c < sampling_gp_counters(); c++)
		check_assist_first(t, c);
}

/*
 * If a second interrupt may be lost or merged, the check is only that an interrupt shows the
 * threshold. That is so where interrupts are late, aren't held while LVTPC is masked, or are merged
 * when they are requested together.
 */
static void check_two_interrupts(struct test *t, unsigned c, bool exact)
{
	const struct pmi_log *log = run_record(c, COUNT_INT, 1);

	sampling_want(t, 1);
	if (!CHECK_RANGE(t, PRIO_10, 1, overflow_allowed(t, 2, log->count), log->count,
			 "interrupts of one record of IA32_PMC%u, INT = 1, which meets the "
			 "threshold",
			 c))
		return;
	CHECK_EQ(t, PRIO_09, OVF_BUF, log->entry[0].status & OVF_BUF,
		 "OvfBuf at the entry of the first of %u interrupts", log->count);
	CHECK_EQ(t, PRIO_09, one_record_on(), log->entry[0].index,
		 "index at the entry of the first interrupt");
	if (log->count >= 2)
		CHECK_EQ(t, PRIO_10, VECTOR_PMI, log->entry[1].vector, "vector of the second");
	else if (exact)
		CHECK_EQ(t, PRIO_10, 2, log->count, "separate interrupts, IA32_PMC%u", c);
	else
		test_inconclusive(t, "one interrupt for threshold and overflow of IA32_PMC%u: %s",
				  c,
				  calibration_get()->masked == MASKED_LOST ?
					  "what LVTPC masks is lost here" :
					  "what is requested together may arrive as one here");
	counter_reset();
	log = overflow_interrupts(c, COUNT_INT, NULL);
	CHECK_RANGE(t, PRIO_10, 1, overflow_allowed(t, 1, log->count), log->count,
		    "interrupts of the next overflow of IA32_PMC%u, for which none has waited", c);
}

/*
 * PRIO-09  When a record reaches the threshold, the threshold interrupt must come after the assist
 *          and before the overflow interrupt of the same counter.
 * PRIO-10  The threshold interrupt and the overflow interrupt of one counter must be two separate
 *          interrupts.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  each PEBS counter with INT, a threshold of one record
 * When   it makes a record
 * Then   the handler of the first interrupt finds OvfBuf and the index after the record. A second
 *        interrupt follows, and none is left for the next overflow. Where interrupts aren't taken
 *        at once, don't wait while LVTPC is masked, or merge, one is INCONCLUSIVE
 */
TEST(priority, threshold_interrupt_comes_before_the_overflow_interrupt, REQS(PRIO_09, PRIO_10),
     NEEDS(need_perfmon, need_any_pebs, need_events, need_branches))
{
	bool exact;

	if (!sampling_int_or_skip(t))
		return;
	exact = sampling_two_interrupts_stay_two();
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		check_two_interrupts(t, c, exact);
		counter_reset();
	}
}

struct counters {
	unsigned sampled, plain;
}; /* of loads: with PEBS, and without */

/*
 * A fixed counter interrupts at CPL 3, where the handler isn't counted, on its nth event. The
 * PERIODth load arms `sampled`; `plain` counts loads too. Returns the loads that had retired at the
 * interrupt; 0: no wrap. If that is more than PERIOD, the record must be in memory.
 */
static u64 check_fixed_at(struct test *t, unsigned fixed, struct counters of, u64 nth)
{
	struct ds_setup setup = sampling_setup(8);
	const struct pmi_log *log;
	u64 loads;

	pmi_open(NULL);
	ds_open(&setup);
	pebs_arm(of.sampled, LOADS, COUNT_USR, PERIOD);
	counter_program(of.plain, LOADS, COUNT_USR);
	counter_write(of.plain, 0);
	counter_program(fixed, 0, COUNT_USR | COUNT_INT);
	counter_preset(fixed, nth);
	counters_enable(pmc_or(pmc_or(pmc_one(of.sampled), pmc_one(of.plain)), pmc_one(fixed)));
	workload_run_user(&workload_load, 2 * PERIOD);
	counters_disable();
	log = pmi_end();
	loads = counter_read(of.plain);
	if (counter_read(fixed) >= BIT(counter_width(fixed) - 1))
		loads = 0;
	else if (CONTROL_RANGE(t, PRIO_04, 1, 1 + overflow_extra(t, fixed), log->count,
			       "interrupts of fixed counter %u after a count of %lu",
			       fixed - PMC_FIXED(0), nth) &&
		 loads > PERIOD)
		CHECK_EQ(t, PRIO_04, one_record_on(), log->entry[0].index,
			 "index at the entry of fixed counter %u's interrupt, %lu loads after the "
			 "overflow of IA32_PMC%u",
			 fixed - PMC_FIXED(0), loads - PERIOD, of.sampled);
	counter_reset();
	return loads;
}

/* Its count over the whole run. */
static u64 count_of_fixed(unsigned fixed)
{
	u64 value;

	counter_program(fixed, 0, COUNT_USR);
	counter_write(fixed, 0);
	counters_enable(pmc_one(fixed));
	workload_run_user(&workload_load, 2 * PERIOD);
	counters_disable();
	value = counter_read(fixed);
	counter_reset();
	return value;
}

/* If interrupts are prompt, a bisection finds the count that meets the load after the PERIODth. */
static void search_fixed(struct test *t, unsigned fixed, struct counters of)
{
	u64 before = 1, at = count_of_fixed(fixed), loads_before, loads_at;

	loads_before = check_fixed_at(t, fixed, of, before);
	loads_at = check_fixed_at(t, fixed, of, at);
	while (at - before > 1) {
		u64 nth = (before + at) / 2;
		u64 loads = check_fixed_at(t, fixed, of, nth);

		if (loads > PERIOD) {
			at = nth;
			loads_at = loads;
		} else {
			before = nth;
			loads_before = loads;
		}
	}
	if (loads_before != PERIOD || loads_at != PERIOD + 1)
		test_inconclusive(t,
				  "fixed counter %u: after %lu %lu loads have retired, after "
				  "%lu %lu",
				  fixed - PMC_FIXED(0), before, loads_before, at, loads_at);
}

/* At most so many instructions at CPL 3 before the first load; and a round of workload_load. */
#define WAY_DOWN 64
#define ROUND	3

/*
 * If interrupts are late, try each instruction that may be that load: on one of them the two
 * actions met, and neither record nor interrupt may be missing. For cycles this isn't possible.
 */
static void sweep_fixed(struct test *t, struct counters of)
{
	unsigned seen = 0;

	for (u64 nth = ROUND * PERIOD; nth < ROUND * PERIOD + WAY_DOWN; nth++)
		seen += check_fixed_at(t, PMC_FIXED(0), of, nth) > PERIOD;
	CONTROL_RANGE(t, PRIO_04, 1, WAY_DOWN, seen,
		      "interrupts of fixed counter 0 after the load of IA32_PMC%u's record",
		      of.sampled);
}

/*
 * PRIO-04  General-purpose counters must be served before fixed counters.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  at CPL 3, where the handler isn't counted: a PEBS counter that the PERIODth load arms,
 *        another counter of loads, a fixed counter with INT. Where interrupts are prompt, a
 *        bisection finds the count at which the fixed counter meets the assist's load. Where they
 *        are late, each instruction on which it may be is tried
 * When   the fixed counter overflows
 * Then   there is one interrupt; if its handler finds more than PERIOD loads retired, it finds the
 *        index after the record
 * Control: where the fixed counter has wrapped there is one interrupt
 */
TEST(priority, assist_comes_before_the_interrupt_of_a_fixed_counter, REQS(PRIO_04),
     NEEDS(need_perfmon, need_any_pebs, need_events, need_fixed_0_to_2, need_two_counters))
{
	const struct calibration *c = calibration_get();

	if (!sampling_assists_are_prompt(t))
		return;
	if (!c->skid_known || c->skid_most) {
		sweep_fixed(t, (struct counters){ .sampled = 3, .plain = 0 });
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		search_fixed(t, PMC_FIXED(i), (struct counters){ .sampled = 0, .plain = 1 });
		search_fixed(t, PMC_FIXED(i), (struct counters){ .sampled = 3, .plain = 0 });
	}
}

/* Was the counter reloaded? The value in its slot is larger than any count here. */
static bool reloaded(unsigned counter)
{
	return counter_read(counter) >= BIT(counter_width(counter) - 1);
}

/*
 * Two assists are due on one load and can't share a record; room: records in the buffer. The last
 * load at CPL 3 arms both counters. While they are off, software clears their status bits, so that
 * neither assist takes the other counter for overflowed. The next load starts both. Returns the
 * records that were written; ~0: the counters weren't armed.
 */
static unsigned two_assists(unsigned first, unsigned second, unsigned room)
{
	struct pmc_mask both = pmc_or(pmc_one(first), pmc_one(second));
	struct ds_setup setup = sampling_setup(room);
	u64 loads = sampling_user_loads();
	unsigned records;

	setup.threshold = DS_CAPACITY;
	ds_open(&setup);
	pebs_arm(first, LOADS, COUNT_USR, loads);
	pebs_arm(second, LOADS, COUNT_USR, loads);
	for (unsigned i = 0; i < 2; i++) {
		counters_enable(both);
		workload_run_user(&workload_load, 2 * PERIOD);
		counters_disable();
		if (!i && (ds_records() || both.bits & ~counters_status()))
			return ~0u;
		counters_clear(both.bits);
	}
	records = ds_records();
	pebs_disarm();
	return records;
}

struct assists {
	unsigned first, then;	/* counters, by index */
};

static void check_order(struct test *t, struct test_claim claim, struct assists pair)
{
	unsigned first = pair.first, second = pair.then;
	bool served_first, served_second, two = two_assists(first, second, 4) == 2;

	counter_reset();
	if (!two || two_assists(first, second, 1) != 1) {
		test_inconclusive(t,
				  "the assists of IA32_PMC%u and IA32_PMC%u aren't two, or the "
				  "buffer's only record isn't written once",
				  first, second);
		counter_reset();
		return;
	}
	served_first = reloaded(first);
	served_second = reloaded(second);
	test_check(t, claim, served_first && !served_second, "the lower one is served",
		   "one record for IA32_PMC%u (reloaded: %u) and IA32_PMC%u (%u)", first,
		   served_first, second, served_second);
	counter_reset();
}

/*
 * PRIO-01  Counters that need action on the same instruction must be served in the order of their
 *          index.
 * PRIO-02  IA32_PMC0 must be served before every other counter that needs action on the same
 *          instruction.
 * PRIO-03  IA32_PMC1 must be served before IA32_PMC2, IA32_PMC3 and every higher counter.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  two PEBS counters, both armed, whose status bits software has cleared, so that their
 *        assists can't share a record. The buffer has room for one record; with room for more there
 *        are two
 * When   the next load finds both due
 * Then   the counter of lower index is reloaded, and has the record; the other isn't
 */
TEST(priority, assists_due_on_one_load_are_served_in_counter_order, REQS(PRIO_01, PRIO_02, PRIO_03),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	if (!sampling_assists_are_prompt(t))
		return;
	if (!pebs_has_pdist(0)) {	/* with PDist it is never due: docs/READINGS.md */
		check_order(t, AT(PRIO_02), (struct assists){ .first = 0, .then = 1 });
		check_order(t, AT(PRIO_02), (struct assists){ .first = 0, .then = 3 });
	}
	if (!pebs_has_pdist(1))
		check_order(t, AT(PRIO_03), (struct assists){ .first = 1, .then = 2 });
	check_order(t, AT(PRIO_01), (struct assists){ .first = 2, .then = 3 });
}
