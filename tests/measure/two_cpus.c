/* SPDX-License-Identifier: MIT */
/* Two processors at the same time. The runner checks both for SMIs and lost time. */
#include "tests/measure/two_cpus.h"

#define DEADLINE_MS	5000u	/* a side that doesn't come to a barrier ends the test after this */

bool two_cpus_run(struct test *t, struct two_cpus *both, unsigned cpu, void (*work)(void *arg),
		  void *arg)
{
	struct guard_report report;

	*both = (struct two_cpus){ .barrier.count = 2, .other = cpu };
	if (!HARNESS_CHECK(t, smp_start(cpu, work, arg, DEADLINE_MS), "processor %u starts", cpu))
		return false;
	work(arg);
	return HARNESS_CHECK(t, smp_wait(cpu, &report), "processor %u is lost", cpu) &&
	       HARNESS_CHECK(t, report.outcome == GUARD_DONE,
			     "processor %u: outcome %u, vector "
			     "%lu at %#lx",
			     cpu, (unsigned)report.outcome, report.frame.vector, report.frame.rip);
}

void two_cpus_barrier(struct two_cpus *both)
{
	smp_barrier_wait(&both->barrier);
}

unsigned two_cpus_side(void)
{
	return cpu_index() != CPU_BOOT;
}

unsigned two_cpus_partner(unsigned i)
{
	unsigned sibling = smp_sibling();

	if (i == 0)
		return sibling ? sibling : smp_other_core();
	return i == 1 && sibling ? smp_other_core() : 0;
}

const char *two_cpus_name(unsigned cpu)
{
	struct topology first = smp_topology(CPU_BOOT), other = smp_topology(cpu);

	return topology_same_core(&first, &other) ? "its sibling thread" : "another core's thread";
}

const char *two_cpus_whose(unsigned cpu, unsigned side)
{
	return side ? two_cpus_name(cpu) : "the first processor";
}

static void two_cpus_count_side(void *arg)
{
	struct two_cpus_window *window = arg;
	struct two_cpus_side *side = &window->side[two_cpus_side()];

	/* one side's start and stop aren't counted by the other */
	two_cpus_barrier(&window->both);
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(side->counters.bits & BIT(c)))
			continue;
		counter_program(c, side->event, side->flags);
		counter_write(c, 0);
	}
	if (side->counters.bits)
		counters_enable(side->counters);
	two_cpus_barrier(&window->both);	/* both count */
	if (side->work)
		workload_run_user(side->work, side->n);
	two_cpus_barrier(&window->both);	/* both have done their work */
	if (side->counters.bits)
		counters_disable();
	two_cpus_barrier(&window->both);	/* neither counts */
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(side->counters.bits & BIT(c)))
			continue;
		side->value[c] = counter_read(c);
		counter_program_disabled(c, 0, 0);
	}
}

bool two_cpus_count(struct test *t, struct two_cpus_window *window, unsigned cpu)
{
	return two_cpus_run(t, &window->both, cpu, two_cpus_count_side, window);
}
