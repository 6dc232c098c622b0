/* SPDX-License-Identifier: MIT */
/*
 * ACPI Specification, "Root System Description Pointer", "Extended System Description Table",
 * "Multiple APIC Description Table"; IA-PC HPET Specification, "HPET Description Table".
 * Not handled: ACPI 1.0 (RSDT), which no UEFI firmware is limited to.
 */
#include "boot/acpi.h"
#include "boot/firmware.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"

struct header {
	char signature[4];
	u32 length;
	u8 rest[28];
} __attribute__((packed));
_Static_assert(sizeof(struct header) == 36, "a table's header");

#define RSDP_XSDT	24	/* offsets, in bytes */
#define OEM		10
#define OEM_LENGTH	6
#define OEM_TABLE	16
#define OEM_TABLE_LENGTH 8
#define OEM_REVISION	24
#define HPET_SPACE	40	/* 0: memory */
#define HPET_ADDRESS	44
#define MADT_ENTRIES	44
#define MADT_IOAPIC	1
#define IOAPIC_ADDRESS	4
#define IOAPIC_FIRST_GSI 8
#define IOAPIC_LENGTH	12

/* Tables are aligned to nothing in particular. */
static u64 read_at(const u8 *table, size_t offset, size_t bytes)
{
	u64 value = 0;

	memcpy(&value, table + offset, bytes);
	return value;
}

static const u8 *find_rsdp(void)
{
	static const EFI_GUID guid = ACPI_20_TABLE_GUID;

	return firmware_find_table(&guid);
}

/* The table with that signature and at least that many bytes; NULL: there is none. */
static const u8 *find_table(const char *signature, u32 least)
{
	const u8 *rsdp = find_rsdp();
	const u8 *xsdt = rsdp ? (const u8 *)(uintptr_t)read_at(rsdp, RSDP_XSDT, 8) : NULL;
	struct header header;
	u32 length;

	if (!xsdt)
		return NULL;
	length = (u32)read_at(xsdt, 4, 4);
	for (u32 at = sizeof header; at + 8 <= length; at += 8) {
		const u8 *table = (const u8 *)(uintptr_t)read_at(xsdt, at, 8);

		if (!table)
			continue;
		memcpy(&header, table, sizeof header);
		if (!memcmp(header.signature, signature, 4) && header.length >= least)
			return table;
	}
	return NULL;
}

const u8 *acpi_watchdog(size_t *length)
{
	const u8 *table = find_table("WDAT", sizeof(struct header));

	*length = table ? (size_t)read_at(table, 4, 4) : 0;
	return table;
}

static void copy_name(char *text, const u8 *from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		text[i] = from[i] >= ' ' && from[i] <= '~' ? (char)from[i] : ' ';
	while (length && text[length - 1] == ' ')
		length--;
	text[length] = '\0';
}

const char *acpi_identity(char *text, size_t size)
{
	const u8 *table = find_table("FACP", sizeof(struct header));
	char oem[OEM_LENGTH + 1], name[OEM_TABLE_LENGTH + 1];

	text[0] = '\0';
	if (!table)
		return text;
	copy_name(oem, table + OEM, OEM_LENGTH);
	copy_name(name, table + OEM_TABLE, OEM_TABLE_LENGTH);
	fmt_print(text, size, "%s %s revision %#x", oem, name,
		  (unsigned)read_at(table, OEM_REVISION, 4));
	return text;
}

u64 acpi_hpet_base(void)
{
	const u8 *table = find_table("HPET", HPET_ADDRESS + 8);

	return table && !table[HPET_SPACE] ? read_at(table, HPET_ADDRESS, 8) : 0;
}

u64 acpi_ioapic_base(void)
{
	const u8 *table = find_table("APIC", MADT_ENTRIES);
	u32 length = table ? (u32)read_at(table, 4, 4) : 0;

	for (u32 at = MADT_ENTRIES; at + IOAPIC_LENGTH <= length; at += table[at + 1]) {
		if (table[at + 1] < 2)
			break;		/* an entry of no length: a broken table */
		if (table[at] == MADT_IOAPIC && !read_at(table, at + IOAPIC_FIRST_GSI, 4))
			return read_at(table, at + IOAPIC_ADDRESS, 4);
	}
	return 0;
}
