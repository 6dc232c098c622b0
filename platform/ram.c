/* SPDX-License-Identifier: MIT */
/* See ram.h. */
#include "platform/ram.h"

#define PAGE_MASK	((u64)RAM_PAGE - 1)
#define LAST_PAGE	(~PAGE_MASK)	/* nothing reaches to the end of 64 bits */

/* Past the last byte; no further than LAST_PAGE. */
static u64 end_of(u64 base, u64 size)
{
	return size > LAST_PAGE - base ? LAST_PAGE : base + size;
}

static void delete_range(struct ram *ram, unsigned at)
{
	ram->ranges--;
	for (unsigned i = at; i < ram->ranges; i++)
		ram->range[i] = ram->range[i + 1];
}

static bool insert_range(struct ram *ram, unsigned at, u64 base, u64 end)
{
	if (ram->ranges == RAM_RANGES)
		return false;
	for (unsigned i = ram->ranges++; i > at; i--)
		ram->range[i] = ram->range[i - 1];
	ram->range[at] = (struct ram_range){ base, end };
	return true;
}

bool ram_add(struct ram *ram, u64 base, u64 size)
{
	u64 end = base > LAST_PAGE ? 0 : end_of(base, size) & ~PAGE_MASK;
	unsigned at = 0;

	if (base > LAST_PAGE - PAGE_MASK)
		return true;
	base = (base + PAGE_MASK) & ~PAGE_MASK;
	if (base >= end)
		return true;
	while (at < ram->ranges && ram->range[at].end < base)
		at++;
	if (at == ram->ranges || ram->range[at].base > end)
		return insert_range(ram, at, base, end);
	if (base < ram->range[at].base)
		ram->range[at].base = base;
	if (end > ram->range[at].end)
		ram->range[at].end = end;
	/* It may now reach the next ones. */
	while (at + 1 < ram->ranges && ram->range[at + 1].base <= ram->range[at].end) {
		if (ram->range[at + 1].end > ram->range[at].end)
			ram->range[at].end = ram->range[at + 1].end;
		delete_range(ram, at + 1);
	}
	return true;
}

bool ram_remove(struct ram *ram, u64 base, u64 size)
{
	u64 end;

	if (!size || base > LAST_PAGE)
		return true;
	end = end_of(base, size);
	end = end > LAST_PAGE - PAGE_MASK ? LAST_PAGE : (end + PAGE_MASK) & ~PAGE_MASK;
	base &= ~PAGE_MASK;
	for (unsigned i = 0; i < ram->ranges;) {
		struct ram_range *range = &ram->range[i];

		if (range->base < base && range->end > end) {
			if (!insert_range(ram, i + 1, end, range->end))
				return false;
			range->end = base;
		} else if (range->base < base && range->end > base) {
			range->end = base;
		} else if (range->base >= base && range->end <= end) {
			delete_range(ram, i);
			continue;
		} else if (range->base >= base && range->base < end) {
			range->base = end;
		}
		i++;
	}
	return true;
}

u64 ram_take(struct ram *ram, u64 size, u64 align, u64 least, u64 below)
{
	size = (size + PAGE_MASK) & ~PAGE_MASK;
	if (align < RAM_PAGE)
		align = RAM_PAGE;
	for (unsigned i = ram->ranges; size && i-- > 0;) {
		u64 from = ram->range[i].base > least ? ram->range[i].base : least;
		u64 end = ram->range[i].end < below ? ram->range[i].end : below;
		u64 base;

		if (end < size)
			continue;
		base = (end - size) & ~(align - 1);
		/* 0 would say that there is none. */
		if (!base || base < from)
			continue;
		return ram_remove(ram, base, size) ? base : 0;
	}
	return 0;
}
