/* SPDX-License-Identifier: MIT */
/* Pieces of the launcher's plan: text that isn't terminated. Pure. */
#ifndef REFPMU_LAUNCH_SPAN_H
#define REFPMU_LAUNCH_SPAN_H

#include "spec/types.h"

struct span {
	const char *text;
	size_t length;
};

/* The same text, of the same length? */
bool span_equals(struct span span, const char *text);
/* The index of the name that span is; count if it is none of them. NULL isn't a name. */
unsigned span_find(struct span span, const char *const *names, unsigned count);
/* Decimal, or hexadecimal after 0x; all of span. false: isn't a 64-bit number. */
bool span_number(struct span span, u64 *value);
/* Take what is before the first stop (any of these characters), or all. Stays in front of it. */
struct span span_take(struct span *rest, const char *stops);
/* Does span begin so? Then that is taken off. */
bool span_skip(struct span *span, const char *prefix);
/* With a terminating 0. false: longer than that allows; nothing was written. */
bool span_copy(struct span from, char *to, size_t size);

#endif
