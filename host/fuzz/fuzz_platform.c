/* SPDX-License-Identifier: MIT */
/*
 * Memory as any loader or firmware may have left it: the input lies just below 1 MiB, so that it
 * can begin with a hvm_start_info, with ACPI's pointer or with an ELF file; then it is the tags of
 * Multiboot2 information, with a right head before and an end tag after it. The reader terminates
 * and touches nothing outside. The free memory is sorted, consists of whole pages, and overlaps
 * nothing that is in use.
 */
#include <stdlib.h>
#include <string.h>

#include "platform/acpi.h"
#include "platform/elf.h"
#include "platform/start_info.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

struct input {
	const u8 *data;
	size_t size;
};
#define BASE	0xe0000u

static const void *at(void *ctx, u64 address, u64 bytes)
{
	const struct input *input = ctx;

	if (address < BASE || address - BASE >= input->size ||
	    bytes > input->size - (address - BASE))
		return NULL;
	return input->data + (address - BASE);
}

static void check_free(const struct ram *ram, const struct start_info *info)
{
	for (unsigned i = 0; i < ram->ranges; i++) {
		const struct ram_range *range = &ram->range[i];

		if (range->base >= range->end || range->base % RAM_PAGE || range->end % RAM_PAGE)
			abort();
		if (i && range->base <= range[-1].end)
			abort();
		for (unsigned n = 0; n < info->used; n++)
			if (info->in_use[n].base < range->end && info->in_use[n].end > range->base)
				abort();
	}
}

/* Hidden memory is in no RAM entry of the guest's map. */
static void check_map(const struct start_info *info)
{
	static struct pvh_range map[START_RANGES + RAM_RANGES];
	const struct ram_range hidden = { 0x200000, 0x800000 };
	unsigned n = start_info_map(info, &hidden, 1, map, sizeof(map) / sizeof(map[0]));

	for (unsigned i = 0; i < n; i++)
		if (map[i].type == PVH_RAM && map[i].address < hidden.end &&
		    map[i].address + map[i].size > hidden.base)
			abort();
}

static void take_and_give(struct ram *ram)
{
	struct ram before = *ram;
	u64 base = ram_take(ram, 0x5001, 0x10000, 0, ~0ULL);

	if (!base)
		return;
	if (base % 0x10000 || !ram_add(ram, base, 0x6000) ||
	    memcmp(ram, &before, sizeof ram->ranges))
		abort();
	for (unsigned i = 0; i < ram->ranges; i++)
		if (ram->range[i].base != before.range[i].base ||
		    ram->range[i].end != before.range[i].end)
			abort();
}

static void check_start_info(const struct physical *physical, u64 address)
{
	static struct start_info info;
	static struct ram ram;
	struct acpi_power power;

	if (start_info_read(physical, address, &info) || !start_info_free(&info, &ram))
		return;
	check_free(&ram, &info);
	take_and_give(&ram);
	check_map(&info);
	if (info.rsdp)
		acpi_power(physical, info.rsdp, &power);
}

static void check_tags(const u8 *data, size_t size)
{
	const u32 inner = (u32)((size + 7) & ~7UL), bytes = 16 + inner;
	const u32 head[] = { bytes, 0 }, end[] = { 0, 8 };
	u8 *all = calloc(1, bytes);
	struct input input = { all, bytes };
	const struct physical physical = { at, &input };

	if (!all)
		return;
	memcpy(all, head, sizeof head);
	if (size)
		memcpy(all + 8, data, size);
	memcpy(all + 8 + inner, end, sizeof end);
	check_start_info(&physical, BASE);
	free(all);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *copy = malloc(size ? size : 1);
	struct input input = { copy, size };
	const struct physical physical = { at, &input };
	struct acpi_power power;
	struct elf_image image;
	u32 ids[16];

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	check_start_info(&physical, BASE);
	check_tags(data, size);
	acpi_search(&physical);
	if (acpi_processors(&physical, BASE, ids, 16) > 16)
		abort();
	acpi_power(&physical, BASE, &power);
	if (!elf_read(copy, size, &image)) {
		if (!image.entry || !image.segments || image.segments > ELF_SEGMENTS)
			abort();
		for (unsigned i = 0; i < image.segments; i++)
			if (image.segment[i].offset + image.segment[i].file_bytes > size)
				abort();
	}
	free(copy);
	return 0;
}
