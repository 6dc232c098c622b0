/* SPDX-License-Identifier: MIT */
/* Drawing adaptive records, where baseline is 1: the counters that make them, and their groups.
 * Pure. */
#ifndef TESTS_RANDOM_DRAW_ADAPTIVE_H
#define TESTS_RANDOM_DRAW_ADAPTIVE_H

#include "tests/random/prng.h"
#include "tests/random/trace.h"

/* Add this to a case whose counters are drawn already. */
void draw_adaptive(const struct draw_env *env, struct prng *p, struct draw_case *c,
		   const struct trace *trace);

#endif
