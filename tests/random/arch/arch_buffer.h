/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS of a drawn case on the processor that calls: its registers, and a buffer in
 * physical memory, which is mapped to itself. All bytes of that memory hold a pattern that is no
 * header, so that what was written can be told.
 */
#ifndef TESTS_RANDOM_ARCH_BUFFER_H
#define TESTS_RANDOM_ARCH_BUFFER_H

#include "tests/random/observation.h"
#include "tests/random/trace.h"

/* true where there is no architectural PEBS, too. */
bool arch_buffer_take_memory(void);
/* What drawing and the oracle go by; all registers 0. */
void arch_buffer_learn(struct draw_arch_env *env);

/* Registers as the case has them. Counters are off. */
void arch_buffer_open(const struct draw_env *env, const struct draw_case *c);
/* What there is of records. No counter records any more. */
void arch_buffer_look(const struct draw_env *env, const struct draw_case *c,
		      const struct trace *trace, struct draw_observation *seen);
/* All registers 0. */
void arch_buffer_close(const struct draw_env *env);

#endif
