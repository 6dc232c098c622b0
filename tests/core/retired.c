/* SPDX-License-Identifier: MIT */
/*
 * Retired instructions, and the privilege levels that may read the count: SDM "Pre-defined
 * Architectural Performance Events", "RDPMC, Read Performance-Monitoring Counters", AnyThread in
 * "Architectural Performance Monitoring Version 3".
 */
#include "kernel/processor/cpu.h"
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/interrupt/user.h"
#include "kernel/processor/time.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/frame/test.h"
#include "tests/measure/overflow.h"
#include "tests/measure/user_probe.h"
#include "tests/measure/window.h"

#define FEWER	10
#define MORE	90
#define PROBE_LEAST	4	/* instructions of user_load() */
#define HANDLER_LEAST	30	/* the handler first saves and restores fifteen registers */
#define CYCLES_LEAST	100	/* for 540 instructions */

/* A repeated instruction of any length counts as one: counts of two lengths don't differ. */
static void check_repeated(struct test *t, unsigned c, const struct workload *rep)
{
	u64 shorter, longer;

	if (!window_count_one(t, c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, rep, FEWER, &shorter) ||
	    !window_count_one(t, c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, rep, MORE, &longer))
		return;
	CONTROL_RANGE(t, CNT_32, workload_declared(rep, WORKLOAD_INSTRUCTIONS, FEWER), ~0ULL,
		      shorter, "instructions with 10 iterations, IA32_PMC%u", c);
	CHECK_EQ(t, CNT_32, shorter, longer, "instructions with 90 iterations, IA32_PMC%u", c);
}

/*
 * CNT-32  An instruction with a REP prefix must count as one retired instruction, not one an
 *         iteration.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events: Instructions Retired
 *
 * Given  REP STOSB with 10 and with 90 iterations; REP LODSB, where an erratum counts STOSB more
 *        than once
 * When   each general-purpose counter counts instructions
 * Then   both counts are the same
 * Control: the workload's instructions are counted
 */
TEST(count, rep_instruction_counts_once, REQS(CNT_32), NEEDS(need_perfmon, need_instructions))
{
	const struct workload *rep = test_erratum(t, ERRATUM_FAST_STRINGS) ?
					     &workload_kind_rep_load :
					     &workload_rep;

	FOR_EACH_COUNTER (c, counters_gp().bits)
		check_repeated(t, c, rep);
}

/* The instructions at CPL 3 of one load, from the call to the return. */
static u64 count_user_load(struct user_probe *probe, u64 address)
{
	probe->address = address;
	counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_USR);
	counter_write(0, 0);
	counters_enable(pmc_one(0));
	user_call(user_load, (u64)(uintptr_t)probe);
	counters_disable();
	return counter_read(0);
}

/*
 * CNT-33  An instruction that faults must not count as retired.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events: Instructions Retired
 *
 * Given  the same path at CPL 3 with a load that retires, and with one that raises #GP
 * When   IA32_PMC0 counts instructions at CPL 3
 * Then   the second count is one less
 * Control: the first one counts 4 instructions or more
 */
TEST(count, faulting_instruction_does_not_count_as_retired, REQS(CNT_33),
     NEEDS(need_perfmon, need_instructions))
{
	struct user_probe *probe = user_probe_get();
	u64 retired = count_user_load(probe, (u64)(uintptr_t)probe);
	u64 faulted;

	HARNESS_CHECK(t, !probe->fault.raised, "a load from memory of CPL 3");
	faulted = count_user_load(probe, BIT(63));
	HARNESS_CHECK(t, probe->fault.raised && probe->fault.vector == VECTOR_GP,
		      "a load from a non-canonical address: vector %u", probe->fault.vector);
	CONTROL_RANGE(t, CNT_33, PROBE_LEAST, ~0ULL, retired,
		      "instructions at CPL 3, the load retires");
	CHECK_EQ(t, CNT_33, retired - 1, faulted, "instructions at CPL 3, the load faults");
}

