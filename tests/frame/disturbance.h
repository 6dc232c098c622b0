/* SPDX-License-Identifier: MIT */
/*
 * Evidence that something else used the processor: SMIs, windows that took too long (because of a
 * hypervisor's host), and registers that an SMI's handler has changed. A disturbed window is
 * repeated because of this evidence, never because of its value (but see window_count_equal()). A
 * delay that recurs each time is the machine's normal speed and no disturbance. All functions act
 * on the calling processor.
 */
#ifndef TESTS_FRAME_DISTURBANCE_H
#define TESTS_FRAME_DISTURBANCE_H

#include "pmu/written.h"
#include "tests/measure/workload.h"

struct disturbance {
	u64 smis;	/* MSR_SMI_COUNT of this processor; 0 where it can't be read */
	unsigned gaps;	/* its windows that took too long, since the program began */
};

/* Can SMIs be counted? */
bool disturbance_sees_smis(void);

/* Report that a window of a workload with counters on took that many ticks of the TSC. It may count
 * as a gap under a hypervisor, or if SMIs can't be counted. */
void disturbance_window(const struct workload *w, u64 n, u64 ticks);

/*
 * The evidence of one attempt. last_gaps: the gaps of the previous attempt, or DISTURBANCE_FIRST.
 * An attempt with as many gaps as the previous one isn't disturbed, because a disturbance doesn't
 * recur.
 */
#define DISTURBANCE_FIRST	(~0u)
struct attempt {
	struct disturbance begin;
	unsigned last_gaps;
	struct written_change changed;	/* name: a register that an SMI has changed, or NULL */
};
void disturbance_begin(struct attempt *attempt); /* the caller sets attempt->last_gaps first */
/* Before registers are written again: has an SMI changed one of them? */
void disturbance_look(struct attempt *attempt);
bool disturbance_found(struct attempt *attempt);
/* A disturbed attempt's results are dropped, and it is repeated: don't count its disturbances for
 * the attempt that contains it. */
void disturbance_forgive(const struct attempt *attempt);

/* Attempts of tests that were repeated so far, on all processors, for the report. */
unsigned disturbance_repeats(void);
/* Add the number of repeats before this boot, in the same run. */
void disturbance_restore(unsigned before);

#endif
