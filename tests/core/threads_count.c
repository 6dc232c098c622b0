/* SPDX-License-Identifier: MIT */
/*
 * Counting while another logical processor works: SDM "Architectural Performance Monitoring Version
 * 3", the AnyThread bit of IA32_PERFEVTSELx (Figure 18-6) and IA32_FIXED_CTR_CTRL (Figure 18-7).
 * The work is known: instructions at CPL 3, and near calls, of which the harness makes only a few
 * while it waits. Durations aren't known.
 */
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/measure/two_cpus.h"

#define FEWER	40
#define MORE	140
#define FEW	64	/* calls by the harness at both ends of a window */

static u64 declared(const struct workload *w, enum workload_count what)
{
	return workload_declared(w, what, MORE) - workload_declared(w, what, FEWER);
}

/* Fixed counter 2 may have a clock too slow for these windows. */
#define CYCLES_AND_SLOTS	(BIT(PMC_FIXED(1)) | BIT(PMC_FIXED(3)))

/* The side of the window that counts, if only one does. */
static unsigned counting(const struct two_cpus_window *window)
{
	return !window->side[0].counters.bits;
}

static void swap_sides(struct two_cpus_window *window)
{
	const struct two_cpus_side first = window->side[0];

	window->side[0] = window->side[1];
	window->side[1] = first;
}

/* Count one window while the other side runs so many rounds. */
static bool count_with(struct test *t, unsigned cpu, struct two_cpus_window *window, u64 own_n,
		       u64 other_n)
{
	const unsigned side = counting(window);

	window->side[side].n = own_n;
	window->side[!side].n = other_n;
	return two_cpus_count(t, window, cpu);
}

/* How much the count grows when the own side, or the other side, does more work. */
struct growth {
	u64 own[WINDOW_COUNTERS], other[WINDOW_COUNTERS];
};

static bool measure(struct test *t, unsigned cpu, struct two_cpus_window *window,
		    struct growth *growth)
{
	struct two_cpus_side *side = &window->side[counting(window)];
	struct two_cpus_side least;

	if (!count_with(t, cpu, window, FEWER, FEWER))
		return false;
	least = *side;
	if (!count_with(t, cpu, window, MORE, FEWER))
		return false;
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		growth->own[c] = side->value[c] - least.value[c];
	if (!count_with(t, cpu, window, FEWER, MORE))
		return false;
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		growth->other[c] = side->value[c] - least.value[c];
	return true;
}

/* The first processor's counters count instructions at CPL 3; the other one runs `other`. */
static struct two_cpus_window instructions(struct pmc_mask counters, u64 flags)
{
	return (struct two_cpus_window){ .side = {
		{ .counters = counters, .event = EVENT_INST_RETIRED_ANY_P,
		  .flags = COUNT_USR | flags, .work = &workload_branch },
						 { .work = &workload_load },
					 } };
}

/* Check one of the two sides. The control is the other thread's work: only with AnyThread the count
 * grows by it. */
static void check_any_of(struct test *t, struct test_claim claim, unsigned cpu, unsigned side,
			 bool same_core, struct pmc_mask counters, u64 flags)
{
	struct two_cpus_window window = instructions(counters, flags);
	bool any = flags & COUNT_ANY;
	u64 own = declared(&workload_branch, WORKLOAD_INSTRUCTIONS);
	u64 other = any && same_core ? declared(&workload_load, WORKLOAD_INSTRUCTIONS) : 0;
	struct growth growth;
	u64 slack;

	if (side)
		swap_sides(&window);
	if (!measure(t, cpu, &window, &growth))
		return;
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(counters.bits & BIT(c)) ||
		    (any && !any_thread_counts_despite_errata(t, c, COUNT_USR)))
			continue;
		slack = window_slack(t, c);
		test_check_range(t, claim, own, own + 2 * slack, growth.own[c] + slack,
				 "counter %u of %s, AnyThread = %u: instructions of 100 more "
				 "rounds at CPL 3 of its own, and %lu",
				 c, two_cpus_whose(cpu, side), any, slack);
		test_check_range(t, claim, other, other + 2 * slack, growth.other[c] + slack,
				 "counter %u of %s, AnyThread = %u: instructions of 100 more "
				 "rounds at CPL 3 of the other one, and %lu",
				 c, two_cpus_whose(cpu, side), any, slack);
	}
}

