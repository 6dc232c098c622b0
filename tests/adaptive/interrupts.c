/* SPDX-License-Identifier: MIT */
/*
 * Records and interrupts of each counter, where baseline lets each one make records: SDM "Processor
 * Event Based Sampling (PEBS)". tests/pebs/ does the same for IA32_PMC0 to IA32_PMC3.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/intr.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/measure/overflow.h"

#define OVF_BUF		IA32_PERF_GLOBAL_STATUS_OVF_BUF
#define NOT_REACHED	8u
#define SLACK		0x100000	/* events after a record; no window has so many */

/* The counters of the tests: not fixed counter 2, whose interrupts may repeat. */
static u64 counters(void)
{
	return adaptive_sure_counters() & ~BIT(OVERFLOW_SLOW);
}

/* One record at CPL 3, where the handler isn't counted. Returns its interrupts. */
static const struct pmi_log *record_at_cpl_3(unsigned c, u64 flags, unsigned threshold)
{
	const struct adaptive_run run = { .counter = c, .basic = true };
	const struct pmi_options options = { .nmi = c & 1 };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	const struct pmi_log *log;

	setup.threshold = threshold;
	pmi_open(&options);
	ds_open(&setup);
	pebs_arm_as(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_USR | flags, ROUNDS_PERIOD);
	for (unsigned i = 0; i < SLOW_WINDOWS && !ds_bytes(); i++) {
		counters_enable(pmc_one(c));
		workload_run_user(&workload_load, ROUNDS_FOR(1));
		counters_disable();
	}
	log = pmi_end();
	pebs_disarm();
	counter_program_disabled(c, 0, 0);
	counters_clear(counters_status() & STATUS_LOOKED_AT);
	return log;
}

/* INT and the threshold, or one of them, ask for interrupts of one record. exact: two stay two. */
static bool check_number(struct test *t, const struct pmi_log *log, unsigned c, bool with_int,
			 bool reached, bool exact)
{
	const unsigned asked = with_int && reached ? 2 : 1;
	const unsigned least = exact ? asked : 1;
	const u64 most = overflow_allowed(t, asked, log->count);

	if (!with_int)
		return CHECK_RANGE(t, DS_05, least, most, log->count,
				   "interrupts of counter %u, INT = 0, threshold reached", c);
	return CHECK_RANGE(t, PRIO_10, least, most, log->count,
			   "interrupts of counter %u, INT = 1, threshold %s", c,
			   reached ? "reached" : "out of reach");
}

static void check_entry(struct test *t, const struct pmi_entry *entry, unsigned c, bool with_int,
			bool reached)
{
	test_check_eq(t, with_int ? AT(PRIO_08) : AT(DS_05), ds_buffer() + BASIC_BYTES,
		      entry->index, "index at the handler's entry, counter %u, INT = %u", c,
		      with_int);
	CHECK_EQ(t, PMI_04, LVT_MASKED, entry->lvtpc & LVT_MASKED,
		 "LVTPC's mask bit at the handler's entry, counter %u", c);
	if (reached)
		CHECK_EQ(t, IDS(PRIO_09, DS_21), OVF_BUF, entry->status & OVF_BUF,
			 "OvfBuf at the handler's entry, counter %u", c);
}

/*
 * Decides ARM-03, PRIO-08, PRIO-09, PRIO-10, DS-05, DS-21, PMI-04 (claims/requirement.def has
 * their sentences).
 *
 * Given  each counter with baseline, also fixed ones but fixed counter 2; USR, so that the events
 *        of the handler can't start the assist; delivery mode NMI for counters of odd index
 * When   it makes a record with INT = 0, and with INT = 1 where a source says what INT does; the
 *        threshold is out of reach, or after the record
 * Then   INT = 0 and the threshold out of reach: no interrupt. Else one; with INT and the threshold
 *        reached two, or one where two of one instruction may arrive as one; at the entry of the
 *        first handler the index is after the record, LVTPC's mask bit is set, and OvfBuf is too if
 *        the threshold is reached
 * Control: there is a record each time
 */
