/* SPDX-License-Identifier: MIT */
/* Makes a wrong case smaller: leaves out everything without which the case is still wrong.
 * Bounded. */
#ifndef TESTS_RANDOM_SHRINK_H
#define TESTS_RANDOM_SHRINK_H

#include "tests/random/oracle.h"

struct shrink_work {
	const struct draw_env *env;
	struct draw_case *c;		/* wrong; in the end, the smallest one that is */
	struct trace *trace;		/* these three are that one's then */
	struct draw_observation *seen;
	struct draw_verdict *verdict;
};

void shrink_case(const struct shrink_work *w, enum draw_claim claim);

#endif
