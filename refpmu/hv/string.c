/* SPDX-License-Identifier: MIT */
/* The functions that the compiler expects to exist. String instructions, because a loop would be
 * turned into a call of the function itself. */
#include "spec/types.h"

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

void *memcpy(void *to, const void *from, size_t bytes)
{
	u64 words = bytes / 8, rest = bytes % 8;
	void *p = to;

	__asm__ volatile("rep movsq" : "+D"(p), "+S"(from), "+c"(words)::"memory");
	__asm__ volatile("rep movsb" : "+D"(p), "+S"(from), "+c"(rest)::"memory");
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

	for (size_t i = 0; i < bytes; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}
