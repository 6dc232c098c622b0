/* SPDX-License-Identifier: MIT */
/*
 * Compares counts with the declared counts of workloads: SDM "Architectural Performance
 * Monitoring", "Pre-defined Architectural Performance Events", and the memory events of chapter 19.
 * Only differences between two sizes of one workload are exact, because the manual doesn't say how
 * many events enabling and disabling add.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "spec/event.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/frame/test.h"
#include "tests/measure/overflow.h"
#include "tests/measure/window.h"

#define FEWER	10
#define START	1000	/* the value from which a counter goes on */
#define OF_THE_WINDOW 32	/* most instructions that start and stop counting */
#define BEFORE_END 5
#define LONG	4000	/* for the slow clock of fixed counter 2 too (tests/measure/overflow.h) */
#define MORE	90	/* 80 more iterations: an error of each 16th or 64th event shows */

struct pairing {
	const struct workload *workload;
	enum workload_count what;
};

/*
 * Count the event in every workload on all counters at once; each counter's difference must be
 * the declared one. The windows of a workload differ only in n.
 */
static void each_difference(struct test *t, struct test_claim claim, u16 event, const char *unit,
			    const struct pairing *pairs, unsigned count)
{
	struct pmc_mask counters = counters_for(event);

	for (unsigned i = 0; i < count; i++) {
		const struct workload *w = pairs[i].workload;
		u64 want = workload_declared(w, pairs[i].what, MORE) -
			   workload_declared(w, pairs[i].what, FEWER);
		u64 got[WINDOW_COUNTERS];
		bool counted = test_sees_claim(t, &claim) ?
				       window_difference(t, counters, event, COUNT_BOTH, w, FEWER,
							 MORE, got) :
				       window_least_difference(t, counters, event, COUNT_BOTH, w,
							       FEWER, MORE, got);

		if (!counted)
			return;
		for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
			if (counters.bits & BIT(c))
				test_check_eq(t, claim, want, got[c],
					      "%s in 80 more rounds of %s, IA32_PMC%u", unit,
					      w->name, c);
	}
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * CNT-01  Runs of one workload must differ in retired instructions by exactly the declared
 *         difference.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 *
 * Given  workloads of branches and of mixed instructions, in FEWER and in MORE rounds. Only the
 *        difference is exact: the manual doesn't say what switching the counters on and off adds
 * When   each general-purpose counter counts instructions retired
 * Then   each count grows by the instructions that the workload declares
 */
TEST(count, instructions_are_counted_exactly, REQS(CNT_01), NEEDS(need_perfmon, need_instructions))
{
	static const struct pairing pairs[] = {
		{ &workload_branch, WORKLOAD_INSTRUCTIONS },
		{ &workload_mixed, WORKLOAD_INSTRUCTIONS },
	};

	each_difference(t, AT(CNT_01), EVENT_INST_RETIRED_ANY_P, "instructions", pairs,
			COUNT_OF(pairs));
}

/*
 * CNT-15  Every general-purpose counter must count the same events alike.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 *
 * Given  a workload of loads, in FEWER and in MORE rounds
 * When   all general-purpose counters count instructions retired at once
 * Then   each count grows by the instructions that the workload declares
 */
TEST(count, every_general_purpose_counter_counts_instructions_alike, REQS(CNT_15),
     NEEDS(need_perfmon, need_instructions), .under_every_fault = true)
{
	static const struct pairing pairs[] = { { &workload_load, WORKLOAD_INSTRUCTIONS } };

	each_difference(t, AT(CNT_15), EVENT_INST_RETIRED_ANY_P, "instructions", pairs,
			COUNT_OF(pairs));
}

/*
 * CNT-02  Runs of one workload must differ in retired branches by exactly the declared difference,
 *         taken or not.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 *
 * Given  workloads of branches and of mixed instructions, in FEWER and in MORE rounds
 * When   each general-purpose counter counts branches retired
 * Then   each count grows by the branches that the workload declares
 */
TEST(count, branches_are_counted_exactly, REQS(CNT_02), NEEDS(need_perfmon, need_branches),
     .under_every_fault = true)
{
	static const struct pairing pairs[] = {
		{ &workload_branch, WORKLOAD_BRANCHES }, { &workload_mixed, WORKLOAD_BRANCHES },
	};

	each_difference(t, AT(CNT_02), EVENT_BR_INST_RETIRED_ALL_BRANCHES, "branches", pairs,
			COUNT_OF(pairs));
}

/*
 * CNT-03  Runs of one workload must differ in retired loads by exactly the declared difference.
 *         SDM chapter 19, events of each generation
 *
 * Given  a workload of loads and one of stores without loads, in FEWER and in MORE rounds
 * When   each counter that can count loads does
 * Then   each count grows by the loads that the workload declares: by none for the stores
 */
TEST(count, loads_are_counted_exactly, REQS(CNT_03), NEEDS(need_perfmon, need_events))
{
	static const struct pairing pairs[] = {
		{ &workload_load, WORKLOAD_LOADS }, { &workload_store, WORKLOAD_LOADS },
	};

	each_difference(t, AT(CNT_03), LOADS, "loads", pairs, COUNT_OF(pairs));
}

/*
 * CNT-04  Runs of one workload must differ in retired stores by exactly the declared difference.
 *         SDM chapter 19, events of each generation
 *
 * Given  a workload of stores and one of loads without stores, in FEWER and in MORE rounds
 * When   each counter that can count stores does
 * Then   each count grows by the stores that the workload declares: by none for the loads
 */
TEST(count, stores_are_counted_exactly, REQS(CNT_04), NEEDS(need_perfmon, need_events))
{
	static const struct pairing pairs[] = {
		{ &workload_store, WORKLOAD_STORES }, { &workload_load, WORKLOAD_STORES },
	};

	each_difference(t, AT(CNT_04), STORES, "stores", pairs, COUNT_OF(pairs));
}

static bool need_locked_loads(char *reason, size_t size)
{
	if (sampling_event(EK_LOCK_LOADS))
		return true;
	fmt_print(reason, size, "no event of locked loads known for family %02x model %02x",
		  counter_caps()->family, counter_caps()->model);
	return false;
}

/*
 * CNT-05  Runs of one workload must differ in retired locked loads by exactly the declared
 *         difference.
 *         SDM chapter 19, events of each generation
 *
 * Given  a workload of locked accesses, one of mixed ones and one of plain loads, in FEWER and in
 *        MORE rounds
 * When   each counter that can count locked loads does
 * Then   each count grows by the locked loads that the workload declares: by none for the plain
 *        ones
 */
TEST(count, locked_loads_are_counted_exactly, REQS(CNT_05),
     NEEDS(need_perfmon, need_events, need_locked_loads))
{
	static const struct pairing pairs[] = {
		{ &workload_lock, WORKLOAD_LOCKS }, { &workload_mixed, WORKLOAD_LOCKS },
		{ &workload_load, WORKLOAD_LOCKS },
	};

	each_difference(t, AT(CNT_05), sampling_event(EK_LOCK_LOADS), "locked loads", pairs,
			COUNT_OF(pairs));
}

/*
 * CNT-06  RDPMC must return the value that RDMSR of the same counter returns.
 * CNT-16  RDPMC with ECX[30] set must read the fixed counter that the index names.
 * CNT-17  RDPMC must return zero in the bits above the counter's width.
 *         SDM volume 2 RDPMC
 *
 * Given  all general-purpose counters and fixed counter 0 after one window of loads, and
 *        general-purpose counters that were preset to 5 before their end
 * When   each is read by RDMSR and by RDPMC
 * Then   both read the same; bits of RDPMC above the counter's width are 0
 * Control: each counter has counted something
 */
TEST(count, rdpmc_reads_what_rdmsr_reads, REQS(CNT_06, CNT_16, CNT_17),
     NEEDS(need_perfmon, need_instructions), .under_every_fault = true)
{
	const struct pmu_caps *caps = counter_caps();
	struct pmc_mask fixed = caps->fixed ? pmc_one(PMC_FIXED(0)) : (struct pmc_mask){ 0 };
	u64 value[WINDOW_COUNTERS];

	if (!window_count(pmc_or(counters_gp(), fixed), EVENT_INST_RETIRED_ANY_P, COUNT_BOTH,
			  &workload_load, FEWER, value)) {
		test_inconclusive(t, "disturbed windows");
		return;
	}
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		CONTROL(t, CNT_06, value[c] > 0, "IA32_PMC%u counted", c);
		CHECK_EQ(t, CNT_06, value[c], rdpmc(c), "RDPMC of IA32_PMC%u", c);
		counter_preset(c, BEFORE_END);
		CHECK_EQ(t, CNT_06, counter_read(c), rdpmc(c), "RDPMC of IA32_PMC%u, preset", c);
		CHECK_EQ(t, CNT_17, 0, rdpmc(c) & ~(BIT(caps->gp_width) - 1),
			 "bits of RDPMC above the width of IA32_PMC%u", c);
	}
	if (caps->fixed) {
		CONTROL(t, CNT_16, value[PMC_FIXED(0)] > 0, "fixed counter 0 counted");
		CHECK_EQ(t, CNT_16, value[PMC_FIXED(0)], rdpmc((u32)RDPMC_FIXED),
			 "RDPMC of fixed counter 0");
	}
}