/* Instructions that IA32_PMC1 counts in a window in which IA32_PMC0 overflows. */
static const struct pmi_log *count_around_overflow(u64 flags, u64 *value)
{
	static const struct pmi_options running = { .keep_counting = true };
	const struct pmi_log *log;

	pmi_open(&running);
	counter_program(0, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH | flags);
	counter_preset(0, PERIOD);
	counter_program(1, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(1, 0);
	workload_run(&workload_long_sled, PERIOD, pmc_or(pmc_one(0), pmc_one(1)));
	*value = counter_read(1);
	log = pmi_end();
	counters_clear(counters_status());
	return log;
}

/*
 * CNT-34  Counting must go on inside interrupt and exception handlers.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events: Instructions Retired
 *
 * Given  IA32_PMC1 counts the instructions of a window in which IA32_PMC0 overflows; a handler that
 *        doesn't write the counters, and begins by saving and restoring fifteen registers
 * When   IA32_PMC0 overflows with INT = 1
 * Then   IA32_PMC1 counts at least 30 more than with INT = 0
 * Control: there is one interrupt, inside the window; without it the window's instructions are
 *          counted
 */
TEST(count, counting_goes_on_in_interrupt_handlers, REQS(CNT_34),
     NEEDS(need_perfmon, need_instructions, need_branches, need_two_counters))
{
	const struct pmi_log *log;
	u64 without, with;

	count_around_overflow(0, &without);
	log = count_around_overflow(COUNT_INT, &with);
	if (!CONTROL_EQ(t, CNT_34, overflow_allowed(t, 1, log->count), log->count,
			"interrupts, INT = 1"))
		return;
	if (!log->entry[0].global_ctrl) {
		test_inconclusive(t, "the interrupt comes only after the window");
		return;
	}
	CONTROL_RANGE(t, CNT_34,
		      workload_declared(&workload_long_sled, WORKLOAD_INSTRUCTIONS, PERIOD), ~0ULL,
		      without, "instructions without an interrupt");
	CHECK_RANGE(t, CNT_34, without + HANDLER_LEAST, ~0ULL, with,
		    "instructions with the handler's");
}

static u64 handler_rounds;

static void on_breakpoint(struct trap_frame *frame)
{
	(void)frame;
	workload_run_uncounted(&workload_load, handler_rounds);
}

/* Instructions that IA32_PMC0 counts for INT3 and its handler, which runs so many rounds. */
static u64 count_breakpoint(u64 rounds)
{
	intr_handler before = intr_set_handler(VECTOR_BP, on_breakpoint);

	handler_rounds = rounds;
	counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(0, 0);
	counters_enable(pmc_one(0));
	__asm__ volatile("int3" ::: "memory");
	counters_disable();
	intr_set_handler(VECTOR_BP, before);
	return counter_read(0);
}

/*
 * CNT-34  Counting must go on inside interrupt and exception handlers.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events: Instructions Retired
 *
 * Given  a handler of INT3 that runs FEWER and MORE rounds of a workload
 * When   IA32_PMC0 counts the instructions
 * Then   the count grows by those that the workload declares
 */
TEST(count, instructions_of_an_exception_handler_are_counted_exactly, REQS(CNT_34),
     NEEDS(need_perfmon, need_instructions))
{
	u64 want = workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, MORE) -
		   workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, FEWER);

	u64 far = window_far_slack(t);

	workload_memory();	/* allocate it here, not at its first use in the handler */
	CHECK_RANGE(t, CNT_34, want, want + 2 * far,
		    count_breakpoint(MORE) - count_breakpoint(FEWER) + far,
		    "instructions in 80 more rounds inside the handler of INT3, and %lu", far);
}

static void check_user_rdpmc(struct test *t, u32 ecx, unsigned cpl, u64 value)
{
	struct user_probe *probe = user_probe_get();
	u64 cr4 = cr4_read(), user;

	probe->ecx = ecx;
	cr4_write(cr4 | CR4_PCE);
	user = user_call_at(cpl, user_rdpmc, (u64)(uintptr_t)probe);
	CHECK(t, CNT_19, !probe->fault.raised, "RDPMC at CPL %u with CR4.PCE = 1: vector %u", cpl,
	      probe->fault.vector);
	CHECK_EQ(t, CNT_19, value, user, "what it reads, ECX = %#x", ecx);
	probe = user_probe_get();
	probe->ecx = ecx;
	cr4_write(cr4 & ~CR4_PCE);
	user_call_at(cpl, user_rdpmc, (u64)(uintptr_t)probe);
	cr4_write(cr4);
	CHECK(t, CNT_18, probe->fault.raised && probe->fault.vector == VECTOR_GP,
	      "RDPMC at CPL %u with CR4.PCE = 0: vector %u", cpl, probe->fault.vector);
}

