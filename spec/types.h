/* SPDX-License-Identifier: MIT */
/*
 * The integer names that every part of the project uses. Sizes in registers and records matter
 * here, so they are in the names; counts are `unsigned`, masks are u64 or struct pmc_mask.
 */
#ifndef SPEC_TYPES_H
#define SPEC_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define BIT(n)		(1ULL << (n))
/* Bits lo..hi, both included, 0 <= lo <= hi <= 63. */
#define BITS(lo, hi)	((~0ULL >> (63 - (hi))) & (~0ULL << (lo)))

/* The number of bits that are 1. */
static inline unsigned bits_set(u64 set)
{
	unsigned n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

/* Canonical with four levels of page tables: bits 63:47 are all the same. SDM volume 1,
 * "Canonical Addressing". */
static inline bool address_is_canonical(u64 linear)
{
	u64 top = linear >> 47;

	return top == 0 || top == BITS(0, 16);
}

#endif
