/* SPDX-License-Identifier: MIT */
/* The files beside results.tap (folder.h), written piece by piece. */
#include "boot/file.h"
#include "boot/firmware.h"
#include "boot/log.h"
#include "boot/results/folder.h"
#include "boot/results/machine.h"
#include "boot/results/reports.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"

#define PATH_SIZE	160
#define BUFFER_SIZE	(64u << 10)

/* Small pieces are collected before a write. */
struct output {
	char path[PATH_SIZE];
	firmware_status status;
	size_t length;
	char text[BUFFER_SIZE];
};

static void flush(struct output *output)
{
	if (!firmware_failed(output->status) && output->length)
		output->status = file_append(output->path, output->text, output->length);
	output->length = 0;
}

static void put(void *ctx, const char *text, size_t length)
{
	struct output *output = ctx;

	while (length) {
		size_t part = BUFFER_SIZE - output->length;

		if (part > length)
			part = length;
		memcpy(output->text + output->length, text, part);
		output->length += part;
		text += part;
		length -= part;
		if (output->length == BUFFER_SIZE)
			flush(output);
	}
}

static void *allocate(size_t size)
{
	void *memory = firmware_allocate(size);

	if (memory)
		memset(memory, 0, size);
	return memory;
}

struct maker {
	struct output *output;
	struct totals *totals;
	const char *lines;
	size_t length;
	const struct item *point;
};

/* Write one file from its beginning. */
static bool make(const struct maker *maker, const char *name,
		 void (*fn)(const struct maker *maker, const struct text_sink *sink), char *error,
		 size_t size)
{
	struct output *output = maker->output;
	const struct text_sink sink = { put, output };

	fmt_print(output->path, PATH_SIZE, "%s\\%s", results_folder(), name);
	file_delete(output->path);
	output->status = FIRMWARE_DONE;
	output->length = 0;
	fn(maker, &sink);
	flush(output);
	if (!firmware_failed(output->status))
		return true;
	file_delete(output->path);
	fmt_print(error, size, "%s isn't saved: firmware status %#llx", output->path,
		  (unsigned long long)output->status);
	return false;
}

static void make_machine(const struct maker *maker, const struct text_sink *sink)
{
	machine_json(maker->lines, maker->length, sink);
}

static void make_json(const struct maker *maker, const struct text_sink *sink)
{
	reports_json(maker->totals, maker->lines, maker->length, sink);
}

static void make_junit(const struct maker *maker, const struct text_sink *sink)
{
	reports_junit(maker->totals, maker->lines, maker->length, sink);
}

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* The digits after "record_N: TEXT: ", perhaps in quotes. */
static struct span hex_of(struct span value)
{
	size_t end = value.length, begin;

	if (end && value.text[end - 1] == '"')
		end--;
	for (begin = end; begin && is_hex(value.text[begin - 1]); begin--)
		;
	return (struct span){ value.text + begin, (end - begin) & ~1ull };
}

static bool is_record(struct span key)
{
	return span_begins(key, "record_");
}

/* Write the bytes of the records in a failure's block. */
static void put_records(const struct item *point, const struct text_sink *sink)
{
	for (unsigned i = 0; i < point->details; i++) {
		struct span hex = hex_of(point->detail[i].value);

		for (size_t n = 0; is_record(point->detail[i].key) && n < hex.length; n += 2) {
			char byte = (char)(digit(hex.text[n]) << 4 | digit(hex.text[n + 1]));

			sink->put(sink->ctx, &byte, 1);
		}
	}
}

static bool has_records(const struct item *item)
{
	for (unsigned i = 0; item->kind == ITEM_POINT && i < item->details; i++)
		if (is_record(item->detail[i].key))
			return true;
	return false;
}

static void make_records(const struct maker *maker, const struct text_sink *sink)
{
	put_records(maker->point, sink);
}

/* Write a file for each point with records: records\NAME.bin. */
static bool make_all_records(const struct maker *maker, char *error, size_t size)
{
	struct maker one = *maker;
	struct item_reader reader = { .text = maker->lines, .length = maker->length };
	char name[PATH_SIZE];
	struct item item;

	while (item_next(&reader, &item)) {
		size_t length;

		if (!has_records(&item))
			continue;
		fmt_print(name, sizeof(name), "%s\\records", results_folder());
		file_make_directory(name);
		length = (size_t)fmt_print(name, sizeof(name), "records\\");
		for (size_t i = 0; i < item.name.length && length + 5 < sizeof(name); i++)
			name[length++] = item.name.text[i];
		fmt_print(name + length, sizeof(name) - length, ".bin");
		one.point = &item;
		if (!make(&one, name, make_records, error, size))
			return false;
	}
	return true;
}

static bool begin(struct maker *maker, char *error, size_t size)
{
	maker->lines = log_text(&maker->length);
	maker->output = allocate(sizeof(*maker->output));
	maker->totals = allocate(sizeof(*maker->totals));
	if (maker->output && maker->totals)
		return true;
	fmt_print(error, size, "no memory for results.json, junit.xml and machine.json");
	return false;
}

static void end(const struct maker *maker)
{
	if (maker->output)
		firmware_free(maker->output);
	if (maker->totals)
		firmware_free(maker->totals);
}

bool results_write_machine(char *error, size_t size)
{
	struct maker maker = { NULL, NULL, NULL, 0, NULL };
	bool good;

	if (!results_folder()[0])
		return true;
	good = begin(&maker, error, size) &&
	       make(&maker, "machine.json", make_machine, error, size);
	end(&maker);
	return good;
}

bool results_write_reports(char *error, size_t size)
{
	struct maker maker = { NULL, NULL, NULL, 0, NULL };
	bool good;

	if (!results_folder()[0])
		return true;
	if (!log_is_whole()) {
		fmt_print(error, size,
			  "results.json and junit.xml are left out: the log is too "
			  "long; pmutest86-report makes them of results.tap");
		return false;
	}
	good = begin(&maker, error, size);
	if (good) {
		totals_take(maker.totals, maker.lines, maker.length);
		good = make(&maker, "results.json", make_json, error, size) &&
		       make(&maker, "junit.xml", make_junit, error, size) &&
		       make_all_records(&maker, error, size);
	}
	end(&maker);
	return good;
}
