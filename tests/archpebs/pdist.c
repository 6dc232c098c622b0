/* SPDX-License-Identifier: MIT */
/*
 * Precise distribution of architectural PEBS: which event the record of a counter of
 * CPUID.(23H,5):EBX or EDX names.
 */
#include "kernel/output/fmt.h"
#include "tests/archpebs/archpebs.h"
#include "tests/frame/calibration.h"
#include "tests/measure/overflow.h"
#include "tests/pebs/precise_user.h"

static bool need_pdist_counter(char *reason, size_t size)
{
	if (!need_arch_pebs(reason, size))
		return false;
	if (counter_caps()->v6.pdist & arch_load_counters())
		return true;
	fmt_print(reason, size, "no PDist on IA32_PMC0 to 3 (CPUID.(23H,5): %#lx)",
		  counter_caps()->v6.pdist);
	return false;
}

#define PDIST_MARKS	8u

/* Let the counter overflow on each marked event of the workload in turn; LVTPC is masked. In every
 * other window another counter counts too (tests/measure/window.h). */
static bool check_marks(struct test *t, unsigned c, const struct workload *w, u16 event, u64 groups,
			u64 flags)
{
	static const struct pmi_options masked = { .masked = true };
	const u64 n = PDIST_LEAST_PERIOD;

	for (unsigned mark = 0; mark < PDIST_MARKS; mark++) {
		pmi_open(&masked);
		arch_pebs_open(0, ARCH_PEBS_NEVER);
		arch_pebs_arm(c, event, flags, calibration_period(event, n + mark + 1), groups,
			      NEVER);
		workload_run(w, n, pmc_one(c));
		arch_pebs_disarm();
		counter_program_disabled(c, 0, 0);
		counters_clear(BIT(c));
		pmi_close();
		if (!arch_one_record(t, CONTROL_AT(APEBS_34), 0))
			return false;
		CHECK_EQ(t, APEBS_34, workload_mark(w, mark), arch_at(AT_EVENTING_IP),
			 "EventingIP, IA32_PMC%u, event %#x, overflow on mark %u, CFG_C %#lx, "
			 "flags %#lx",
			 c, event, mark, groups, flags);
		arch_pebs_close();
	}
	return true;
}

/* The same for branches at CPL 3. */
static bool check_marks_at_cpl_3(struct test *t, unsigned c)
{
	u64 before;

	if (!precise_user_counted(t, PDIST_LEAST_PERIOD, &before))
		return false;
	for (unsigned mark = 0; mark < PDIST_MARKS; mark++) {
		arch_pebs_open(0, ARCH_PEBS_NEVER);
		arch_pebs_arm(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_USR, before + 1 + mark,
			      0, NEVER);
		precise_user_run(&workload_precise_jumps, PRECISE_USER_BRANCHES, pmc_one(c));
		arch_pebs_disarm();
		counter_program_disabled(c, 0, 0);
		counters_clear(BIT(c));
		if (!arch_one_record(t, CONTROL_AT(APEBS_34), 0))
			return false;
		CHECK_EQ(t, APEBS_34, workload_mark(&workload_precise_jumps, mark),
			 arch_at(AT_EVENTING_IP),
			 "EventingIP at CPL 3, IA32_PMC%u, overflow on mark %u", c, mark);
		arch_pebs_close();
	}
	return true;
}

/*
 * APEBS-34  A counter that CPUID.(23H,5):EBX or EDX has must record the event that overflowed.
 *           SDM volume 1, CPUID leaf 23H, sub-leaf 5 (which counters have PDist); intel/perfmon
 *           README: PDist; Linux
 *
 * Given  the general-purpose counters of CPUID.(23H,5):EBX that count loads; CFG_C asks for no
 *        group, for AUX, for GPR, for all available groups; for AUX and for all with INT, LVTPC
 *        being masked, where every requirement is judged; alone and beside another counter
 * When   one overflows on a marked load, then on a marked branch, each of eight in turn; then on a
 *        marked branch at CPL 3
 * Then   EventingIP is exactly that one
 * Control: there is one record
 */
