/* SPDX-License-Identifier: MIT */
/* One overflow of one counter, with its interrupts: what the tests of interrupts share. */
#ifndef TESTS_MEASURE_OVERFLOW_H
#define TESTS_MEASURE_OVERFLOW_H

#include "pmu/pmi.h"
#include "tests/measure/window.h"

/* CondChgd and Ovf_Uncore aren't ours to expect, in either state. */
#define STATUS_LOOKED_AT (~(IA32_PERF_GLOBAL_STATUS_COND_CHGD | \
			    IA32_PERF_GLOBAL_STATUS_OVF_UNCORE))

/* Instructions, branches and cycles of the sled are all above this. */
#define FIXED_PERIOD	32

/*
 * Fixed counter 2 has a slow clock. Intel's event files say of CPU_CLK_UNHALTED.REF_TSC that its
 * update is late. Its status bit may be set once more after it was cleared, with an interrupt
 * "software should ignore". So its periods are long, and its windows are repeated until it has
 * wrapped.
 */
#define OVERFLOW_SLOW	PMC_FIXED(2)
#define SLOW_PERIOD	65536
#define SLOW_ROUNDS	4096
/* A window has SLOW_ROUNDS cycles or more: enough for a core that is 7 times as fast as its
 * reference clock, as low-power parts are at turbo. */
#define SLOW_WINDOWS	112
/* The bit may be set once more after the handler has cleared it and before it unmasks LVTPC. That
 * makes it an early unmask, which interrupts by itself on Haswell and later (Linux, late_ack). The
 * repeated interrupt may still be on its way. */
#define SLOW_REPEATS	2

/* Until that late update of a counter that was stopped is over: a cycle of its clock, 10 ns. */
void overflow_slow_update(void);

/* What it is preset to. General-purpose counters of branches have periods of their own. */
u64 overflow_period(unsigned counter);
/* Of a piece in one window. */
u64 overflow_rounds(unsigned counter);
/* Is a window wanted, after that many of them? */
bool overflow_wants(unsigned counter, unsigned windows);
/* That many further interrupts for an overflow are no breach; if any, nor is its bit set once
 * more. */
unsigned overflow_repeats(const struct test *t, unsigned counter);

/* How many of these interrupts are right, where `wanted` are wanted: errata repeat some of an
 * overflow that is close to a disable or a freeze. */
u64 overflow_most(struct test *t, u64 wanted, u64 interrupts);

/* The status bit that may be set once more after it was cleared, in a test of each counter in turn
 * when it is counter's: fixed counter 2's after its own turn; or 0. */
u64 overflow_aside(const struct test *t, unsigned counter);

/* All counters but those that may go on counting while CTR_Frz is set. */
u64 overflow_freezes(struct test *t);

/* Of a window with that many instructions, how many may come before a freeze at its beginning: half
 * where every rule is judged; elsewhere not all, because how soon it comes isn't stated. */
u64 overflow_before_freeze(const struct test *t, u64 whole);

/*
 * Does it overflow in the window of overflow()? Fixed counters from 4 on count slots of bad
 * speculation and the like, of which a window may have few or none: that is measured, and the
 * counter is off afterwards.
 */
bool overflow_comes(unsigned counter);

/* IA32_PERF_GLOBAL_STATUS, of what is looked at. */
u64 overflow_status(void);

/* General-purpose counters count branches and wrap on the last one before the sled, fixed ones some
 * time before its end. flags beside both privilege levels. */
void overflow_prepare(unsigned counter, u64 flags);

/* The same, and the window, or windows. */
void overflow_in(const struct workload *w, unsigned counter, u64 flags);
void overflow(unsigned counter, u64 flags);

/* The counter off, its status bit cleared. */
void overflow_off(unsigned counter);

/* The interrupts of one overflow; the log stays until the next pmi_open(). */
const struct pmi_log *overflow_interrupts(unsigned counter, u64 flags,
					  const struct pmi_options *options);

#endif
