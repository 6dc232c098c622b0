/* SPDX-License-Identifier: MIT */
/* See span.h. */
#include "refpmu/launch/span.h"

bool span_equals(struct span span, const char *text)
{
	size_t i;

	for (i = 0; i < span.length; i++)
		if (span.text[i] != text[i] || !text[i])
			return false;
	return !text[i];
}

unsigned span_find(struct span span, const char *const *names, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (names[i] && span_equals(span, names[i]))
			return i;
	return count;
}

static unsigned digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

bool span_number(struct span span, u64 *value)
{
	unsigned base = span_skip(&span, "0x") ? 16 : 10;

	if (!span.length)
		return false;
	*value = 0;
	for (size_t i = 0; i < span.length; i++) {
		unsigned d = digit(span.text[i]);

		if (d >= base || *value > (~0ULL - d) / base)
			return false;
		*value = *value * base + d;
	}
	return true;
}

static bool is_one_of(char c, const char *stops)
{
	while (*stops)
		if (*stops++ == c)
			return true;
	return false;
}

struct span span_take(struct span *rest, const char *stops)
{
	struct span word = { rest->text, 0 };

	while (word.length < rest->length && !is_one_of(word.text[word.length], stops))
		word.length++;
	rest->text += word.length;
	rest->length -= word.length;
	return word;
}

bool span_skip(struct span *span, const char *prefix)
{
	size_t i;

	for (i = 0; prefix[i]; i++)
		if (i == span->length || span->text[i] != prefix[i])
			return false;
	span->text += i;
	span->length -= i;
	return true;
}

bool span_copy(struct span from, char *to, size_t size)
{
	if (from.length >= size)
		return false;
	for (size_t i = 0; i < from.length; i++)
		to[i] = from.text[i];
	to[from.length] = 0;
	return true;
}
