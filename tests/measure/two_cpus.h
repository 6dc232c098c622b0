/* SPDX-License-Identifier: MIT */
/*
 * Runs a function on two processors at once: the first one, which runs the test, and another. The
 * function can ask on which side it runs. Barriers define the order of events. All accesses to the
 * PMU in such a function are to the PMU of the processor on which it runs.
 *
 *	static void count(void *arg)		// on both
 *	{
 *		struct my_window *w = arg;
 *
 *		counter_program(...);
 *		two_cpus_barrier(&w->both);	// both are programmed
 *		...
 *	}
 */
#ifndef TESTS_MEASURE_TWO_CPUS_H
#define TESTS_MEASURE_TWO_CPUS_H

#include "kernel/machine/smp.h"
#include "tests/frame/test.h"
#include "tests/measure/window.h"

struct two_cpus {
	struct smp_barrier barrier;
	unsigned other;			/* the other processor */
};

/* Run work(arg) on this processor and on cpu, which is idle. true: both have returned. false: the
 * test has ended, as an ERROR that says why. */
bool two_cpus_run(struct test *t, struct two_cpus *both, unsigned cpu, void (*work)(void *arg),
		  void *arg);

/* Wait for the other processor. Both call it, any number of times. If the other side has ended by
 * an exception or a deadline, the test ends here and reports it. */
void two_cpus_barrier(struct two_cpus *both);

/* Which of the two runs this: 0 the first processor, 1 the other. */
unsigned two_cpus_side(void);

/* The partners of the first processor, in turn from i = 0: a thread of its core, and a thread of
 * another core. 0 after the last. */
unsigned two_cpus_partner(unsigned i);
#define FOR_EACH_PARTNER(cpu) \
	for (unsigned i_##cpu = 0, cpu; (cpu = two_cpus_partner(i_##cpu)); i_##cpu++)

/* Text for checks: "its sibling thread" or "another core's thread". The other function names the
 * side, in a pair with cpu: "the first processor" or that text. */
const char *two_cpus_name(unsigned cpu);
const char *two_cpus_whose(unsigned cpu, unsigned side);

/*
 * A window in which both may count and work. The counters of both sides are on before either works,
 * and are switched off only when both have finished. The work is done at CPL 3: a counter with only
 * USR counts nothing of the harness except a few instructions for each piece of work, always the
 * same number.
 */
struct two_cpus_side {
	struct pmc_mask counters;	/* none: this side doesn't count */
	u16 event;
	u64 flags;			/* COUNT_* */
	const struct workload *work;	/* NULL: it waits at CPL 0 */
	u64 n;
	u64 value[WINDOW_COUNTERS];	/* counted, by position */
};
struct two_cpus_window {
	struct two_cpus both;
	struct two_cpus_side side[2];
};
bool two_cpus_count(struct test *t, struct two_cpus_window *window, unsigned cpu);

#endif
