/* SPDX-License-Identifier: MIT */
/* Results on the volume: a folder for each run, with results.tap, which is written after each group
 * of tests. */
#include "boot/file.h"
#include "boot/firmware.h"
#include "boot/log.h"
#include "boot/results/folder.h"
#include "kernel/output/fmt.h"

#define PATH_SIZE	112
/* Runs with the same name: those within one second, or all runs if the machine has no clock. */
#define MAX_RUNS	10000u

/* "": there is none. saved: bytes of the log that results.tap has. */
static char folder[PATH_SIZE], path[PATH_SIZE];
static size_t saved;

static bool fail(char *error, size_t size, const char *what, firmware_status status)
{
	fmt_print(error, size, "results are not saved: %s: firmware status %#llx", what,
		  (unsigned long long)status);
	folder[0] = path[0] = '\0';
	return false;
}

static void use(void)
{
	fmt_print(path, sizeof path, "%s\\results.tap", folder);
	saved = 0;
}

bool results_open(const char *cpu, char *error, size_t size)
{
	struct firmware_time now = firmware_time();
	firmware_status status;

	status = file_make_directory("\\results");
	if (firmware_failed(status) && status != FIRMWARE_ACCESS_DENIED)
		return fail(error, size, "no folder \\results", status);
	for (unsigned run = 1; run < MAX_RUNS; run++) {
		char suffix[8] = "";

		if (run > 1)
			fmt_print(suffix, sizeof suffix, "-%u", run);
		fmt_print(folder, sizeof folder, "\\results\\%04u%02u%02u-%02u%02u%02u-%s%s",
			  now.year, now.month, now.day, now.hour, now.minute, now.second, cpu,
			  suffix);
		status = file_make_directory(folder);
		if (status != FIRMWARE_ACCESS_DENIED)
			break;
	}
	if (firmware_failed(status)) {
		char what[PATH_SIZE];

		fmt_print(what, sizeof what, "%s", folder);
		return fail(error, size, what, status);
	}
	use();
	return true;
}

bool results_reopen(const char *name, char *error, size_t size)
{
	firmware_status status = file_make_directory(name);

	if (firmware_failed(status) && status != FIRMWARE_ACCESS_DENIED)
		return fail(error, size, name, status);
	fmt_print(folder, sizeof folder, "%s", name);
	use();
	file_delete(path);
	return true;
}

bool results_add(const char *text, size_t length)
{
	if (firmware_failed(file_append(path, text, length)))
		folder[0] = path[0] = '\0';
	return path[0];
}

bool results_save(char *error, size_t size)
{
	size_t length;
	const char *text = log_text(&length);
	firmware_status status = FIRMWARE_DONE;
	char what[PATH_SIZE];

	if (path[0] && length > saved)
		status = file_append(path, text + saved, length - saved);
	saved = length;
	/* Lines that no file has stay: they may be the only results of the run. */
	if (path[0] && !firmware_failed(status) && log_is_half_full()) {
		log_clear();
		saved = 0;
	}
	if (!firmware_failed(status))
		return true;
	fmt_print(what, sizeof what, "%s", path);
	return fail(error, size, what, status);
}

bool results_save_again(const char *cpu, char *error, size_t size)
{
	if (path[0])
		return true;
	if (!log_is_whole()) {
		fmt_print(error, size, "results are not saved: the run was too long to be kept");
		return false;
	}
	if (!results_open(cpu, error, size))
		return false;
	saved = 0;
	return results_save(error, size) && results_write_machine(error, size) &&
	       results_write_reports(error, size);
}

const char *results_folder(void)
{
	return folder;
}

const char *results_path(void)
{
	return path;
}
