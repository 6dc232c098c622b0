/* SPDX-License-Identifier: MIT */
/*
 * A run after the first one begins with the program as it was before the first: all that it has
 * written into its own data is undone. What is to be known from run to run is kept by
 * the caller, on the stack.
 */
#ifndef BOOT_AGAIN_H
#define BOOT_AGAIN_H

#include "spec/types.h"

struct again {
	void *copy;		/* NULL: no memory */
};

/* Before the first run, once the firmware can be called. */
struct again again_keep(void);
/* false: there is no copy. Nothing that points into the data may be in use: other processors are
 * back with the firmware, and its memory is given back. */
bool again_restore(const struct again *again);
void again_release(const struct again *again);

#endif
