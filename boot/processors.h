/* SPDX-License-Identifier: MIT */
/*
 * The other processors, started through the firmware (firmware_processors.h). If the firmware knows
 * no other processors, only one is used.
 *
 * At the end a processor may still be in our memory: one that hasn't started yet may still start,
 * and one that was lost can't return. An INIT holds such a processor (processors_give()), but for
 * the firmware it is busy, and our memory mustn't be freed.
 */
#ifndef BOOT_PROCESSORS_H
#define BOOT_PROCESSORS_H

#include "kernel/output/tap.h"
#include "spec/types.h"

/* How many processors can be taken, including the caller's; at most `most`. The first batch has
 * processors that differ as much as possible, other batches have the remaining ones (spread.h). The
 * machine's processor number `wanted` is among them, if it exists. */
unsigned processors_find(unsigned most, unsigned batch, unsigned wanted);

/* How many batches of at most that many processors the whole machine needs; after
 * processors_find().
 */
unsigned processors_batches(unsigned most);

/* Start smp_serve() on each of them except the first; after machine_init(), while the firmware has
 * the machine. Processors that don't start within a few seconds are left out. */
void processors_take(void);

/* Sets of processors that have started, as bits: the first of each package, type of core and
 * position in a core; all; the one with that number in the machine, 0: it isn't there. */
u32 processors_first_of_kinds(void);
u32 processors_all(void);
u32 processors_one(unsigned number);

/* Write to the log how many there are, which were left out and why, and IA32_TSC_ADJUST of each. */
void processors_describe(struct tap *tap, unsigned batch, unsigned batches);

/* Let them return to the firmware, and wait for that, a few seconds at most. While the firmware has
 * the machine; may be called again. false: one didn't return; an INIT holds it. */
bool processors_give(void);

#endif
