/* SPDX-License-Identifier: MIT */
/*
 * The other processors, by the firmware's MP services ("EFI_MP_SERVICES_PROTOCOL", UEFI Platform
 * Initialization Specification). A firmware without them has one processor for us.
 */
#ifndef BOOT_PROCESSORS_H
#define BOOT_PROCESSORS_H

#include "spec/types.h"

/* How many enabled processors there are, the one that runs this included; at most `most`. */
unsigned processors_find(unsigned most);

/* Have each of them but the first come to smp_serve(); after machine_init(), with the machine given
 * back. Returns how many didn't come. */
unsigned processors_take(void);

/* Let them go, and wait until the firmware has them all back, for a few seconds at most. With the
 * machine given back. false: one didn't return. */
bool processors_give(void);

#endif
