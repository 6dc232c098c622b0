/* SPDX-License-Identifier: MIT */
/* See wdat.h. */
#include "boot/watchdog/wdat.h"

/* Offsets in bytes. */
#define CHECKED_HEADER	36u	/* bytes of ACPI's header; the table's own header follows */
#define OWN_LENGTH	36u
#define OWN_LEAST	32u
#define PERIOD		48u
#define MAX_COUNT	52u
#define MIN_COUNT	56u
#define FLAGS		60u
#define FLAG_ENABLED	BIT(0)
#define ENTRY_COUNT	64u
#define ENTRIES		68u
#define ENTRY_SIZE	24u

#define ENTRY_INSTRUCTION 1u
#define ENTRY_SPACE	4u
#define ENTRY_WIDTH	5u
#define ENTRY_BIT	6u
#define ENTRY_ACCESS	7u
#define ENTRY_ADDRESS	8u
#define ENTRY_VALUE	16u
#define ENTRY_MASK	20u
#define INSTRUCTION_PRESERVE 0x80u

#define SPACE_MEMORY	0u
#define SPACE_IO	1u

/* The real time clock with its memory: other software uses it, by an index in another port. */
#define CLOCK_FIRST	0x70u
#define CLOCK_LAST	0x77u

static u64 read_at(const u8 *bytes, size_t offset, unsigned count)
{
	u64 value = 0;

	while (count--)
		value = value << 8 | bytes[offset + count];
	return value;
}

/* Access size 1 is a byte, 2 a word, 3 is 32 bits; 0: use the width. */
static u8 bytes_of(unsigned access, unsigned width)
{
	if (access >= 1 && access <= 3)
		return (u8)(1u << (access - 1));
	return width == 8 || width == 16 || width == 32 ? (u8)(width / 8) : 0;
}

static const char *parse_entry(struct wdat_entry *entry, const u8 *bytes)
{
	unsigned instruction = bytes[ENTRY_INSTRUCTION];
	unsigned space = bytes[ENTRY_SPACE];

	*entry = (struct wdat_entry){
		.action = bytes[0],
		.instruction = (enum wdat_instruction)(instruction & ~INSTRUCTION_PRESERVE),
		.preserve = instruction & INSTRUCTION_PRESERVE,
		.at = { space == SPACE_IO, bytes_of(bytes[ENTRY_ACCESS], bytes[ENTRY_WIDTH]),
			bytes[ENTRY_BIT], read_at(bytes, ENTRY_ADDRESS, 8) },
		.value = (u32)read_at(bytes, ENTRY_VALUE, 4),
		.mask = (u32)read_at(bytes, ENTRY_MASK, 4),
	};
	if ((instruction & ~INSTRUCTION_PRESERVE) > WDAT_WRITE_COUNTDOWN)
		return "an instruction of an unknown kind";
	if (space > SPACE_IO || !entry->at.bytes || entry->at.bit > 31)
		return "a register of an unknown kind";
	if (space == SPACE_IO && entry->at.address > 0xffff)
		return "an I/O port beyond FFFFH";
	if (space == SPACE_MEMORY && (!entry->at.address || entry->at.address % entry->at.bytes))
		return "a register at no address of its size";
	if (space == SPACE_IO && entry->at.address <= CLOCK_LAST &&
	    entry->at.address + entry->at.bytes > CLOCK_FIRST)
		return "it is in the real time clock's memory, which others use";
	return NULL;
}

static bool has(const struct wdat *wdat, enum wdat_action action)
{
	for (unsigned i = 0; i < wdat->count; i++)
		if (wdat->entry[i].action == action)
			return true;
	return false;
}

/* A watchdog without these actions can't be used. */
static bool is_usable(const struct wdat *wdat)
{
	return has(wdat, WDAT_RESET) && has(wdat, WDAT_SET_COUNTDOWN) &&
	       has(wdat, WDAT_SET_RUNNING) && has(wdat, WDAT_SET_STOPPED);
}

