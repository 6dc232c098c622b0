/* SPDX-License-Identifier: MIT */
/*
 * Executes code one instruction at a time with the trap flag, and counts its events: checks the
 * declared counts of workloads without a PMU.
 */
#ifndef TESTS_MEASURE_STEP_H
#define TESTS_MEASURE_STEP_H

#include "tests/measure/workload.h"

struct step_counts {
	u64 count[WORKLOAD_COUNTS];
	u64 unknown;		/* address of an instruction that isn't known; 0: none */
	u64 steps;		/* all #DBs, those outside the piece too */
};

/* Single-step the piece, without the PMU, and count between its begin and end. Uses #DB's vector
 * meanwhile. CPL 0; interrupts may be on. */
struct step_counts step_workload(const struct workload *w, u64 n);

/* The targets of a piece's branches, and how often each was taken. */
#define STEP_BRANCHES 64
struct step_branches {
	unsigned count;
	struct {
		u64 from, to, times;
	} branch[STEP_BRANCHES];
};
void step_branches(const struct workload *w, u64 n, struct step_branches *branches);
/* Is there one at that address; how often has it gone there? */
bool step_is_branch(const struct step_branches *branches, u64 from);
u64 step_times(const struct step_branches *branches, u64 from, u64 to);

#endif
