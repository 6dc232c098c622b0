/* SPDX-License-Identifier: MIT */
/* Which other processors the firmware knows: "EFI_MP_SERVICES_PROTOCOL", UEFI Platform
 * Initialization Specification. */
#ifndef REFPMU_HV_EFI_PROCESSORS_H
#define REFPMU_HV_EFI_PROCESSORS_H

#include <efi.h>

#include "spec/types.h"

/* Local APIC ids of the enabled processors but this one, `most` at most; how many. */
unsigned efi_processors(EFI_BOOT_SERVICES *services, u8 *apic_ids, unsigned most);

#endif