static void check_any(struct test *t, struct test_claim claim, unsigned cpu, bool same_core,
		      struct pmc_mask counters, u64 flags)
{
	for (unsigned side = 0; side < 2; side++)
		check_any_of(t, claim, cpu, side, same_core, counters, flags);
}

/*
 * CNT-47  The USR and OS bits of a counter with AnyThread must go by the privilege level of the
 *         logical processor that has the event.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3; 18.2.1.1 (USR, OS)
 *
 * Given  AnyThread = 1 with USR, on either thread. The sibling thread works at CPL 3. The counter's
 *        own thread works there too; or, on the first thread, it waits at CPL 0, which shows best
 *        whose level decides
 * When   either side does 100 more rounds
 * Then   each count grows by the instructions of the thread that did more
 * Control: with OS IA32_PMC0 counts branches at CPL 0
 */
TEST(count, any_thread_filters_by_the_cpl_of_the_thread_that_has_the_event, REQS(CNT_47),
     NEEDS(need_perfmon, need_instructions, need_branches, need_any_thread, need_sibling_thread))
{
	const struct pmc_mask counters = { counters_gp().bits |
					   (counters_fixed().bits & BIT(PMC_FIXED(0))) };
	struct two_cpus_window window = instructions(counters, COUNT_ANY);
	u64 want = declared(&workload_load, WORKLOAD_INSTRUCTIONS);
	struct growth growth;

	check_any(t, AT(CNT_47), smp_sibling(), true, counters_gp(), COUNT_ANY);
	window.side[0].work = NULL;
	if (!measure(t, smp_sibling(), &window, &growth))
		return;
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		if (counters.bits & BIT(c) && any_thread_counts_despite_errata(t, c, COUNT_USR))
			CHECK_RANGE(t, CNT_47, want, want + 2 * window_slack(t, c),
				    growth.other[c] + window_slack(t, c),
				    "counter %u: instructions at CPL 3 of its sibling thread, "
				    "itself at CPL 0, and %lu",
				    c, window_slack(t, c));
	window.side[0].flags = COUNT_OS | COUNT_ANY;
	window.side[0].event = EVENT_BR_INST_RETIRED_ALL_BRANCHES;
	window.side[0].work = &workload_branch;
	if (count_with(t, smp_sibling(), &window, FEWER, FEWER))
		CONTROL_RANGE(t, CNT_47, 1, ~0ULL, window.side[0].value[0],
			      "IA32_PMC0: branches at CPL 0 of both");
}

/* Near calls at any level: the harness makes a few itself, and waiting makes none. */
static void check_calls_of(struct test *t, unsigned cpu, unsigned side, bool same_core, u64 flags)
{
	struct two_cpus_window window = { .side = {
		{ .counters = counters_gp(), .event = sampling_event(EK_NEAR_CALLS),
		  .flags = COUNT_BOTH | flags, .work = &workload_call },
						  { .work = &workload_call },
					  } };
	u64 own = workload_declared(&workload_call, WORKLOAD_CALLS, MORE);
	u64 other = workload_declared(&workload_call, WORKLOAD_CALLS, 2 * MORE);
	u64 want = flags & COUNT_ANY && same_core ? own + other : own;

	if (side)
		swap_sides(&window);
	if (!count_with(t, cpu, &window, MORE, 2 * MORE))
		return;
	FOR_EACH_COUNTER (c, counters_gp().bits)
		if (!(flags & COUNT_ANY) || any_thread_counts_despite_errata(t, c, COUNT_BOTH))
			CHECK_RANGE(t, MSR_27, want, want + FEW, window.side[side].value[c],
				    "IA32_PMC%u of %s, AnyThread = %u: calls, of which %lu are its "
				    "own and %lu of the other one",
				    c, two_cpus_whose(cpu, side), !!(flags & COUNT_ANY), own,
				    other);
}

