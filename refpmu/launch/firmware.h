/* SPDX-License-Identifier: MIT */
/* The firmware's services for the launcher: files and programs on its own volume. */
#ifndef REFPMU_LAUNCH_FIRMWARE_H
#define REFPMU_LAUNCH_FIRMWARE_H

#include <efi.h>

#include "spec/types.h"

/* Call this first. Also switches the watchdog off. false: the volume isn't known. */
bool firmware_open(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

/* Read a whole file; false: it doesn't exist or is longer than size. */
bool firmware_read(const char *path, void *buffer, size_t size, size_t *length);

/* Load a program with load options (UTF-16, with the terminating 0; none for ""); both strings
 * are ASCII and shorter than 1024 characters. false: *status says why not. */
bool firmware_load(const char *path, const char *options, EFI_STATUS *status);

/* Start the program that was loaded last; returns its result. The firmware unloads it. */
EFI_STATUS firmware_start(void);

/* Change the load options of the program that was loaded last and isn't started yet. */
void firmware_options(const char *options);

/* The program's place in memory, and its entry point, which is called with handle and system table;
 * NULL: it isn't known. */
struct firmware_image {
	u64 *base;
	u64 size;
	EFI_HANDLE handle;
	EFI_SYSTEM_TABLE *system;
	EFI_STATUS(EFIAPI *entry)(EFI_HANDLE handle, EFI_SYSTEM_TABLE *system);
};
bool firmware_image(struct firmware_image *image);

/* Memory of our own, aligned to pages; NULL: there is none. */
void *firmware_pages(u64 bytes);

#endif
