/* SPDX-License-Identifier: MIT */
/* One overflow of one counter, with its interrupts: what the tests of interrupts share. */
#ifndef TESTS_OVERFLOW_H
#define TESTS_OVERFLOW_H

#include "pmu/pmi.h"
#include "tests/window.h"

/* CondChgd and Ovf_Uncore aren't ours to expect, in either state. */
#define STATUS_LOOKED_AT (~(IA32_PERF_GLOBAL_STATUS_COND_CHGD | \
			    IA32_PERF_GLOBAL_STATUS_OVF_UNCORE))

/* Instructions, branches and cycles of the sled are all above this. */
#define FIXED_PERIOD	32

/* IA32_PERF_GLOBAL_STATUS, of what is looked at. */
u64 overflow_status(void);

/* General-purpose counters count branches and wrap on the last one before the sled, fixed ones some
 * time before its end. flags beside both privilege levels. */
void overflow_prepare(unsigned counter, u64 flags);

/* The same, and the window. */
void overflow_in(const struct workload *w, unsigned counter, u64 flags);
void overflow(unsigned counter, u64 flags);

/* The counter off, its status bit cleared. */
void overflow_off(unsigned counter);

/* The interrupts of one overflow; the log stays until the next pmi_open(). */
const struct pmi_log *overflow_interrupts(unsigned counter, u64 flags,
					  const struct pmi_options *options);

#endif
