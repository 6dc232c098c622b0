/* SPDX-License-Identifier: MIT */
/* Reads and checks the information that a Multiboot2 loader passes (spec/multiboot2.h). Pure. */
#ifndef PLATFORM_MULTIBOOT2_H
#define PLATFORM_MULTIBOOT2_H

#include "platform/start_info.h"

/* Is there Multiboot2 information at this address, as far as its head tells? */
bool multiboot2_is_at(const struct physical *physical, u64 address);

/* After true: read it into info, whose members are 0. NULL: success. Otherwise what is wrong. */
const char *multiboot2_read(const struct physical *physical, u64 address, struct start_info *info);

#endif
