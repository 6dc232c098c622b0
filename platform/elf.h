/* SPDX-License-Identifier: MIT */
/* Reads an ELF file with a PVH entry: System V ABI, "ELF Header", "Program Header", "Note Section".
 * Pure: the file may be anything. */
#ifndef PLATFORM_ELF_H
#define PLATFORM_ELF_H

#include "spec/types.h"

#define ELF_SEGMENTS	16u

struct elf_image {
	u32 entry;			/* physical */
	unsigned segments;
	/* Each is inside the file, and in memory below 4 GiB. Bytes after those of the file are
	 * 0. */
	struct elf_segment {
		u64 offset, file_bytes;
		u64 address, bytes;
	} segment[ELF_SEGMENTS];
};

/* NULL: success. Otherwise what is wrong with the file. */
const char *elf_read(const u8 *file, u64 size, struct elf_image *image);

#endif
