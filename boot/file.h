/* SPDX-License-Identifier: MIT */
/*
 * Files on the volume that this program was loaded from. Like firmware.h it has two
 * implementations: without UEFI there is no volume. Paths are ASCII, from the root, with
 * backslashes. Call these functions while the firmware has the machine.
 */
#ifndef BOOT_FILE_H
#define BOOT_FILE_H

#include "boot/firmware.h"

/* FIRMWARE_NOT_FOUND when there is no such file (or no volume); FIRMWARE_BUFFER_TOO_SMALL when it
 * is longer than size. */
firmware_status file_read(const char *path, char *data, size_t size, size_t *length);
/* Make the file if it isn't there, append to it and flush it to the medium. */
firmware_status file_append(const char *path, const char *data, size_t length);
/* Write at that offset of a file, and flush. If the bytes are inside the file's present length,
 * nothing else on the medium changes except the time in its directory entry. */
firmware_status file_write_at(const char *path, u64 offset, const void *data, size_t length);
/* Make a file of that many zeros, with all of its clusters. */
firmware_status file_make(const char *path, u64 size);
/* FIRMWARE_NOT_FOUND: there is none. */
firmware_status file_length(const char *path, u64 *length);
firmware_status file_delete(const char *path);
/* Make a directory; FIRMWARE_ACCESS_DENIED when the name is taken. */
firmware_status file_make_directory(const char *path);

#endif