/* No cycle retires 255 instructions, but a cycle can retire one. */
#define CMASK_NEVER	255

static void check_cmask(struct test *t, unsigned c)
{
	u64 plain, one, never;

	if (!window_count_one(t, c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, &workload_load, MORE,
			      &plain) ||
	    !window_count_one(t, c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH | COUNT_CMASK(1),
			      &workload_load, MORE, &one) ||
	    !window_count_one(t, c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH | COUNT_CMASK(CMASK_NEVER),
			      &workload_load, MORE, &never))
		return;
	CONTROL_RANGE(t, CNT_07, 3 * (MORE - FEWER), ~0ULL, plain,
		      "instructions without CMASK, IA32_PMC%u", c);
	CHECK_RANGE(t, CNT_07, 1, plain, one, "cycles with at least 1 instruction, IA32_PMC%u", c);
	CHECK_RANGE(t, IDS(CNT_07, CNT_35), 0, window_emulated(t), never,
		    "cycles with at least %u instructions, IA32_PMC%u", CMASK_NEVER, c);
}

/*
 * CNT-07  With CMASK = n > 0 a counter must count the cycles in which at least n events occurred.
 * CNT-35  With a CMASK that no cycle can reach a counter must count nothing.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: CMASK
 *
 * Given  a workload of loads, three instructions a round
 * When   each general-purpose counter counts instructions without a CMASK, with CMASK = 1, and
 *        with 255, which no cycle can retire
 * Then   with CMASK = 1 it counts at least one cycle and at most the number of instructions; with
 *        255 it counts nothing, except the two writes of the window that a hypervisor emulates
 * Control: without a CMASK it counts the instructions
 */
