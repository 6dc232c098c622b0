/* SPDX-License-Identifier: MIT */
/* Drawing last branch records, and the program's writes and reads of them. Pure. */
#ifndef TESTS_RANDOM_DRAW_BRANCHES_H
#define TESTS_RANDOM_DRAW_BRANCHES_H

#include "tests/random/prng.h"
#include "tests/random/trace.h"

/* Slots of the writes that start and end recording; those before them are drawn. */
#define DRAW_SLOT_BEGIN	(DRAW_OPERATIONS - 2)
#define DRAW_SLOT_END	(DRAW_OPERATIONS - 1)

/* Into a case whose program is drawn. */
void draw_branches(const struct draw_env *env, struct prng *p, struct draw_case *c,
		   const struct trace *trace);

/* A piece that has branches: its number. */
unsigned draw_branching_piece(struct prng *p);

#endif
