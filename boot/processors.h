/* SPDX-License-Identifier: MIT */
/*
 * The other processors, by the firmware's MP services ("EFI_MP_SERVICES_PROTOCOL", UEFI Platform
 * Initialization Specification). A firmware without them has one processor for us.
 *
 * What runs in our memory isn't always back at the end: a processor that never came may still come,
 * and one that got lost can't return. An INIT holds those (processors_give()), but the firmware
 * counts them as busy, and the memory must stay.
 */
#ifndef BOOT_PROCESSORS_H
#define BOOT_PROCESSORS_H

#include "kernel/output/tap.h"
#include "spec/types.h"

/* How many processors can be taken, the one that runs this included; at most `most`, which differ
 * as much as they can (spread.h). */
unsigned processors_find(unsigned most);

/* Take no more than that of them: there isn't memory for more. */
void processors_limit(unsigned most);

/* Have each of them but the first come to smp_serve(); after machine_init(), with the machine given
 * back. Those that don't come within a few seconds are left out. */
void processors_take(void);

/* Say how many there are, which were left out and why, and IA32_TSC_ADJUST of each that came. */
void processors_describe(struct tap *tap);

/* Let them go, and wait until the firmware has them all back, for a few seconds at most. With the
 * machine given back; once or again. false: one didn't return; it is held by an INIT. */
bool processors_give(void);

#endif