TEST(count, cmask_counts_only_cycles_that_reach_it, REQS(CNT_07, CNT_35),
     NEEDS(need_perfmon, need_instructions), .under_every_fault = true)
{
	FOR_EACH_COUNTER (c, counters_gp().bits)
		check_cmask(t, c);
}

static void check_inv(struct test *t, unsigned c)
{
	u64 at_least, fewer, plain, with_inv;

	if (!window_count_one(t, c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH | COUNT_CMASK(CMASK_NEVER),
			      &workload_load, MORE, &at_least) ||
	    !window_count_one(t, c, EVENT_INST_RETIRED_ANY_P,
			      COUNT_BOTH | COUNT_CMASK(CMASK_NEVER) | COUNT_INV, &workload_load,
			      MORE, &fewer) ||
	    !window_difference_one(t, c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, &workload_load,
				   FEWER, MORE, &plain) ||
	    !window_difference_one(t, c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH | COUNT_INV,
				   &workload_load, FEWER, MORE, &with_inv))
		return;
	CONTROL_RANGE(t, CNT_08, 0, window_emulated(t), at_least,
		      "cycles with at least %u instructions, IA32_PMC%u", CMASK_NEVER, c);
	/* 270 instructions take dozens of cycles on any processor. */
	CHECK_RANGE(t, CNT_08, 10, ~0ULL, fewer,
		    "cycles with fewer than %u instructions, IA32_PMC%u", CMASK_NEVER, c);
	CONTROL_RANGE(t, CNT_36, 1, ~0ULL, plain, "instructions, CMASK = 0, INV = 0, IA32_PMC%u",
		      c);
	CHECK_EQ(t, CNT_36, plain, with_inv, "instructions, CMASK = 0, INV = 1, IA32_PMC%u", c);
}

