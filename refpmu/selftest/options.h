/* SPDX-License-Identifier: MIT */
/* The load options of a program: words like programs=100, with blanks between them. */
#ifndef REFPMU_SELFTEST_OPTIONS_H
#define REFPMU_SELFTEST_OPTIONS_H

#include <efi.h>

#include "spec/types.h"

/* Once, first. What isn't ASCII or after 255 characters is left out. */
void options_open(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

/* The number after "name=", decimal or with 0x; `otherwise` without it. */
u64 options_number(const char *name, u64 otherwise);

#endif
