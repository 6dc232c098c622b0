/* SPDX-License-Identifier: MIT */
/*
 * Reads the ACPI tables that this project needs: ACPI Specification, "ACPI Software Programming
 * Model", "Root System Description Pointer", "Multiple APIC Description Table", "Fixed ACPI
 * Description Table". Pure. The contents of the tables are checked, because anything may have
 * written to this memory.
 */
#ifndef PLATFORM_ACPI_H
#define PLATFORM_ACPI_H

#include "platform/physical.h"

/* Find the pointer where a BIOS puts it, "Finding the RSDP on IA-PC Systems"; 0: there is none. */
u64 acpi_search(const struct physical *physical);

/* The table with that signature, its length (`least` bytes or more) and its address; NULL: there is
 * none. rsdp: 0 is none. */
const u8 *acpi_table(const struct physical *physical, u64 rsdp, const char *signature, u32 least,
		     u32 *length);

/* Local APIC ids of the enabled processors, at most `most`; returns their number. */
unsigned acpi_processors(const struct physical *physical, u64 rsdp, u32 *ids, unsigned most);

/* How the machine is switched off and reset. */
struct acpi_register {
	u64 address;		/* 0: there is none */
	bool is_port;
	u32 value;
	unsigned bytes;
};
struct acpi_power {
	/* Until the machine is in ACPI mode, which a BIOS may leave to the system, `off` may do
	 * nothing: bit 0 of the port at off[0] is 0 then, and a write of `enable` ends that. */
	struct acpi_register enable;
	struct acpi_register off[2], reset;
	u16 timer_port;		/* the power management timer; 0: none */
};
void acpi_power(const struct physical *physical, u64 rsdp, struct acpi_power *power);

#endif
