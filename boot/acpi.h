/* SPDX-License-Identifier: MIT */
/* Two addresses out of ACPI's tables. Called with the machine given back. */
#ifndef BOOT_ACPI_H
#define BOOT_ACPI_H

#include "spec/types.h"

/* Physical address of the HPET's registers; 0: none. */
u64 acpi_hpet_base(void);
/* Of the I/O APIC whose first input is global system interrupt 0; 0: none. */
u64 acpi_ioapic_base(void);
/* The Watchdog Action Table and its length; NULL: there is none. */
const u8 *acpi_watchdog(size_t *length);
/* Who made the tables, and what they are called: "BOCHS BXPC revision 0x1"; "": there are none.
 * Returns text. */
const char *acpi_identity(char *text, size_t size);

#endif