/*
 * CNT-08  With INV set and CMASK = n > 0 a counter must count the cycles in which fewer than n
 *         events occurred.
 * CNT-36  With CMASK = 0 the INV bit must have no effect.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: INV
 *
 * Given  a workload of 270 instructions, which take dozens of cycles on any processor
 * When   each general-purpose counter counts cycles of less than 255 instructions (INV = 1), and
 *        instructions with CMASK = 0 and INV = 0 and 1
 * Then   the cycles are 10 or more; with CMASK = 0, INV changes nothing
 * Control: cycles of 255 instructions or more (INV = 0) are none, and instructions are counted
 *          with CMASK = 0
 */
TEST(count, inv_counts_cycles_below_the_cmask, REQS(CNT_08, CNT_36),
     NEEDS(need_perfmon, need_instructions))
{
	FOR_EACH_COUNTER (c, counters_gp().bits)
		check_inv(t, c);
}

/*
 * With a condition that always holds there are at most two rises: at the begin and at the end of
 * counting. Between loads that are 16 NOPs apart there are cycles in which no load retires.
 */
static void check_edge(struct test *t, unsigned c)
{
	u64 level, edges, loads;

	if (!window_count_one(t, c, EVENT_INST_RETIRED_ANY_P,
			      COUNT_BOTH | COUNT_CMASK(CMASK_NEVER) | COUNT_INV, &workload_load,
			      MORE, &level) ||
	    !window_count_one(t, c, EVENT_INST_RETIRED_ANY_P,
			      COUNT_BOTH | COUNT_CMASK(CMASK_NEVER) | COUNT_INV | COUNT_EDGE,
			      &workload_load, MORE, &edges) ||
	    !window_count_one(t, c, LOADS, COUNT_BOTH | COUNT_CMASK(1) | COUNT_EDGE,
			      &workload_sparse, 16, &loads))
		return;
	CONTROL_RANGE(t, CNT_09, 10, ~0ULL, level,
		      "cycles of a condition that always holds, IA32_PMC%u", c);
	CHECK_RANGE(t, CNT_09, 0, 2 + window_emulated(t), edges,
		    "rises of a condition that always holds, IA32_PMC%u", c);
	/* Memory events count microcode: the WRMSRs may load too. */
	CHECK_RANGE(t, CNT_09, 2, 16 + 8, loads,
		    "rises of \"a load retires\" over 16 sparse loads, IA32_PMC%u", c);
}

/*
 * CNT-09  With the edge bit set a counter must count the deasserted to asserted transitions of its
 *         condition.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: E
 *
 * Given  a condition that always holds: it rises only when counting begins and perhaps when it
 *        ends. Loads with 16 NOPs between them leave cycles in which no load retires
 * When   each counter that can count loads counts the rising edges of both conditions (E = 1)
 * Then   the condition that always holds has at most 2; the loads have 2 or more, and no more than
 *        the loads and a few of microcode
 * Control: without E the condition that always holds counts 10 cycles or more
 */
TEST(count, edge_counts_rises_of_the_condition, REQS(CNT_09),
     NEEDS(need_perfmon, need_instructions, need_events))
{
	struct pmc_mask counters = counters_for(LOADS);

	FOR_EACH_COUNTER (c, counters_gp().bits)
		if (counters.bits & BIT(c))
			check_edge(t, c);
}

