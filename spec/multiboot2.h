/* SPDX-License-Identifier: MIT */
/*
 * What a loader hands over by Multiboot2: "Multiboot2 Specification version 2.0", "Boot information
 * format". In protected mode without paging, EAX is the magic number and EBX points to the
 * information: a head, and tags at multiples of 8 bytes, the last one of them an end tag. Addresses
 * are physical. The header that asks for it: tools/images/direct_image.py.
 */
#ifndef SPEC_MULTIBOOT2_H
#define SPEC_MULTIBOOT2_H

#include "spec/types.h"

struct multiboot2_head {
	u32 bytes;		/* of all, the end tag included */
	u32 reserved;		/* 0 */
};

#define MULTIBOOT2_ALIGN	8u

enum multiboot2_type {
	MULTIBOOT2_END = 0,
	MULTIBOOT2_COMMAND = 1,
	MULTIBOOT2_MODULE = 3,
	MULTIBOOT2_MAP = 6,
	MULTIBOOT2_FRAMEBUFFER = 8,
	MULTIBOOT2_RSDP_1 = 14,		/* a copy of the RSDP of ACPI 1.0 */
	MULTIBOOT2_RSDP_2 = 15,		/* of ACPI 2.0 or later */
};

struct multiboot2_tag {
	u32 type;
	u32 bytes;		/* with this head, without what aligns the next tag */
};

/* The text after it is terminated by 0. */
struct multiboot2_module {
	struct multiboot2_tag tag;
	u32 begin, end;
};

/* The entries after it begin with the members of a struct pvh_range. */
struct multiboot2_map {
	struct multiboot2_tag tag;
	u32 entry_bytes, entry_version;
};

#define MULTIBOOT2_RGB	1u	/* type of a framebuffer whose pixels are colours */

/* of: the lowest bit of a colour; bits: how many it has. */
struct multiboot2_framebuffer {
	struct multiboot2_tag tag;
	u64 address;
	u32 pitch, width, height;
	u8 bits_per_pixel, type;
	u16 reserved;
	u8 red_of, red_bits, green_of, green_bits, blue_of, blue_bits;
	u8 padding[2];
};
#define MULTIBOOT2_FRAMEBUFFER_BYTES	38u
_Static_assert(__builtin_offsetof(struct multiboot2_framebuffer, padding) ==
		       MULTIBOOT2_FRAMEBUFFER_BYTES,
	       "Framebuffer info");

#endif
