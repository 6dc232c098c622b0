/* SPDX-License-Identifier: MIT */
/*
 * See machine.h. For a second kind of processor the log lists only the differences from the first
 * kind, with zeros for missing leaves. Here each kind keeps its own list, and entries that it lacks
 * are those of the first kind.
 */
#include "boot/results/machine.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"

/* Keys of lines "key: text" that are printed once, in this order. */
static const char *const once[] = {
	"version",    "processor", "microcode", "generation", "platform",  "perfmon",
	"pebs",	      "firmware",  "bios",	"system",     "board",	   "acpi",
	"processors", "serial",	   "screen",	"hpet",	      "exerciser",
};
#define ONCE (sizeof(once) / sizeof(once[0]))

struct lines {
	const char *text;
	size_t length;
};

/* The text after "key: " in the next comment with this key. */
static bool next_said(struct item_reader *reader, const char *key, struct span *said)
{
	struct item item;

	while (item_next(reader, &item)) {
		struct span rest;

		if (item.kind != ITEM_COMMENT || !span_begins(item.text, key))
			continue;
		rest = span_after(item.text, strlen(key));
		if (!span_begins(rest, ": "))
			continue;
		*said = span_after(rest, 2);
		return true;
	}
	return false;
}

static struct item_reader from_the_beginning(const struct lines *lines)
{
	return (struct item_reader){ .text = lines->text, .length = lines->length };
}

/* The word up to the next blank; *rest: the text after it. */
static struct span word(struct span *rest)
{
	struct span word = *rest;

	for (word.length = 0; word.length < rest->length; word.length++)
		if (rest->text[word.length] == ' ')
			break;
	*rest = span_after(*rest, word.length + 1);
	return word;
}

static void put_said(const struct lines *lines, const struct text_sink *sink)
{
	const char *comma = "";

	for (unsigned i = 0; i < ONCE; i++) {
		struct item_reader reader = from_the_beginning(lines);
		struct span said;

		if (!next_said(&reader, once[i], &said))
			continue;
		text_put(sink, comma);
		text_put(sink, "\n    ");
		text_put_member(sink, once[i], said);
		comma = ",";
	}
}

