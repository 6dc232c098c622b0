/* SPDX-License-Identifier: MIT */
/* The firmware as UEFI has it: for boot/uefi/ itself. UEFI Specification, "Services - Boot
 * Services", "Loaded Image Protocol". gnu-efi's headers only, none of its code. */
#ifndef BOOT_UEFI_UEFI_H
#define BOOT_UEFI_UEFI_H

#include <efi.h>

/* One program, one firmware: set by uefi_init(). */
struct uefi {
	EFI_HANDLE image;
	EFI_SYSTEM_TABLE *system;
	EFI_BOOT_SERVICES *boot;
	EFI_LOADED_IMAGE_PROTOCOL *loaded;
};
extern struct uefi uefi;

/* Also switches the firmware's watchdog off: a run may take longer than its five minutes. */
EFI_STATUS uefi_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

#endif
