/* SPDX-License-Identifier: MIT */
/* The other processors that the firmware knows: "EFI_MP_SERVICES_PROTOCOL", UEFI Platform
 * Initialization Specification. */
#ifndef REFPMU_HV_EFI_PROCESSORS_H
#define REFPMU_HV_EFI_PROCESSORS_H

#include <efi.h>

#include "spec/types.h"

/* Local APIC ids of the enabled processors except this one, at most `most`; returns their
 * number. */
unsigned efi_processors(EFI_BOOT_SERVICES *services, u8 *apic_ids, unsigned most);

#endif
