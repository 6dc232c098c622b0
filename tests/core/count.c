/* SPDX-License-Identifier: MIT */
/*
 * Counting what is declared: SDM "Architectural Performance Monitoring", "Pre-defined
 * Architectural Performance Events", and the memory events of chapter 19. Only differences
 * between two sizes of one workload are exact: what switching on and off adds isn't stated.
 */
#include "kernel/fault.h"
#include "kernel/fmt.h"
#include "spec/event.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/frame/test.h"
#include "tests/measure/window.h"

#define FEWER	10
#define LONG	4000	/* for the slow clock of fixed counter 2 too (tests/measure/overflow.h) */
#define MORE	90	/* 80 iterations more: every 16th or 64th event shows */

/* The general-purpose counters on which an event can be counted. */
static struct pmc_mask counters_for(u16 event)
{
	u64 mask = counters_gp().bits;

#define EVENT_ON(gens, name, flags, counters, sure, min_period, period_unit, source) \
	if (event == EVENT_##name && counter_caps()->generation && \
	    counter_caps()->generation->set & (gens)) \
		mask &= (counters);
#include "spec/event.def"
	return (struct pmc_mask){ mask };
}

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
			window_difference(t, counters, event, COUNT_BOTH, w, FEWER, MORE, got) :
			window_least_difference(t, counters, event, COUNT_BOTH, w, FEWER, MORE,
						got);

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

TEST(count, instructions_are_counted_exactly, REQS(CNT_01),
     NEEDS(need_perfmon, need_instructions))
{
	static const struct pairing pairs[] = {
		{ &workload_branch, COUNT_INSTRUCTIONS }, { &workload_mixed, COUNT_INSTRUCTIONS },
	};

	each_difference(t, AT(CNT_01), EVENT_INST_RETIRED_ANY_P, "instructions",
			pairs, COUNT_OF(pairs));
}

TEST(count, every_counter_counts_alike, REQS(CNT_15), NEEDS(need_perfmon, need_instructions),
     .under_every_fault = true)
{
	static const struct pairing pairs[] = { { &workload_load, COUNT_INSTRUCTIONS } };

	each_difference(t, AT(CNT_15), EVENT_INST_RETIRED_ANY_P, "instructions",
			pairs, COUNT_OF(pairs));
}

TEST(count, branches_are_counted_exactly, REQS(CNT_02), NEEDS(need_perfmon, need_branches),
     .under_every_fault = true)
{
	static const struct pairing pairs[] = {
		{ &workload_branch, COUNT_BRANCHES }, { &workload_mixed, COUNT_BRANCHES },
	};

	each_difference(t, AT(CNT_02), EVENT_BR_INST_RETIRED_ALL_BRANCHES, "branches",
			pairs, COUNT_OF(pairs));
}

/* The stores of a workload without loads are the control: none of them is counted. */
TEST(count, loads_are_counted_exactly, REQS(CNT_03), NEEDS(need_perfmon, need_events))
{
	static const struct pairing pairs[] = {
		{ &workload_load, COUNT_LOADS }, { &workload_store, COUNT_LOADS },
	};

	each_difference(t, AT(CNT_03), LOADS, "loads",
			pairs, COUNT_OF(pairs));
}

TEST(count, stores_are_counted_exactly, REQS(CNT_04), NEEDS(need_perfmon, need_events))
{
	static const struct pairing pairs[] = {
		{ &workload_store, COUNT_STORES }, { &workload_load, COUNT_STORES },
	};

	each_difference(t, AT(CNT_04), STORES, "stores",
			pairs, COUNT_OF(pairs));
}

static bool need_locked_loads(char *reason, size_t size)
{
	if (sampling_event(EK_LOCK_LOADS))
		return true;
	fmt_print(reason, size, "no event of locked loads known for family %02x model %02x",
		  counter_caps()->family, counter_caps()->model);
	return false;
}

TEST(count, locked_loads_are_counted_exactly, REQS(CNT_05),
     NEEDS(need_perfmon, need_events, need_locked_loads))
{
	static const struct pairing pairs[] = {
		{ &workload_lock, COUNT_LOCKS }, { &workload_mixed, COUNT_LOCKS },
		{ &workload_load, COUNT_LOCKS },
	};

	each_difference(t, AT(CNT_05), sampling_event(EK_LOCK_LOADS), "locked loads",
			pairs, COUNT_OF(pairs));
}

