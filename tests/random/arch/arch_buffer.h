/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS of a drawn case on the calling processor: its registers, and a buffer in
 * physical memory, which is identity mapped. The memory is filled with a pattern that isn't a
 * header, so that written bytes can be recognised.
 */
#ifndef TESTS_RANDOM_ARCH_BUFFER_H
#define TESTS_RANDOM_ARCH_BUFFER_H

#include "tests/random/observation.h"
#include "tests/random/trace.h"

/* Also true without architectural PEBS. */
bool arch_buffer_take_memory(void);
/* Read the facts that drawing and the oracle use, and set all registers to 0. */
void arch_buffer_learn(struct draw_arch_env *env);

/* Set the registers as in the case. Counters must be off. */
void arch_buffer_open(const struct draw_env *env, const struct draw_case *c);
/* Read the records. Counters must not write records any more. */
void arch_buffer_look(const struct draw_env *env, const struct draw_case *c,
		      const struct trace *trace, struct draw_observation *seen);
/* All registers 0. */
void arch_buffer_close(const struct draw_env *env);

#endif
