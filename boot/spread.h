/* SPDX-License-Identifier: MIT */
/* Which of a machine's processors are taken when there are more than can be: those that differ
 * most, or each in turn. Pure. */
#ifndef BOOT_SPREAD_H
#define BOOT_SPREAD_H

#include "spec/types.h"

#define SPREAD_MOST	16u	/* that can be taken at once */

/* Where a processor is, as the firmware says, and what kind of core (CPUID.1AH:EAX[31:24]; 0 where
 * there is one kind). */
struct spread_place {
	u32 package, core, thread, type;
};

/*
 * Choose up to `most` of `count` processors, most >= 1: the one at index `first`; then one of each
 * package and type that isn't there yet, a thread of the first one's core, one of each package,
 * type and position in a core, and the others, each time the one with the least index. Where all
 * fit they stay in their order after the first. chosen[] receives indices; returns how many.
 */
unsigned spread_choose(const struct spread_place *places, unsigned count, unsigned first,
		       unsigned most, unsigned *chosen);

/*
 * All of them, some at a time: the one at `first` is always there, batch 0 is spread_choose()'s,
 * each of the others has the next ones that weren't in any before. Returns how many are chosen, 0:
 * there is no such batch.
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
