/* SPDX-License-Identifier: MIT */
/* See acpi.h. Checksums are verified only while the pointer is searched, because some firmware has
 * wrong ones.
 */
#include "platform/acpi.h"

/* Offsets, in bytes. */
#define HEADER		36u		/* of each table */
#define HEADER_LENGTH	4
#define RSDP_REVISION	15
#define RSDP_RSDT	16
#define RSDP_BYTES_1	20u
#define RSDP_XSDT	24
#define RSDP_BYTES_2	36u
#define MADT_ENTRIES	44u
#define MADT_LOCAL_APIC	0
#define MADT_X2APIC	9
#define MADT_ENABLED	BIT(0)
#define FADT_BYTES_1	116u		/* ACPI 1.0 */
#define FADT_DSDT	40
#define FADT_SMI_COMMAND 48
#define FADT_ACPI_ENABLE 52
#define FADT_PM1A	64
#define FADT_PM1B	68
#define FADT_TIMER	76
#define FADT_FLAGS	112
#define FADT_RESET	116
#define FADT_RESET_VALUE 128
#define FADT_X_DSDT	140
#define FADT_SLEEP	244
#define FLAG_RESET	BIT(10)		/* RESET_REG_SUP */
#define FLAG_REDUCED	BIT(20)		/* HW_REDUCED_ACPI */
#define PM1_SLEEP_TYPE	10		/* "PM1 Control Registers" */
#define PM1_SLEEP	BIT(13)
#define REDUCED_SLEEP_TYPE 2		/* "Sleep Control and Status Registers" */
#define REDUCED_SLEEP	BIT(5)

/* "ACPI Machine Language (AML) Specification". */
#define AML_ZERO	0x00
#define AML_ONE		0x01
#define AML_NAME	0x08
#define AML_BYTE	0x0a
#define AML_PACKAGE	0x12

#define EBDA_POINTER	0x40e
#define EBDA_BYTES	1024u
#define BIOS_BEGIN	0xe0000u
#define BIOS_BYTES	0x20000u
#define TABLES_MOST	1024u		/* that a root table names */

static bool is_same(const u8 *bytes, const char *text)
{
	while (*text && (u8)*text == *bytes)
		text++, bytes++;
	return !*text;
}

static u64 search(const struct physical *physical, u64 from, u64 bytes)
{
	const u8 *at = physical->at(physical->ctx, from, bytes);

	for (u64 i = 0; at && i + RSDP_BYTES_1 <= bytes; i += 16) {
		u8 sum = 0;

		if (!is_same(at + i, "RSD PTR "))
			continue;
		for (unsigned n = 0; n < RSDP_BYTES_1; n++)
			sum = (u8)(sum + at[i + n]);
		if (!sum)
			return from + i;
	}
	return 0;
}

u64 acpi_search(const struct physical *physical)
{
	const u8 *pointer = physical->at(physical->ctx, EBDA_POINTER, 2);
	u64 ebda = pointer ? physical_number(pointer, 0, 2) << 4 : 0;
	u64 found = ebda ? search(physical, ebda, EBDA_BYTES) : 0;

	return found ? found : search(physical, BIOS_BEGIN, BIOS_BYTES);
}

/* A whole table at that address; NULL: it isn't there. */
static const u8 *whole(const struct physical *physical, u64 address, u32 least, u32 *length)
{
	const u8 *header = physical->at(physical->ctx, address, HEADER);

	if (!header)
		return NULL;
	*length = (u32)physical_number(header, HEADER_LENGTH, 4);
	return *length >= HEADER && *length >= least ?
		       physical->at(physical->ctx, address, *length) :
		       NULL;
}

static const u8 *root_table(const struct physical *physical, u64 rsdp, unsigned *width, u32 *length)
{
	const u8 *pointer = rsdp ? physical->at(physical->ctx, rsdp, RSDP_BYTES_1) : NULL;
	u64 address;

	if (!pointer)
		return NULL;
	*width = 4;
	address = physical_number(pointer, RSDP_RSDT, 4);
	if (pointer[RSDP_REVISION] >= 2 && physical->at(physical->ctx, rsdp, RSDP_BYTES_2) &&
	    physical_number(pointer, RSDP_XSDT, 8)) {
		*width = 8;
		address = physical_number(pointer, RSDP_XSDT, 8);
	}
	return whole(physical, address, HEADER, length);
}

const u8 *acpi_table(const struct physical *physical, u64 rsdp, const char *signature, u32 least,
		     u32 *length)
{
	u32 root_length = 0;
	unsigned width, tables = 0;
	const u8 *root = root_table(physical, rsdp, &width, &root_length);

	for (u64 at = HEADER; root && at + width <= root_length && tables < TABLES_MOST;
	     at += width, tables++) {
		const u8 *table = whole(physical, physical_number(root, at, width), least, length);

		if (table && is_same(table, signature))
			return table;
	}
	return NULL;
}