/* Check counter c with each value of OS and USR, with work at one level. */
static void check_levels(struct test *t, unsigned c)
{
	u64 kernel[4], user[4][2];
	static const u64 levels[4] = { 0, COUNT_OS, COUNT_USR, COUNT_BOTH };
	static const u64 sizes[2] = { FEWER, MORE };
	u64 want = workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, MORE) -
		   workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, FEWER);
	const u64 far = window_far_slack(t);

	for (unsigned i = 0; i < 4; i++) {
		if (!window_difference_one(t, c, EVENT_INST_RETIRED_ANY_P, levels[i],
					   &workload_load, FEWER, MORE, &kernel[i]))
			return;
		for (unsigned k = 0; k < 2; k++) {
			counter_program(c, EVENT_INST_RETIRED_ANY_P, levels[i]);
			counter_write(c, 0);
			counters_enable(pmc_one(c));
			workload_run_user(&workload_load, sizes[k]);
			counters_disable();
			user[i][k] = counter_read(c);
		}
	}
	CHECK_EQ(t, CNT_29, 0, kernel[0], "at CPL 0, OS = 0 USR = 0, IA32_PMC%u", c);
	CHECK_EQ(t, CNT_10, want, kernel[1], "at CPL 0, OS = 1 USR = 0, IA32_PMC%u", c);
	CHECK_EQ(t, CNT_10, 0, kernel[2], "at CPL 0, OS = 0 USR = 1, IA32_PMC%u", c);
	CHECK_EQ(t, CNT_10, want, kernel[3], "at CPL 0, OS = 1 USR = 1, IA32_PMC%u", c);
	CHECK_EQ(t, CNT_29, 0, user[0][1] - user[0][0], "at CPL 3, OS = 0 USR = 0, IA32_PMC%u", c);
	CHECK_RANGE(t, CNT_10, 0, 2 * far, user[1][1] - user[1][0] + far,
		    "at CPL 3, OS = 1 USR = 0, IA32_PMC%u, and %lu", c, far);
	if (level_counts_despite_errata(t, c, COUNT_USR))
		CHECK_RANGE(t, CNT_10, want, want + 2 * far, user[2][1] - user[2][0] + far,
			    "at CPL 3, OS = 0 USR = 1, IA32_PMC%u, and %lu", c, far);
	CHECK_RANGE(t, CNT_10, want, want + 2 * far, user[3][1] - user[3][0] + far,
		    "at CPL 3, OS = 1 USR = 1, IA32_PMC%u, and %lu", c, far);
}

/*
 * CNT-10  A counter must count only at the privilege levels that its OS and USR bits select.
 * CNT-29  A counter with neither OS nor USR set must not count.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: USR, OS
 *
 * Given  the same workload at CPL 0 and at CPL 3, in FEWER and in MORE rounds
 * When   each general-purpose counter counts its instructions with each value of OS and USR
 * Then   a count grows by the declared instructions at a level that is selected, and by none at
 *        one that isn't
 */
TEST(count, os_and_usr_select_the_privilege_level, REQS(CNT_10, CNT_29),
     NEEDS(need_perfmon, need_instructions))
{
	FOR_EACH_COUNTER (c, counters_gp().bits)
		check_levels(t, c);
}

