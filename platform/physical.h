/* SPDX-License-Identifier: MIT */
/* Physical memory as readers of what firmware and loaders leave in it see it. */
#ifndef PLATFORM_PHYSICAL_H
#define PLATFORM_PHYSICAL_H

#include "spec/types.h"

struct physical {
	/* That many bytes from that address on; NULL: they can't be read. */
	const void *(*at)(void *ctx, u64 address, u64 bytes);
	void *ctx;
};

/* The memory itself, mapped to its own addresses below `top`, but for the first byte. */
struct physical physical_mapped(const u64 *top);

/* A copy of it; false: it can't be read. */
bool physical_copy(const struct physical *physical, u64 address, void *to, u64 bytes);
/* A number of that many bytes at offset, which need not be aligned. */
u64 physical_number(const u8 *from, u64 offset, unsigned bytes);

#endif
