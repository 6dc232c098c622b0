/* SPDX-License-Identifier: MIT */
/* Files without a volume: the first module is the configuration, and nothing can be written.
 */
#include "boot/config.h"
#include "boot/direct/direct.h"
#include "boot/file.h"
#include "boot/results/variable.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"

firmware_status file_read(const char *path, char *data, size_t size, size_t *length)
{
	const struct start_module *module = start_info_file(&direct.info, 0);

	if (strcmp(path, CONFIG_PATH) || !module)
		return FIRMWARE_NOT_FOUND;
	if (module->size > size)
		return FIRMWARE_BUFFER_TOO_SMALL;
	memcpy(data, (const void *)(uintptr_t)module->address, module->size);
	*length = module->size;
	return FIRMWARE_DONE;
}

firmware_status file_append(const char *path, const char *data, size_t length)
{
	(void)path;
	(void)data;
	(void)length;
	return FIRMWARE_NOT_FOUND;
}

firmware_status file_write_at(const char *path, u64 offset, const void *data, size_t length)
{
	(void)path;
	(void)offset;
	(void)data;
	(void)length;
	return FIRMWARE_NOT_FOUND;
}

firmware_status file_make(const char *path, u64 size)
{
	(void)path;
	(void)size;
	return FIRMWARE_NOT_FOUND;
}

firmware_status file_length(const char *path, u64 *length)
{
	(void)path;
	(void)length;
	return FIRMWARE_NOT_FOUND;
}

firmware_status file_delete(const char *path)
{
	(void)path;
	return FIRMWARE_NOT_FOUND;
}

firmware_status file_make_directory(const char *path)
{
	(void)path;
	return FIRMWARE_NOT_FOUND;
}

bool variable_save(const char *text, size_t length, char *error, size_t size)
{
	(void)text;
	(void)length;
	fmt_print(error, size, "no short result: without a firmware nothing keeps it");
	return false;
}

void variable_load(char *text, size_t size)
{
	(void)size;
	text[0] = '\0';
}

void variable_delete(void)
{
}
