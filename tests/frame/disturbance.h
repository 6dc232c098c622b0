/* SPDX-License-Identifier: MIT */
/*
 * Evidence that something else had the processor: SMIs, and time that a window took and shouldn't
 * have (a hypervisor's host), and registers that an SMI's handler has changed. A disturbed window
 * is repeated because of that evidence, never because its value was unwelcome; what recurs each
 * time is the machine's own pace. All of it is about the processor that calls.
 */
#ifndef TESTS_FRAME_DISTURBANCE_H
#define TESTS_FRAME_DISTURBANCE_H

#include "pmu/written.h"
#include "tests/measure/workload.h"

struct disturbance {
	u64 smis;	/* MSR_SMI_COUNT of this processor; 0 where it can't be read */
	unsigned gaps;	/* its windows that took too long, since the program began */
};

/* Is there a count of SMIs to go by? */
bool disturbance_sees_smis(void);

/* A window of a workload with counters on took that many ticks of the TSC: a gap, perhaps, where
 * there is a hypervisor or no count of SMIs. */
void disturbance_window(const struct workload *w, u64 n, u64 ticks);

/*
 * What one attempt left. gaps of the attempt before, or DISTURBANCE_FIRST: an attempt with
 * as many gaps as the one before it isn't disturbed, because a disturbance doesn't recur.
 */
#define DISTURBANCE_FIRST	(~0u)
struct attempt {
	struct disturbance begin;
	unsigned last_gaps;
	struct written_change changed;	/* name: of a register that an SMI has changed, or NULL */
};
void disturbance_begin(struct attempt *attempt); /* attempt->last_gaps is the caller's at first */
/* Before registers are written again: has an SMI changed one of them? */
void disturbance_look(struct attempt *attempt);
bool disturbance_found(struct attempt *attempt);
/* A disturbed attempt's results are thrown away, and it is made again: its disturbances are no
 * evidence against what it is part of. */
void disturbance_forgive(const struct attempt *attempt);

/* Attempts of tests that were repeated so far, on all processors, for the report. */
unsigned disturbance_repeats(void);
/* So many were before this boot, in the same run. */
void disturbance_restore(unsigned before);

#endif
