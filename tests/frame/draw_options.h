/* SPDX-License-Identifier: MIT */
/* Options of drawn tests, their duration and seed: the keys draw, seed and draw_case of
 * boot/pmutest86.cfg. */
#ifndef TESTS_FRAME_DRAW_OPTIONS_H
#define TESTS_FRAME_DRAW_OPTIONS_H

#include "spec/types.h"

struct draw_options {
	u64 seed;
	u32 cases;		/* of each test; 0: by time */
	u32 ms;			/* of each test */
	u64 only;		/* the number of the only case, plus 1; 0: no such */
};

const struct draw_options *draw_options(void);
/* tests: the number of tests that share the time options->ms. */
void draw_options_set(const struct draw_options *options, unsigned tests);

#endif
