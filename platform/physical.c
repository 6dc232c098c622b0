/* SPDX-License-Identifier: MIT */
/* See physical.h. */
#include "platform/physical.h"

static const void *mapped_at(void *ctx, u64 address, u64 bytes)
{
	u64 top = *(const u64 *)ctx;

	if (!address || address >= top || bytes > top - address)
		return NULL;
	return (const void *)(uintptr_t)address;
}

struct physical physical_mapped(const u64 *top)
{
	return (struct physical){ mapped_at, (void *)(uintptr_t)top };
}

u64 physical_number(const u8 *from, u64 offset, unsigned bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | from[offset + bytes];
	return value;
}

bool physical_copy(const struct physical *physical, u64 address, void *to, u64 bytes)
{
	const u8 *from = physical->at(physical->ctx, address, bytes);
	u8 *out = to;

	if (!from)
		return false;
	for (u64 i = 0; i < bytes; i++)
		out[i] = from[i];
	return true;
}
