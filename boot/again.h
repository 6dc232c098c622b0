/* SPDX-License-Identifier: MIT */
/*
 * A run after the first one begins with the program as it was when the firmware entered it: all
 * that it has written into its own data is undone. What is to be known from run to run is kept by
 * the caller, on the stack.
 */
#ifndef BOOT_AGAIN_H
#define BOOT_AGAIN_H

#include <efi.h>

#include "spec/types.h"

struct again {
	void *copy;		/* NULL: no memory */
};

/* First of all. */
struct again again_keep(EFI_BOOT_SERVICES *boot);
/* false: there is no copy. Nothing that points into the data may be in use: other processors are
 * back with the firmware, and its memory is given back. */
bool again_restore(const struct again *again);
void again_release(const struct again *again, EFI_BOOT_SERVICES *boot);

#endif