/*
 * CNT-18  RDPMC at CPL 1, 2 or 3 must raise #GP while CR4.PCE is 0.
 * CNT-19  RDPMC at CPL 1, 2 or 3 must return the counter while CR4.PCE is 1.
 *         SDM volume 2 RDPMC
 *
 * Given  each general-purpose counter after a window; each fixed counter, and MSR_PERF_METRICS
 *        where it is there, with a value
 * When   RDPMC is executed at CPL 1, 2 and 3, with CR4.PCE = 1 and with 0
 * Then   with 1 it reads the count without an exception; with 0 it raises #GP
 * Control: the counter has counted something; fixed counters read the value that was written
 */
TEST(count, rdpmc_above_cpl_0_needs_cr4_pce, REQS(CNT_18, CNT_19),
     NEEDS(need_perfmon, need_instructions))
{
	const u64 written = 0x10203040;
	u64 value;

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		if (!window_count_one(t, c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, &workload_load,
				      FEWER, &value))
			return;
		CONTROL(t, CNT_19, value > 0, "IA32_PMC%u counted", c);
		for (unsigned cpl = 1; cpl <= 3; cpl++)
			check_user_rdpmc(t, c, cpl, value);
	}
	FOR_EACH_COUNTER (c, (u64)counter_caps()->fixed_mask << PMC_FIXED(0)) {
		counter_write(c, written + c);
		CONTROL_EQ(t, CNT_19, written + c, counter_read(c), "fixed counter %u",
			   c - PMC_FIXED(0));
		for (unsigned cpl = 1; cpl <= 3; cpl++)
			check_user_rdpmc(t, (u32)RDPMC_FIXED | (c - PMC_FIXED(0)), cpl,
					 written + c);
	}
	if (!counter_caps()->metrics)
		return;
	msr_write(MSR_PERF_METRICS, counter_caps()->facilities & FAC_METRICS_LEVEL_2 ?
					    written | written << 32 :
					    written);
	value = msr_read(MSR_PERF_METRICS);	/* the manual allows only 0 to be written */
	for (unsigned cpl = 1; cpl <= 3; cpl++)
		check_user_rdpmc(t, (u32)RDPMC_METRICS, cpl, value);
	msr_write(MSR_PERF_METRICS, 0);
}

/*
 * CNT-27  While no other logical processor of the core runs, the AnyThread bit must not change
 *         what a counter counts.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3; firmware may keep a sibling
 *         running in a loop
 *
 * Given  the other processors sleep, as those that the firmware has parked do. One that is about to
 *        sleep adds a few instructions; among several windows the one with the least count has none
 * When   the last general-purpose counter counts instructions with AnyThread = 0 and 1
 * Then   both counts are the same
 * Control: with 0 it counts something
 */
TEST(count, any_thread_changes_nothing_while_the_sibling_sleeps, REQS(CNT_27),
     NEEDS(need_perfmon, need_instructions, need_any_thread))
{
	unsigned last = counter_last();
	u64 one[WINDOW_COUNTERS], any[WINDOW_COUNTERS];

	if (!window_least_difference(t, pmc_one(last), EVENT_INST_RETIRED_ANY_P, COUNT_BOTH,
				     &workload_load, FEWER, MORE, one) ||
	    !window_least_difference(t, pmc_one(last), EVENT_INST_RETIRED_ANY_P,
				     COUNT_BOTH | COUNT_ANY, &workload_load, FEWER, MORE, any))
		return;
	CONTROL_RANGE(t, CNT_27, 1, ~0ULL, one[last],
		      "instructions in 80 more rounds, AnyThread = 0, IA32_PMC%u", last);
	if (any_thread_counts_despite_errata(t, last, COUNT_BOTH))
		CHECK_EQ(t, CNT_27, one[last], any[last],
			 "instructions in 80 more rounds, AnyThread = 1, IA32_PMC%u", last);
}

