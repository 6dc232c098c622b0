/* SPDX-License-Identifier: MIT */
/*
 * ACPI Specification, "Multiple APIC Description Table"; IA-PC HPET Specification, "HPET
 * Description Table".
 */
#include "boot/acpi.h"
#include "boot/firmware.h"
#include "kernel/output/fmt.h"
#include "platform/acpi.h"

#define HEADER_BYTES	36	/* bytes of each table's header; then offsets in bytes */
#define OEM		10
#define OEM_LENGTH	6
#define OEM_TABLE	16
#define OEM_TABLE_LENGTH 8
#define OEM_REVISION	24
#define HPET_SPACE	40	/* value 0: in memory */
#define HPET_ADDRESS	44
#define MADT_ENTRIES	44
#define MADT_IOAPIC	1
#define IOAPIC_ADDRESS	4
#define IOAPIC_FIRST_GSI 8
#define IOAPIC_LENGTH	12

/* The table with this signature and at least so many bytes; NULL: there is none. */
static const u8 *find_table(const char *signature, u32 least)
{
	static const u64 everything = ~0ULL;
	const struct physical physical = physical_mapped(&everything);
	u32 length;

	return acpi_table(&physical, (u64)(uintptr_t)firmware_find_table(TABLE_RSDP), signature,
			  least, &length);
}

const u8 *acpi_watchdog(size_t *length)
{
	const u8 *table = find_table("WDAT", HEADER_BYTES);

	*length = table ? (size_t)physical_number(table, 4, 4) : 0;
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
	const u8 *table = find_table("FACP", HEADER_BYTES);
	char oem[OEM_LENGTH + 1], name[OEM_TABLE_LENGTH + 1];

	text[0] = '\0';
	if (!table)
		return text;
	copy_name(oem, table + OEM, OEM_LENGTH);
	copy_name(name, table + OEM_TABLE, OEM_TABLE_LENGTH);
	fmt_print(text, size, "%s %s revision %#x", oem, name,
		  (unsigned)physical_number(table, OEM_REVISION, 4));
	return text;
}

u64 acpi_hpet_base(void)
{
	const u8 *table = find_table("HPET", HPET_ADDRESS + 8);

	return table && !table[HPET_SPACE] ? physical_number(table, HPET_ADDRESS, 8) : 0;
}

u64 acpi_ioapic_base(void)
{
	const u8 *table = find_table("APIC", MADT_ENTRIES);
	u32 length = table ? (u32)physical_number(table, 4, 4) : 0;

	for (u32 at = MADT_ENTRIES; at + IOAPIC_LENGTH <= length; at += table[at + 1]) {
		if (table[at + 1] < 2)
			break;		/* an entry with length 0: the table is broken */
		if (table[at] == MADT_IOAPIC && !physical_number(table, at + IOAPIC_FIRST_GSI, 4))
			return physical_number(table, at + IOAPIC_ADDRESS, 4);
	}
	return 0;
}
