/* SPDX-License-Identifier: MIT */
/* Formatted text, freestanding and pure. %s %c %d %u %x %llx %llu %lld %zu %p %%, width and 0. */
#ifndef KERNEL_FMT_H
#define KERNEL_FMT_H

#include <stdarg.h>

#include "spec/types.h"

/* Like C's snprintf: the text is always terminated if size > 0; returns the length of the whole
 * text. */
__attribute__((format(printf, 3, 4)))
int fmt_print(char *text, size_t size, const char *format, ...);
int fmt_vprint(char *text, size_t size, const char *format, va_list args);

#endif
