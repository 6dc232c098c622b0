/* SPDX-License-Identifier: MIT */
/*
 * TAP writer and formatter: any bytes as a name, a directive, a comment, a YAML value. Each call
 * must make one line without control characters, and a name must not become a directive.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/output/fmt.h"
#include "kernel/output/tap.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

struct seen {
	unsigned lines;
	bool bare_hash;		/* the last line has a '#' that isn't escaped */
};

static void look(void *ctx, const char *line)
{
	struct seen *seen = ctx;

	seen->lines++;
	seen->bare_hash = false;
	for (const char *c = line; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			abort();
		if (*c == '\\' && c[1])
			c++;
		else if (*c == '#')
			seen->bare_hash = true;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct seen seen = { 0 };
	struct tap tap = { .sink = look, .ctx = &seen };
	char *text = malloc(size + 1), want[64], got[64];

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	tap_point(&tap, size % 2, text, NULL);
	if (seen.lines != 1 || seen.bare_hash)
		abort();
	tap_point(&tap, true, "name", text);
	tap_comment(&tap, "%s", text);
	tap_yaml_entry(&tap, "key", text);
	if (seen.lines != 4)
		abort();
	/* The text must be cut as the C library cuts it. */
	size_t room = size % sizeof(want);
	int n = snprintf(want, room, "<%s>", text), m = fmt_print(got, room, "<%s>", text);

	if (n != m || (room && strcmp(want, got)))
		abort();
	free(text);
	return 0;
}
