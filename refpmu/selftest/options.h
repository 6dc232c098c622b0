/* SPDX-License-Identifier: MIT */
/* The load options of a program: words like programs=100, with blanks between them. */
#ifndef REFPMU_SELFTEST_OPTIONS_H
#define REFPMU_SELFTEST_OPTIONS_H

#include <efi.h>

#include "spec/types.h"

/* Once, before the other function. Characters that aren't ASCII, and those after the 255th, are
 * dropped. */
void options_open(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

/* The number after "name=", decimal or with 0x; `otherwise` without it. */
u64 options_number(const char *name, u64 otherwise);

#endif
