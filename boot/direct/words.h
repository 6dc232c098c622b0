/* SPDX-License-Identifier: MIT */
/* The words of the command line that a loader passes. Pure. */
#ifndef BOOT_DIRECT_WORDS_H
#define BOOT_DIRECT_WORDS_H

#include "spec/types.h"

/*
 * Loaders add words for Linux. Firecracker adds "pci=off", "root=..." and a
 * "virtio_mmio.device=..." for each device; QEMU's microvm adds the last of these. Remove such
 * words from text, and list them in left, terminated, as far as they fit. Returns the text's new
 * length.
 */
size_t words_of_ours(char *text, size_t length, char *left, size_t size);

#endif
