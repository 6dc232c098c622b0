/* SPDX-License-Identifier: MIT */
/*
 * TAP version 14 ("TAP 14 - The Test Anything Protocol v14"): version line, plan, test points, YAML
 * diagnostics, comments. Not handled: subtests. A line never contains a control character, so no
 * text of a test can forge a further line.
 */
#include "kernel/output/fmt.h"
#include "kernel/output/tap.h"

#define LINE_SIZE 1024		/* longer lines are cut */

struct line {
	char text[LINE_SIZE];
	size_t length;
};

static void add_char(struct line *line, char c)
{
	if (line->length + 1 < LINE_SIZE)
		line->text[line->length++] = (unsigned char)c < ' ' || c == 0x7f ? ' ' : c;
}

static void tap_add(struct line *line, const char *text)
{
	while (*text)
		add_char(line, *text++);
}

static void flush(struct tap *tap, struct line *line)
{
	line->text[line->length] = '\0';
	tap->sink(tap->ctx, line->text);
}

void tap_begin(struct tap *tap)
{
	tap->points = 0;
	tap->sink(tap->ctx, "TAP version 14");
}

void tap_plan(struct tap *tap, unsigned points)
{
	char text[24];

	fmt_print(text, sizeof text, "1..%u", points);
	tap->sink(tap->ctx, text);
}

void tap_point(struct tap *tap, bool ok, const char *name, const char *directive)
{
	struct line line = { .length = 0 };
	char head[32];

	fmt_print(head, sizeof head, "%s %u - ", ok ? "ok" : "not ok", ++tap->points);
	tap_add(&line, head);
	for (; *name; name++) {
		if (*name == '#' || *name == '\\')	/* a bare '#' would begin a directive */
			add_char(&line, '\\');
		add_char(&line, *name);
	}
	if (directive) {
		tap_add(&line, " # ");
		tap_add(&line, directive);
	}
	flush(tap, &line);
}

void tap_comment(struct tap *tap, const char *format, ...)
{
	struct line line = { .length = 0 };
	char text[LINE_SIZE];
	va_list args;

	va_start(args, format);
	fmt_vprint(text, sizeof text, format, args);
	va_end(args);
	tap_add(&line, "# ");
	tap_add(&line, text);
	flush(tap, &line);
}

void tap_bail_out(struct tap *tap, const char *reason)
{
	struct line line = { .length = 0 };

	tap_add(&line, "Bail out! ");
	tap_add(&line, reason);
	flush(tap, &line);
}

void tap_yaml_begin(struct tap *tap)
{
	tap->sink(tap->ctx, "  ---");
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '/' || c == '.';
}

/* Can this text be a YAML value without quotes? The rule is stricter than YAML's. */
static bool is_plain(const char *value)
{
	size_t i;

	if (!is_word(value[0]))
		return false;
	for (i = 0; value[i]; i++)
		if (!is_word(value[i]) && value[i] != '-' && value[i] != ' ' && value[i] != '(' &&
		    value[i] != ')')
			return false;
	return value[i - 1] != ' ';
}

void tap_yaml_entry(struct tap *tap, const char *key, const char *value)
{
	struct line line = { .length = 0 };

	tap_add(&line, "  ");
	tap_add(&line, key);
	tap_add(&line, ": ");
	if (is_plain(value)) {
		tap_add(&line, value);
		flush(tap, &line);
		return;
	}
	add_char(&line, '"');
	for (; *value && line.length + 4 < LINE_SIZE; value++) {
		if (*value == '"' || *value == '\\')
			add_char(&line, '\\');
		if (*value == '\n') {
			tap_add(&line, "\\n");
			continue;
		}
		add_char(&line, *value);
	}
	add_char(&line, '"');
	flush(tap, &line);
}

void tap_yaml_end(struct tap *tap)
{
	tap->sink(tap->ctx, "  ...");
}
