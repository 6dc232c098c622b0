/* SPDX-License-Identifier: MIT */
/* The entry of a program that a PVH loader starts. */
#ifndef PLATFORM_PVH_H
#define PLATFORM_PVH_H

#include "spec/types.h"

/* The program defines this function. pvh.asm calls it in 64-bit mode, with interrupts off and the
 * first 4 GiB identity mapped; start_info: address of the loader's structure. */
_Noreturn void pvh_main(u64 start_info);

/* The page tables of that map; below 4 GiB. */
extern const u64 pvh_tables[] __attribute__((visibility("hidden")));

#define PVH_MAPPED	BIT(32)

#endif
