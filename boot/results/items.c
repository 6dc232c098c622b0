/* SPDX-License-Identifier: MIT */
/* See items.h. */
#include "boot/results/items.h"
#include "kernel/memory/string.h"

const char *const item_verdict_names[ITEM_VERDICTS] = {
	[ITEM_PASS] = "PASS", [ITEM_SKIP] = "SKIP", [ITEM_INCONCLUSIVE] = "INCONCLUSIVE",
	[ITEM_KNOWN] = "KNOWN", [ITEM_FAIL] = "FAIL", [ITEM_ERROR] = "ERROR",
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool span_begins(struct span span, const char *text)
{
	for (size_t i = 0; text[i]; i++)
		if (i >= span.length || span.text[i] != text[i])
			return false;
	return true;
}

bool span_is(struct span span, const char *text)
{
	return span_begins(span, text) && strlen(text) == span.length;
}

struct span span_after(struct span span, size_t length)
{
	if (length > span.length)
		length = span.length;
	return (struct span){ span.text + length, span.length - length };
}

/* The index of the first `c`; the span's length: there is none. */
static size_t find(struct span span, char c)
{
	size_t i = 0;

	while (i < span.length && span.text[i] != c)
		i++;
	return i;
}

static struct span first(struct span span, size_t length)
{
	return (struct span){ span.text, length < span.length ? length : span.length };
}

static struct span trimmed(struct span span)
{
	while (span.length && span.text[0] == ' ')
		span = span_after(span, 1);
	while (span.length && span.text[span.length - 1] == ' ')
		span.length--;
	return span;
}

bool span_word(struct span *list, struct span *word)
{
	size_t comma = find(*list, ',');

	if (!list->length)
		return false;
	*word = first(*list, comma);
	*list = span_after(*list, comma + 1);
	return true;
}

static struct span next_line(struct item_reader *reader)
{
	struct span rest = { reader->text + reader->at, reader->length - reader->at };
	struct span line = first(rest, find(rest, '\n'));

	reader->at += line.length + (line.length < rest.length);
	return line;
}

static unsigned number_of(struct span span)
{
	unsigned number = 0;

	for (size_t i = 0; i < span.length && is_digit(span.text[i]); i++)
		number = number * 10 + (unsigned)(span.text[i] - '0');
	return number;
}

/* The index of the directive: a '#' without a backslash before it. */
static size_t find_directive(struct span span)
{
	for (size_t i = 0; i < span.length; i++) {
		if (span.text[i] == '\\')
			i++;
		else if (span.text[i] == '#')
			return i;
	}
	return span.length;
}

static void take_directive(struct item *item, struct span directive, bool ok)
{
	item->verdict = ok ? ITEM_PASS : ITEM_FAIL;
	if (span_begins(directive, "SKIP")) {
		directive = trimmed(span_after(directive, 4));
		item->verdict = ITEM_SKIP;
		if (span_begins(directive, "INCONCLUSIVE:")) {
			directive = span_after(directive, 13);
			item->verdict = ITEM_INCONCLUSIVE;
		}
	} else if (span_begins(directive, "TODO")) {
		directive = trimmed(span_after(directive, 4));
		if (span_begins(directive, "KNOWN"))
			directive = span_after(directive, 5);
		item->verdict = ok ? ITEM_PASS : ITEM_KNOWN;
	} else {
		return;
	}
	item->reason = trimmed(directive);
}

/* Parse "ok 12 - group.claim [PMI-01] # SKIP reason". */
static void take_point(struct item *item, struct span line)
{
	bool ok = span_begins(line, "ok ");
	struct span rest = span_after(line, ok ? 3 : 7), description;

	item->kind = ITEM_POINT;
	item->number = number_of(rest);
	rest = span_after(rest, find(rest, ' '));
	rest = span_after(rest, span_begins(rest, " - ") ? 3 : 0);
	description = trimmed(first(rest, find_directive(rest)));
	item->name = first(description, find(description, ' '));
	description = span_after(description, find(description, '[') + 1);
	item->requirements = first(description, find(description, ']'));
	take_directive(item, trimmed(span_after(rest, find_directive(rest) + 1)), ok);
}

/* Take the lines from "  ---" to "  ..." that follow a point. */
static void take_block(struct item_reader *reader, struct item *item)
{
	struct item_reader ahead = *reader;
	struct span line = next_line(&ahead);

	if (!span_is(line, "  ---"))
		return;
	while (ahead.at < ahead.length) {
		line = next_line(&ahead);
		if (span_is(line, "  ..."))
			break;
		line = span_after(line, 2);
		if (item->details == ITEM_DETAILS)
			continue;
		item->detail[item->details].key = first(line, find(line, ':'));
		item->detail[item->details].value = span_after(line, find(line, ':') + 2);
		if (span_is(line, "severity: error"))
			item->verdict = ITEM_ERROR;
		item->details++;
	}
	*reader = ahead;
}

/* Parse "check PMI-01 tests/core/interrupt.c:12 failed". */
static bool take_check(struct item *item, struct span text)
{
	struct span rest;

	if (!span_begins(text, "check ") && !span_begins(text, "control "))
		return false;
	rest = span_after(text, find(text, ' ') + 1);
	item->requirement = first(rest, find(rest, ' '));
	rest = span_after(rest, item->requirement.length + 1);
	rest = span_after(rest, find(rest, ' ') + 1);
	item->failed = span_is(rest, "failed");
	return item->failed || span_is(rest, "ok") || span_is(rest, "reported") ||
	       span_is(rest, "unjudged");
}

bool item_next(struct item_reader *reader, struct item *item)
{
	static const char end[] = "end of PMUTest86: exit ";
	struct span line;

	if (reader->at >= reader->length)
		return false;
	line = next_line(reader);
	*item = (struct item){ .kind = ITEM_OTHER, .text = line };
	if (span_begins(line, "ok ") || span_begins(line, "not ok ")) {
		take_point(item, line);
		take_block(reader, item);
	} else if (span_begins(line, "1..")) {
		item->kind = ITEM_PLAN;
		item->number = number_of(span_after(line, 3));
	} else if (span_begins(line, "Bail out!")) {
		item->kind = ITEM_BAIL_OUT;
		item->text = trimmed(span_after(line, 9));
	} else if (span_begins(line, "# ")) {
		item->text = span_after(line, 2);
		item->kind = take_check(item, item->text) ? ITEM_CHECK : ITEM_COMMENT;
		if (span_begins(item->text, end)) {
			item->kind = ITEM_END;
			item->number = number_of(span_after(item->text, sizeof(end) - 1));
		}
	}
	return true;
}
