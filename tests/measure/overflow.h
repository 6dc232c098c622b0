/* SPDX-License-Identifier: MIT */
/* One overflow of one counter, with its interrupts: shared code of the tests of interrupts. */
#ifndef TESTS_MEASURE_OVERFLOW_H
#define TESTS_MEASURE_OVERFLOW_H

#include "pmu/pmi.h"
#include "tests/measure/window.h"

/* CondChgd and Ovf_Uncore may have either state. */
#define STATUS_LOOKED_AT (~(IA32_PERF_GLOBAL_STATUS_COND_CHGD | \
			    IA32_PERF_GLOBAL_STATUS_OVF_UNCORE))

#define BOTH_FREEZES (IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI)

/* Instructions, branches and cycles of the sled are all above this. */
#define FIXED_PERIOD	32

/*
 * Fixed counter 2 has a slow clock. According to Intel's event files (CPU_CLK_UNHALTED.REF_TSC) its
 * update is late: its status bit may be set again after it was cleared, with an interrupt that
 * "software should ignore". So its periods are long, and its windows are repeated until it has
 * wrapped.
 */
#define OVERFLOW_SLOW	PMC_FIXED(2)
#define SLOW_PERIOD	65536
#define SLOW_ROUNDS	4096
/* A window has SLOW_ROUNDS cycles or more: enough for a core that is 7 times as fast as its
 * reference clock, as low-power parts are at turbo. */
#define SLOW_WINDOWS	112
/* The bit may be set again after the handler has cleared it and before the handler unmasks LVTPC.
 * This has the effect of an early unmask, which by itself causes an interrupt on Haswell and later
 * (Linux, late_ack). The repeated interrupt may still be on its way. */
#define SLOW_REPEATS	2

/* Wait until that late update of a stopped counter is over: a cycle of its clock, 10 ns. */
void overflow_slow_update(void);

/* The counter's period. General-purpose counters, which count branches, have other periods. */
u64 overflow_period(unsigned counter);
/* The rounds of the piece in one window. */
u64 overflow_rounds(unsigned counter);
/* Is a further window needed, after that many? */
bool overflow_needs_window(unsigned counter, unsigned windows);
/* The number of additional interrupts for an overflow that are no breach. If it isn't 0, it is no
 * breach either if the status bit is set again. */
unsigned overflow_extra(const struct test *t, unsigned counter);

/* Has a counter wrapped that was preset to less than half of its range before its end, and holds
 * this value? */
bool overflow_has_wrapped(unsigned counter, u64 value);

/* How many of these interrupts are right if `wanted` are expected: with some errata an overflow
 * close to a disable or a freeze repeats its interrupt. */
u64 overflow_allowed(struct test *t, u64 wanted, u64 interrupts);

/* In a test of each counter in turn, during the turn of `counter`: the status bit that may be set
 * again after it was cleared (that of fixed counter 2, after its own turn), or 0. */
u64 overflow_bit_set_again(const struct test *t, unsigned counter);

/* All counters but those that may go on counting while CTR_Frz is set. */
u64 overflow_freezable(struct test *t);

/* In a window with that many instructions, how many may retire before a freeze at its beginning
 * takes effect. In strict runs half of them; otherwise all but one, because the manual doesn't say
 * how soon a freeze takes effect. */
u64 overflow_before_freeze(const struct test *t, u64 whole);

/*
 * Does the counter overflow in the window of overflow()? Fixed counters from 4 on count slots of
 * bad speculation and similar events, of which a window may have few or none: this is measured, and
 * the counter is off afterwards.
 */
bool overflow_comes(unsigned counter);

/* IA32_PERF_GLOBAL_STATUS & STATUS_LOOKED_AT. */
u64 overflow_status(void);

/* Program the counter. General-purpose counters count branches and wrap on the last branch before
 * the sled; fixed counters wrap some time before the end of the sled. flags: in addition to both
 * privilege levels. */
void overflow_prepare(unsigned counter, u64 flags);

/* The same, and then run the window, or windows. */
void overflow_in(const struct workload *w, unsigned counter, u64 flags);
void overflow(unsigned counter, u64 flags);

/* Switch the counter off, and clear its status bit. */
void overflow_off(unsigned counter);

/* After a window that may have frozen, or with LVTPC masked: IA32_DEBUGCTL = 0, the counters below
 * n off, the status clear. An interrupt that is still pending is taken here. Ends pmi_open(). */
void overflow_close_window(unsigned n);

/* The interrupts of one overflow; the log stays until the next pmi_open(). */
const struct pmi_log *overflow_interrupts(unsigned counter, u64 flags,
					  const struct pmi_options *options);

/* OvfBuf, where the status may have it set: with a DS area. Nothing says that it is there beside
 * architectural PEBS, which signals by bit 54 (Linux). */
u64 overflow_settable_buffer(const struct test *t);

/* Those of these bits that IA32_DEBUGCTL takes, each alone. It is 0 afterwards. */
u64 overflow_debugctl_takes(u64 bits);

#endif
