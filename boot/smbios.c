/* SPDX-License-Identifier: MIT */
/* See smbios.h. */
#include "boot/smbios.h"

/* Offsets in bytes, in the 32-bit entry point and in the 64-bit one. */
#define ENTRY32_LENGTH		5u
#define ENTRY32_TABLE_LENGTH	22u
#define ENTRY32_TABLE_ADDRESS	24u
#define ENTRY32_LEAST		30u	/* with the table's address, the number of structures */
#define ENTRY64_LENGTH		6u
#define ENTRY64_TABLE_LENGTH	12u
#define ENTRY64_TABLE_ADDRESS	16u
#define ENTRY64_LEAST		24u

#define HEADER			4u	/* type, length, handle */
#define HEADER_LENGTH		1u
#define TYPE_END		127u

#define BIOS_EXTENSION_2	19u	/* of the BIOS's structure */
#define EXTENSION_2_VIRTUAL	BIT(4)
#define SYSTEM_UUID		8u	/* of the system's */

#define FIELDS			3u
/* The offsets at which a structure has the numbers of its strings. */
static const u8 fields[][FIELDS] = {
	[SMBIOS_BIOS] = { 4, 5, 8 },	/* vendor, version, release date */
	[SMBIOS_SYSTEM] = { 4, 5, 6 },	/* manufacturer, product name, version */
	[SMBIOS_BOARD] = { 4, 5, 6 },
};

static u64 read_at(const u8 *bytes, size_t offset, unsigned count)
{
	u64 value = 0;

	while (count--)
		value = value << 8 | bytes[offset + count];
	return value;
}

static bool begins(const u8 *bytes, size_t size, const char *anchor)
{
	for (size_t i = 0; anchor[i]; i++)
		if (i >= size || bytes[i] != (u8)anchor[i])
			return false;
	return true;
}

/* Is this an entry point of so many bytes with a checksum of 0? */
static bool is_whole(const u8 *entry, size_t length, size_t least, size_t size)
{
	u8 sum = 0;

	if (length < least || length > size)
		return false;
	for (size_t i = 0; i < length; i++)
		sum = (u8)(sum + entry[i]);
	return !sum;
}

bool smbios_find(const u8 *entry, size_t size, struct smbios_table *table)
{
	if (size >= ENTRY64_LEAST && begins(entry, size, "_SM3_")) {
		if (!is_whole(entry, entry[ENTRY64_LENGTH], ENTRY64_LEAST, size))
			return false;
		table->address = read_at(entry, ENTRY64_TABLE_ADDRESS, 8);
		table->length = (u32)read_at(entry, ENTRY64_TABLE_LENGTH, 4);
	} else if (size >= ENTRY32_LEAST && begins(entry, size, "_SM_")) {
		if (!is_whole(entry, entry[ENTRY32_LENGTH], ENTRY32_LEAST, size))
			return false;
		table->address = read_at(entry, ENTRY32_TABLE_ADDRESS, 4);
		table->length = (u32)read_at(entry, ENTRY32_TABLE_LENGTH, 2);
	} else {
		return false;
	}
	if (table->length > SMBIOS_TABLE_MAX)
		table->length = SMBIOS_TABLE_MAX;
	return table->address && table->length && table->address + table->length > table->address;
}

/* Find the two zeros that end a structure's strings, from `strings` on. Returns the offset after
 * them; 0: none. */
static size_t end_of(const u8 *table, size_t length, size_t strings)
{
	for (size_t at = strings; at + 1 < length; at++)
		if (!table[at] && !table[at + 1])
			return at + 2;
	return 0;
}

/* Find the first structure of a type; *end: the offset after it. false: there is no complete
 * one. */
static bool smbios_search(const u8 *table, size_t length, u8 type, size_t *start, size_t *end)
{
	size_t at = 0;

	while (at + HEADER <= length) {
		size_t formatted = table[at + HEADER_LENGTH];

		if (formatted < HEADER || formatted > length - at)
			return false;
		*end = end_of(table, length, at + formatted);
		if (!*end || table[at] == TYPE_END)
			return false;
		*start = at;
		if (table[at] == type)
			return true;
		at = *end;
	}
	return false;
}

/* Text to which strings are appended as long as they fit. */
struct text {
	char *to;
	size_t size, length;
};

static void smbios_add(struct text *text, char c)
{
	if (text->length + 1 < text->size)
		text->to[text->length++] = c;
}

/* Append string `number` of the strings between `strings` and `end`, without surrounding blanks. */
static void add_string(struct text *text, const u8 *table, size_t strings, size_t end, u8 number)
{
	size_t first = strings, last;

	for (; number > 1 && first < end; number--) {
		if (!table[first])
			return;		/* there are fewer strings */
		while (first < end && table[first])
			first++;
		first++;
	}
	for (last = first; last < end && table[last];)
		last++;
	while (first < last && table[first] == ' ')
		first++;
	while (last > first && table[last - 1] == ' ')
		last--;
	if (first >= last)
		return;
	if (text->length) {
		smbios_add(text, ',');
		smbios_add(text, ' ');
	}
	for (; first < last; first++)
		smbios_add(text,
			   table[first] >= ' ' && table[first] <= '~' ? (char)table[first] : '?');
}

bool smbios_describe(const u8 *table, size_t length, enum smbios_type type, char *to, size_t size)
{
	struct text text = { to, size, 0 };
	size_t start, end, formatted;

	if (!size)
		return false;
	to[0] = '\0';
	if (!smbios_search(table, length, (u8)type, &start, &end))
		return false;
	formatted = table[start + HEADER_LENGTH];
	for (unsigned i = 0; i < FIELDS; i++) {
		size_t field = fields[type][i];

		if (field < formatted && table[start + field])
			add_string(&text, table, start + formatted, end, table[start + field]);
	}
	to[text.length] = '\0';
	return text.length;
}

bool smbios_uuid(const u8 *table, size_t length, u8 uuid[SMBIOS_UUID_SIZE])
{
	size_t start, end;

	if (!smbios_search(table, length, SMBIOS_SYSTEM, &start, &end) ||
	    table[start + HEADER_LENGTH] < SYSTEM_UUID + SMBIOS_UUID_SIZE)
		return false;
	for (unsigned i = 0; i < SMBIOS_UUID_SIZE; i++)
		uuid[i] = table[start + SYSTEM_UUID + i];
	return true;
}

bool smbios_is_virtual(const u8 *table, size_t length)
{
	static const char *const makers[] = { "QEMU", "VMware, Inc.", "innotek GmbH" };
	size_t start, end;
	char text[16];

	if (smbios_search(table, length, SMBIOS_BIOS, &start, &end) &&
	    table[start + HEADER_LENGTH] > BIOS_EXTENSION_2 &&
	    (table[start + BIOS_EXTENSION_2] & EXTENSION_2_VIRTUAL))
		return true;
	if (!smbios_describe(table, length, SMBIOS_SYSTEM, text, sizeof(text)))
		return false;
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (begins((const u8 *)text, sizeof(text), makers[i]))
			return true;
	return false;
}
