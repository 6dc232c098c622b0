/* SPDX-License-Identifier: MIT */
/*
 * PDist: the record is made on completion of the instruction that overflowed the counter; there is
 * no wait for the next event (intel/perfmon README, "PDist: Precise Distribution"). Fixed counter 0
 * and IA32_PMC0 have it, and so has IA32_PMC1 of some E-cores, if the period is at least
 * PDIST_LEAST_PERIOD: docs/READINGS.md.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "pmu/pmi.h"
#include "tests/adaptive/adaptive.h"

#define AT_EVENTING_IP	0x08u
#define ROUNDS		320u	/* events before the marks: more than PDIST_LEAST_PERIOD */
#define MARKS		9u	/* marks that are tried */

/* Take a record of the counter, which overflows after so many events. flags: bits of
 * IA32_PERFEVTSELx, including Adaptive_Record. */
static bool take_with(struct test *t, struct test_claim claim, unsigned counter, u16 event,
		      u64 flags, u64 period, const struct workload *w, u64 rounds,
		      struct pmc_mask with)
{
	const struct adaptive_run run = { .counter = counter,
					  .config = CONFIG_GPR,
					  .basic = !(flags & COUNT_ADAPTIVE) };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);

	ds_open(&setup);
	pebs_arm_as(counter, event, flags, period);
	workload_run(w, rounds, pmc_or(pmc_one(counter), with));
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	counters_clear(counters_status());
	return adaptive_one_record(t, claim, &run);
}

static bool take(struct test *t, struct test_claim claim, unsigned counter, u16 event, u64 period,
		 const struct workload *w, u64 rounds, struct pmc_mask with)
{
	return take_with(t, claim, counter, event, COUNT_BOTH | COUNT_ADAPTIVE, period, w, rounds,
			 with);
}

/* With loads, then with branches: the counter overflows on a marked one, and the record must name
 * exactly that one. */
static void check_marked_events(struct test *t, struct test_claim claim, unsigned counter,
				u64 flags)
{
	const struct {
		const struct workload *workload;
		u16 event;
	} pieces[] = { { &workload_sample, LOADS },
		       { &workload_jumps, EVENT_BR_INST_RETIRED_ALL_BRANCHES } };

	for (unsigned i = 0; i < 2; i++) {
		const struct workload *w = pieces[i].workload;
		const u16 event = pieces[i].event;

		for (unsigned mark = 0; mark < MARKS; mark++) {
			const u64 period = calibration_period(event, ROUNDS + 1 + mark);

			if (!take_with(t, claim, counter, event, flags, period, w, ROUNDS,
				       NO_OTHERS))
				return;
			test_check_eq(t, claim, workload_mark(w, mark), adaptive_at(AT_EVENTING_IP),
				      "EventingIP, IA32_PMC%u overflows on mark %u of %s, event "
				      "%#x, flags %#lx",
				      counter, mark, w->name, event, flags);
		}
	}
}

/*
 * FIX-13  IA32_PMC0 that overflows 256 events at least after its start must record the very event
 *         on which it overflowed.
 *         intel/perfmon README: PDist, Precise Distribution
 *
 * Given  loads, then branches, each marked one at a different address
 * When   IA32_PMC0 overflows on one of the marked ones, more than 256 events after its start
 * Then   EventingIP is exactly that one
 */
TEST(adaptive, pdist_record_of_pmc0_names_the_event_that_overflowed, REQS(FIX_13),
     NEEDS(need_perfmon, need_baseline, need_events, need_branches, need_pdist),
     .under_every_fault = true)
{
	check_marked_events(t, AT(FIX_13), 0, COUNT_BOTH | COUNT_ADAPTIVE);
}

/*
 * FIX-13  IA32_PMC0 that overflows 256 events at least after its start must record the very event
 *         on which it overflowed.
 *         intel/perfmon README: PDist, Precise Distribution
 *
 * Given  IA32_PMC0 with INT = 1, LVTPC unmasked; loads, then branches; the last ones are marked,
 *        each at an address of its own
 * When   IA32_PMC0 overflows on one of the marked ones, more than 256 events after its start
 * Then   EventingIP is exactly that one; whether there is an interrupt isn't judged
 */
