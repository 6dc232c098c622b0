/* SPDX-License-Identifier: MIT */
/*
 * The functions of a C library that Zydis needs when it is built for the reference PMU: included
 * before each of its sources. Zydis clears and copies about a kilobyte for each instruction
 * decoded; eight bytes at a time make it five times faster under QEMU's TCG than bytewise
 * functions.
 */
#ifndef REFPMU_ENGINE_ZYDIS_LIBC_H
#define REFPMU_ENGINE_ZYDIS_LIBC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define ZYAN_CUSTOM_LIBC

/* Unaligned and aliasing access, eight bytes wide; volatile so that no call to memset is made. */
typedef uint64_t __attribute__((may_alias, aligned(1))) zydis_word;

static inline void *zydis_memset(void *to, int value, size_t size)
{
	unsigned char *p = to;
	uint64_t word = (unsigned char)value * 0x0101010101010101ull;

	for (; size >= 8; size -= 8, p += 8)
		*(volatile zydis_word *)p = word;
	for (; size; size--)
		*(volatile unsigned char *)p++ = (unsigned char)value;
	return to;
}

static inline void *zydis_memcpy(void *to, const void *from, size_t size)
{
	unsigned char *p = to;
	const unsigned char *q = from;

	for (; size >= 8; size -= 8, p += 8, q += 8)
		*(volatile zydis_word *)p = *(const zydis_word *)q;
	for (; size; size--)
		*(volatile unsigned char *)p++ = *q++;
	return to;
}

#define ZYAN_MEMSET(to, value, size)	zydis_memset((to), (value), (size))
#define ZYAN_MEMCPY(to, from, size)	zydis_memcpy((to), (from), (size))

#endif
