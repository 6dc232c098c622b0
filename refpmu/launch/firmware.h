/* SPDX-License-Identifier: MIT */
/* What the launcher asks of the firmware: files and programs of its own volume. */
#ifndef REFPMU_LAUNCH_FIRMWARE_H
#define REFPMU_LAUNCH_FIRMWARE_H

#include <efi.h>

#include "spec/types.h"

/* First of all. Also switches the watchdog off. false: the volume isn't known. */
bool firmware_open(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

/* A whole file; false: it isn't there or longer than size. */
bool firmware_read(const char *path, void *buffer, size_t size, size_t *length);

/* Load a program with load options (UTF-16, with the terminating 0; none for ""); both strings
 * are ASCII and shorter than 1024 characters. false: *status says why not. */
bool firmware_load(const char *path, const char *options, EFI_STATUS *status);

/* Start the program that was loaded last; returns what it returned. The firmware unloads it. */
EFI_STATUS firmware_start(void);

/* Other load options for the program that was loaded last and not started. */
void firmware_options(const char *options);

/* Where it lies, and what is called with handle and table to start it; NULL: it isn't known. */
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