TEST(adaptive, pdist_record_of_pmc0_is_as_precise_with_its_interrupt, REQS(FIX_13),
     NEEDS(need_perfmon, need_baseline, need_events, need_branches, need_pdist))
{
	pmi_open(NULL);
	check_marked_events(t, AT(FIX_13), 0, COUNT_BOTH | COUNT_ADAPTIVE | COUNT_INT);
	pmi_end();
}

/*
 * FIX-13  IA32_PMC0 that overflows 256 events at least after its start must record the very event
 *         on which it overflowed.
 *         intel/perfmon README: PDist, Precise Distribution
 *
 * Given  IA32_PMC0 with Adaptive_Record = 0, so that the record is the basic group; loads, then
 *        branches; the last ones are marked, each at an address of its own
 * When   IA32_PMC0 overflows on one of the marked ones, more than 256 events after its start
 * Then   EventingIP is exactly that one
 */
TEST(adaptive, pdist_record_of_pmc0_is_as_precise_without_adaptive_record, REQS(FIX_13),
     NEEDS(need_perfmon, need_baseline, need_events, need_branches, need_pdist))
{
	check_marked_events(t, AT(FIX_13), 0, COUNT_BOTH);
}

#define FIRST_PERIOD	300u	/* more than PDIST_LEAST_PERIOD, as is the second one */

/* The counter is reloaded by its first record, so that it overflows again on a marked load. The
 * second record must name a marked load; `exactly` says that it must be the expected one. */
static void check_after_a_reload(struct test *t, struct test_claim claim, unsigned counter,
				 bool exactly)
{
	const struct workload *w = &workload_sample;

	for (unsigned mark = 0; mark < MARKS; mark++) {
		const struct adaptive_run run = { .counter = counter, .config = CONFIG_GPR };
		const unsigned size = adaptive_bytes(run.config);
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);
		u64 second;

		setup.reset[counter] = pebs_reset_value(counter,
							2ULL * ROUNDS + 1 + mark - FIRST_PERIOD);
		ds_open(&setup);
		pebs_arm(counter, LOADS, COUNT_BOTH, calibration_period(LOADS, FIRST_PERIOD));
		workload_run(w, 2ULL * ROUNDS, pmc_one(counter));
		pebs_disarm();
		counter_program_disabled(counter, 0, 0);
		counters_clear(counters_status());
		if (!test_check_eq(t, claim, 2ULL * size, (u64)ds_bytes(), "bytes of two records"))
			return;
		second = adaptive_at(size + AT_EVENTING_IP);
		test_check_range(t, claim, workload_mark(w, exactly ? mark : 0),
				 workload_mark(w, exactly ? mark : SAMPLE_MARKS - 1), second,
				 "EventingIP of the second record, overflow on mark %u", mark);
	}
}

/*
 * FIX-13  IA32_PMC0 that overflows 256 events at least after its start must record the very event
 *         on which it overflowed.
 *         intel/perfmon README: PDist, Precise Distribution
 *
 * Given  IA32_PMC0 is reloaded by its first record, so that it overflows again on a marked load
 * When   both records are made in one window
 * Then   EventingIP of the second record is a marked load too; where nothing else occurs, it is
 *        exactly the expected one
 */
TEST(adaptive, pdist_record_of_pmc0_is_as_precise_after_a_reload, REQS(FIX_13),
     NEEDS(need_perfmon, need_baseline, need_events, need_pdist))
{
	check_after_a_reload(t, AT(FIX_13), 0, test_sees_exactly(t, REQ_FIX_13));
}

