/* SPDX-License-Identifier: MIT */
/* Whose firmware this is, and whose machine, for the log. */
#ifndef BOOT_IDENTITY_H
#define BOOT_IDENTITY_H

#include "kernel/output/tap.h"

/* Ask the firmware. Machine given back, after firmware_setup(). */
void identity_read(void);
/* Comments "firmware: ", "bios: ", "system: ", "board: ", "acpi: "; all but the first where SMBIOS
 * and ACPI have them. */
void identity_describe(struct tap *tap);
/* A number that tells this machine from others: its processor and what SMBIOS says of it. After
 * identity_read(). */
u32 identity_digest(void);

#endif
