/* SPDX-License-Identifier: MIT */
/* SMBIOS: both entry points, the strings of three structures, and damaged tables. */
#include <stdlib.h>

#include "boot/smbios.h"
#include "host/check.h"

#define TEXT	64

/* Set the byte at `place` so that the sum of the bytes is 0. */
static void sum_up(u8 *bytes, size_t count, size_t place)
{
	u8 sum = 0;

	bytes[place] = 0;
	for (size_t i = 0; i < count; i++)
		sum = (u8)(sum + bytes[i]);
	bytes[place] = (u8)-sum;
}

static void make_32(u8 entry[SMBIOS_ENTRY_SIZE])
{
	static const u8 good[31] = {
		'_', 'S', 'M', '_', 0, 31, 2, 8, [16] = '_', 'D', 'M', 'I', '_', 0,
		0x34, 0x12, 0x00, 0x10, 0x0f, 0x7f, 9, 0, 0x28,
	};

	memset(entry, 0xee, SMBIOS_ENTRY_SIZE);
	memcpy(entry, good, sizeof(good));
	sum_up(entry, sizeof(good), 4);
}

static void make_64(u8 entry[SMBIOS_ENTRY_SIZE], u32 length, u64 address)
{
	static const u8 good[24] = { '_', 'S', 'M', '3', '_', 0, 24, 3, 0, 0, 1, 0 };

	memset(entry, 0xee, SMBIOS_ENTRY_SIZE);
	memcpy(entry, good, sizeof(good));
	memcpy(entry + 12, &length, sizeof(length));
	memcpy(entry + 16, &address, sizeof(address));
	sum_up(entry, sizeof(good), 5);
}

static void both_entry_points_are_read(void)
{
	u8 entry[SMBIOS_ENTRY_SIZE];
	struct smbios_table table = { 0, 0 };

	make_32(entry);
	CHECK(smbios_find(entry, sizeof(entry), &table));
	CHECK_EQ(0x7f0f1000, table.address);
	CHECK_EQ(0x1234, table.length);
	make_64(entry, 0x4321, 0x123456789a0);
	CHECK(smbios_find(entry, sizeof(entry), &table));
	CHECK_EQ(0x123456789a0, table.address);
	CHECK_EQ(0x4321, table.length);
	make_64(entry, 0xffffffff, 0x1000);
	CHECK(smbios_find(entry, sizeof(entry), &table));
	CHECK_EQ(SMBIOS_TABLE_MAX, table.length, "the most that is looked at");
}

static void damaged_entry_points_are_none(void)
{
	u8 entry[SMBIOS_ENTRY_SIZE];
	struct smbios_table table;

	for (unsigned i = 0; i < 31; i++) {
		make_32(entry);
		entry[i] ^= 0x40;
		CHECK(!smbios_find(entry, sizeof(entry), &table), "byte %u", i);
	}
	for (unsigned i = 0; i < 24; i++) {
		make_64(entry, 0x100, 0x1000);
		entry[i] ^= 0x40;
		CHECK(!smbios_find(entry, sizeof(entry), &table), "byte %u", i);
	}
	make_64(entry, 0x100, 0x1000);
	for (size_t size = 0; size < 24; size++)
		CHECK(!smbios_find(entry, size, &table), "of %zu bytes", size);
	make_64(entry, 0, 0x1000);
	CHECK(!smbios_find(entry, sizeof(entry), &table), "no table");
	make_64(entry, 0x100, 0);
	CHECK(!smbios_find(entry, sizeof(entry), &table), "nowhere");
	make_64(entry, 0x100, ~0ULL - 0x80);
	CHECK(!smbios_find(entry, sizeof(entry), &table), "beyond the last address");
}

/* First another structure, without strings; then the wanted ones. */
static const char table[] = "\x04\x06\x00\x01\x01\x00"
			    "processor\0"
			    "\0"
			    "\x20\x05\x01\x01\x00"
			    "\0"
			    "\0"
			    "\x01\x08\x02\x01\x02\x01\x00\x03"
			    " A machine \0"
			    "Maker\0"
			    "SERIAL\0"
			    "\0"
			    "\x00\x09\x03\x01\x01\x02\x00\xf0\x03"
			    "Vendor\0"
			    "1.\n\x80\x22\0"
			    "01/02/2013\0"
			    "\0"
			    "\x02\x05\x04\x01\x07"
			    "only one\0"
			    "\0"
			    "\x7f\x04\x05\x01"
			    "\0";
#define LENGTH	sizeof(table)	/* the last zero ends the last structure */

static const u8 *bytes = (const u8 *)table;

