/* SPDX-License-Identifier: MIT */
/* Draws a case from its number. The case is the same in every run on processors with the same
 * facts. Pure. */
#ifndef TESTS_RANDOM_DRAW_H
#define TESTS_RANDOM_DRAW_H

#include "tests/random/case.h"
#include "tests/random/trace.h"

/* trace is that of the program that was drawn. */
void draw_make(const struct draw_env *env, enum draw_class class, u64 seed, u64 number,
	       struct draw_case *c, struct trace *trace);

#endif