/*
 * FIX-14  On Crestmont and Skymont IA32_PMC1 that overflows 256 events at least after its start
 *         must record the very event on which it overflowed.
 *         Linux cmt_get_event_constraints: fixed counter 0, IA32_PMC0 and IA32_PMC1
 *
 * Given  IA32_PMC1 is reloaded by its first record, so that it overflows again on a marked load
 * When   both records are made in one window
 * Then   EventingIP of the second record is a marked load too; where nothing else occurs, it is
 *        exactly the expected one
 */
TEST(adaptive, pdist_record_of_pmc1_is_as_precise_after_a_reload, REQS(FIX_14),
     NEEDS(need_perfmon, need_baseline, need_events, need_pdist_of_pmc1))
{
	check_after_a_reload(t, AT(FIX_14), 1, test_sees_exactly(t, REQ_FIX_14));
}

/*
 * FIX-14  On Crestmont and Skymont IA32_PMC1 that overflows 256 events at least after its start
 *         must record the very event on which it overflowed.
 *         Linux cmt_get_event_constraints: fixed counter 0, IA32_PMC0 and IA32_PMC1
 *
 * Given  loads, then branches, each marked one at a different address
 * When   IA32_PMC1 overflows on one of the marked ones, more than 256 events after its start
 * Then   EventingIP is exactly that one
 */
TEST(adaptive, pdist_record_of_pmc1_names_the_event_that_overflowed, REQS(FIX_14),
     NEEDS(need_perfmon, need_baseline, need_events, need_branches, need_pdist_of_pmc1))
{
	check_marked_events(t, AT(FIX_14), 1, COUNT_BOTH | COUNT_ADAPTIVE);
}

/* The counter overflows on a marked load, and the record must name exactly that one. Beside it each
 * other counter in turn is enabled for PEBS, and far from its overflow. */
static void check_beside_each(struct test *t, struct test_claim claim, unsigned counter)
{
	const u64 every = (counter_caps()->pebs_mask & ~BIT(counter)) |
			  (u64)counter_caps()->pebs_fixed_mask << PMC_FIXED(0);

	FOR_EACH_COUNTER (c, every) {
		const unsigned mark = c % MARKS;
		const u64 period = calibration_period(LOADS, ROUNDS + 1 + mark);
		u64 start;

		pebs_arm(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH, NEVER);
		start = counter_read(c);
		if (!take(t, claim, counter, LOADS, period, &workload_sample, ROUNDS, pmc_one(c)))
			return;
		test_check_eq(t, claim, workload_mark(&workload_sample, mark),
			      adaptive_at(AT_EVENTING_IP),
			      "EventingIP, overflow on mark %u, counter %u with PEBS beside it",
			      mark, c);
		if (c <= PMC_FIXED(1))
			test_check_range(t, test_control(claim), start + 1, ~0ULL, counter_read(c),
					 "count of counter %u beside IA32_PMC%u", c, counter);
		counter_reset();
	}
}

/*
 * FIX-13  IA32_PMC0 that overflows 256 events at least after its start must record the very event
 *         on which it overflowed.
 *         intel/perfmon README: PDist, Precise Distribution
 *
 * Given  each other counter in turn, enabled for PEBS too, and far from its overflow
 * When   IA32_PMC0 overflows on a marked load, more than 256 events after its start
 * Then   EventingIP is exactly that load
 * Control: the other counter counts
 */
TEST(adaptive, pdist_record_of_pmc0_is_as_precise_beside_another_counter_with_pebs, REQS(FIX_13),
     NEEDS(need_perfmon, need_baseline, need_events, need_branches, need_pdist))
{
	check_beside_each(t, AT(FIX_13), 0);
}

/*
 * FIX-14  On Crestmont and Skymont IA32_PMC1 that overflows 256 events at least after its start
 *         must record the very event on which it overflowed.
 *         Linux cmt_get_event_constraints: fixed counter 0, IA32_PMC0 and IA32_PMC1
 *
 * Given  each other counter in turn, IA32_PMC0 first, enabled for PEBS too, and far from its
 *        overflow
 * When   IA32_PMC1 overflows on a marked load, more than 256 events after its start
 * Then   EventingIP is exactly that load
 * Control: the other counter counts
 */