/* Count with counter c. local: its own enable; global: its bit in IA32_PERF_GLOBAL_CTRL. */
static u64 count_with(unsigned c, bool local, bool global)
{
	struct pmc_mask on = global ? pmc_one(c) : (struct pmc_mask){ 0 };

	if (local)
		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	else
		counter_program_disabled(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(c, 0);
	workload_run(&workload_load, FEWER, on);
	return counter_read(c);
}

static void check_enables(struct test *t, unsigned c, const char *name)
{
	CONTROL_RANGE(t, CNT_11, 3 * FEWER, ~0ULL, count_with(c, true, true),
		      "%s with both enables", name);
	CHECK_EQ(t, IDS(CNT_11, MSR_15), 0, count_with(c, true, false),
		 "%s with its own enable only", name);
	CHECK_EQ(t, IDS(CNT_11, MSR_15), 0, count_with(c, false, true),
		 "%s with the global enable only", name);
	CHECK_EQ(t, CNT_11, 0, count_with(c, false, false), "%s without enables", name);
}

/*
 * CNT-11  A counter must count only while both its own enable and its bit of IA32_PERF_GLOBAL_CTRL
 *         are set.
 * MSR-15  A counter must not count unless its own enable and its bit of IA32_PERF_GLOBAL_CTRL are
 *         both set.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each general-purpose counter, and fixed counter 0
 * When   it counts with its own enable, with that of IA32_PERF_GLOBAL_CTRL, and with none
 * Then   it counts nothing
 * Control: it counts the workload's instructions with both
 */
TEST(count, counter_counts_only_with_local_and_global_enable, REQS(CNT_11, MSR_15),
     NEEDS(need_perfmon, need_instructions))
{
	char name[] = "IA32_PMC0";

	FOR_EACH_COUNTER (c, counters_gp().bits & BITS(0, 9)) {
		name[sizeof(name) - 2] = (char)('0' + c);
		check_enables(t, c, name);
	}
	if (counter_caps()->fixed)
		check_enables(t, PMC_FIXED(0), "fixed counter 0");
}

/*
 * CNT-12  Fixed counter 0 must count what a general-purpose counter programmed for retired
 *         instructions counts.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2; that it counts the same is
 *         read into it: errata and updates of the two differ
 * CNT-22  Counters of one event that are all started and stopped by single writes of
 *         IA32_PERF_GLOBAL_CTRL must hold equal counts.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2; that counters of one event
 *         agree to the unit is read into it
 *
 * Given  one window of mixed instructions, on fixed counter 0 and all general-purpose counters at
 *        once
 * When   all count instructions retired
 * Then   fixed counter 0 grows by the declared instructions, and all counts of the window are the
 *        same
 * Control: each general-purpose counter has counted something
 */
TEST(count, fixed_counter_0_counts_instructions, REQS(CNT_12, CNT_22),
     NEEDS(need_perfmon, need_instructions, need_fixed_0_to_2), .under_every_fault = true)
{
	struct pmc_mask both = pmc_or(counters_gp(), pmc_one(PMC_FIXED(0)));
	u64 value[WINDOW_COUNTERS], difference[WINDOW_COUNTERS];
	u64 want = workload_declared(&workload_mixed, WORKLOAD_INSTRUCTIONS, MORE) -
		   workload_declared(&workload_mixed, WORKLOAD_INSTRUCTIONS, FEWER);

	if (!window_count_equal(t, both, EVENT_INST_RETIRED_ANY_P, &workload_mixed, MORE, value) ||
	    !window_difference(t, both, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, &workload_mixed,
			       FEWER, MORE, difference)) {
		test_inconclusive(t, "disturbed windows");
		return;
	}
	CHECK_EQ(t, CNT_12, want, difference[PMC_FIXED(0)],
		 "instructions in 80 more rounds, fixed counter 0");
	CHECK_EQ(t, CNT_12, value[0], value[PMC_FIXED(0)],
		 "fixed counter 0 against IA32_PMC0 in one window");
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		CONTROL_RANGE(t, CNT_22, 1, ~0ULL, value[c], "instructions on IA32_PMC%u", c);
		CHECK_EQ(t, CNT_22, value[0], value[c], "IA32_PMC%u against IA32_PMC0", c);
	}
}

/*
 * CNT-28  A fixed counter must count only at the privilege levels that its two enable bits select.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  a workload at CPL 0
 * When   fixed counter 0 counts its instructions with each value of the enable field; the others,
 *        which count cycles, with 1 (OS) and 2 (any ring above 0)
 * Then   with 1 and 3 the count is the declared one, with 0 and 2 it is 0; cycles are counted with
 *        1, and not with 2
 */
