/* SPDX-License-Identifier: MIT */
/* Where docs/EXERCISER.md's exerciser is. Called with the machine given back. */
#ifndef BOOT_EXERCISER_H
#define BOOT_EXERCISER_H

#include "kernel/machine/machine.h"

/* Physical address of its register page, 0: none; what there is of it that has to be mapped goes
 * into setup. */
u64 exerciser_find(struct machine_setup *setup);

#endif
