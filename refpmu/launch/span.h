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
/* The index of the name that is equal to span; count if there is none. Entries that are NULL are
 * skipped. */
unsigned span_find(struct span span, const char *const *names, unsigned count);
/* Parse all of span as a decimal number, or hexadecimal after 0x. false: it isn't a 64-bit
 * number. */
bool span_number(struct span span, u64 *value);
/* Take the text before the first of these characters, or all. *rest then begins with this
 * character. */
struct span span_take(struct span *rest, const char *stops);
/* Does span begin with prefix? Then remove the prefix. */
bool span_skip(struct span *span, const char *prefix);
/* Copy it with a terminating 0. false: it is too long; nothing was written. */
bool span_copy(struct span from, char *to, size_t size);

#endif
