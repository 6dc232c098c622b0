/* SPDX-License-Identifier: MIT */
/* Two processors at once. SMIs and lost time are looked for on both by the runner. */
#include "tests/measure/together.h"

#define DEADLINE_MS	5000u	/* a side that never comes ends here, and the test with it */

bool together_run(struct test *t, struct together *both, unsigned cpu, void (*work)(void *arg),
		  void *arg)
{
	struct guard_report report;

	*both = (struct together){ .barrier.count = 2, .other = cpu };
	if (!HARNESS_CHECK(t, smp_start(cpu, work, arg, DEADLINE_MS), "processor %u starts", cpu))
		return false;
	work(arg);
	return HARNESS_CHECK(t, smp_wait(cpu, &report), "processor %u is lost", cpu) &&
	       HARNESS_CHECK(t, report.outcome == GUARD_DONE, "processor %u: outcome %u, vector "
			     "%lu at %#lx", cpu, (unsigned)report.outcome, report.frame.vector,
			     report.frame.rip);
}

void together_meet(struct together *both)
{
	smp_barrier_wait(&both->barrier);
}

unsigned together_side(void)
{
	return cpu_index() != CPU_BOOT;
}

unsigned together_partner(unsigned i)
{
	unsigned sibling = smp_sibling();

	if (i == 0)
		return sibling ? sibling : smp_other_core();
	return i == 1 && sibling ? smp_other_core() : 0;
}

const char *together_name(unsigned cpu)
{
	struct topology first = smp_topology(CPU_BOOT), other = smp_topology(cpu);

	return topology_same_core(&first, &other) ? "its sibling thread" : "another core's thread";
}

const char *together_whose(unsigned cpu, unsigned side)
{
	return side ? together_name(cpu) : "the first processor";
}

static void count(void *arg)
{
	struct together_window *window = arg;
	struct together_side *side = &window->side[together_side()];

	together_meet(&window->both);	/* what starts and ends a side isn't counted by the other */
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(side->counters.bits & BIT(c)))
			continue;
		counter_program(c, side->event, side->flags);
		counter_write(c, 0);
	}
	if (side->counters.bits)
		counters_enable(side->counters);
	together_meet(&window->both);	/* both count */
	if (side->work)
		workload_run_user(side->work, side->n);
	together_meet(&window->both);	/* both are through */
	if (side->counters.bits)
		counters_disable();
	together_meet(&window->both);	/* neither counts */
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(side->counters.bits & BIT(c)))
			continue;
		side->value[c] = counter_read(c);
		counter_program_disabled(c, 0, 0);
	}
}

bool together_count(struct test *t, struct together_window *window, unsigned cpu)
{
	return together_run(t, &window->both, cpu, count, window);
}