static void check_calls(struct test *t, unsigned cpu, bool same_core, u64 flags)
{
	for (unsigned side = 0; side < 2; side++)
		check_calls_of(t, cpu, side, same_core, flags);
}

/*
 * MSR-27  With its AnyThread bit set a counter must count the events of all logical processors of
 *         its core.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3
 *
 * Given  near calls, of which the harness makes a few. The counters of one thread of a core count,
 *        of the first one and then of the second. The other thread makes twice as many calls
 * When   its counters count them with AnyThread = 0 and 1
 * Then   with 0 they count its own calls, with 1 those of both
 */
TEST(count, any_thread_counts_events_of_both_threads, REQS(MSR_27),
     NEEDS(need_perfmon, need_events, need_any_thread, need_sibling_thread))
{
	check_calls(t, smp_sibling(), true, 0);
	check_calls(t, smp_sibling(), true, COUNT_ANY);
}

/*
 * MSR-27  With its AnyThread bit set a counter must count the events of all logical processors of
 *         its core.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3
 *
 * Given  near calls, of which the harness makes a few. Of threads of two cores the counters of one
 *        count, of the first one and then of the other. The other thread makes twice as many calls
 * When   its counters count them with AnyThread = 1
 * Then   they count its own calls alone, and all of them
 */
TEST(count, any_thread_counts_no_events_of_another_core, REQS(MSR_27),
     NEEDS(need_perfmon, need_events, need_any_thread, need_other_core))
{
	check_calls(t, smp_other_core(), false, COUNT_ANY);
}

/*
 * MSR-39  With its AnyThread bit set a fixed counter must count the events of all logical
 *         processors of its core, and without it its own alone.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3, Figure 18-7
 *
 * Given  both threads of a core work at CPL 3; CNT-27 is about a sibling that sleeps
 * When   fixed counter 0 of each counts with AnyThread = 0 and 1, while either side does 100 more
 *        rounds
 * Then   it grows by its own thread's instructions with both, and by the sibling's with 1 only
 */
TEST(count, any_thread_of_fixed_counters_counts_both_threads, REQS(MSR_39),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_any_thread, need_sibling_thread))
{
	check_any(t, AT(MSR_39), smp_sibling(), true, pmc_one(PMC_FIXED(0)), 0);
	check_any(t, AT(MSR_39), smp_sibling(), true, pmc_one(PMC_FIXED(0)), COUNT_ANY);
}

/*
 * MSR-39  With its AnyThread bit set a fixed counter must count the events of all logical
 *         processors of its core, and without it its own alone.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3, Figure 18-7
 *
 * Given  threads of two cores work at CPL 3
 * When   fixed counter 0 of each counts with AnyThread = 1, while either side does 100 more rounds
 * Then   it grows by its own thread's instructions, and by none of the other core's
 */
TEST(count, any_thread_of_fixed_counters_counts_no_other_core, REQS(MSR_39),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_any_thread, need_other_core))
{
	check_any(t, AT(MSR_39), smp_other_core(), false, pmc_one(PMC_FIXED(0)), COUNT_ANY);
}

/*
 * CNT-46  While several logical processors count, a counter without AnyThread must count the
 *         events of its own and of no other.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3 (AnyThread = 0)
 *
 * Given  two processors run different workloads at CPL 3, each with all its counters of
 *        instructions, and fixed counters 1 and 3
 * When   both do 100 more rounds
 * Then   each counter grows by the instructions of its own processor's workload, no more and no
 *        less; those of cycles and slots have counted, except in a guest whose host may take one
 */
