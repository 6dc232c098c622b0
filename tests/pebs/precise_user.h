/* SPDX-License-Identifier: MIT */
/* Overflows on known branches at CPL 3. */
#ifndef TESTS_PEBS_PRECISE_USER_H
#define TESTS_PEBS_PRECISE_USER_H

#include "pmu/counter.h"
#include "tests/frame/test.h"
#include "tests/measure/workload.h"

#define PRECISE_USER_BRANCHES	320u	/* more than PDIST_LEAST_PERIOD */

/* Run the piece at CPL 3, after so many branches there, while these counters are enabled. The piece
 * reads IA32_PMC1 by RDPMC. */
void precise_user_run(const struct workload *w, u64 branches, struct pmc_mask on);

/* *before: the branches at CPL 3 before the first marked one of workload_precise_jumps, after
 * PRECISE_USER_BRANCHES others. false: two counts differ, or are below `least`, and the test is
 * INCONCLUSIVE. */
bool precise_user_counted(struct test *t, u64 least, u64 *before);

#endif
