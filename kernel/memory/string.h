/* SPDX-License-Identifier: MIT */
/*
 * Memory and strings, freestanding. The mem* functions are also what compilers call for struct
 * copies, so they have C's names and meanings.
 */
#ifndef KERNEL_STRING_H
#define KERNEL_STRING_H

#include "spec/types.h"

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);
char *strchr(const char *text, int c);
void *memchr(const void *bytes, int c, size_t count);	/* clang makes strchr() into it */
int strcmp(const char *a, const char *b);

#endif
