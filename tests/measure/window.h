/* SPDX-License-Identifier: MIT */
/*
 * Measured windows: a workload with counters on. One that something else disturbed
 * (tests/frame/disturbance.h) is repeated.
 */
#ifndef TESTS_MEASURE_WINDOW_H
#define TESTS_MEASURE_WINDOW_H

#include "pmu/counter.h"
#include "tests/frame/test.h"
#include "tests/measure/workload.h"

#define WINDOW_COUNTERS	40	/* positions of IA32_PERF_GLOBAL_CTRL that are looked at */

#define WINDOW_TRIES	5	/* until one is undisturbed */

/* Well above every min_period of spec/event.def. */
#define PERIOD		64

/*
 * Company: another counter that counts beside that of a window. What a counter does mustn't depend
 * on it, so in every other window of one counter one more general-purpose counter counts branches.
 * What else is to be switched on in a window of these counters: the general-purpose counter after
 * them, or the first one, from 0 on and without an interrupt. None in every other window, of
 * several counters, where that counter isn't 0 and off, beside an event that is taken alone, and
 * under a hypervisor, whose host may have no counter left. On the first processor only.
 */
struct pmc_mask company_begin(struct pmc_mask used);
/* After the window: it is off and 0. */
void company_end(struct pmc_mask company);
/* That of the last window. */
struct pmc_mask company_last(void);

/*
 * Program each counter with event and flags, zero it, run the workload with these counters on,
 * and read them into value[], by position. Repeated while disturbed; false: always.
 * Fixed counters in the mask count their own event.
 */
bool window_count(struct pmc_mask counters, u16 event, u64 flags, const struct workload *w, u64 n,
		  u64 value[WINDOW_COUNTERS]);

/*
 * How much more is counted with n = more than with n = fewer, a counter. The constant that
 * switching on and off adds drops out. false: disturbed, and the test is INCONCLUSIVE.
 */
bool window_difference(struct test *t, struct pmc_mask counters, u16 event, u64 flags,
		       const struct workload *w, u64 fewer, u64 more, u64 value[WINDOW_COUNTERS]);

/*
 * The same of the least counts of WINDOW_LEAST_OF windows each, for events to which a busy sibling
 * or microcode may add. Nothing takes away from them: one quiet window in five is enough.
 */
#define WINDOW_LEAST_OF 5
bool window_least_difference(struct test *t, struct pmc_mask counters, u16 event, u64 flags,
			     const struct workload *w, u64 fewer, u64 more,
			     u64 value[WINDOW_COUNTERS]);

/* The general-purpose counters on which an event can be counted. */
struct pmc_mask counters_for(u16 event);

/* Does a counter count with these of OS and USR, as far as errata go? */
bool window_counts_level(struct test *t, unsigned counter, u64 level);

/* Does a counter with AnyThread count instructions and branches at these of OS and USR rightly, as
 * far as errata go? */
bool window_counts_any(struct test *t, unsigned counter, u64 level);

/* By how much a counter's difference of two windows may be wrong to either side, as far as errata
 * go: CHECK_RANGE(t, id, want, want + 2 * slack, difference + slack). */
u64 window_slack(struct test *t, unsigned counter);

/* The same of instructions, where each window has a few far transfers: the way to another level and
 * back, or to a handler. */
u64 window_far_slack(struct test *t);

/* One counter only. */
bool window_count_one(struct test *t, unsigned counter, u16 event, u64 flags,
		      const struct workload *w, u64 n, u64 *value);
bool window_difference_one(struct test *t, unsigned counter, u16 event, u64 flags,
			   const struct workload *w, u64 fewer, u64 more, u64 *value);

#endif
