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

/* Pieces are collected until there are enough of them for a write. */
struct output {
	char path[PATH_SIZE];
	EFI_STATUS status;
	size_t length;
	char text[BUFFER_SIZE];
};

static void flush(struct output *output)
{
	if (!EFI_ERROR(output->status) && output->length)
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
	void *memory = NULL;

	if (EFI_ERROR(firmware.boot->AllocatePool(EfiLoaderData, size, &memory)))
		return NULL;
	memset(memory, 0, size);
	return memory;
}

struct maker {
	struct output *output;
	struct totals *totals;
	const char *lines;
	size_t length;
};

/* One file, from its beginning. */
static bool make(const struct maker *maker, const char *name,
		 void (*fn)(const struct maker *maker, const struct text_sink *sink), char *error,
		 size_t size)
{
	struct output *output = maker->output;
	const struct text_sink sink = { put, output };

	fmt_print(output->path, PATH_SIZE, "%s\\%s", results_folder(), name);
	file_delete(output->path);
	output->status = EFI_SUCCESS;
	output->length = 0;
	fn(maker, &sink);
	flush(output);
	if (!EFI_ERROR(output->status))
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
		firmware.boot->FreePool(maker->output);
	if (maker->totals)
		firmware.boot->FreePool(maker->totals);
}

bool results_write_machine(char *error, size_t size)
{
	struct maker maker = { NULL, NULL, NULL, 0 };
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
	struct maker maker = { NULL, NULL, NULL, 0 };
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
		       make(&maker, "junit.xml", make_junit, error, size);
	}
	end(&maker);
	return good;
}
