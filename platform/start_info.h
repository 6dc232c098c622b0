/* SPDX-License-Identifier: MIT */
/* What a PVH loader hands over (spec/pvh.h), read and checked. Pure. */
#ifndef PLATFORM_START_INFO_H
#define PLATFORM_START_INFO_H

#include "platform/physical.h"
#include "platform/ram.h"
#include "spec/pvh.h"

#define START_MODULES	16u
#define START_RANGES	128u
#define START_COMMAND	4096u		/* characters of a command line that are looked at */
#define START_NAME	64u		/* of a module's */

struct start_info {
	u64 rsdp;		/* 0: not told */
	const char *command;	/* not terminated; NULL: none */
	size_t command_length;
	unsigned modules, ranges;
	struct start_module {
		u64 address, size;
		char name[START_NAME];	/* its command line, cut */
	} module[START_MODULES];
	struct pvh_range range[START_RANGES];
	/* Where all this lies, as address and bytes: what must not be written over. */
	unsigned used;
	struct ram_range in_use[START_MODULES * 2 + 4];
	u64 memory_top;		/* past the last byte of RAM */
};

/* NULL: taken. Otherwise what is wrong with it. */
const char *start_info_read(const struct physical *physical, u64 address, struct start_info *info);

/* What of the memory is free: RAM that no other range claims, less what is in use, and less the
 * first page. false: it is in too many pieces. */
bool start_info_free(const struct start_info *info, struct ram *ram);

/* The map for a guest: the same with those n ranges, in order, as reserved. 0: it has more than
 * most ranges. */
unsigned start_info_map(const struct start_info *info, const struct ram_range *hidden, unsigned n,
			struct pvh_range *map, unsigned most);

/* Is it a file, and not something else that a module's name says? */
const struct start_module *start_info_file(const struct start_info *info, unsigned n);
/* The module of that name; NULL: there is none. */
const struct start_module *start_info_named(const struct start_info *info, const char *name);

#endif
