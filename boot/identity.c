/* SPDX-License-Identifier: MIT */
/* Strings are copied early, while the firmware's page tables are in use; a run may begin much
 * later. */
#include "boot/acpi.h"
#include "boot/firmware.h"
#include "boot/identity.h"
#include "boot/results/frame.h"
#include "boot/smbios.h"
#include "kernel/output/fmt.h"
#include "kernel/memory/string.h"
#include "kernel/processor/cpuid.h"

#define ACPI_SIZE	64
#define FIRMWARE_SIZE	200
#define LINE_SIZE	200
#define FOUR_GIB	BIT(32)
#define BRAND_FIRST	0x80000002u
#define BRAND_LAST	0x80000004u

static const struct line {
	const char *key;
	enum smbios_type type;
} lines[] = {
	{ "bios", SMBIOS_BIOS }, { "system", SMBIOS_SYSTEM }, { "board", SMBIOS_BOARD },
};
#define LINES	(sizeof(lines) / sizeof(lines[0]))

static char acpi[ACPI_SIZE], said[LINES][LINE_SIZE];
static u8 uuid[SMBIOS_UUID_SIZE];	/* zeros: none */
static bool is_virtual;

/* Firmware may have both entry points; only the 64-bit one can point to a table above 4 GiB. */
static bool find_table(struct smbios_table *table)
{
	static const enum firmware_table both[] = { TABLE_SMBIOS3, TABLE_SMBIOS };
	u64 top = firmware_memory() > FOUR_GIB ? firmware_memory() : FOUR_GIB;

	for (unsigned i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
		const u8 *entry = firmware_find_table(both[i]);

		if (entry && smbios_find(entry, SMBIOS_ENTRY_SIZE, table) &&
		    table->address + table->length <= top)
			return true;
	}
	return false;
}

void identity_read(void)
{
	struct smbios_table table;
	bool is_there = find_table(&table);

	is_virtual = is_there &&
		     smbios_is_virtual((const u8 *)(uintptr_t)table.address, table.length);
	if (is_there)
		smbios_uuid((const u8 *)(uintptr_t)table.address, table.length, uuid);
	acpi_identity(acpi, sizeof acpi);
	for (unsigned i = 0; i < LINES; i++) {
		said[i][0] = '\0';
		if (is_there)
			smbios_describe((const u8 *)(uintptr_t)table.address, table.length,
					lines[i].type, said[i], LINE_SIZE);
	}
}

void identity_describe(struct tap *tap)
{
	char firmware[FIRMWARE_SIZE];

	firmware_describe(firmware, sizeof firmware);
	tap_comment(tap, "firmware: %s", firmware);
	for (unsigned i = 0; i < LINES; i++)
		if (said[i][0])
			tap_comment(tap, "%s: %s", lines[i].key, said[i]);
	if (acpi[0])
		tap_comment(tap, "acpi: %s", acpi);
}

bool identity_is_virtual(void)
{
	return is_virtual;
}

u32 identity_digest(void)
{
	struct cpuid leaf = cpuid_read(0, 0);
	u32 crc = frame_crc(0, &leaf.ebx, sizeof(leaf) - sizeof(leaf.eax));
	u32 signature = cpuid_read(1, 0).eax;

	crc = frame_crc(crc, &signature, sizeof(signature));
	for (u32 n = BRAND_FIRST; n <= BRAND_LAST; n++) {
		if (cpuid_read(BRAND_FIRST & ~0xffu, 0).eax < n)
			break;
		leaf = cpuid_read(n, 0);
		crc = frame_crc(crc, &leaf, sizeof(leaf));
	}
	for (unsigned i = 0; i < LINES; i++)
		crc = frame_crc(crc, said[i], strlen(said[i]));
	return frame_crc(crc, uuid, sizeof(uuid));
}