static void strings_are_found_by_number(void)
{
	char text[TEXT];

	CHECK(smbios_describe(bytes, LENGTH, SMBIOS_BIOS, text, TEXT));
	CHECK_STR("Vendor, 1.??\", 01/02/2013", text, "what can't be printed is '?'");
	CHECK(smbios_describe(bytes, LENGTH, SMBIOS_SYSTEM, text, TEXT));
	CHECK_STR("Maker, A machine", text, "in the fields' order, without the serial number");
	CHECK(!smbios_describe(bytes, LENGTH, SMBIOS_BOARD, text, TEXT), "it has no 7 strings");
	CHECK_STR("", text);
}

static void text_is_cut_to_its_size(void)
{
	char text[TEXT];

	memset(text, 'x', sizeof(text));
	CHECK(smbios_describe(bytes, LENGTH, SMBIOS_BIOS, text, 9));
	CHECK_STR("Vendor, ", text);
	CHECK_EQ('x', text[9]);
	CHECK(!smbios_describe(bytes, LENGTH, SMBIOS_BIOS, text, 0));
}

static void what_follows_the_end_is_not_read(void)
{
	static const char late[] = "\x7f\x04\x05\x01"
				   "\0\0"
				   "\x00\x05\x03\x01\x01"
				   "Vendor\0";
	char text[TEXT];

	CHECK(!smbios_describe((const u8 *)late, sizeof(late), SMBIOS_BIOS, text, TEXT));
	CHECK(smbios_describe((const u8 *)late + 6, sizeof(late) - 6, SMBIOS_BIOS, text, TEXT));
	CHECK_STR("Vendor", text);
}

/* The copy ends where the input ends, so that the address sanitizer catches a read beyond it. */
static void try(const u8 *from, size_t length)
{
	u8 *copy = malloc(length ? length : 1);
	u8 uuid[SMBIOS_UUID_SIZE];
	char text[TEXT];

	if (!copy)
		abort();
	memcpy(copy, from, length);
	smbios_uuid(copy, length, uuid);
	smbios_is_virtual(copy, length);
	for (unsigned type = SMBIOS_BIOS; type <= SMBIOS_BOARD; type++) {
		smbios_describe(copy, length, (enum smbios_type)type, text, TEXT);
		for (size_t i = 0; i < strlen(text); i++)
			CHECK(text[i] >= ' ' && text[i] <= '~', "length %zu", length);
	}
	free(copy);
}

/* Machines of the same kind differ in their UUIDs. */
static void a_machine_is_told_by_its_uuid(void)
{
	static const char here[] = "\x01\x19\x02\x01\x02\x01\x00\x03"
				   "0123456789abcdef\x06"
				   "A machine\0"
				   "\0"
				   "\x7f\x04\x05\x01";
	u8 uuid[SMBIOS_UUID_SIZE];

	CHECK(!smbios_uuid(bytes, LENGTH, uuid), "its structure is of an old kind");
	CHECK(smbios_uuid((const u8 *)here, sizeof(here), uuid));
	CHECK(!memcmp(uuid, "0123456789abcdef", sizeof(uuid)));
}

static void a_virtual_machine_says_so(void)
{
	char said[] = "\x00\x14\x03\x01\x00\x00\x00\xf0\x00"
		      "12345678\x00\x00\x1c"
		      "\0\0"
		      "\x7f\x04\x05\x01";
	char made[] = "\x01\x08\x02\x01\x01\x02\x00\x00"
		      "QEMU\0"
		      "Standard PC (Q35 + ICH9, 2009)\0"
		      "\0"
		      "\x7f\x04\x05\x01";

	CHECK(smbios_is_virtual((const u8 *)said, sizeof(said)));
	said[19] = 0x0c;
	CHECK(!smbios_is_virtual((const u8 *)said, sizeof(said)));
	CHECK(smbios_is_virtual((const u8 *)made, sizeof(made)));
	made[8] = 'q';
	CHECK(!smbios_is_virtual((const u8 *)made, sizeof(made)));
	CHECK(!smbios_is_virtual(bytes, LENGTH));
}

static void any_bytes_are_read_within_their_bounds(void)
{
	u8 changed[LENGTH];

	for (size_t length = 0; length <= LENGTH; length++)
		try(bytes, length);
	for (size_t at = 0; at < LENGTH; at++)
		for (unsigned value = 0; value < 256; value++) {
			memcpy(changed, table, LENGTH);
			changed[at] = (u8)value;
			try(changed, LENGTH);
		}
}

int main(void)
{
	RUN(both_entry_points_are_read);
	RUN(damaged_entry_points_are_none);
	RUN(strings_are_found_by_number);
	RUN(text_is_cut_to_its_size);
	RUN(what_follows_the_end_is_not_read);
	RUN(a_machine_is_told_by_its_uuid);
	RUN(a_virtual_machine_says_so);
	RUN(any_bytes_are_read_within_their_bounds);
	return check_end();
}
