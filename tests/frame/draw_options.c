/* SPDX-License-Identifier: MIT */
/* See draw_options.h. */
#include "tests/frame/draw_options.h"

static struct draw_options options;

const struct draw_options *draw_options(void)
{
	return &options;
}

void draw_options_set(const struct draw_options *wanted, unsigned tests)
{
	options = *wanted;
	if (tests)
		options.ms = wanted->ms / tests;
	if (wanted->ms && !options.ms)
		options.ms = 1;
}
