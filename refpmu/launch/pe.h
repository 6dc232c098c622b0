/* SPDX-License-Identifier: MIT */
/* Finds the entry point of a loaded program. Pure: the image is a file of unknown origin.
 * "Microsoft Portable Executable Format". */
#ifndef REFPMU_LAUNCH_PE_H
#define REFPMU_LAUNCH_PE_H

#include "spec/types.h"

/* The entry point's offset in an image of that many bytes; false: the image isn't 64-bit code, or
 * the entry point is outside of it. */
bool pe_entry(const u8 *image, u64 size, u32 *entry);

#endif
