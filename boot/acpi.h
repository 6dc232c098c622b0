/* SPDX-License-Identifier: MIT */
/* Addresses from ACPI's tables. Call these functions while the firmware has the machine. */
#ifndef BOOT_ACPI_H
#define BOOT_ACPI_H

#include "spec/types.h"

/* Physical address of the HPET's registers; 0: none. */
u64 acpi_hpet_base(void);
/* Physical address of the I/O APIC whose first input is global system interrupt 0; 0: none. */
u64 acpi_ioapic_base(void);
/* The Watchdog Action Table and its length; NULL: there is none. */
const u8 *acpi_watchdog(size_t *length);
/* The OEM and name of the tables: "BOCHS BXPC revision 0x1"; "": there are no tables. Returns
 * text. */
const char *acpi_identity(char *text, size_t size);

#endif
