/* SPDX-License-Identifier: MIT */
/* Copying this program to memory of its own and making the processor its guest. */
#ifndef REFPMU_VMM_INSTALL_H
#define REFPMU_VMM_INSTALL_H

#include "refpmu/vmm/virtualise.h"

/* NULL: this processor can do it. Otherwise what it lacks. */
const char *install_missing(void);

/* Bytes of memory for that many other processors. Below 4 GiB, aligned to their number. */
u64 install_size(unsigned others);

/* Copy this image, of so many bytes, to memory->base: base, size, the processors and what else the
 * caller wants are filled in. From here on nothing changes where the copy begins, which
 * tools/boot.sh watches. false: the image is too large. */
bool install(struct virtualise_memory *memory, u64 image_bytes);

/* Begin there. Returns as a guest, unless memory->entry says where the guest begins. */
void install_begin(struct virtualise_memory *memory);

#endif
