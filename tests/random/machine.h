/* SPDX-License-Identifier: MIT */
/* Running a drawn case on the processor that calls, and what is known of that processor. */
#ifndef TESTS_RANDOM_MACHINE_H
#define TESTS_RANDOM_MACHINE_H

#include "tests/random/observation.h"
#include "tests/random/trace.h"

/* Memory, capabilities, and what opening and closing a window adds; the PMU as counter_reset()
 * leaves it. Once for each test; strict is test_is_strict(), bit n of errata says that
 * test_erratum() of enum erratum n holds. NULL: no memory. */
const struct draw_env *machine_begin(bool strict, u64 errata);
/* Leaves the PMU for others. */
void machine_end(void);

void machine_run(const struct draw_case *c, const struct trace *trace,
		 struct draw_observation *seen);

#endif
