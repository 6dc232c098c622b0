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
 * are ASCII and shorter than 512 characters. false: *status says why not. */
bool firmware_load(const char *path, const char *options, EFI_STATUS *status);

/* Start the program that was loaded last; returns what it returned. */
EFI_STATUS firmware_start(void);

#endif