TEST(count, processors_count_side_by_side_at_cpl_3, REQS(CNT_46),
     NEEDS(need_perfmon, need_instructions, need_partner))
{
	FOR_EACH_PARTNER(cpu) {
		/* A host's NMI watchdog may have the counter of cycles. */
		const u64 clocks = window_host_may_take_counters(t) ?
					   0 :
					   counters_fixed().bits & CYCLES_AND_SLOTS;
		struct pmc_mask all = { counters_gp().bits |
					(counters_fixed().bits & BIT(PMC_FIXED(0))) };
		struct two_cpus_window window = instructions((struct pmc_mask){ all.bits | clocks },
							     0);
		const struct workload *work[2];
		struct two_cpus_window least;

		window.side[1] = window.side[0];
		window.side[1].work = &workload_load;
		for (unsigned k = 0; k < 2; k++)
			work[k] = window.side[k].work;
		if (!count_with(t, cpu, &window, FEWER, FEWER))
			return;
		least = window;
		if (!count_with(t, cpu, &window, MORE, MORE))
			return;
		FOR_EACH_COUNTER (c, clocks)
			for (unsigned k = 0; k < 2; k++)
				CHECK_RANGE(t, CNT_46, 1, ~0ULL, window.side[k].value[c],
					    "counter %u of %s, of cycles or slots", c,
					    two_cpus_whose(cpu, k));
		FOR_EACH_COUNTER (c, all.bits)
			for (unsigned k = 0; k < 2 && level_counts_despite_errata(t, c, COUNT_USR);
			     k++) {
				u64 want = declared(work[k], WORKLOAD_INSTRUCTIONS);
				u64 slack = window_slack(t, c) + window_far_slack(t);

				CHECK_RANGE(t, CNT_46, want, want + 2 * slack,
					    window.side[k].value[c] - least.side[k].value[c] +
						    slack,
					    "counter %u of %s: instructions of 100 more rounds of "
					    "%s, and %lu",
					    c, two_cpus_whose(cpu, k), work[k]->name, slack);
			}
	}
}

/* Take the difference at CPL 0; each side switches its own counters. */
static void take_difference(void *arg)
{
	struct two_cpus_window *window = arg;
	struct two_cpus_side *side = &window->side[two_cpus_side()];
	u64 small[WINDOW_COUNTERS];
	bool counted;

	two_cpus_barrier(&window->both);
	counted = window_count(side->counters, side->event, side->flags, side->work, FEWER, small);
	two_cpus_barrier(&window->both);
	if (!counted ||
	    !window_count(side->counters, side->event, side->flags, side->work, MORE, side->value))
		return;
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		side->value[c] -= small[c];
	side->n = MORE;		/* was undisturbed */
}

/*
 * CNT-46  While several logical processors count, a counter without AnyThread must count the
 *         events of its own and of no other.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3 (AnyThread = 0)
 *
 * Given  two processors run different workloads at CPL 0, each switching its counters of branches
 *        for itself
 * When   both do 100 more rounds
 * Then   each counter grows by the branches of its own processor's workload, no more and no less
 */
TEST(count, processors_count_side_by_side_at_cpl_0, REQS(CNT_46),
     NEEDS(need_perfmon, need_branches, need_partner))
{
	FOR_EACH_PARTNER(cpu) {
		struct two_cpus_window window = { .side = {
			{ .work = &workload_branch }, { .work = &workload_mixed },
						  } };

		for (unsigned k = 0; k < 2; k++) {
			window.side[k].counters = counters_gp();
			window.side[k].event = EVENT_BR_INST_RETIRED_ALL_BRANCHES;
			window.side[k].flags = COUNT_BOTH;
		}
		if (!two_cpus_run(t, &window.both, cpu, take_difference, &window))
			return;
		if (!window.side[0].n || !window.side[1].n) {
			test_inconclusive(t, "disturbed windows");
			return;
		}
		for (unsigned k = 0; k < 2; k++)
			FOR_EACH_COUNTER (c, counters_gp().bits)
				CHECK_EQ(t, CNT_46,
					 declared(window.side[k].work, WORKLOAD_BRANCHES),
					 window.side[k].value[c],
					 "IA32_PMC%u of %s: branches of 100 more rounds of %s", c,
					 two_cpus_whose(cpu, k), window.side[k].work->name);
	}
}
