/* SPDX-License-Identifier: MIT */
/*
 * Memory and strings. Copies use REP MOVSQ, and REP MOVSB for the rest. This is short, and the
 * compiler can't turn it into a call of the same function. Under an emulator that steps or
 * translates, each iteration takes time.
 */
#include "kernel/memory/string.h"

void *memcpy(void *to, const void *from, size_t bytes)
{
	size_t words = bytes / 8, rest = bytes % 8;
	void *end = to;

	__asm__ volatile("rep movsq" : "+D"(end), "+S"(from), "+c"(words)::"memory");
	__asm__ volatile("rep movsb" : "+D"(end), "+S"(from), "+c"(rest)::"memory");
	return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
	u8 *end = to;
	const u8 *source = from;

	if (end <= source || end >= source + bytes)
		return memcpy(to, from, bytes);
	/* If the ranges overlap and the destination is higher, copy from the last byte down.
	 * volatile keeps the compiler from replacing this loop by a call. */
	while (bytes-- > 0)
		((volatile u8 *)end)[bytes] = source[bytes];
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	u64 word = 0x0101010101010101ULL * (u8)value;
	size_t words = bytes / 8, rest = bytes % 8;
	void *end = to;

	__asm__ volatile("rep stosq" : "+D"(end), "+c"(words) : "a"(word) : "memory");
	__asm__ volatile("rep stosb" : "+D"(end), "+c"(rest) : "a"(word) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const volatile u8 *x = a, *y = b;

	for (size_t i = 0; i < bytes; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

void *memchr(const void *bytes, int c, size_t count)
{
	const volatile u8 *at = bytes;

	for (; count; count--, at++)
		if (*at == (u8)c)
			return (void *)(uintptr_t)at;
	return NULL;
}

char *strchr(const char *text, int c)
{
	while (*text != (char)c)
		if (!*text++)
			return NULL;
	return (char *)(uintptr_t)text;
}

size_t strlen(const char *text)
{
	const volatile char *end = text;

	while (*end)
		end++;
	return (size_t)(end - text);
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (u8)*a - (u8)*b;
}