/* Both readings after the same window; a counter that counted something is the control. */
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
	for (u32 c = 0; c < caps->gp; c++) {
		CHECK(t, CNT_06, value[c] > 0, "IA32_PMC%u counted", c);
		CHECK_EQ(t, CNT_06, value[c], rdpmc(c), "RDPMC of IA32_PMC%u", c);
		counter_preset(c, 5);
		CHECK_EQ(t, CNT_06, counter_read(c), rdpmc(c), "RDPMC of IA32_PMC%u, preset", c);
		CHECK_EQ(t, CNT_17, 0, rdpmc(c) & ~(BIT(caps->gp_width) - 1),
			 "bits of RDPMC above the width of IA32_PMC%u", c);
	}
	if (caps->fixed) {
		CHECK(t, CNT_16, value[PMC_FIXED(0)] > 0, "fixed counter 0 counted");
		CHECK_EQ(t, CNT_16, value[PMC_FIXED(0)], rdpmc((u32)RDPMC_FIXED),
			 "RDPMC of fixed counter 0");
	}
}

/* 255 instructions can't retire in a cycle; one can. */
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
	CHECK_RANGE(t, CNT_07, 3 * (MORE - FEWER), ~0ULL, plain,
		    "instructions without CMASK, IA32_PMC%u", c);
	CHECK_RANGE(t, CNT_07, 1, plain, one, "cycles with at least 1 instruction, IA32_PMC%u", c);
	CHECK_EQ(t, CNT_07, 0, never, "cycles with at least %u instructions, IA32_PMC%u",
		 CMASK_NEVER, c);
	CHECK_EQ(t, CNT_35, 0, never, "cycles with at least %u instructions, IA32_PMC%u",
		 CMASK_NEVER, c);
}

TEST(count, cmask_counts_only_cycles_that_reach_it, REQS(CNT_07, CNT_35),
     NEEDS(need_perfmon, need_instructions), .under_every_fault = true)
{
	for (unsigned c = 0; c < counter_caps()->gp; c++)
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
	CHECK_EQ(t, CNT_08, 0, at_least, "cycles with at least %u instructions, IA32_PMC%u",
		 CMASK_NEVER, c);
	/* 270 instructions take dozens of cycles on any processor. */
	CHECK_RANGE(t, CNT_08, 10, ~0ULL, fewer,
		    "cycles with fewer than %u instructions, IA32_PMC%u", CMASK_NEVER, c);
	CHECK_RANGE(t, CNT_36, 1, ~0ULL, plain, "instructions, CMASK = 0, INV = 0, IA32_PMC%u", c);
	CHECK_EQ(t, CNT_36, plain, with_inv, "instructions, CMASK = 0, INV = 1, IA32_PMC%u", c);
}

TEST(count, inv_counts_cycles_below_the_cmask, REQS(CNT_08, CNT_36),
     NEEDS(need_perfmon, need_instructions))
{
	for (unsigned c = 0; c < counter_caps()->gp; c++)
		check_inv(t, c);
}

/*
 * A condition that always holds rises at most when counting begins and when it ends; loads with
 * 16 NOPs between them leave cycles in which no load retires.
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
	    !window_count_one(t, c, LOADS,
			      COUNT_BOTH | COUNT_CMASK(1) | COUNT_EDGE, &workload_sparse, 16,
			      &loads))
		return;
	CHECK_RANGE(t, CNT_09, 10, ~0ULL, level,
		    "cycles of a condition that always holds, IA32_PMC%u", c);
	CHECK_RANGE(t, CNT_09, 0, 2, edges, "rises of a condition that always holds, IA32_PMC%u",
		    c);
	/* Memory events see microcode: the WRMSRs' may load too. */
	CHECK_RANGE(t, CNT_09, 2, 16 + 8, loads,
		    "rises of \"a load retires\" over 16 sparse loads, IA32_PMC%u", c);
}

TEST(count, edge_counts_rises_of_the_condition, REQS(CNT_09),
     NEEDS(need_perfmon, need_instructions, need_events))
{
	struct pmc_mask counters = counters_for(LOADS);

	for (unsigned c = 0; c < counter_caps()->gp; c++)
		if (counters.bits & BIT(c))
			check_edge(t, c);
}