TEST(count, fixed_enable_field_selects_the_privilege_level, REQS(CNT_28),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	u64 none, os, usr, both, slack = window_slack(t, PMC_FIXED(0));
	u64 want = workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, MORE) -
		   workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, FEWER);

	if (!window_difference_one(t, PMC_FIXED(0), 0, 0, &workload_load, FEWER, MORE, &none) ||
	    !window_difference_one(t, PMC_FIXED(0), 0, COUNT_OS, &workload_load, FEWER, MORE,
				   &os) ||
	    !window_difference_one(t, PMC_FIXED(0), 0, COUNT_USR, &workload_load, FEWER, MORE,
				   &usr) ||
	    !window_difference_one(t, PMC_FIXED(0), 0, COUNT_BOTH, &workload_load, FEWER, MORE,
				   &both))
		return;
	CHECK_EQ(t, CNT_28, 0, none, "instructions at CPL 0, enable 0 (off)");
	CHECK_RANGE(t, CNT_28, want, want + 2 * slack, os + slack,
		    "instructions at CPL 0, enable 1 (OS), and %lu", slack);
	CHECK_RANGE(t, CNT_28, 0, 2 * slack, usr + slack,
		    "instructions at CPL 0, enable 2 (any ring above 0), and %lu", slack);
	CHECK_RANGE(t, CNT_28, want, want + 2 * slack, both + slack,
		    "instructions at CPL 0, enable 3 (all), and %lu", slack);
	/* The others count cycles; they must count none at a level that isn't selected. */
	FOR_EACH_COUNTER (i, counters_fixed().bits >> PMC_FIXED(1) << 1) {
		if (!window_count_one(t, PMC_FIXED(i), 0, COUNT_USR, &workload_load, LONG, &usr) ||
		    !window_count_one(t, PMC_FIXED(i), 0, COUNT_OS, &workload_load, LONG, &os))
			return;
		CHECK_EQ(t, CNT_28, 0, usr, "fixed counter %u at CPL 0, enable 2", i);
		CHECK_RANGE(t, CNT_28, 1, ~0ULL, os, "fixed counter %u at CPL 0, enable 1", i);
	}
}

/* Preset to PERIOD before the end of the range, so that the counter wraps, and to PERIOD before its
 * middle, so that it doesn't. */
static void check_wrap(struct test *t, struct test_claim claim, unsigned c)
{
	u64 value, top = BIT(counter_width(c));

	for (unsigned wraps = 0; wraps < 2; wraps++) {
		u64 preset = wraps ? top - PERIOD : top / 2 - PERIOD;

		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		if (!counter_write(c, preset))
			continue;	/* values of the middle need full-width writes */
		workload_run(&workload_load, MORE, pmc_one(c));
		value = counter_read(c);
		test_check_range(t, claim, wraps ? 3 * MORE - PERIOD : preset + 3 * MORE,
				 wraps ? 4 * MORE : preset + 4 * MORE, value,
				 "counter %u after 270 instructions from %#lx", c, preset);
		test_check_eq(t, claim, wraps ? BIT(c) : 0, counters_status() & BIT(c),
			      "its status bit, from %#lx", preset);
		counters_clear(BIT(c));
	}
}

/*
 * CNT-13  A counter must wrap to 0 after its highest value, the one of all ones at the enumerated
 *         width.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * CNT-31  A fixed counter must wrap to 0 after the value of all ones at the width of
 *         CPUID.0AH:EDX[12:5].
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  each general-purpose counter and fixed counter 0, preset to PERIOD before the end of the
 *        range; and to PERIOD before its middle, where full-width writes reach it; the other fixed
 *        counters near their end
 * When   270 instructions are counted; the others overflow
 * Then   from the end the count has begun again at 0, and the status bit is set; from the middle
 *        it goes on, and the status bit is clear
 * Control: the status bits of the other fixed counters are set
 */
