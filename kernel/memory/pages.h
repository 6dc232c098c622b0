/* SPDX-License-Identifier: MIT */
/*
 * Memory that is mapped in special ways, for code whose accesses must hit or miss caches and TLBs:
 * in 4 KiB pages, more than a first-level data TLB has entries; a second time above 4 GiB; on both
 * sides of a multiple of 4 GiB; at an address that isn't the physical one; uncacheable; and the
 * registers of a device. Any processor.
 */
#ifndef KERNEL_PAGES_H
#define KERNEL_PAGES_H

#include "spec/types.h"

#define PAGES_SMALL	256u	/* a power of two */
#define PAGES_HIGH	2u
/* Above all memory that is identity mapped. */
#define PAGES_HIGH_LINEAR 0x00007abcd0000000ULL
/* A multiple of 4 GiB above that; page PAGES_CARRY - 2 is the last page below it. */
#define PAGES_CARRY	3u
#define PAGES_CARRY_LINEAR 0x00007abd00000000ULL

struct pages {
	u8 *small;		/* PAGES_SMALL pages of 4 KiB */
	u8 *high;		/* the first PAGES_HIGH of them, at PAGES_HIGH_LINEAR */
	u8 *carry;		/* the first PAGES_CARRY, the last one at PAGES_CARRY_LINEAR */
	u8 *uncacheable;	/* one page */
	u8 *moved;  /* one page, whose linear address is the physical one of another page */
	u8 *moved_frame;	/* that other page: its physical address is the value of `moved` */
	u8 *device;		/* registers that may be read, 8 bytes; NULL: there are none */
};

/* Bytes of arena that it takes, page tables included. */
u64 pages_need(void);
/* Before the borrow. hpet_base: physical, 0: none. false: the arena is too small. */
bool pages_init(u64 hpet_base);
const struct pages *pages_get(void);

#endif
