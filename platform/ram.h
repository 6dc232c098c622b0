/* SPDX-License-Identifier: MIT */
/* Free memory as a sorted list of ranges that don't touch each other. Pure. */
#ifndef PLATFORM_RAM_H
#define PLATFORM_RAM_H

#include "spec/types.h"

#define RAM_RANGES	192u
#define RAM_PAGE	4096u

struct ram {
	unsigned ranges;
	struct ram_range {
		u64 base, end;
	} range[RAM_RANGES];
};

/* Both round to whole pages: ram_add() to a smaller range, ram_remove() to a larger one. false: the
 * list is full and hasn't changed. */
bool ram_add(struct ram *ram, u64 base, u64 size);
bool ram_remove(struct ram *ram, u64 base, u64 size);

/* Remove and return the highest range of that size between least and below, in whole pages, at a
 * multiple of align, which is a power of two. 0: there is none. */
u64 ram_take(struct ram *ram, u64 size, u64 align, u64 least, u64 below);

#endif
