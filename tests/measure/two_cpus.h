/* SPDX-License-Identifier: MIT */
/*
 * Two processors at once: the first one, which runs the test, and another. Both run one function of
 * one argument, which asks what side it is on; what must come before what is said by barriers.
 * Everything about the PMU in such a function is about the processor that it runs on.
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

/* Wait for the other one. Any of the two, as often as one likes. Where that one has ended by an
 * exception or a deadline, the test ends here and tells it. */
void two_cpus_barrier(struct two_cpus *both);

/* Which of the two runs this: 0 the first processor, 1 the other. */
unsigned two_cpus_side(void);

/* Processors that a test pairs with the first one, in turn from i = 0: a thread of its core, and
 * one of another core. 0 after the last. */
unsigned two_cpus_partner(unsigned i);
#define FOR_EACH_PARTNER(cpu) \
	for (unsigned i_##cpu = 0, cpu; (cpu = two_cpus_partner(i_##cpu)); i_##cpu++)

/* For what a check says: "its sibling thread" or "another core's thread"; and of a pair with cpu,
 * whose side that is: "the first processor" or that name. */
const char *two_cpus_name(unsigned cpu);
const char *two_cpus_whose(unsigned cpu, unsigned side);

/*
 * A window in which both may count and work. Counters are on, on both sides, before either works,
 * and off only when both are through. Work is at CPL 3: a counter with USR alone sees nothing of
 * what the harness does around it but a constant few instructions for each piece of work.
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
