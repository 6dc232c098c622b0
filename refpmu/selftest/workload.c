/* SPDX-License-Identifier: MIT */
/* See workload.h. The results are written to a variable, so that the compiler can't remove the
 * work. */
#include "refpmu/selftest/workload.h"

#define WORDS	256
#define ROWS	16

static u32 words[WORDS], crc_table[256];
static u32 matrix[3][ROWS][ROWS];
static u8 text[1024];
static volatile u64 result;

static u32 crc32(const u8 *bytes, size_t n)
{
	u32 crc = ~(u32)0;

	for (u32 i = 0; i < 256; i++) {
		u32 c = i;

		for (unsigned bit = 0; bit < 8; bit++)
			c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
		crc_table[i] = c;
	}
	while (n--)
		crc = crc_table[(crc ^ *bytes++) & 0xff] ^ crc >> 8;
	return ~crc;
}

static void sort(u32 *first, u32 *last)
{
	u32 *left = first, *right = last, middle;

	if (first >= last)
		return;
	middle = first[(last - first) / 2];
	while (left <= right) {
		while (*left < middle)
			left++;
		while (*right > middle)
			right--;
		if (left <= right) {
			u32 word = *left;

			*left++ = *right;
			*right-- = word;
		}
	}
	sort(first, right);
	sort(left, last);
}

static u32 multiply(unsigned rows)
{
	u32 sum = 0;

	for (unsigned i = 0; i < rows; i++)
		for (unsigned j = 0; j < rows; j++) {
			u32 cell = 0;

			for (unsigned k = 0; k < rows; k++)
				cell += matrix[0][i][k] * matrix[1][k][j];
			matrix[2][i][j] = cell;
			sum += cell;
		}
	return sum;
}

static u64 selftest_workload_add(u64 a, u64 b)
{
	return a + b;
}

static u64 mix(u64 a, u64 b)
{
	return (a ^ b) * 0x9e3779b97f4a7c15ULL;
}

static u64 turn(u64 a, u64 b)
{
	return a << (b & 31) | a >> 7;
}

/* One byte an operation: its number in the low bits, an operand above them. */
static u64 interpret(const u8 *code, size_t n)
{
	static u64 (*const operation[])(u64, u64) = { selftest_workload_add, mix, turn };
	u64 a = 1, b = 2, stack[8];
	unsigned depth = 0;

	for (size_t i = 0; i < n; i++)
		switch (code[i] & 7) {
		case 0:
		case 1:
		case 2:
			a = operation[code[i] & 7](a, b);
			break;
		case 3:
			b += code[i] >> 3;
			break;
		case 4:
			stack[depth++ & 7] = a;
			break;
		case 5:
			if (depth)
				b ^= stack[--depth & 7];
			break;
		case 6:
			if (a & 1)
				i++;
			break;
		default:
			a /= (b | 1) & 0xffff;
			break;
		}
	return a ^ b;
}

static void one_round(u32 seed, unsigned n_words, unsigned rows, unsigned n_text)
{
	u32 x = seed * 2654435761u + 1;

	for (unsigned i = 0; i < n_words; i++)
		words[i] = x = x * 1664525 + 1013904223;
	for (unsigned i = 0; i < n_text; i++) {
		x = x * 1664525 + 1013904223;
		text[i] = (u8)(x >> 24);
	}
	for (unsigned i = 0; i < rows; i++)
		for (unsigned j = 0; j < rows; j++) {
			matrix[0][i][j] = i + seed;
			matrix[1][i][j] = j * 3;
		}
	sort(words, words + n_words - 1);
	result = words[n_words / 2] + multiply(rows) + interpret(text, n_text) +
		 crc32(text, n_text);
}

void workload_c(u64 times)
{
	for (u32 i = 0; i < times; i++)
		one_round(i, WORDS, ROWS, sizeof(text));
}

void workload_c_little(u64 times)
{
	for (u32 i = 0; i < times; i++)
		one_round(i, WORDS / 16, ROWS / 4, sizeof(text) / 16);
}

void workload_loop(u64 times)
{
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(times)::"cc");
}
