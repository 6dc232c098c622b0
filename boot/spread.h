/* SPDX-License-Identifier: MIT */
/* Chooses processors if the machine has more than can be taken at once: those that differ most, or
 * all of them in batches. Pure. */
#ifndef BOOT_SPREAD_H
#define BOOT_SPREAD_H

#include "spec/types.h"

#define SPREAD_MOST	16u	/* at most, taken at once */

/* The place of a processor, as the firmware says, and its type of core with the native model
 * (CPUID.1AH:EAX; 0 if there is only one type). */
struct spread_place {
	u32 package, core, thread, type;
};

/*
 * Choose up to `most` of `count` processors, most >= 1: the one at index `first`; then one of each
 * package and type that isn't there yet, a thread of the first one's core, one of each package,
 * type and position in a core, and the others, each time the one with the lowest index. If all fit,
 * they stay in their order after the first. chosen[] receives indices; returns their number.
 */
unsigned spread_choose(const struct spread_place *places, unsigned count, unsigned first,
		       unsigned most, unsigned *chosen);

/*
 * All processors in batches. Each batch has the processor at `first`. Batch 0 is that of
 * spread_choose(); each further batch has the next processors that weren't in an earlier batch.
 * Returns how many are chosen, 0: there is no such batch.
 */
unsigned spread_batch(const struct spread_place *places, unsigned count, unsigned first,
		      unsigned most, unsigned batch, unsigned *chosen);
unsigned spread_batches(unsigned count, unsigned most);

/* The machine's number for the processor at index: 0 for the first one, the others in their order
 * from 1 on. And back. */
unsigned spread_number(unsigned index, unsigned first);
unsigned spread_index(unsigned number, unsigned first);

/* Is places[n] the first of its package, its type and its position in a core (its thread) among
 * those up to it? */
bool spread_is_first_of_kind(const struct spread_place *places, unsigned n);

#endif
