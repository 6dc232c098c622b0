/* SPDX-License-Identifier: MIT */
/* Drawing what interrupts, freezes and records. Pure. */
#ifndef TESTS_RANDOM_DRAW_SAMPLING_H
#define TESTS_RANDOM_DRAW_SAMPLING_H

#include "tests/random/prng.h"
#include "tests/random/trace.h"

/* Into a case whose counters are drawn. */
void draw_sampling(const struct draw_env *env, struct prng *p, struct draw_case *c,
		   const struct trace *trace);

/* How often the event of a select happens in the program at the levels that it names, at most. */
u64 draw_sampling_events(const struct draw_env *env, const struct draw_case *c,
			 const struct trace *trace, u64 select);

#endif
