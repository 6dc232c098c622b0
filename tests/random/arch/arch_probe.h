/* SPDX-License-Identifier: MIT */
/* Measurements of architectural PEBS before cases are judged. */
#ifndef TESTS_RANDOM_ARCH_PROBE_H
#define TESTS_RANDOM_ARCH_PROBE_H

#include "tests/random/machine.h"

/* Events of the environment that are precise with PEBS: bit n is event n. */
u32 arch_precise(const struct draw_env *env);

/* Does a counter without PDist record the first event after the overflow? After machine_begin(). */
bool arch_probe(const struct draw_env *env, struct trace *trace, struct draw_observation *seen);

#endif
