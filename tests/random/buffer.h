/* SPDX-License-Identifier: MIT */
/* The DS area and the PEBS buffer of a drawn case: at any place in their memory, and at any place
 * above 4 GiB. For the calling processor. */
#ifndef TESTS_RANDOM_BUFFER_H
#define TESTS_RANDOM_BUFFER_H

#include "tests/random/observation.h"

#define BUFFER_AREA_BYTES	8192	/* memory that draw_ds.area lies in */
#define BUFFER_BYTES		16384	/* ... and draw_ds.base */
#define BUFFER_GUARD		256	/* looked at before and after the buffer */

bool buffer_take_memory(void);
/* Fill the buffer and describe it in the DS area. Returns the value for IA32_DS_AREA. */
u64 buffer_open(const struct draw_env *env, const struct draw_ds *ds);
void buffer_look(const struct draw_env *env, const struct draw_case *c,
		 struct draw_observation *seen);
#endif
