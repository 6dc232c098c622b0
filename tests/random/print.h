/* SPDX-License-Identifier: MIT */
/* A case, and what is wrong with it, as comments in the log. */
#ifndef TESTS_RANDOM_PRINT_H
#define TESTS_RANDOM_PRINT_H

#include "tests/frame/test.h"
#include "tests/random/oracle.h"

/* As C for session_judge(). */
void print_case(struct test *t, const struct draw_case *c);
/* Its interrupts and records, where they were. */
void print_seen(struct test *t, const struct trace *trace, const struct draw_observation *seen);
void print_wrongs(struct test *t, const struct draw_verdict *v);

#endif
