/* SPDX-License-Identifier: MIT */
/* What was seen of a drawn case that ran. Pure. */
#ifndef TESTS_RANDOM_OBSERVATION_H
#define TESTS_RANDOM_OBSERVATION_H

#include "tests/random/case.h"

struct draw_observation {
	u64 value[DRAW_COUNTERS];	/* of each counter, at the end */
	u64 status;			/* IA32_PERF_GLOBAL_STATUS */
	struct draw_result result[DRAW_OPERATIONS];
};

#endif
