/* SPDX-License-Identifier: MIT */
/* See elf.h. Only 64-bit files for x86-64. */
#include "platform/elf.h"
#include "platform/physical.h"
#include "spec/pvh.h"

/* Offsets, in bytes. */
#define HEADER_BYTES	64u
#define HEADER_MACHINE	18
#define HEADER_TABLE	32		/* of program headers */
#define HEADER_ENTRY_BYTES 54
#define HEADER_ENTRIES	56
#define PROGRAM_BYTES	56u
#define PROGRAM_TYPE	0
#define PROGRAM_OFFSET	8
#define PROGRAM_ADDRESS	24		/* physical */
#define PROGRAM_FILE	32
#define PROGRAM_MEMORY	40
#define PROGRAM_ALIGN	48
#define NOTE_BYTES	12u		/* before the name */

#define MACHINE_X86_64	62u
#define TYPE_LOAD	1u
#define TYPE_NOTE	4u
#define FOUR_GIB	BIT(32)
#define PROGRAMS_MOST	128u

static bool is_in(u64 offset, u64 bytes, u64 size)
{
	return offset <= size && bytes <= size - offset;
}

static bool is_same(const u8 *bytes, const char *text, unsigned length)
{
	for (unsigned i = 0; i < length; i++)
		if (bytes[i] != (u8)text[i])
			return false;
	return true;
}

static u64 aligned(u64 bytes, u64 align)
{
	return (bytes + align - 1) & ~(align - 1);
}

/* The entry that one of these notes names; 0: none does. */
static u32 find_entry(const u8 *notes, u64 size, u64 align)
{
	for (u64 at = 0; is_in(at, NOTE_BYTES, size);) {
		u64 name = physical_number(notes, at, 4), bytes = physical_number(notes, at + 4, 4);
		u64 type = physical_number(notes, at + 8, 4);
		u64 value = at + NOTE_BYTES + aligned(name, align);

		if (!is_in(at + NOTE_BYTES, name, size) || !is_in(value, bytes, size))
			break;
		if (type == PVH_NOTE_PHYS32_ENTRY && name == sizeof(PVH_NOTE_NAME) &&
		    is_same(notes + at + NOTE_BYTES, PVH_NOTE_NAME, sizeof(PVH_NOTE_NAME)) &&
		    (bytes == 4 || bytes == 8))
			return (u32)physical_number(notes, value, 4);
		at = value + aligned(bytes, align);
	}
	return 0;
}

static const char *take_segment(const u8 *program, u64 size, struct elf_image *image)
{
	const struct elf_segment segment = {
		.offset = physical_number(program, PROGRAM_OFFSET, 8),
		.file_bytes = physical_number(program, PROGRAM_FILE, 8),
		.address = physical_number(program, PROGRAM_ADDRESS, 8),
		.bytes = physical_number(program, PROGRAM_MEMORY, 8),
	};

	if (!segment.bytes)
		return NULL;
	if (!is_in(segment.offset, segment.file_bytes, size) || segment.file_bytes > segment.bytes)
		return "a segment isn't in the file";
	if (!is_in(segment.address, segment.bytes, FOUR_GIB))
		return "a segment lies above 4 GiB";
	if (image->segments == ELF_SEGMENTS)
		return "it has more than 16 segments";
	image->segment[image->segments++] = segment;
	return NULL;
}

const char *elf_read(const u8 *file, u64 size, struct elf_image *image)
{
	u64 table, bytes, count;

	*image = (struct elf_image){ .entry = 0 };
	if (size < HEADER_BYTES || !is_same(file, "\177ELF\2\1", 6) ||
	    physical_number(file, HEADER_MACHINE, 2) != MACHINE_X86_64)
		return "it isn't an ELF file for x86-64";
	table = physical_number(file, HEADER_TABLE, 8);
	bytes = physical_number(file, HEADER_ENTRY_BYTES, 2);
	count = physical_number(file, HEADER_ENTRIES, 2);
	if (bytes < PROGRAM_BYTES || count > PROGRAMS_MOST || !is_in(table, bytes * count, size))
		return "its program headers aren't in the file";
	for (u64 i = 0; i < count; i++) {
		const u8 *program = file + table + i * bytes;
		u64 type = physical_number(program, PROGRAM_TYPE, 4);
		u64 offset = physical_number(program, PROGRAM_OFFSET, 8);
		u64 length = physical_number(program, PROGRAM_FILE, 8);
		const char *wrong;

		if (type == TYPE_LOAD) {
			wrong = take_segment(program, size, image);
			if (wrong)
				return wrong;
		} else if (type == TYPE_NOTE && !image->entry && is_in(offset, length, size)) {
			u64 align = physical_number(program, PROGRAM_ALIGN, 8);

			image->entry = find_entry(file + offset, length, align == 8 ? 8 : 4);
		}
	}
	if (!image->entry)
		return "it has no PVH entry (an ELF note of Xen, type 18)";
	return image->segments ? NULL : "it has no segment to load";
}
