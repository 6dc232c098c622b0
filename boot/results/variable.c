/* SPDX-License-Identifier: MIT */
/* See variable.h: the text. */
#include "boot/results/variable.h"
#include "kernel/output/fmt.h"

static size_t add(char *text, size_t size, size_t length, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static size_t add(char *text, size_t size, size_t length, const char *format, ...)
{
	va_list args;

	if (length >= size)
		return length;
	va_start(args, format);
	length += (size_t)fmt_vprint(text + length, size - length, format, args);
	va_end(args);
	return length < size ? length : size - 1;
}

size_t variable_text(const struct totals *totals, const char *lines, size_t length,
		     const char *version, char *text, size_t size)
{
	struct item_reader reader = { .text = lines, .length = length };
	size_t at = add(text, size, 0, "PMUTest86 %s\n", version);
	struct item item;

	for (size_t i = 0; i < totals->title.length; i++)
		at = add(text, size, at, "%c", totals->title.text[i]);
	at = add(text, size, at, "\nexit %d, requirements decided %u, points", totals->exit,
		 totals->decided);
	for (unsigned i = 0; i < ITEM_VERDICTS; i++)
		at = add(text, size, at, " %s %u", item_verdict_names[i], totals->count[i]);
	if (totals->problem[0])
		at = add(text, size, at, "\n%s", totals->problem);
	while (item_next(&reader, &item)) {
		if (item.kind != ITEM_POINT ||
		    (item.verdict != ITEM_FAIL && item.verdict != ITEM_ERROR))
			continue;
		at = add(text, size, at, "\n%s ", item_verdict_names[item.verdict]);
		for (size_t i = 0; i < item.name.length; i++)
			at = add(text, size, at, "%c", item.name.text[i]);
	}
	return at;
}
