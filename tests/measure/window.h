/* SPDX-License-Identifier: MIT */
/*
 * Measured windows: a workload with counters on. A disturbed window (tests/frame/disturbance.h) is
 * repeated.
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
 * Company: a second counter that counts in the same window. A counter's result mustn't depend on
 * another counter. So in every other window of one counter a second general-purpose counter counts
 * branches, from 0 on and without an interrupt: the one after the window's counter, or the first
 * one. There is no company in a window of several counters, if that second counter isn't 0 and off,
 * beside an event that must be counted alone, and under a hypervisor, whose host may have no free
 * counter. On the first processor only. company_begin() returns the counter to switch on in a
 * window with the counters in used.
 */
struct pmc_mask company_begin(struct pmc_mask used);
/* After the window: switch it off, and set it to 0. */
void company_end(struct pmc_mask company);
/* The company of the last window. */
struct pmc_mask company_last(void);

/*
 * Program each counter with event and flags, zero it, run the workload with these counters on, and
 * read them into value[], by position. Repeated while disturbed; false: each try was disturbed.
 * Fixed counters in the mask count their own event.
 */
bool window_count(struct pmc_mask counters, u16 event, u64 flags, const struct workload *w, u64 n,
		  u64 value[WINDOW_COUNTERS]);

/* Is this a guest whose host may take a counter for a while, in a run that isn't strict? */
bool window_host_may_take_counters(const struct test *t);

/* Have these counters the same value? */
bool window_are_equal(struct pmc_mask counters, const u64 value[WINDOW_COUNTERS]);

/* window_count() at both levels of counters that must have equal counts. Where a host may take a
 * counter it is the first of some windows in which they have, or the last one. */
#define WINDOW_GUEST_TRIES 5
bool window_count_equal(const struct test *t, struct pmc_mask counters, u16 event,
			const struct workload *w, u64 n, u64 value[WINDOW_COUNTERS]);

/*
 * For each counter the difference of the counts with n = more and n = fewer. The constant that
 * opening and closing add cancels. In a guest each count is the middle one of three, because a host
 * may take a counter for a while. false: disturbed, and the test is INCONCLUSIVE.
 */
bool window_difference(struct test *t, struct pmc_mask counters, u16 event, u64 flags,
		       const struct workload *w, u64 fewer, u64 more, u64 value[WINDOW_COUNTERS]);

/*
 * The same with the least counts of WINDOW_LEAST_OF windows each, for events to which a busy
 * sibling or microcode may add. Nothing on a processor can make such a count too small, so one
 * quiet window in five is enough. In a guest it is the second one of five, because the least may
 * have lost events.
 */
#define WINDOW_LEAST_OF 5
bool window_least_difference(struct test *t, struct pmc_mask counters, u16 event, u64 flags,
			     const struct workload *w, u64 fewer, u64 more,
			     u64 value[WINDOW_COUNTERS]);

/* The general-purpose counters on which an event can be counted. */
struct pmc_mask counters_for(u16 event);

/*
 * A counter of the level of some work counts `less` events, and `more` over more of that work. What
 * the counter of another level may count then: `way`, its count over less work, which is that of
 * the way there and back, and half of the growth.
 */
static inline u64 window_other_level_most(u64 way, u64 less, u64 more)
{
	return way + (more > less ? (more - less) / 2 : 0);
}

/* Does a counter count with this setting of OS and USR, or does an erratum prevent it? */
bool level_counts_despite_errata(struct test *t, unsigned counter, u64 level);

/* Does a counter with AnyThread count instructions and branches correctly with this setting of OS
 * and USR, or does an erratum prevent it? */
bool any_thread_counts_despite_errata(struct test *t, unsigned counter, u64 level);

/* By how much, because of errata, a counter's difference of two windows may be too large or too
 * small: CHECK_RANGE(t, id, want, want + 2 * slack, difference + slack). */
u64 window_slack(struct test *t, unsigned counter);

/* The same for instructions in windows with a few far transfers (to another level and back, or to a
 * handler). */
u64 window_far_slack(struct test *t);

/* How much the writes that open and close a window may add to any count of instructions at CPL 0
 * under a hypervisor: KVM emulates them, and adds each to a counter of event 00C0H whatever CMASK,
 * INV and E are (Linux 5.17 and later, kvm_pmu_trigger_event). */
u64 window_emulated(struct test *t);

/* The same for one counter. */
bool window_count_one(struct test *t, unsigned counter, u16 event, u64 flags,
		      const struct workload *w, u64 n, u64 *value);
bool window_difference_one(struct test *t, unsigned counter, u16 event, u64 flags,
			   const struct workload *w, u64 fewer, u64 more, u64 *value);

#endif