static const char *parse(struct wdat *wdat, const u8 *table, size_t length)
{
	u8 sum = 0;

	if (length < ENTRIES || read_at(table, 4, 4) > length || read_at(table, 4, 4) < ENTRIES)
		return "it is too short";
	length = read_at(table, 4, 4);
	for (size_t i = 0; i < length; i++)
		sum = (u8)(sum + table[i]);
	if (sum)
		return "its checksum is wrong";
	if (read_at(table, OWN_LENGTH, 4) < OWN_LEAST)
		return "its header is too short";
	if (!(table[FLAGS] & FLAG_ENABLED))
		return "the firmware has disabled it";
	wdat->period_ms = (u32)read_at(table, PERIOD, 4);
	wdat->min = (u32)read_at(table, MIN_COUNT, 4);
	wdat->max = (u32)read_at(table, MAX_COUNT, 4);
	wdat->count = (u32)read_at(table, ENTRY_COUNT, 4);
	if (!wdat->period_ms || wdat->max < wdat->min || !wdat->max)
		return "it can't count";
	if (wdat->count > WDAT_ENTRIES || (length - ENTRIES) / ENTRY_SIZE < wdat->count)
		return "it has more entries than bytes";
	for (unsigned i = 0; i < wdat->count; i++) {
		const char *wrong = parse_entry(&wdat->entry[i], table + ENTRIES + i * ENTRY_SIZE);

		if (wrong)
			return wrong;
	}
	return is_usable(wdat) ? NULL : "it can't be set, started, fed and stopped";
}

bool wdat_parse(struct wdat *wdat, const u8 *table, size_t length, const char **why)
{
	*why = parse(wdat, table, length);
	return !*why;
}

static void run(const struct wdat_entry *entry, const struct wdat_io *io, u32 argument, u32 *result)
{
	u64 mask = (u64)entry->mask << entry->at.bit;
	u32 value, old;

	switch (entry->instruction) {
	case WDAT_READ_VALUE:
	case WDAT_READ_COUNTDOWN:
		value = io->read(&entry->at) >> entry->at.bit & entry->mask;
		if (result)
			*result = entry->instruction == WDAT_READ_VALUE ? value == entry->value :
									  value;
		return;
	case WDAT_WRITE_VALUE:
	case WDAT_WRITE_COUNTDOWN:
		value = entry->instruction == WDAT_WRITE_VALUE ? entry->value : argument;
		value = (u32)((u64)(value & entry->mask) << entry->at.bit);
		if (entry->preserve) {
			old = io->read(&entry->at);
			value |= old & ~(u32)mask;
		}
		io->write(&entry->at, value);
		return;
	}
}

bool wdat_do(const struct wdat *wdat, const struct wdat_io *io, enum wdat_action action,
	     u32 argument, u32 *result)
{
	for (unsigned i = 0; i < wdat->count; i++)
		if (wdat->entry[i].action == action)
			run(&wdat->entry[i], io, argument, result);
	return has(wdat, action);
}

static bool is_kept(const struct wdat_entry *entry, enum wdat_action action)
{
	return entry->action == action && entry->instruction == WDAT_WRITE_VALUE && entry->preserve;
}

void wdat_keep(const struct wdat *wdat, const struct wdat_io *io, enum wdat_action action,
	       u32 *kept)
{
	for (unsigned i = 0; i < wdat->count; i++)
		if (is_kept(&wdat->entry[i], action))
			kept[i] = io->read(&wdat->entry[i].at) >> wdat->entry[i].at.bit;
}

void wdat_put_back(const struct wdat *wdat, const struct wdat_io *io, enum wdat_action action,
		   const u32 *kept)
{
	for (unsigned i = 0; i < wdat->count; i++) {
		struct wdat_entry entry = wdat->entry[i];

		entry.value = kept[i];
		if (is_kept(&entry, action))
			run(&entry, io, 0, NULL);
	}
}

u32 wdat_counts(const struct wdat *wdat, u32 ms)
{
	u32 counts = ms / wdat->period_ms;

	if (counts < wdat->min)
		return wdat->min;
	return counts > wdat->max ? wdat->max : counts;
}
