/* SPDX-License-Identifier: MIT */
/*
 * The strings by which SMBIOS names firmware, machine and board: System Management BIOS Reference
 * Specification, "Structure Table Entry Point", "Structure standards", "Required structures and
 * data". Pure: the caller provides the memory, and all contents are checked.
 */
#ifndef BOOT_SMBIOS_H
#define BOOT_SMBIOS_H

#include "spec/types.h"

/* Bytes of an entry point that may be read: its longest form, rounded up. */
#define SMBIOS_ENTRY_SIZE	32u
/* At most this much of a table is read. */
#define SMBIOS_TABLE_MAX	0x10000u

enum smbios_type { SMBIOS_BIOS, SMBIOS_SYSTEM, SMBIOS_BOARD };

struct smbios_table {
	u64 address;
	u32 length;	/* with a 64-bit entry point an upper limit */
};

/* Where an entry point of either form says that the table is. false: it isn't one, or damaged. */
bool smbios_find(const u8 *entry, size_t size, struct smbios_table *table);

/*
 * The strings of the first structure of that type, separated by ", ": vendor, version and date, or
 * manufacturer, product and version. Never a serial number or a UUID. Printable ASCII; any other
 * byte becomes '?'. false: no such structure, or all its strings are empty.
 */
bool smbios_describe(const u8 *table, size_t length, enum smbios_type type, char *text,
		     size_t size);

/* The machine's UUID (System Information). It distinguishes machines of the same kind, and mustn't
 * be printed. false: there is none. */
#define SMBIOS_UUID_SIZE	16u
bool smbios_uuid(const u8 *table, size_t length, u8 uuid[SMBIOS_UUID_SIZE]);

/* Does the table say that the machine is virtual (BIOS Characteristics Extension Byte 2), or is its
 * manufacturer a hypervisor's? */
bool smbios_is_virtual(const u8 *table, size_t length);

#endif
