/* SPDX-License-Identifier: MIT */
/*
 * The other processors, by the firmware (firmware_processors.h). One that knows none has one
 * processor for us.
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
 * as much as they can, or those of another batch (spread.h). The machine's processor of number
 * `wanted` is among them, if there is one. */
unsigned processors_find(unsigned most, unsigned batch, unsigned wanted);

/* In how many batches the whole machine is taken with that many at most; after processors_find().
 */
unsigned processors_batches(unsigned most);

/* Have each of them but the first come to smp_serve(); after machine_init(), with the machine given
 * back. Those that don't come within a few seconds are left out. */
void processors_take(void);

/* Those that came as bits: the first of each package, type of core and position in a core; all;
 * and the one of that number in the machine, 0: it isn't there. */
u32 processors_first_of_kinds(void);
u32 processors_all(void);
u32 processors_one(unsigned number);

/* Say how many there are, which were left out and why, and IA32_TSC_ADJUST of each that came. */
void processors_describe(struct tap *tap, unsigned batch, unsigned batches);

/* Let them go, and wait until the firmware has them all back, for a few seconds at most. With the
 * machine given back; once or again. false: one didn't return; it is held by an INIT. */
bool processors_give(void);

#endif
