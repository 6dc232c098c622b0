/* SPDX-License-Identifier: MIT */
/* Which of a machine's processors are taken when there are more than can be: those that differ
 * most. Pure. */
#ifndef BOOT_SPREAD_H
#define BOOT_SPREAD_H

#include "spec/types.h"

/* Where a processor is, as the firmware says, and what kind of core (CPUID.1AH:EAX[31:24]; 0 where
 * there is one kind). */
struct spread_place {
	u32 package, core, thread, type;
};

/*
 * Choose up to `most` of `count` processors, most >= 1: the one at index `first`; then one of each
 * package and type that isn't there yet, a thread of the first one's core, and the others, each
 * time the one with the least index. Where all fit they stay in their order after the first.
 * chosen[] receives indices; returns how many.
 */
unsigned spread_choose(const struct spread_place *places, unsigned count, unsigned first,
		       unsigned most, unsigned *chosen);

#endif
