/* SPDX-License-Identifier: MIT */
/* Drawing architectural PEBS: the buffer, the counters that record and their groups, and the
 * program's own writes and reads of these registers. Pure. */
#ifndef TESTS_RANDOM_DRAW_ARCH_H
#define TESTS_RANDOM_DRAW_ARCH_H

#include "tests/random/prng.h"
#include "tests/random/trace.h"

/* Add this to a case whose counters are drawn already. */
void draw_arch(const struct draw_env *env, struct prng *p, struct draw_case *c,
	       const struct trace *trace);
/* Operations of the program. */
struct draw_operation draw_arch_write(const struct draw_env *env, struct prng *p,
				      struct draw_case *c);
struct draw_operation draw_arch_read(const struct draw_env *env, struct prng *p,
				     const struct draw_case *c);

#endif