TEST(adaptive, record_of_each_counter_interrupts_by_int_and_threshold,
     REQS(ARM_03, PRIO_08, PRIO_09, PRIO_10, DS_05, DS_21, PMI_04),
     NEEDS(need_perfmon, need_baseline, need_branches))
{
	const bool exact = sampling_two_interrupts_stay_two();

	FOR_EACH_COUNTER (c, counters())
		for (unsigned way = 0; way < 4; way++) {
			const struct adaptive_run run = { .counter = c, .basic = true };
			const bool with_int = way & 1, reached = way & 2;
			const struct pmi_log *log;

			if (with_int && !sampling_int_has_source(t))
				continue;
			log = record_at_cpl_3(c, with_int ? COUNT_INT : 0,
					      reached ? 1 : NOT_REACHED);
			if (!adaptive_one_record(t, CONTROL_AT(ARM_03, PRIO_08), &run))
				return;
			if (!way) {
				CHECK_EQ(t, ARM_03, 0, log->count,
					 "interrupts of counter %u, INT = 0, threshold out of "
					 "reach",
					 c);
				continue;
			}
			if (check_number(t, log, c, with_int, reached, exact))
				check_entry(t, &log->entry[0], c, with_int, reached);
		}
}

/*
 * ARM-05  Records must be written also while interrupts are masked by RFLAGS.IF.
 *         SDM 18.7.1 Goldmont: Processor Event Based Sampling (PEBS); a record needs no interrupt
 *
 * Given  each counter with baseline, also fixed ones but fixed counter 2
 * When   it overflows and is switched off again while RFLAGS.IF = 0
 * Then   there is a record
 * Control: there is one with IF = 1 too
 */
TEST(adaptive, record_of_each_counter_is_written_while_interrupts_are_off, REQS(ARM_05),
     NEEDS(need_perfmon, need_baseline, need_branches))
{
	FOR_EACH_COUNTER (c, counters())
		for (unsigned off = 2; off-- > 0;) {
			const struct adaptive_run run = { .counter = c, .basic = true };
			const struct test_claim claim = off ? AT(ARM_05) : CONTROL_AT(ARM_05);
			struct adaptive_layout layout;
			struct ds_setup setup = adaptive_setup(&run, &layout);

			if (off)
				intr_disable();
			adaptive_any_window(&run, &setup);
			intr_enable();
			if (!adaptive_one_record(t, claim, &run))
				return;
		}
}

static u64 reset_of(unsigned counter)
{
	return pebs_reset_value(counter, ((u64)counter + 1) << 24);
}

/*
 * DS-13  After a record every counter that overflowed and is PEBS-enabled must be loaded with its
 *        reset value.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  PEBS on all general-purpose counters, which count branches from one start value, and reset
 *        values that differ
 * When   they overflow on one branch
 * Then   each counter reads its own reset value plus its later events
 * Control: there is a record, or one for each counter
 */
TEST(adaptive, all_counters_that_overflow_together_are_reloaded, REQS(DS_13),
     NEEDS(need_perfmon, need_baseline, need_branches))
{
	const struct adaptive_run run = { .basic = true, .capacity = DS_CAPACITY };
	const struct pmc_mask all = { counter_caps()->pebs_mask };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);

	FOR_EACH_COUNTER (c, all.bits)
		setup.reset[c] = reset_of(c);
	ds_open(&setup);
	FOR_EACH_COUNTER (c, all.bits)
		pebs_arm_as(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH, ROUNDS_PERIOD);
	workload_run(&workload_load, ROUNDS_FOR(1), all);
	pebs_disarm();
	if (!ds_bytes() && counter_caps()->hypervisor) {
		test_inconclusive(t, "no record");
		return;
	}
	sampling_want(t, 1);
	CONTROL_RANGE(t, DS_13, 1, WINDOW_COUNTERS, ds_records(), "records of counters %#lx",
		      all.bits);
	FOR_EACH_COUNTER (c, all.bits)
		CHECK_RANGE(t, DS_13, reset_of(c), reset_of(c) + SLACK, counter_read(c),
			    "IA32_PMC%u after the records of counters %#lx", c, all.bits);
	counter_reset();
}

