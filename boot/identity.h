/* SPDX-License-Identifier: MIT */
/* Names and versions of the firmware and of the machine, for the log. */
#ifndef BOOT_IDENTITY_H
#define BOOT_IDENTITY_H

#include "kernel/output/tap.h"

/* Read them from the firmware, while the firmware has the machine. */
void identity_read(void);
/* Comments "firmware: ", "bios: ", "system: ", "board: ", "acpi: "; all but the first where SMBIOS
 * and ACPI have them. */
void identity_describe(struct tap *tap);
/* Does SMBIOS say that this is a virtual machine? After identity_read(). */
bool identity_is_virtual(void);
/* A number that identifies this machine, made from its processor, and from its strings and its UUID
 * in SMBIOS. The UUID distinguishes machines of the same kind. After identity_read(). */
u32 identity_digest(void);

#endif
