/* SPDX-License-Identifier: MIT */
/* Where a loaded program begins. Pure: the image is a foreign file. "Microsoft Portable
 * Executable Format". */
#ifndef REFPMU_LAUNCH_PE_H
#define REFPMU_LAUNCH_PE_H

#include "spec/types.h"

/* The entry point's offset in an image of that many bytes; false: it isn't one of 64-bit code, or
 * that is outside of it. */
bool pe_entry(const u8 *image, u64 size, u32 *entry);

#endif
