/* SPDX-License-Identifier: MIT */
/*
 * Memory that is mapped in other ways than the rest, for programs that look at what their accesses
 * meet: by 4 KiB pages, more than a first-level TLB for data has entries; once more at an address
 * above 4 GiB, and on both sides of a multiple of it; uncacheable; and the registers of a device.
 * Any processor.
 */
#ifndef KERNEL_PAGES_H
#define KERNEL_PAGES_H

#include "spec/types.h"

#define PAGES_SMALL	256u	/* a power of two */
#define PAGES_HIGH	2u
/* Above all memory that is mapped to itself. */
#define PAGES_HIGH_LINEAR 0x00007abcd0000000ULL
/* A multiple of 4 GiB above it: the last page before it is page PAGES_CARRY - 2. */
#define PAGES_CARRY	3u
#define PAGES_CARRY_LINEAR 0x00007abd00000000ULL

struct pages {
	u8 *small;		/* PAGES_SMALL pages of 4 KiB */
	u8 *high;		/* the first PAGES_HIGH of them, at PAGES_HIGH_LINEAR */
	u8 *carry;		/* the first PAGES_CARRY, the last one at PAGES_CARRY_LINEAR */
	u8 *uncacheable;	/* one page */
	u8 *device;		/* registers that may be read, 8 bytes; NULL: there are none */
};

/* Bytes of arena that it takes, page tables included. */
u64 pages_need(void);
/* Before the borrow. hpet_base: physical, 0: none. false: the arena is too small. */
bool pages_init(u64 hpet_base);
const struct pages *pages_get(void);

#endif
