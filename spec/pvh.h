/* SPDX-License-Identifier: MIT */
/*
 * What a loader hands over to a kernel that is entered by its PVH entry: in protected mode without
 * paging, with EBX at a struct pvh_start_info. Xen, "x86/HVM direct boot ABI" and the public header
 * arch-x86/hvm/start_info.h; the note's number: public header elfnote.h. Addresses are physical.
 */
#ifndef SPEC_PVH_H
#define SPEC_PVH_H

#include "spec/types.h"

/* An ELF note of "Xen": the entry's physical address, 4 or 8 bytes. */
#define PVH_NOTE_NAME		"Xen"
#define PVH_NOTE_PHYS32_ENTRY	18u

#define PVH_MAGIC		0x336ec578u	/* "xEn3", the top bit of E set */

struct pvh_start_info {
	u32 magic, version;
	u32 flags;
	u32 modules;		/* number of struct pvh_module */
	u64 module_list;
	u64 command_line;	/* terminated by 0 */
	u64 rsdp;		/* 0: not given */
	/* From version 1 on: */
	u64 memory_map;
	u32 memory_ranges;	/* number of struct pvh_range */
	u32 reserved;
};
#define PVH_SIZE_VERSION_0	40u
_Static_assert(sizeof(struct pvh_start_info) == 56, "version 1");

struct pvh_module {
	u64 address, size;
	u64 command_line;	/* 0: none */
	u64 reserved;
};

/* Types as in the BIOS's map of memory: ACPI Specification, "Address Range Types". */
enum pvh_range_type { PVH_RAM = 1, PVH_RESERVED, PVH_ACPI, PVH_NVS, PVH_UNUSABLE };

struct pvh_range {
	u64 address, size;
	u32 type, reserved;
};
_Static_assert(sizeof(struct pvh_range) == 24, "of the list");

/* The command line of a module that is no file, but a struct exerciser_table (exerciser.h). */
#define PVH_EXERCISER_MODULE	"exerciser"

#endif