TEST(archpebs, counter_with_pdist_records_the_event_that_overflowed, REQS(APEBS_34),
     NEEDS(need_perfmon, need_pdist_counter, need_events, need_branches), .deadline_ms = 5000)
{
	const struct {
		const struct workload *workload;
		u16 event;
	} pieces[] = { { &workload_sample, LOADS },
		       { &workload_jumps, EVENT_BR_INST_RETIRED_ALL_BRANCHES } };
	const u64 there = (u64)counter_caps()->v6.groups << 32;
	const u64 groups[] = { 0, there & GROUP_AUX, there & GROUP_GPR, there };

	FOR_EACH_COUNTER (c, counter_caps()->v6.pdist & arch_load_counters()) {
		for (unsigned i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
			for (unsigned p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++)
				if (!check_marks(t, c, pieces[p].workload, pieces[p].event,
						 groups[i],
						 COUNT_BOTH |
							 (i % 2 && test_is_strict(t) ? COUNT_INT :
										       0)))
					return;
		if (!check_marks_at_cpl_3(t, c))
			return;
	}
}

/*
 * APEBS-34  A counter that CPUID.(23H,5):EBX or EDX has must record the event that overflowed.
 *           SDM volume 1, CPUID leaf 23H, sub-leaf 5 (which counters have PDist); intel/perfmon
 *           README: PDist; Linux
 *
 * Given  the general-purpose counters of CPUID.(23H,5):EBX that count loads; the first record loads
 *        the counter so that it overflows again on a marked load, each of eight in turn
 * When   both records are made in one window
 * Then   EventingIP of the second is a marked load too; where nothing else occurs, it is exactly
 *        the expected one
 */
TEST(archpebs, counter_with_pdist_records_the_load_that_overflowed_after_a_reload, REQS(APEBS_34),
     NEEDS(need_perfmon, need_pdist_counter, need_events))
{
	enum { FIRST = 300, N = 1024 };
	const struct workload *w = &workload_sample;

	FOR_EACH_COUNTER (c, counter_caps()->v6.pdist & arch_load_counters())
		for (unsigned mark = 0; mark < PDIST_MARKS; mark++) {
			u64 second, ip;

			arch_pebs_open(0, ARCH_PEBS_NEVER);
			arch_pebs_arm(c, LOADS, COUNT_BOTH, calibration_period(LOADS, FIRST), 0,
				      N + 1 + mark - FIRST);
			workload_run(w, N, pmc_one(c));
			arch_pebs_disarm();
			counter_program_disabled(c, 0, 0);
			counters_clear(BIT(c));
			second = arch_next(0);
			if (!CHECK(t, APEBS_34, second && arch_next(second) == arch_pebs_written(),
				   "two records of IA32_PMC%u", c))
				return;
			ip = arch_at(second + AT_EVENTING_IP);
			if (test_sees_exactly(t, REQ_APEBS_34))
				CHECK_EQ(t, APEBS_34, workload_mark(w, mark), ip,
					 "EventingIP of the second record, IA32_PMC%u, overflow on "
					 "mark %u",
					 c, mark);
			else
				CHECK_RANGE(t, APEBS_34, workload_mark(w, 0),
					    workload_mark(w, SAMPLE_MARKS - 1), ip,
					    "EventingIP of the second record, IA32_PMC%u", c);
			arch_pebs_close();
		}
}

static bool need_pdist_of_fixed_0(char *reason, size_t size)
{
	if (!need_arch_pebs(reason, size) || !need_two_counters(reason, size))
		return false;
	if (counter_caps()->v6.pdist & BIT(PMC_FIXED(0)))
		return true;
	fmt_print(reason, size, "no PDist on fixed counter 0 (CPUID.(23H,5): %#lx)",
		  counter_caps()->v6.pdist);
	return false;
}

/*
 * APEBS-34  A counter that CPUID.(23H,5):EBX or EDX has must record the event that overflowed.
 *           SDM volume 1, CPUID leaf 23H, sub-leaf 5 (which counters have PDist); intel/perfmon
 *           README: PDist; Linux
 *
 * Given  fixed counter 0, which CPUID.(23H,5):EDX has, counts NOPs of known addresses
 * When   it overflows on one of them, 256 instructions after its start and more
 * Then   EventingIP is that NOP or the next one
 * Control: there is one record
 */
TEST(archpebs, fixed_counter_0_with_pdist_records_the_instruction_that_overflowed_or_the_next,
     REQS(APEBS_34),
     NEEDS(need_perfmon, need_pdist_of_fixed_0, need_instructions, need_fixed_0_to_2))
{
	u64 before;

	if (!sampling_counted_before(t, PERIOD, &before))
		return;
	for (u64 period = PDIST_LEAST_PERIOD; period < PDIST_LEAST_PERIOD + 4; period++) {
		const unsigned nop = (unsigned)(period - before - PRECISE_FIRST);
		const u64 first = workload_mark(&workload_precise, nop);

		arch_pebs_open(0, ARCH_PEBS_NEVER);
		arch_pebs_arm(PMC_FIXED(0), 0, COUNT_BOTH, period, 0, NEVER);
		workload_run(&workload_precise, 0, pmc_or(pmc_one(PMC_FIXED(0)), pmc_one(1)));
		arch_pebs_disarm();
		counter_program_disabled(PMC_FIXED(0), 0, 0);
		if (!arch_one_record(t, CONTROL_AT(APEBS_34), 0))
			return;
		CHECK_RANGE(t, APEBS_34, first - sampling_rdpmc_misses(t), first + 1,
			    arch_at(AT_EVENTING_IP),
			    "EventingIP, overflow on NOP %u, %lu instructions after the start", nop,
			    period);
		arch_pebs_close();
		counters_clear(BIT(PMC_FIXED(0)));
	}
}
