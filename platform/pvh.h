/* SPDX-License-Identifier: MIT */
/* The entry of a program that a PVH loader starts. */
#ifndef PLATFORM_PVH_H
#define PLATFORM_PVH_H

#include "spec/types.h"

/* The program's, called by pvh.asm in 64-bit mode with interrupts off and the first 4 GiB mapped to
 * themselves; start_info: where the loader has put it. */
_Noreturn void pvh_main(u64 start_info);

/* The tables of that map; below 4 GiB. */
extern const u64 pvh_tables[] __attribute__((visibility("hidden")));

#define PVH_MAPPED	BIT(32)

#endif
