/* SPDX-License-Identifier: MIT */
/* Copies this program to its own memory and makes the processor its guest. */
#ifndef REFPMU_VMM_INSTALL_H
#define REFPMU_VMM_INSTALL_H

#include "refpmu/vmm/virtualise.h"

/* NULL: this processor has all required features. Otherwise a missing feature. */
const char *install_missing(void);

/* Bytes of memory for that many other processors. Below 4 GiB, aligned to their number. */
u64 install_size(unsigned others);

/* Copy this image, of image_bytes bytes, to memory->base. The caller has filled in base, size, the
 * processors and its other wishes. From now on the beginning of the copy doesn't change;
 * tools/boot.sh checks this. false: the image is too large. */
bool install(struct virtualise_memory *memory, u64 image_bytes);

/* Start the copy. Returns as a guest, unless the guest begins at memory->entry. */
void install_begin(struct virtualise_memory *memory);

#endif