/* Counter c with each value of OS and USR, over work at one level. */
static void check_levels(struct test *t, unsigned c)
{
	u64 kernel[4], user[4][2];
	static const u64 levels[4] = { 0, COUNT_OS, COUNT_USR, COUNT_BOTH };
	static const u64 sizes[2] = { FEWER, MORE };
	u64 want = workload_declared(&workload_load, COUNT_INSTRUCTIONS, MORE) -
		   workload_declared(&workload_load, COUNT_INSTRUCTIONS, FEWER);

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
	CHECK_EQ(t, CNT_10, 0, user[1][1] - user[1][0], "at CPL 3, OS = 1 USR = 0, IA32_PMC%u", c);
	CHECK_EQ(t, CNT_10, want, user[2][1] - user[2][0], "at CPL 3, OS = 0 USR = 1, IA32_PMC%u",
		 c);
	CHECK_EQ(t, CNT_10, want, user[3][1] - user[3][0], "at CPL 3, OS = 1 USR = 1, IA32_PMC%u",
		 c);
}

TEST(count, os_and_usr_select_the_level, REQS(CNT_10, CNT_29),
     NEEDS(need_perfmon, need_instructions))
{
	for (unsigned c = 0; c < counter_caps()->gp; c++)
		check_levels(t, c);
}

/* Counter c with its own enable as said; the window's other counter keeps the window going. */
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
	CHECK_RANGE(t, CNT_11, 3 * FEWER, ~0ULL, count_with(c, true, true),
		    "%s with both enables", name);
	CHECK_EQ(t, CNT_11, 0, count_with(c, true, false), "%s with its own enable only", name);
	CHECK_EQ(t, CNT_11, 0, count_with(c, false, true), "%s with the global enable only", name);
	CHECK_EQ(t, CNT_11, 0, count_with(c, false, false), "%s without enables", name);
	CHECK_EQ(t, MSR_15, 0, count_with(c, true, false) + count_with(c, false, true),
		 "%s with one enable of two", name);
}

TEST(count, both_enables_are_needed, REQS(CNT_11, MSR_15), NEEDS(need_perfmon, need_instructions))
{
	char name[] = "IA32_PMC0";

	for (unsigned c = 0; c < counter_caps()->gp && c < 10; c++) {
		name[sizeof(name) - 2] = (char)('0' + c);
		check_enables(t, c, name);
	}
	if (counter_caps()->fixed)
		check_enables(t, PMC_FIXED(0), "fixed counter 0");
}

TEST(count, fixed_counter_0_counts_instructions, REQS(CNT_12, CNT_22),
     NEEDS(need_perfmon, need_instructions, need_fixed), .under_every_fault = true)
{
	struct pmc_mask both = pmc_or(counters_gp(), pmc_one(PMC_FIXED(0)));
	u64 value[WINDOW_COUNTERS], difference[WINDOW_COUNTERS];
	u64 want = workload_declared(&workload_mixed, COUNT_INSTRUCTIONS, MORE) -
		   workload_declared(&workload_mixed, COUNT_INSTRUCTIONS, FEWER);

	if (!window_count(both, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, &workload_mixed, MORE,
			  value) ||
	    !window_difference(t, both, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH, &workload_mixed,
			       FEWER, MORE, difference)) {
		test_inconclusive(t, "disturbed windows");
		return;
	}
	CHECK_EQ(t, CNT_12, want, difference[PMC_FIXED(0)],
		 "instructions in 80 more rounds, fixed counter 0");
	CHECK_EQ(t, CNT_12, value[0], value[PMC_FIXED(0)],
		 "fixed counter 0 against IA32_PMC0 in one window");
	for (unsigned c = 0; c < counter_caps()->gp; c++) {
		CHECK_RANGE(t, CNT_22, 1, ~0ULL, value[c], "instructions on IA32_PMC%u", c);
		CHECK_EQ(t, CNT_22, value[0], value[c], "IA32_PMC%u against IA32_PMC0", c);
	}
}

TEST(count, fixed_enables_select_the_level, REQS(CNT_28), NEEDS(need_perfmon, need_fixed))
{
	u64 none, os, usr, both;
	u64 want = workload_declared(&workload_load, COUNT_INSTRUCTIONS, MORE) -
		   workload_declared(&workload_load, COUNT_INSTRUCTIONS, FEWER);

	if (!window_difference_one(t, PMC_FIXED(0), 0, 0, &workload_load, FEWER, MORE, &none) ||
	    !window_difference_one(t, PMC_FIXED(0), 0, COUNT_OS, &workload_load, FEWER, MORE,
				   &os) ||
	    !window_difference_one(t, PMC_FIXED(0), 0, COUNT_USR, &workload_load, FEWER, MORE,
				   &usr) ||
	    !window_difference_one(t, PMC_FIXED(0), 0, COUNT_BOTH, &workload_load, FEWER, MORE,
				   &both))
		return;
	CHECK_EQ(t, CNT_28, 0, none, "instructions at CPL 0, enable 0 (off)");
	CHECK_EQ(t, CNT_28, want, os, "instructions at CPL 0, enable 1 (OS)");
	CHECK_EQ(t, CNT_28, 0, usr, "instructions at CPL 0, enable 2 (any ring above 0)");
	CHECK_EQ(t, CNT_28, want, both, "instructions at CPL 0, enable 3 (all)");
	/* The others count cycles: none at a level that isn't selected. */
	for (unsigned i = 1; i < counter_caps()->fixed; i++) {
		if (!window_count_one(t, PMC_FIXED(i), 0, COUNT_USR, &workload_load, LONG, &usr) ||
		    !window_count_one(t, PMC_FIXED(i), 0, COUNT_OS, &workload_load, LONG, &os))
			return;
		CHECK_EQ(t, CNT_28, 0, usr, "fixed counter %u at CPL 0, enable 2", i);
		CHECK_RANGE(t, CNT_28, 1, ~0ULL, os, "fixed counter %u at CPL 0, enable 1", i);
	}
}

