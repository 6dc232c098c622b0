/* SPDX-License-Identifier: MIT */
/* Finds the exerciser of docs/EXERCISER.md. Call it while the firmware has the machine. */
#ifndef BOOT_EXERCISER_H
#define BOOT_EXERCISER_H

#include "kernel/machine/machine.h"

/* Physical address of its register page, 0: none. Writes to setup what must be mapped for it. */
u64 exerciser_find(struct machine_setup *setup);

#endif
