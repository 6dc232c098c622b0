/* SPDX-License-Identifier: MIT */
/* Results on the volume: a folder a run, one file in it, written after each group of tests. */
#include "boot/file.h"
#include "boot/firmware.h"
#include "boot/log.h"
#include "boot/results/folder.h"
#include "kernel/output/fmt.h"

#define PATH_SIZE	112
#define MAX_RUNS	100u	/* with the same name, that is within one second */

static char path[PATH_SIZE];

static bool fail(char *error, size_t size, const char *what, EFI_STATUS status)
{
	fmt_print(error, size, "results are not saved: %s: firmware status %#llx", what,
		  (unsigned long long)status);
	path[0] = '\0';
	return false;
}

bool results_open(const char *cpu, char *error, size_t size)
{
	EFI_TIME now = { .Year = 0 };	/* without a clock the name is all zeros */
	char folder[PATH_SIZE];
	EFI_STATUS status;

	firmware.system->RuntimeServices->GetTime(&now, NULL);
	status = file_make_directory("\\results");
	if (EFI_ERROR(status) && status != EFI_ACCESS_DENIED)
		return fail(error, size, "no folder \\results", status);
	for (unsigned run = 1; run < MAX_RUNS; run++) {
		char suffix[8] = "";

		if (run > 1)
			fmt_print(suffix, sizeof suffix, "-%u", run);
		fmt_print(folder, sizeof folder, "\\results\\%04u%02u%02u-%02u%02u%02u-%s%s",
			  now.Year, now.Month, now.Day, now.Hour, now.Minute, now.Second, cpu,
			  suffix);
		status = file_make_directory(folder);
		if (status != EFI_ACCESS_DENIED)
			break;
	}
	if (EFI_ERROR(status))
		return fail(error, size, folder, status);
	fmt_print(path, sizeof path, "%s\\results.tap", folder);
	return true;
}

bool results_save(char *error, size_t size)
{
	size_t length;
	const char *text = log_text(&length);
	EFI_STATUS status = EFI_SUCCESS;

	if (path[0] && length > 0)
		status = file_append(path, text, length);
	log_clear();
	return EFI_ERROR(status) ? fail(error, size, path, status) : true;
}

const char *results_path(void)
{
	return path;
}
