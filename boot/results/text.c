/* SPDX-License-Identifier: MIT */
/* See text.h. */
#include "boot/results/text.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"

const char *text_escape_json(char c, char *text, size_t size)
{
	if (c == '"' || c == '\\')
		fmt_print(text, size, "\\%c", c);
	else if ((u8)c < ' ' || (u8)c > '~')
		fmt_print(text, size, "\\u%04x", (unsigned)(u8)c);
	else
		return NULL;
	return text;
}

const char *text_escape_xml(char c, char *text, size_t size)
{
	(void)text;
	(void)size;
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	default:
		return (u8)c < ' ' && c != '\n' ? " " : (u8)c > '~' ? "?" : NULL;
	}
}

void text_put(const struct text_sink *sink, const char *text)
{
	sink->put(sink->ctx, text, strlen(text));
}

void text_print(const struct text_sink *sink, const char *format, ...)
{
	char text[160];
	va_list args;

	va_start(args, format);
	fmt_vprint(text, sizeof(text), format, args);
	va_end(args);
	text_put(sink, text);
}

void text_put_escaped(const struct text_sink *sink, struct span span, text_escape how)
{
	char text[8];

	for (size_t i = 0; i < span.length; i++) {
		const char *escaped = how(span.text[i], text, sizeof(text));

		if (escaped)
			text_put(sink, escaped);
		else
			sink->put(sink->ctx, span.text + i, 1);
	}
}

void text_put_value(const struct text_sink *sink, struct span value, text_escape how)
{
	bool quoted = value.length >= 2 && value.text[0] == '"' &&
		      value.text[value.length - 1] == '"';

	if (!quoted) {
		text_put_escaped(sink, value, how);
		return;
	}
	value.length--;
	for (size_t i = 1; i < value.length; i++) {
		struct span one = { value.text + i, 1 };

		if (value.text[i] == '\\' && i + 1 < value.length) {
			i++;
			one.text = value.text[i] == 'n' ? "\n" : value.text + i;
		}
		text_put_escaped(sink, one, how);
	}
}

struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

void text_put_string(const struct text_sink *sink, struct span span)
{
	text_put(sink, "\"");
	text_put_escaped(sink, span, text_escape_json);
	text_put(sink, "\"");
}

void text_put_member(const struct text_sink *sink, const char *name, struct span span)
{
	text_print(sink, "\"%s\": ", name);
	text_put_string(sink, span);
}
