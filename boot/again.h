/* SPDX-License-Identifier: MIT */
/*
 * Each run begins with the program's data as they were before the first run: all writes to its own
 * data are undone. The caller keeps on its stack what must survive from run to run.
 */
#ifndef BOOT_AGAIN_H
#define BOOT_AGAIN_H

#include "spec/types.h"

struct again {
	void *copy;		/* NULL: no memory */
};

/* Before the first run, once the firmware can be called. */
struct again again_keep(void);
/* false: there is no copy. No pointer into the data may be in use: the other processors are back
 * with the firmware, and the memory that the firmware gave is given back. */
bool again_restore(const struct again *again);
void again_release(const struct again *again);

#endif
