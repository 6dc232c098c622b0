/* SPDX-License-Identifier: MIT */
/* See resident.h. A copy of the image is made before its first run. */
#include "refpmu/launch/firmware.h"
#include "refpmu/launch/resident.h"

#define PAGE_WORDS	512

static struct {
	const char *path;	/* NULL: none yet */
	struct firmware_image image;
	u64 *copy;
} resident;

static u64 words(void)
{
	return resident.image.size / sizeof(u64);
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static EFI_STATUS resident_load(const char *path)
{
	static char name[1024];
	EFI_STATUS status;

	if (!firmware_load(path, "", &status))
		return status;
	if (!firmware_image(&resident.image))
		return EFI_UNSUPPORTED;
	resident.copy = firmware_pages(resident.image.size);
	if (!resident.copy)
		return EFI_OUT_OF_RESOURCES;
	for (u64 i = 0; i < words(); i++)
		resident.copy[i] = resident.image.base[i];
	for (unsigned i = 0; i < sizeof(name) - 1 && path[i]; i++)
		name[i] = path[i];
	resident.path = name;
	return EFI_SUCCESS;
}

/* Only pages that differ: a store to code costs its translations. */
static void put_back(void)
{
	u64 *now = resident.image.base, *copy = resident.copy;

	for (u64 page = 0; page < words(); page += PAGE_WORDS) {
		u64 end = page + PAGE_WORDS < words() ? page + PAGE_WORDS : words(), i = page;

		while (i < end && now[i] == copy[i])
			i++;
		for (; i < end; i++)
			now[i] = copy[i];
	}
}

EFI_STATUS resident_run(const char *path, const char *options)
{
	EFI_STATUS status = EFI_SUCCESS;

	if (!resident.path)
		status = resident_load(path);
	else if (is_same(path, resident.path))
		put_back();
	else
		status = EFI_UNSUPPORTED;
	if (EFI_ERROR(status))
		return status;
	firmware_options(options);
	return resident.image.entry(resident.image.handle, resident.image.system);
}
