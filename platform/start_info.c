/* SPDX-License-Identifier: MIT */
/* See start_info.h. */
#include "platform/start_info.h"
#include "platform/multiboot2.h"

static bool is_named(const struct start_module *module, const char *name)
{
	unsigned i = 0;

	while (name[i] && module->name[i] == name[i])
		i++;
	return !name[i] && !module->name[i];
}

void start_info_use(struct start_info *info, u64 address, u64 bytes)
{
	if (bytes)
		info->in_use[info->used++] = (struct ram_range){ address, address + bytes };
}

const char *start_info_add_range(struct start_info *info, const struct pvh_range *range)
{
	if (info->ranges == START_RANGES)
		return "the memory map has more than 128 ranges";
	if (range->size > ~0ULL - range->address)
		return "a range of the memory map goes beyond 64 bits";
	if ((range->type == PVH_RAM || range->type == PVH_ACPI || range->type == PVH_NVS) &&
	    range->address + range->size > info->memory_top)
		info->memory_top = range->address + range->size;
	info->range[info->ranges++] = *range;
	return NULL;
}

const char *start_info_add_module(const struct physical *physical, struct start_info *info,
				  u64 address, u64 size, const char *name, size_t length)
{
	struct start_module *module = &info->module[info->modules];

	if (info->modules == START_MODULES)
		return "there are more than 16 modules";
	if (size && !physical->at(physical->ctx, address, size))
		return "a module isn't in memory below 4 GiB";
	start_info_use(info, address, size);
	*module = (struct start_module){ .address = address, .size = size };
	for (size_t at = 0; at < length && at < START_NAME - 1; at++)
		module->name[at] = name[at];
	info->modules++;
	return NULL;
}

/* A text of most characters; *length is set. NULL: there is none. */
static const char *text_at(const struct physical *physical, u64 address, size_t most,
			   size_t *length)
{
	const char *text = address ? physical->at(physical->ctx, address, 1) : NULL;

	*length = 0;
	if (!text)
		return NULL;
	for (; *length < most; ++*length) {
		const char *next = physical->at(physical->ctx, address + *length, 1);

		if (!next || !*next)
			break;
	}
	return text;
}

static const char *read_modules(const struct physical *physical, const struct pvh_start_info *start,
				struct start_info *info)
{
	u64 bytes = start->modules * sizeof(struct pvh_module);

	/* The list's bytes are in use too, so it is looked at only if there can be so many. */
	if (start->modules > START_MODULES)
		return "there are more than 16 modules";
	start_info_use(info, start->module_list, bytes);
	for (unsigned i = 0; i < start->modules; i++) {
		const char *name, *wrong;
		struct pvh_module from;
		size_t length;

		if (!physical_copy(physical, start->module_list + i * sizeof from, &from,
				   sizeof from))
			return "the list of modules can't be read";
		name = text_at(physical, from.command_line, START_NAME - 1, &length);
		if (name)
			start_info_use(info, from.command_line, length + 1);
		wrong = start_info_add_module(physical, info, from.address, from.size, name,
					      length);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *read_map(const struct physical *physical, const struct pvh_start_info *start,
			    struct start_info *info)
{
	if (!start->version || !start->memory_ranges)
		return "the loader gives no memory map (hvm_start_info of version 1)";
	if (start->memory_ranges > START_RANGES)
		return "the memory map has more than 128 ranges";
	start_info_use(info, start->memory_map, start->memory_ranges * sizeof(struct pvh_range));
	for (unsigned i = 0; i < start->memory_ranges; i++) {
		struct pvh_range range;
		const char *wrong;

		if (!physical_copy(physical, start->memory_map + i * sizeof range, &range,
				   sizeof range))
			return "the memory map can't be read";
		wrong = start_info_add_range(info, &range);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *read_pvh(const struct physical *physical, u64 address, struct start_info *info)
{
	struct pvh_start_info start = { .magic = 0 };
	const char *wrong;

	if (!physical_copy(physical, address, &start, PVH_SIZE_VERSION_0) ||
	    start.magic != PVH_MAGIC)
		return "EBX points to no hvm_start_info and no Multiboot2 information";
	if (start.version && !physical_copy(physical, address, &start, sizeof start))
		return "the hvm_start_info is cut";
	start_info_use(info, address, sizeof start);
	info->rsdp = start.rsdp;
	info->command = text_at(physical, start.command_line, START_COMMAND, &info->command_length);
	if (info->command)
		start_info_use(info, start.command_line, info->command_length + 1);
	wrong = read_modules(physical, &start, info);
	return wrong ? wrong : read_map(physical, &start, info);
}

/* The magic number of PVH is no length of Multiboot2 information. */
const char *start_info_read(const struct physical *physical, u64 address, struct start_info *info)
{
	*info = (struct start_info){ .rsdp = 0 };
	info->multiboot2 = multiboot2_is_at(physical, address);
	return info->multiboot2 ? multiboot2_read(physical, address, info) :
				  read_pvh(physical, address, info);
}

bool start_info_free(const struct start_info *info, struct ram *ram)
{
	ram->ranges = 0;
	for (unsigned i = 0; i < info->ranges; i++)
		if (info->range[i].type == PVH_RAM &&
		    !ram_add(ram, info->range[i].address, info->range[i].size))
			return false;
	for (unsigned i = 0; i < info->ranges; i++)
		if (info->range[i].type != PVH_RAM &&
		    !ram_remove(ram, info->range[i].address, info->range[i].size))
			return false;
	for (unsigned i = 0; i < info->used; i++)
		if (!ram_remove(ram, info->in_use[i].base,
				info->in_use[i].end - info->in_use[i].base))
			return false;
	return ram_remove(ram, 0, RAM_PAGE);
}

static bool add(struct pvh_range *map, unsigned *count, unsigned most, u64 base, u64 end, u32 type)
{
	if (*count == most)
		return false;
	map[(*count)++] = (struct pvh_range){ base, end - base, type, 0 };
	return true;
}

unsigned start_info_map(const struct start_info *info, const struct ram_range *hidden, unsigned n,
			struct pvh_range *map, unsigned most)
{
	struct ram ram = { .ranges = 0 };
	unsigned count = 0;
	bool good = true;

	for (unsigned i = 0; i < info->ranges; i++)
		if (info->range[i].type == PVH_RAM)
			good &= ram_add(&ram, info->range[i].address, info->range[i].size);
	for (unsigned i = 0; i < n; i++)
		good &= ram_remove(&ram, hidden[i].base, hidden[i].end - hidden[i].base);
	for (unsigned i = 0; i < ram.ranges; i++)
		good &= add(map, &count, most, ram.range[i].base, ram.range[i].end, PVH_RAM);
	for (unsigned i = 0; i < info->ranges; i++)
		if (info->range[i].type != PVH_RAM)
			good &= add(map, &count, most, info->range[i].address,
				    info->range[i].address + info->range[i].size,
				    info->range[i].type);
	for (unsigned i = 0; i < n; i++)
		good &= add(map, &count, most, hidden[i].base, hidden[i].end, PVH_RESERVED);
	return good ? count : 0;
}

const struct start_module *start_info_named(const struct start_info *info, const char *name)
{
	for (unsigned i = 0; i < info->modules; i++)
		if (is_named(&info->module[i], name))
			return &info->module[i];
	return NULL;
}

const struct start_module *start_info_file(const struct start_info *info, unsigned n)
{
	for (unsigned i = 0; i < info->modules; i++)
		if (!is_named(&info->module[i], PVH_EXERCISER_MODULE) && !n--)
			return &info->module[i];
	return NULL;
}
