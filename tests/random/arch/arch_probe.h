/* SPDX-License-Identifier: MIT */
/* What is measured of architectural PEBS before cases are judged. */
#ifndef TESTS_RANDOM_ARCH_PROBE_H
#define TESTS_RANDOM_ARCH_PROBE_H

#include "tests/random/machine.h"

/* Events of the environment that PEBS is precise about: bit n of event n. */
u32 arch_precise(const struct draw_env *env);

/* Is a record of the first event after the overflow, of a counter without PDist? The machine has
 * begun. */
bool arch_probe(const struct draw_env *env, struct trace *trace, struct draw_observation *seen);

#endif