/* Preset to n before the highest value and count more than n; once with no wrap in reach. */
static void check_wrap(struct test *t, struct test_claim claim, unsigned c, const char *name)
{
	u64 value, top = BIT(counter_width(c));

	for (unsigned wraps = 0; wraps < 2; wraps++) {
		u64 preset = wraps ? top - PERIOD : top / 2 - PERIOD;

		counter_program(c, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		if (!counter_write(c, preset))
			continue;	/* the middle of the range needs full-width writes */
		workload_run(&workload_load, MORE, pmc_one(c));
		value = counter_read(c);
		test_check_range(t, claim, wraps ? 3 * MORE - PERIOD : preset + 3 * MORE,
				 wraps ? 4 * MORE : preset + 4 * MORE, value,
				 "%s after 270 instructions from %#lx", name, preset);
		test_check_eq(t, claim, wraps ? BIT(c) : 0, counters_status() & BIT(c),
			      "its status bit, from %#lx", preset);
		counters_clear(BIT(c));
	}
}

TEST(count, counters_wrap_at_their_width, REQS(CNT_13, CNT_31),
     NEEDS(need_perfmon, need_instructions))
{
	check_wrap(t, AT(CNT_13), 0, "IA32_PMC0");
	check_wrap(t, AT(CNT_13), counter_caps()->gp - 1, "the last general-purpose counter");
	if (counter_caps()->fixed)
		check_wrap(t, AT(CNT_31), PMC_FIXED(0), "fixed counter 0");
}

/* A stopped counter keeps its value while another one sees the same work. */
TEST(count, stopped_counters_keep_their_value, REQS(CNT_21, CNT_44),
     NEEDS(need_perfmon, need_instructions, need_two_counters), .under_every_fault = true)
{
	u64 kept[2], moved;

	counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_program(1, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(0, 1000);
	counter_write(1, 1000);
	workload_run(&workload_load, FEWER, pmc_one(1));
	for (unsigned i = 0; i < 2; i++)
		kept[i] = counter_read(0);
	moved = counter_read(1);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(t, CNT_21, 1000, kept[i], "IA32_PMC0, stopped, read %u", i + 1);
	CHECK_RANGE(t, CNT_44, 1000 + 3 * FEWER, 1000 + 3 * FEWER + 32, moved,
		    "IA32_PMC1, going on from 1000 for 30 instructions and the window's own");
}

static void check_bounds(struct test *t, unsigned c)
{
	u64 cycles, branches, missed;

	if (!window_count_one(t, c, EVENT_UNHALTED_CORE_CYCLES, COUNT_BOTH, &workload_load, MORE,
			      &cycles) ||
	    !window_count_one(t, c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH,
			      &workload_branch, MORE, &branches) ||
	    !window_count_one(t, c, EVENT_BR_MISP_RETIRED_ALL_BRANCHES, COUNT_BOTH,
			      &workload_branch, MORE, &missed))
		return;
	CHECK_RANGE(t, CNT_23, 10, ~0ULL, cycles, "core cycles of 270 instructions, IA32_PMC%u", c);
	CHECK_RANGE(t, CNT_38, 1, ~0ULL, branches, "branches, IA32_PMC%u", c);
	CHECK_RANGE(t, CNT_38, 0, branches, missed, "mispredicted of %lu branches, IA32_PMC%u",
		    branches, c);
}

TEST(count, cycles_and_mispredictions_stay_in_bounds, REQS(CNT_23, CNT_38),
     NEEDS(need_perfmon, need_cycles, need_branches))
{
	for (unsigned c = 0; c < counter_caps()->gp; c++)
		check_bounds(t, c);
}
