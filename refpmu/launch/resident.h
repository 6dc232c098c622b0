/* SPDX-License-Identifier: MIT */
/*
 * A program that stays loaded from one run to the next. What it has changed of itself is put back
 * before each run, and no more, so that QEMU's translations of its code stay; and a firmware built
 * for debugging, which fills memory that is given back byte by byte, isn't given it back (0.3 s,
 * most of it for the code that QEMU watches). For programs that end by returning from their entry
 * point, not by Exit(), and leave nothing in the firmware.
 */
#ifndef REFPMU_LAUNCH_RESIDENT_H
#define REFPMU_LAUNCH_RESIDENT_H

#include <efi.h>

#include "spec/types.h"

/* Run it, with arguments as those of firmware_load(), and return what it returned, or why it
 * couldn't be loaded. The first call of a boot decides which program it is: another one is
 * EFI_UNSUPPORTED. Load no other program after that. */
EFI_STATUS resident_run(const char *path, const char *options);

#endif
