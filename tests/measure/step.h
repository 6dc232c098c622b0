/* SPDX-License-Identifier: MIT */
/*
 * Executing code one instruction at a time with the trap flag, and counting what it does: an
 * oracle for workload counts that needs no PMU.
 */
#ifndef TESTS_MEASURE_STEP_H
#define TESTS_MEASURE_STEP_H

#include "tests/measure/workload.h"

struct step_counts {
	u64 count[WORKLOAD_COUNTS];
	u64 unknown;		/* address of an instruction that isn't known; 0: none */
	u64 steps;		/* all #DBs, those outside the piece too */
};

/* Run the piece without the PMU, stepping, and count between its begin and end. Takes #DB's
 * vector for the time. CPL 0; interrupts may be on. */
struct step_counts step_workload(const struct workload *w, u64 n);

/* Where the branches of a piece have gone, and how often. */
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