static void put_left_out(const struct lines *lines, const struct text_sink *sink)
{
	struct item_reader reader = from_the_beginning(lines);
	const char *comma = "";
	struct span said;

	while (next_said(&reader, "left out", &said)) {
		text_put(sink, comma);
		text_put_string(sink, said);
		comma = ", ";
	}
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The number after head, of at most four digits, in the next comment that has one; the rest of the
 * line follows it. */
static bool next_numbered(struct item_reader *reader, const char *head, unsigned *number,
			  struct span *rest)
{
	struct item item;

	while (item_next(reader, &item)) {
		size_t n = 0;

		if (item.kind != ITEM_COMMENT || !span_begins(item.text, head))
			continue;
		*rest = span_after(item.text, strlen(head));
		*number = 0;
		for (; n < 4 && n < rest->length && is_digit(rest->text[n]); n++)
			*number = *number * 10 + (unsigned)(rest->text[n] - '0');
		*rest = span_after(*rest, n);
		if (n)
			return true;
	}
	return false;
}

/* The next number of a processor in the comments: the smallest one greater than *cpu; if *cpu is
 * ~0, the smallest one. false: there is none. */
static bool next_processor(const struct lines *lines, unsigned *cpu)
{
	struct item_reader reader = from_the_beginning(lines);
	unsigned next = ~0u, number;
	struct span rest;

	while (next_numbered(&reader, "processor ", &number, &rest))
		if (span_begins(rest, ": ") && number < next && (*cpu == ~0u || number > *cpu))
			next = number;
	*cpu = next;
	return next != ~0u;
}

/* Print "APIC id 0x1, thread 1 of core 0, package 0" with each value's name, and further comments
 * about that processor. */
static void put_processors(const struct lines *lines, const struct text_sink *sink)
{
	unsigned cpu = ~0u;
	char key[24];
	bool some = false;

	while (next_processor(lines, &cpu)) {
		struct item_reader reader = from_the_beginning(lines);
		const char *comma = "";
		struct span said;
		bool found = false;

		fmt_print(key, sizeof(key), "processor %u", cpu);
		while (next_said(&reader, key, &said)) {
			if (!found)
				text_print(sink, "%s\n    {\"number\": %u, \"said\": [",
					   some ? "," : "", cpu);
			found = some = true;
			text_put(sink, comma);
			text_put_string(sink, said);
			comma = ", ";
		}
		text_put(sink, "]}");
	}
}

/* Print a line like "0000000b.1 00000001 00000002 00000201 00000000". */
static void put_leaf(const struct text_sink *sink, struct span said)
{
	static const char *const names[] = { "eax", "ebx", "ecx", "edx" };
	struct span number = word(&said), leaf = number;

	for (leaf.length = 0; leaf.length < number.length; leaf.length++)
		if (number.text[leaf.length] == '.')
			break;
	number = span_after(number, leaf.length + 1);
	text_put(sink, "{\"leaf\": \"0x");
	text_put_escaped(sink, leaf, text_escape_json);
	text_put(sink, "\", \"subleaf\": \"0x");
	text_put_escaped(sink, number, text_escape_json);
	text_put(sink, "\"");
	for (unsigned i = 0; i < 4; i++) {
		text_print(sink, ", \"%s\": \"0x", names[i]);
		text_put_escaped(sink, word(&said), text_escape_json);
		text_put(sink, "\"");
	}
	text_put(sink, "}");
}

static void put_leaves(const struct lines *lines, const struct text_sink *sink, unsigned cpu)
{
	struct item_reader reader = from_the_beginning(lines);
	const char *comma = "";
	char key[40];
	struct item item;
	bool inside = false;

	fmt_print(key, sizeof(key), "cpuid of processor %u", cpu);
	while (item_next(&reader, &item)) {
		if (item.kind != ITEM_COMMENT)
			continue;
		if (span_begins(item.text, "cpuid of processor ")) {
			struct span rest = span_after(item.text, strlen(key));

			inside = span_begins(item.text, key) &&
				 (span_begins(rest, ":") || span_begins(rest, ","));
			continue;
		}
		if (!inside || !span_begins(item.text, "cpuid: "))
			continue;
		text_put(sink, comma);
		text_put(sink, "\n       ");
		put_leaf(sink, span_after(item.text, 7));
		comma = ",";
	}
}

/* Print a line like "0x1a0 = 0x850089 IA32_MISC_ENABLE". */
static void put_registers(const struct lines *lines, const struct text_sink *sink, unsigned cpu)
{
	struct item_reader reader = from_the_beginning(lines);
	const char *comma = "";
	struct span said;
	char key[40];

	fmt_print(key, sizeof(key), "rdmsr of processor %u", cpu);
	while (next_said(&reader, key, &said)) {
		text_print(sink, "%s\n       {", comma);
		text_put_member(sink, "index", word(&said));
		word(&said);
		text_put(sink, ", ");
		text_put_member(sink, "value", word(&said));
		text_put(sink, ", ");
		text_put_member(sink, "name", said);
		text_put(sink, "}");
		comma = ",";
	}
}

static void put_kinds(const struct lines *lines, const struct text_sink *sink)
{
	struct item_reader reader = from_the_beginning(lines);
	const char *comma = "";
	struct span rest;
	unsigned cpu;

	while (next_numbered(&reader, "cpuid of processor ", &cpu, &rest)) {
		text_print(sink, "%s\n    {\"processor\": %u,\n     \"cpuid\": [", comma, cpu);
		put_leaves(lines, sink, cpu);
		text_put(sink, "],\n     \"msrs\": [");
		put_registers(lines, sink, cpu);
		text_put(sink, "]}");
		comma = ",";
	}
}

void machine_json(const char *text, size_t length, const struct text_sink *sink)
{
	const struct lines lines = { text, length };

	text_put(sink, "{\"format\": \"pmutest86-machine\", \"version\": 1,\n  \"said\": {");
	put_said(&lines, sink);
	text_put(sink, "},\n  \"left_out\": [");
	put_left_out(&lines, sink);
	text_put(sink, "],\n  \"processors\": [");
	put_processors(&lines, sink);
	text_put(sink, "],\n  \"kinds\": [");
	put_kinds(&lines, sink);
	text_put(sink, "]}\n");
}