/*
 * CNT-25  Fixed counter 1 must count what a general-purpose counter programmed for unhalted core
 *         cycles counts.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2, Table 18-8
 *
 * Given  each general-purpose counter counts core cycles; all counters are started and stopped by
 *        the same writes, so they see the same cycles except for an edge or two
 * When   fixed counter 1 counts the same 540 instructions
 * Then   each count is that of fixed counter 1 within a sixteenth and 16; in a strict run within 16
 * Control: fixed counter 1 counts 100 cycles or more
 */
TEST(count, fixed_counter_1_counts_core_cycles, REQS(CNT_25),
     NEEDS(need_perfmon, need_cycles, need_fixed_0_to_2))
{
	const struct pmc_mask all = pmc_or(counters_gp(), pmc_one(PMC_FIXED(1)));
	u64 value[WINDOW_COUNTERS], fixed, slack;

	if (!window_count(all, EVENT_UNHALTED_CORE_CYCLES, COUNT_BOTH, &workload_branch, MORE,
			  value)) {
		test_inconclusive(t, "disturbed windows");
		return;
	}
	fixed = value[PMC_FIXED(1)];
	slack = (test_is_strict(t) ? 0 : fixed / 16) + 16;
	CONTROL_RANGE(t, CNT_25, CYCLES_LEAST, ~0ULL, fixed,
		      "core cycles of 540 instructions, fixed counter 1");
	FOR_EACH_COUNTER (c, counters_gp().bits)
		CHECK_RANGE(t, CNT_25, fixed - slack, fixed + slack, value[c],
			    "core cycles of IA32_PMC%u in the same window", c);
}

#define HALT_US		2000u
#define HALT_EDGE	4096	/* most cycles by which two counters differ around HLT */
#define BUSY_ROUNDS	150000	/* of a loop, before HLT; less than HALT_US even at 1 GHz */
#define BUSY_CYCLES	50000	/* the loop has no fewer: at most three rounds in a cycle */

/* HLT until the local APIC's timer, in place of the test's deadline, ends it; then the deadline is
 * set again. */
static void halt_for(u64 us)
{
	const u64 begin = tsc_read();

	intr_disable();
	while (tsc_read() - begin < us * time_tsc_per_us) {
		apic_timer_start(begin + us * time_tsc_per_us);
		__asm__ volatile("sti; hlt; cli" ::: "memory");
	}
	intr_enable();
}

/*
 * CNT-25  Fixed counter 1 must count what a general-purpose counter programmed for unhalted core
 *         cycles counts.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2, Table 18-8
 *
 * Given  IA32_PMC0 counts core cycles
 * When   a loop runs for many more cycles than the tolerance, then HLT takes two milliseconds, and
 *        fixed counter 1 counts too
 * Then   both counts are the same within a sixteenth and 4096
 * Control: IA32_PMC0 counts the loop's cycles, but not those of HLT: it counts fewer cycles than
 *          the TSC advances. Where it counts more, under a hypervisor, the processor may not have
 *          been halted
 */
TEST(count, fixed_counter_1_counts_core_cycles_around_hlt, REQS(CNT_25),
     NEEDS(need_perfmon, need_cycles, need_fixed_0_to_2))
{
	const struct pmc_mask both = pmc_or(pmc_one(0), pmc_one(PMC_FIXED(1)));
	u64 general, fixed, begin, taken;

	counter_program(0, EVENT_UNHALTED_CORE_CYCLES, COUNT_BOTH);
	counter_program(PMC_FIXED(1), 0, COUNT_BOTH);
	counter_write(0, 0);
	counter_write(PMC_FIXED(1), 0);
	begin = tsc_read();
	counters_enable(both);
	workload_run_uncounted(&workload_load, BUSY_ROUNDS);
	halt_for(HALT_US);
	counters_disable();
	taken = tsc_read() - begin;
	general = counter_read(0);
	fixed = counter_read(PMC_FIXED(1));
	if (general >= taken && counter_caps()->hypervisor) {
		test_inconclusive(t, "%lu core cycles in %lu ticks: HLT hasn't stopped the count",
				  general, taken);
		return;
	}
	if (!CONTROL_RANGE(t, CNT_25, BUSY_CYCLES, taken, general,
			   "core cycles in %lu ticks, IA32_PMC0", taken))
		return;
	CHECK_RANGE(t, CNT_25, general - general / 16 - HALT_EDGE,
		    general + general / 16 + HALT_EDGE, fixed,
		    "fixed counter 1 beside IA32_PMC0, which counts %lu", general);
}

