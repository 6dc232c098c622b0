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

#endif
