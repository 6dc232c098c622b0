/* SPDX-License-Identifier: MIT */
/* Runs a drawn case on the calling processor, and finds the facts of this processor. */
#ifndef TESTS_RANDOM_MACHINE_H
#define TESTS_RANDOM_MACHINE_H

#include "tests/random/observation.h"
#include "tests/random/trace.h"

/* Allocate memory, read capabilities, measure what opening and closing a window add, and reset the
 * PMU as counter_reset() does. Once for each test. strict is test_is_strict(); bit n of errata is
 * test_erratum() of enum erratum n. NULL: no memory. */
const struct draw_env *machine_begin(bool strict, u64 errata);
/* Restore the PMU for other tests. */
void machine_end(void);

void machine_run(const struct draw_case *c, const struct trace *trace,
		 struct draw_observation *seen);

#endif
