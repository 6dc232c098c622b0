/* SPDX-License-Identifier: MIT */
/* The load option --version of refpmu.efi and launch.efi. */
#ifndef REFPMU_HV_EFI_VERSION_H
#define REFPMU_HV_EFI_VERSION_H

#include <efi.h>

#include "spec/types.h"

/* Do the load options contain it? Then the version has been printed, and the program ends. */
bool efi_version_asked(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

#endif