struct branch_row {
	enum event_kind kind;
	struct test_claim claim;
	enum workload_count what;
	const char *unit;
};

/*
 * CNT-39  Runs of one workload must differ in retired conditional branches by exactly the declared
 *         difference.
 * CNT-40  Runs of one workload must differ in retired near calls by exactly the declared
 *         difference.
 * CNT-41  Runs of one workload must differ in retired near returns by exactly the declared
 *         difference.
 * CNT-42  Runs of one workload must differ in retired near taken branches by exactly the declared
 *         difference.
 *         SDM chapter 19, events of each generation
 *
 * Given  pieces of calls, of indirect calls and jumps, and of conditional branches, in FEWER and in
 *        MORE rounds
 * When   each general-purpose counter counts conditional branches, near calls, near returns, near
 *        taken branches
 * Then   each count grows by what the piece declares
 */
TEST(count, kinds_of_branches_are_counted_exactly, REQS(CNT_39, CNT_40, CNT_41, CNT_42),
     NEEDS(need_perfmon, need_two_counters, need_events))
{
	const struct branch_row rows[] = {
		{ EK_COND_BRANCHES, AT(CNT_39), WORKLOAD_CONDITIONAL, "conditional" },
		{ EK_NEAR_CALLS, AT(CNT_40), WORKLOAD_CALLS, "near calls" },
		{ EK_NEAR_RETURNS, AT(CNT_41), WORKLOAD_RETURNS, "near returns" },
		{ EK_NEAR_TAKEN, AT(CNT_42), WORKLOAD_TAKEN, "near taken" },
	};
	static const struct workload *const pieces[] = { &workload_call, &workload_kind_indirect,
							 &workload_branch };

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		u16 event = sampling_event(rows[i].kind);

		for (unsigned k = 0; event && k < sizeof(pieces) / sizeof(pieces[0]); k++) {
			const struct workload *w = pieces[k];
			const struct pmc_mask on = counters_for(event);
			u64 want = workload_declared(w, rows[i].what, MORE) -
				   workload_declared(w, rows[i].what, FEWER);
			u64 got[WINDOW_COUNTERS];

			if (!window_difference(t, on, event, COUNT_BOTH, w, FEWER, MORE, got))
				return;
			FOR_EACH_COUNTER (c, on.bits)
				test_check_eq(t, rows[i].claim, want, got[c],
					      "%s branches in 80 more rounds of %s, IA32_PMC%u",
					      rows[i].unit, w->name, c);
		}
	}
}

/*
 * CNT-43  INST_RETIRED.PREC_DIST on IA32_PMC1 must count what the architectural retired
 *         instructions event counts.
 *         SDM chapter 19, events of each generation
 *
 * Given  mixed instructions, in FEWER and in MORE rounds
 * When   IA32_PMC1 counts INST_RETIRED.PREC_DIST
 * Then   the count grows by the declared instructions
 */
TEST(count, precise_distribution_event_counts_instructions, REQS(CNT_43),
     NEEDS(need_perfmon, need_two_counters, need_pdir))
{
	u64 want = workload_declared(&workload_mixed, WORKLOAD_INSTRUCTIONS, MORE) -
		   workload_declared(&workload_mixed, WORKLOAD_INSTRUCTIONS, FEWER);
	u64 got;

	if (window_difference_one(t, 1, EVENT_INST_RETIRED_PREC_DIST, COUNT_BOTH, &workload_mixed,
				  FEWER, MORE, &got))
		CHECK_EQ(t, CNT_43, want, got,
			 "instructions in 80 more rounds of mixed, IA32_PMC1");
}
