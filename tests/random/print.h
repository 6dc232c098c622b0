/* SPDX-License-Identifier: MIT */
/* Prints a case, and its wrong results, as comments in the log. */
#ifndef TESTS_RANDOM_PRINT_H
#define TESTS_RANDOM_PRINT_H

#include "tests/frame/test.h"
#include "tests/random/oracle.h"

/* Print a case as C code for session_judge(). */
void print_case(struct test *t, const struct draw_case *c);
/* Print its interrupts and records, with their places. */
void print_seen(struct test *t, const struct trace *trace, const struct draw_observation *seen);
void print_wrongs(struct test *t, const struct draw_verdict *v);

#endif
