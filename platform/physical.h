/* SPDX-License-Identifier: MIT */
/* Access to physical memory, for the readers of data that firmware and loaders leave there. */
#ifndef PLATFORM_PHYSICAL_H
#define PLATFORM_PHYSICAL_H

#include "spec/types.h"

struct physical {
	/* A pointer to that many bytes at that address; NULL: they can't be read. */
	const void *(*at)(void *ctx, u64 address, u64 bytes);
	void *ctx;
};

/* Identity-mapped memory below `top`, except the byte at address 0. */
struct physical physical_mapped(const u64 *top);

/* A copy of it; false: it can't be read. */
bool physical_copy(const struct physical *physical, u64 address, void *to, u64 bytes);
/* A number of that many bytes at offset, which need not be aligned. */
u64 physical_number(const u8 *from, u64 offset, unsigned bytes);

#endif