TEST(count, counter_wraps_at_its_width_and_sets_its_status_bit, REQS(CNT_13, CNT_31),
     NEEDS(need_perfmon, need_instructions))
{
	FOR_EACH_COUNTER (c, counters_gp().bits)
		check_wrap(t, AT(CNT_13), c);
	if (counter_caps()->fixed)
		check_wrap(t, AT(CNT_31), PMC_FIXED(0));
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask & ~1u) {
		const unsigned c = PMC_FIXED(i);

		if (!overflow_comes(c))
			continue;
		overflow(c, 0);
		CONTROL_EQ(t, CNT_31, BIT(c), counters_status() & BIT(c),
			   "status bit of fixed counter %u", i);
		CHECK_RANGE(t, CNT_31, 0, BIT(24), counter_read(c),
			    "fixed counter %u, counted past its highest value", i);
		overflow_off(c);
	}
}

static void check_stopped(struct test *t, unsigned stopped, unsigned running)
{
	u64 kept[2], moved;

	counter_program(stopped, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_program(running, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(stopped, START);
	counter_write(running, START);
	workload_run(&workload_load, FEWER, pmc_one(running));
	for (unsigned i = 0; i < 2; i++)
		kept[i] = counter_read(stopped);
	moved = counter_read(running);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(t, CNT_21, START, kept[i], "IA32_PMC%u, stopped, read %u", stopped, i + 1);
	CHECK_RANGE(t, CNT_44, START + 3 * FEWER, START + 3 * FEWER + OF_THE_WINDOW, moved,
		    "IA32_PMC%u, going on from 1000 for 30 instructions and the window's own",
		    running);
	counter_program_disabled(stopped, 0, 0);
	counter_program_disabled(running, 0, 0);
}

/*
 * CNT-21  A stopped counter must keep its value.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: EN
 * CNT-44  A counter must go on counting from the value written to it while it was stopped.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each general-purpose counter and the next one, both programmed and preset to START
 * When   the next one alone is enabled for FEWER rounds
 * Then   the first one reads START, twice; the next one has grown from START by the workload's
 *        instructions and the window's own
 */
TEST(count, stopped_counter_keeps_its_value_and_running_one_goes_on, REQS(CNT_21, CNT_44),
     NEEDS(need_perfmon, need_instructions, need_two_counters), .under_every_fault = true)
{
	FOR_EACH_COUNTER (c, counters_gp().bits)
		check_stopped(t, c, counter_from(c, 1));
}

static void check_bounds(struct test *t, unsigned c)
{
	u64 cycles, branches, missed;
	char reason[128];

	if (!window_count_one(t, c, EVENT_UNHALTED_CORE_CYCLES, COUNT_BOTH, &workload_load, MORE,
			      &cycles) ||
	    !window_count_one(t, c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH,
			      &workload_branch, MORE, &branches))
		return;
	CHECK_RANGE(t, CNT_23, 10, ~0ULL, cycles, "core cycles of 270 instructions, IA32_PMC%u", c);
	/* Nehalem's CPUID takes the event back (erratum AAJ80). */
	if (!need_mispredicts(reason, sizeof(reason)) ||
	    !window_count_one(t, c, EVENT_BR_MISP_RETIRED_ALL_BRANCHES, COUNT_BOTH,
			      &workload_branch, MORE, &missed))
		return;
	CONTROL_RANGE(t, CNT_38, 1, ~0ULL, branches, "branches, IA32_PMC%u", c);
	CHECK_RANGE(t, CNT_38, 0, branches, missed, "mispredicted of %lu branches, IA32_PMC%u",
		    branches, c);
}

/*
 * CNT-23  An architectural event that CPUID.0AH enumerates as available must count.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 * CNT-38  Retired mispredicted branches must not outnumber retired branches.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events: All Branch Mispredict Retired
 *
 * Given  workloads of 270 instructions and of branches
 * When   each general-purpose counter counts core cycles of the one, branches and mispredicted
 *        branches of the other
 * Then   the cycles are 10 or more; mispredicted branches are no more than branches
 *        where CPUID says that these can be counted
 * Control: branches are counted
 */
TEST(count, cycles_and_mispredictions_stay_in_bounds, REQS(CNT_23, CNT_38),
     NEEDS(need_perfmon, need_cycles, need_branches))
{
	FOR_EACH_COUNTER (c, counters_gp().bits)
		check_bounds(t, c);
}
