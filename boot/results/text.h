/* SPDX-License-Identifier: MIT */
/* Writes text piece by piece, with the escapes of JSON and XML. Pure. */
#ifndef BOOT_RESULTS_TEXT_H
#define BOOT_RESULTS_TEXT_H

#include "boot/results/items.h"

/* Where the text of a file goes. */
struct text_sink {
	void (*put)(void *ctx, const char *text, size_t length);
	void *ctx;
};

void text_put(const struct text_sink *sink, const char *text);
__attribute__((format(printf, 2, 3)))
void text_print(const struct text_sink *sink, const char *format, ...);

/* The escape of a character; NULL: it needs none. */
typedef const char *(*text_escape)(char c, char *text, size_t size);
const char *text_escape_json(char c, char *text, size_t size);
const char *text_escape_xml(char c, char *text, size_t size);

void text_put_escaped(const struct text_sink *sink, struct span span, text_escape how);
/* A value of a block, without its quotes and their escapes. */
void text_put_value(const struct text_sink *sink, struct span value, text_escape how);
/* In JSON: "text", and "name": "text". */
void text_put_string(const struct text_sink *sink, struct span span);
void text_put_member(const struct text_sink *sink, const char *name, struct span span);

struct span span_of(const char *text);

#endif