TEST(adaptive, pdist_record_of_pmc1_is_as_precise_beside_another_counter_with_pebs, REQS(FIX_14),
     NEEDS(need_perfmon, need_baseline, need_events, need_branches, need_pdist_of_pmc1))
{
	check_beside_each(t, AT(FIX_14), 1);
}

/* Fixed counter 0 overflows on a NOP, so many instructions after its start; `before` of them are
 * counted before the window. The record must name that NOP or the next one. `others` are enabled
 * too. false: there is no record. */
static bool check_nop(struct test *t, u64 flags, u64 period, u64 before, struct pmc_mask others)
{
	const unsigned nop = (unsigned)(period - before - PRECISE_FIRST);
	const u64 first = workload_mark(&workload_precise, nop);

	if (!take_with(t, AT(FIX_12), PMC_FIXED(0), 0, flags, period, &workload_precise, 0,
		       pmc_or(pmc_one(1), others)))
		return false;
	CHECK_RANGE(t, FIX_12, first - sampling_rdpmc_misses(t), first + 1,
		    adaptive_at(AT_EVENTING_IP),
		    "EventingIP, overflow on NOP %u, %lu instructions after the start, beside %#lx",
		    nop, period, others.bits);
	return true;
}

/*
 * FIX-12  Fixed counter 0 that overflows on instruction N, 256 at least after its start, must
 *         record that instruction or the next one.
 *         intel/perfmon README: PDist; Linux mailing list: KVM, PEBS for SPR, PDIR++
 *
 * Given  fixed counter 0 with PEBS counts NOPs whose addresses are known one by one
 * When   it overflows on one of them, 256 instructions after its start and more, with
 *        Adaptive_Record = 1 and 0 in turn
 * Then   EventingIP is that NOP or the next one
 */
TEST(adaptive, pdist_record_of_fixed_counter_0_names_the_instruction_that_overflowed_or_the_next,
     REQS(FIX_12),
     NEEDS(need_perfmon, need_two_counters, need_fixed_0_to_2, need_baseline, need_instructions,
	   need_pdist))
{
	u64 before;

	if (!sampling_counted_before(t, PERIOD, &before))
		return;
	for (u64 period = PDIST_LEAST_PERIOD; period < PDIST_LEAST_PERIOD + 4; period++)
		if (!check_nop(t, COUNT_BOTH | (period & 1 ? 0 : COUNT_ADAPTIVE), period, before,
			       NO_OTHERS))
			return;
}

/*
 * FIX-12  Fixed counter 0 that overflows on instruction N, 256 at least after its start, must
 *         record that instruction or the next one.
 *         intel/perfmon README: PDist; Linux mailing list: KVM, PEBS for SPR, PDIR++
 *
 * Given  each general-purpose counter in turn, enabled for PEBS too, and far from its overflow
 * When   fixed counter 0 overflows on one of the NOPs, 256 instructions after its start and more
 * Then   EventingIP is that NOP or the next one
 * Control: the other counter counts
 */
TEST(adaptive, pdist_record_of_fixed_counter_0_is_as_precise_beside_another_counter_with_pebs,
     REQS(FIX_12),
     NEEDS(need_perfmon, need_two_counters, need_fixed_0_to_2, need_baseline, need_instructions,
	   need_pdist))
{
	u64 before;

	if (!sampling_counted_before(t, PERIOD, &before))
		return;
	FOR_EACH_COUNTER (c, counter_caps()->pebs_mask) {
		u64 start;

		pebs_arm(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, NEVER);
		start = counter_read(c);
		if (!check_nop(t, COUNT_BOTH | COUNT_ADAPTIVE, PDIST_LEAST_PERIOD + c % 4, before,
			       pmc_one(c)))
			return;
		CONTROL_RANGE(t, FIX_12, start + 1, ~0ULL, counter_read(c),
			      "count of IA32_PMC%u beside fixed counter 0", c);
		counter_reset();
	}
}
