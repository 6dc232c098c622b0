/* SPDX-License-Identifier: MIT */
/*
 * Functions that the compiler requires. Under QEMU's TCG each iteration of a string instruction
 * takes extra time, so short copies are made by words. The compiler mustn't recognise such a loop,
 * because it would turn it into a call of the same function.
 */
#include "spec/types.h"

#define BLOCK	(4 * sizeof(u64))
#define SHORT	256			/* bytes */

/* A u64 at any address, aliasing any type. */
typedef u64 __attribute__((may_alias, aligned(1))) any_u64;
typedef u8 __attribute__((may_alias)) any_u8;

void *memset(void *to, int value, size_t bytes);
void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

void *memset(void *to, int value, size_t bytes)
{
	u64 word = (u8)value * 0x0101010101010101ULL, words = bytes / 8, rest = bytes % 8;
	void *p = to;

	__asm__ volatile("rep stosq" : "+D"(p), "+c"(words) : "a"(word) : "memory");
	__asm__ volatile("rep stosb" : "+D"(p), "+c"(rest) : "a"(word) : "memory");
	return to;
}

static void copy_block(any_u64 *to, const any_u64 *from)
{
	u64 a = from[0], b = from[1], c = from[2], d = from[3];

	to[0] = a;
	to[1] = b;
	to[2] = c;
	to[3] = d;
}

static void copy_words(u8 *to, const u8 *from, size_t bytes)
{
	for (; bytes >= BLOCK; bytes -= BLOCK, to += BLOCK, from += BLOCK) {
		copy_block((any_u64 *)to, (const any_u64 *)from);
		__asm__ volatile("");
	}
	for (; bytes >= sizeof(u64); bytes -= sizeof(u64)) {
		*(any_u64 *)to = *(const any_u64 *)from;
		to += sizeof(u64);
		from += sizeof(u64);
		__asm__ volatile("");
	}
	for (; bytes; bytes--) {
		*(any_u8 *)to++ = *(const any_u8 *)from++;
		__asm__ volatile("");
	}
}

static void copy_string(u8 *to, const u8 *from, size_t bytes)
{
	u64 words = bytes / 8, rest = bytes % 8;

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words)::"memory");
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(rest)::"memory");
}

void *memcpy(void *to, const void *from, size_t bytes)
{
	if (bytes <= SHORT)
		copy_words(to, from, bytes);
	else
		copy_string(to, from, bytes);
	return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
	u8 *last_to = (u8 *)to + bytes - 1;
	const u8 *last_from = (const u8 *)from + bytes - 1;

	if ((u64)to - (u64)from >= bytes)
		return memcpy(to, from, bytes);
	__asm__ volatile("std; rep movsb; cld"
			 : "+D"(last_to), "+S"(last_from), "+c"(bytes)::"memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const u8 *p = a, *q = b;
	size_t i = 0;

	while (i + sizeof(u64) <= bytes && *(const any_u64 *)(p + i) == *(const any_u64 *)(q + i))
		i += sizeof(u64);
	for (; i < bytes; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}
