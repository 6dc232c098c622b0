/* SPDX-License-Identifier: MIT */
/*
 * A program that stays loaded from one run to the next. Before each run only those bytes are
 * restored that the program has changed in itself, so that QEMU's translations of its code stay
 * valid. And its memory isn't given back to the firmware: firmware built for debugging fills freed
 * memory byte by byte, which takes 0.3 s, mostly for pages with code that QEMU has translated. For
 * programs that end by returning from their entry point, not by Exit(), and leave nothing in the
 * firmware.
 */
#ifndef REFPMU_LAUNCH_RESIDENT_H
#define REFPMU_LAUNCH_RESIDENT_H

#include <efi.h>

#include "spec/types.h"

/* Run it, with arguments like those of firmware_load(). Returns its result, or the reason why it
 * couldn't be loaded. The first call in a boot decides which program it is; for any other program
 * the result is EFI_UNSUPPORTED. Load no other program after that. */
EFI_STATUS resident_run(const char *path, const char *options);

#endif
