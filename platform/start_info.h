/* SPDX-License-Identifier: MIT */
/* Reads and checks the data that a loader passes, by PVH (spec/pvh.h) or by Multiboot2
 * (multiboot2.h). Pure. */
#ifndef PLATFORM_START_INFO_H
#define PLATFORM_START_INFO_H

#include "platform/physical.h"
#include "platform/ram.h"
#include "spec/pvh.h"

#define START_MODULES	16u
#define START_RANGES	128u
#define START_COMMAND	4096u		/* characters of a command line that are read */
#define START_NAME	64u		/* of a module's */

struct start_info {
	u64 rsdp;		/* 0: not given */
	const char *command;	/* not terminated; NULL: none */
	size_t command_length;
	unsigned modules, ranges;
	struct start_module {
		u64 address, size;
		char name[START_NAME];	/* its command line, cut */
	} module[START_MODULES];
	struct pvh_range range[START_RANGES];
	/* The ranges of all these data, which must not be overwritten. */
	unsigned used;
	struct ram_range in_use[START_MODULES * 2 + 4];
	u64 memory_top;		/* past the last byte of RAM */
	bool multiboot2;	/* the loader is one of these; else of PVH */
	/* A linear framebuffer; bytes (of a pixel) 0: none. */
	struct start_screen {
		u64 address;
		u32 pitch, width, height, bytes;
		u32 red, green, blue;	/* bits of a pixel */
	} screen;
};

/* NULL: success. Otherwise what is wrong with the data. */
const char *start_info_read(const struct physical *physical, u64 address, struct start_info *info);

/* For its readers alone: these bytes are in use; one more range of memory; one more module, whose
 * name has length characters. NULL: done. */
void start_info_use(struct start_info *info, u64 address, u64 bytes);
const char *start_info_add_range(struct start_info *info, const struct pvh_range *range);
const char *start_info_add_module(const struct physical *physical, struct start_info *info,
				  u64 address, u64 size, const char *name, size_t length);

/* The free memory: RAM that no other range claims, without the used ranges and without the first
 * page. false: it has too many ranges. */
bool start_info_free(const struct start_info *info, struct ram *ram);

/* The memory map for a guest: the same map with those n sorted ranges marked as reserved. 0: it
 * would have more than `most` ranges. */
unsigned start_info_map(const struct start_info *info, const struct ram_range *hidden, unsigned n,
			struct pvh_range *map, unsigned most);

/* Module n of those that are files; the name of a module may also say that it is something else. */
const struct start_module *start_info_file(const struct start_info *info, unsigned n);
/* The module of that name; NULL: there is none. */
const struct start_module *start_info_named(const struct start_info *info, const char *name);

#endif