unsigned acpi_processors(const struct physical *physical, u64 rsdp, u32 *ids, unsigned most)
{
	u32 length = 0;
	const u8 *table = acpi_table(physical, rsdp, "APIC", MADT_ENTRIES, &length);
	unsigned count = 0;

	for (u64 at = MADT_ENTRIES; table && at + 2 <= length && count < most;
	     at += table[at + 1]) {
		u64 bytes = table[at + 1];

		if (bytes < 2 || at + bytes > length)
			break;		/* a broken table */
		if (table[at] == MADT_LOCAL_APIC && bytes >= 8 &&
		    (physical_number(table, at + 4, 4) & MADT_ENABLED))
			ids[count++] = table[at + 3];
		else if (table[at] == MADT_X2APIC && bytes >= 16 &&
			 (physical_number(table, at + 8, 4) & MADT_ENABLED))
			ids[count++] = (u32)physical_number(table, at + 4, 4);
	}
	return count;
}

/* One of a package's first elements, and what comes after it. false: it isn't a small number. */
static bool take_number(const u8 *code, u32 length, u32 *at, u32 *value)
{
	if (*at < length && (code[*at] == AML_ZERO || code[*at] == AML_ONE)) {
		*value = code[(*at)++];
		return true;
	}
	if (*at + 1 >= length || code[*at] != AML_BYTE)
		return false;
	*value = code[*at + 1];
	*at += 2;
	return true;
}

/* Name (_S5, Package () { a, b, ... }), searched in the table's bytes. */
static bool find_s5(const u8 *code, u32 length, u32 type[2])
{
	for (u32 i = HEADER + 1; i + 8 < length; i++) {
		u32 at = i + 4;

		if (!is_same(code + i, "_S5_") || code[at++] != AML_PACKAGE ||
		    (code[i - 1] != AML_NAME && code[i - 1] != '\\'))
			continue;
		at += 1u + (code[at] >> 6);	/* PkgLength: more bytes by its top bits */
		at++;				/* NumElements */
		if (take_number(code, length, &at, &type[0])) {
			if (!take_number(code, length, &at, &type[1]))
				type[1] = type[0];
			return true;
		}
	}
	return false;
}

/* "Generic Address Structure". */
static struct acpi_register generic(const u8 *table, u32 at, u32 value)
{
	return (struct acpi_register){
		.address = table[at] <= 1 ? physical_number(table, at + 4, 8) : 0,
		.is_port = table[at] == 1, .value = value, .bytes = 1,
	};
}

void acpi_power(const struct physical *physical, u64 rsdp, struct acpi_power *power)
{
	u32 length = 0, code_length = 0, type[2], flags;
	const u8 *table = acpi_table(physical, rsdp, "FACP", FADT_BYTES_1, &length), *code;
	u64 dsdt;

	*power = (struct acpi_power){ .timer_port = 0 };
	if (!table)
		return;
	flags = (u32)physical_number(table, FADT_FLAGS, 4);
	if (!(flags & FLAG_REDUCED))
		power->timer_port = (u16)physical_number(table, FADT_TIMER, 4);
	if ((flags & FLAG_RESET) && length > FADT_RESET_VALUE)
		power->reset = generic(table, FADT_RESET, table[FADT_RESET_VALUE]);
	dsdt = physical_number(table, FADT_DSDT, 4);
	if (length >= FADT_X_DSDT + 8 && physical_number(table, FADT_X_DSDT, 8))
		dsdt = physical_number(table, FADT_X_DSDT, 8);
	code = whole(physical, dsdt, HEADER, &code_length);
	if (!code || !find_s5(code, code_length, type))
		return;
	if (flags & FLAG_REDUCED) {
		if (length >= FADT_SLEEP + 12)
			power->off[0] = generic(table, FADT_SLEEP,
						(u32)(type[0] << REDUCED_SLEEP_TYPE |
						      REDUCED_SLEEP));
		return;
	}
	if (table[FADT_ACPI_ENABLE])
		power->enable = (struct acpi_register){
			.address = physical_number(table, FADT_SMI_COMMAND, 4),
			.is_port = true, .value = table[FADT_ACPI_ENABLE], .bytes = 1,
		};
	for (unsigned i = 0; i < 2; i++)
		power->off[i] = (struct acpi_register){
			.address = physical_number(table, i ? FADT_PM1B : FADT_PM1A, 4),
			.is_port = true, .value = (u32)(type[i] << PM1_SLEEP_TYPE | PM1_SLEEP),
			.bytes = 2,
		};
}