/*
 * The last instruction at CPL 3 arms both counters; while they are off, software clears their
 * status bits, so that their assists can't share a record. The first instruction at CPL 3 starts
 * both.
 * Returns the bytes of records in a buffer with room for that many; ~0: they weren't armed.
 */
static u64 two_assists(unsigned first, unsigned second, unsigned room)
{
	const struct pmc_mask both = pmc_or(pmc_one(first), pmc_one(second));
	const struct adaptive_run run = { .basic = true, .capacity = room };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	u64 instructions = 0;

	setup.threshold = DS_CAPACITY;
	for (unsigned i = 0; i < 3; i++) {
		if (i == 1) {
			ds_open(&setup);
			pebs_arm_as(first, EVENT_INST_RETIRED_ANY_P, COUNT_USR, instructions);
			pebs_arm_as(second, EVENT_INST_RETIRED_ANY_P, COUNT_USR, instructions);
		} else if (!i) {
			counter_program(first, EVENT_INST_RETIRED_ANY_P, COUNT_USR);
			counter_write(first, 0);
		}
		counters_enable(i ? both : pmc_one(first));
		workload_run_user(&workload_load, PERIOD);
		counters_disable();
		if (!i)
			instructions = counter_read(first);
		if (i == 1 && (ds_bytes() || both.bits & ~counters_status()))
			return ~0ULL;
		counters_clear(counters_status() & both.bits);
	}
	pebs_disarm();
	return (u64)ds_bytes();
}

static bool reloaded(unsigned counter)
{
	return counter_read(counter) >= BIT(counter_width(counter) - 1);
}

static void check_order(struct test *t, struct test_claim claim, unsigned first, unsigned second)
{
	const bool two = two_assists(first, second, 4) == 2 * BASIC_BYTES;

	counter_reset();
	if (!two || two_assists(first, second, 1) != BASIC_BYTES)
		test_inconclusive(t,
				  "the assists of counters %u and %u aren't two, or the buffer's "
				  "only record isn't written once",
				  first, second);
	else
		test_check(t, claim, reloaded(first) && !reloaded(second),
			   "the lower one is served",
			   "one record for counter %u (reloaded: %u) and %u (%u)", first,
			   reloaded(first), second, reloaded(second));
	counter_reset();
}

/*
 * PRIO-01  Counters that need action on the same instruction must be served in the order of their
 *          index.
 * PRIO-03  IA32_PMC1 must be served before IA32_PMC2, IA32_PMC3 and every higher counter.
 * PRIO-04  General-purpose counters must be served before fixed counters.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 *
 * Given  two PEBS counters of instructions, both armed, whose status bits software has cleared, so
 *        that their assists can't share a record: each general-purpose counter from IA32_PMC1 on
 *        with the next one; where every requirement is judged, with fixed counter 0 too, if that
 *        has no PDist. The buffer has room for one record; with room for more there are two
 * When   the next instruction finds both due
 * Then   the counter of lower index is reloaded, and has the record; the other isn't
 */
TEST(adaptive, assists_due_on_one_instruction_are_served_in_counter_order,
     REQS(PRIO_01, PRIO_03, PRIO_04), NEEDS(need_perfmon, need_baseline, need_instructions))
{
	const u64 able = adaptive_instruction_counters(t) & counter_caps()->pebs_mask;

	if (!sampling_records_next_event(t))
		return;
	FOR_EACH_COUNTER (c, able & BITS(1, 9)) {
		const unsigned next = counter_next(able, c + 1);
		const struct test_claim claim = c == 1 ? AT(PRIO_03) : AT(PRIO_01);

		if (pebs_has_pdist(c))	/* never due together: docs/READINGS.md */
			continue;
		if (next < WINDOW_COUNTERS && BIT(next) & able)
			check_order(t, claim, c, next);
		/* No sentence says that an arm outlasts its status bit: as for PRIO-01 to 03. */
		if (test_is_strict(t) && counter_caps()->pebs_fixed_mask & 1 &&
		    !pebs_has_pdist(PMC_FIXED(0)))
			check_order(t, AT(PRIO_04), c, PMC_FIXED(0));
	}
}
