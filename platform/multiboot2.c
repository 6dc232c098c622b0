/* SPDX-License-Identifier: MIT */
/* See multiboot2.h. */
#include "platform/multiboot2.h"
#include "spec/multiboot2.h"

#define MOST_BYTES	BIT(20)		/* more than any loader passes */
#define LEAST_BYTES	(sizeof(struct multiboot2_head) + sizeof(struct multiboot2_tag))

bool multiboot2_is_at(const struct physical *physical, u64 address)
{
	struct multiboot2_head head;

	return physical_copy(physical, address, &head, sizeof head) && !head.reserved &&
	       head.bytes >= LEAST_BYTES && head.bytes <= MOST_BYTES &&
	       !(address % MULTIBOOT2_ALIGN);
}

/* The characters before the 0 that ends the text, or all. */
static size_t text_length(const char *text, size_t most)
{
	size_t length = 0;

	while (length < most && text[length])
		length++;
	return length;
}

static void read_command(const struct multiboot2_tag *tag, struct start_info *info)
{
	size_t most = tag->bytes - sizeof *tag;

	info->command = (const char *)(tag + 1);
	info->command_length = text_length(info->command,
					   most < START_COMMAND ? most : START_COMMAND);
}

static const char *read_module(const struct physical *physical, const struct multiboot2_tag *tag,
			       struct start_info *info)
{
	const struct multiboot2_module *from = (const void *)tag;
	const char *text = (const char *)(from + 1);

	if (tag->bytes < sizeof *from || from->end < from->begin)
		return "a module's tag is cut";
	return start_info_add_module(physical, info, from->begin, from->end - from->begin, text,
				     text_length(text, tag->bytes - sizeof *from));
}

static const char *read_map(const struct multiboot2_tag *tag, struct start_info *info)
{
	const struct multiboot2_map *map = (const void *)tag;
	const u8 *entry = (const u8 *)(map + 1);
	u32 left = tag->bytes - (u32)sizeof *map;

	if (tag->bytes < sizeof *map || map->entry_bytes < sizeof(struct pvh_range) ||
	    map->entry_bytes % MULTIBOOT2_ALIGN)
		return "the memory map's tag is cut";
	for (; left >= map->entry_bytes; left -= map->entry_bytes, entry += map->entry_bytes) {
		const char *wrong = start_info_add_range(info, (const void *)entry);

		if (wrong)
			return wrong;
	}
	return NULL;
}

static u32 colour(u8 of, u8 bits)
{
	return bits && of + bits <= 32 ? (u32)BITS(of, of + bits - 1) : 0;
}

/* A framebuffer of another kind, as that of text, isn't of use. */
static void read_framebuffer(const struct multiboot2_tag *tag, struct start_info *info)
{
	const struct multiboot2_framebuffer *from = (const void *)tag;

	if (tag->bytes < MULTIBOOT2_FRAMEBUFFER_BYTES || from->type != MULTIBOOT2_RGB)
		return;
	info->screen = (struct start_screen){
		.address = from->address, .pitch = from->pitch, .width = from->width,
		.height = from->height, .bytes = (from->bits_per_pixel + 7u) / 8,
		.red = colour(from->red_of, from->red_bits),
		.green = colour(from->green_of, from->green_bits),
		.blue = colour(from->blue_of, from->blue_bits),
	};
}

static const char *read_tag(const struct physical *physical, const struct multiboot2_tag *tag,
			    u64 address, struct start_info *info)
{
	switch (tag->type) {
	case MULTIBOOT2_COMMAND:
		read_command(tag, info);
		return NULL;
	case MULTIBOOT2_MODULE:
		return read_module(physical, tag, info);
	case MULTIBOOT2_MAP:
		return read_map(tag, info);
	case MULTIBOOT2_FRAMEBUFFER:
		read_framebuffer(tag, info);
		return NULL;
	case MULTIBOOT2_RSDP_1:
		if (!info->rsdp)
			info->rsdp = address + sizeof *tag;
		return NULL;
	case MULTIBOOT2_RSDP_2:
		info->rsdp = address + sizeof *tag;
		return NULL;
	default:
		return NULL;
	}
}

const char *multiboot2_read(const struct physical *physical, u64 address, struct start_info *info)
{
	const struct multiboot2_head *head = physical->at(physical->ctx, address, sizeof *head);
	const u32 bytes = head->bytes;
	const u8 *all = physical->at(physical->ctx, address, bytes);
	u32 at = sizeof *head;

	if (!all)
		return "the Multiboot2 information isn't in memory below 4 GiB";
	start_info_use(info, address, bytes);
	while (bytes - at >= sizeof(struct multiboot2_tag)) {
		const struct multiboot2_tag *tag = (const void *)(all + at);
		const char *wrong;

		if (tag->bytes < sizeof *tag || tag->bytes > bytes - at)
			break;
		if (tag->type == MULTIBOOT2_END)
			return info->ranges ? NULL : "the loader gives no memory map";
		wrong = read_tag(physical, tag, address + at, info);
		if (wrong)
			return wrong;
		at += tag->bytes + -tag->bytes % MULTIBOOT2_ALIGN;
		if (at > bytes)
			break;
	}
	return "the Multiboot2 information is cut";
}
