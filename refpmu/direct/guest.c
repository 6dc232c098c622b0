/* SPDX-License-Identifier: MIT */
/* See guest.h. The guest's start info is in memory that is RAM for the guest, as with any
 * loader. */
#include "platform/elf.h"
#include "platform/pvh.h"
#include "refpmu/direct/guest.h"
#include "spec/exerciser.h"

#define RANGES	(START_RANGES + RAM_RANGES)

/* All that it is handed over, in one piece. */
struct handed_over {
	struct pvh_start_info start;
	struct exerciser_table exerciser;
	struct pvh_module modules[START_MODULES];
	struct pvh_range map[RANGES];
	char exerciser_name[sizeof(PVH_EXERCISER_MODULE)];
	char command[START_COMMAND];
};

static bool is_free(const struct ram *ram, u64 base, u64 bytes)
{
	for (unsigned i = 0; i < ram->ranges; i++)
		if (base >= ram->range[i].base && base + bytes <= ram->range[i].end)
			return true;
	return false;
}

static const char *load(struct guest *guest, const u8 *file, u64 size, u32 *entry)
{
	struct elf_image image;
	const char *wrong = elf_read(file, size, &image);

	if (wrong)
		return wrong;
	for (unsigned i = 0; i < image.segments; i++) {
		const struct elf_segment *segment = &image.segment[i];

		if (!is_free(guest->ram, segment->address, segment->bytes))
			return "a segment lies where no memory is free";
	}
	for (unsigned i = 0; i < image.segments; i++) {
		const struct elf_segment *segment = &image.segment[i];
		u8 *to = (u8 *)segment->address;

		__builtin_memcpy(to, file + segment->offset, segment->file_bytes);
		__builtin_memset(to + segment->file_bytes, 0, segment->bytes - segment->file_bytes);
		ram_remove(guest->ram, segment->address, segment->bytes);
	}
	*entry = image.entry;
	return NULL;
}

static void copy_text(char *to, const char *from, size_t size)
{
	size_t i;

	for (i = 0; from[i] && i + 1 < size; i++)
		to[i] = from[i];
	to[i] = '\0';
}

/* The modules after its own, and the exerciser's table as one more. */
static void hand_over_modules(const struct guest *guest, u64 exerciser, struct handed_over *to)
{
	u32 count = 0;

	for (unsigned i = 1; i < guest->info->modules && count + 1 < START_MODULES; i++)
		to->modules[count++] = (struct pvh_module){
			.address = guest->info->module[i].address,
			.size = guest->info->module[i].size,
		};
	to->exerciser = (struct exerciser_table){
		.signature = EXERCISER_TABLE, .bytes = sizeof(to->exerciser),
		.registers = exerciser,
	};
	copy_text(to->exerciser_name, PVH_EXERCISER_MODULE, sizeof(to->exerciser_name));
	to->modules[count++] = (struct pvh_module){
		.address = (u64)&to->exerciser, .size = sizeof(to->exerciser),
		.command_line = (u64)to->exerciser_name,
	};
	to->start.modules = count;
	to->start.module_list = (u64)to->modules;
}

const char *guest_load(struct guest *guest, u64 exerciser, struct virtualise_memory *memory)
{
	const struct start_module *file = start_info_file(guest->info, 0);
	struct handed_over *to;
	const char *wrong;

	if (!file)
		return "there is no module: the program to run";
	wrong = load(guest, (const u8 *)file->address, file->size, &memory->entry);
	if (wrong)
		return wrong;
	to = (void *)ram_take(guest->ram, sizeof(*to), RAM_PAGE, BIT(20), PVH_MAPPED);
	if (!to)
		return "there is no memory for its start info";
	__builtin_memset(to, 0, sizeof(*to));
	to->start = (struct pvh_start_info){
		.magic = PVH_MAGIC, .version = 1, .rsdp = guest->info->rsdp,
		.command_line = (u64)to->command, .memory_map = (u64)to->map,
	};
	copy_text(to->command, guest->command, sizeof(to->command));
	hand_over_modules(guest, exerciser, to);
	to->start.memory_ranges = start_info_map(guest->info, guest->hidden, guest->hidden_ranges,
						 to->map, RANGES);
	if (!to->start.memory_ranges)
		return "the memory map has too many ranges";
	memory->start_info = (u32)(u64)to;
	return NULL;
}
