/* SPDX-License-Identifier: MIT */
/*
 * INIT and SIPI in quick succession to processors that do nothing but leave for the hypervisor:
 * each INIT hits them somewhere in it, and each SIPI has to make guests of them again. Needs QEMU's
 * -smp 2 or more.
 */
#ifndef REFPMU_SELFTEST_STORM_H
#define REFPMU_SELFTEST_STORM_H

#include <efi.h>

#include "spec/types.h"

/* Before machine_enter(). How many other processors there are. */
unsigned storm_open(EFI_SYSTEM_TABLE *system);

/* INITs so many times, every other one doubled. NULL: each processor came every time, as one of
 * Intel's; or what went wrong. Afterwards they wait for a SIPI. */
const char *storm(unsigned times);

/* For others who start processors: which there are, the page below 1 MiB, and the commands. */
unsigned storm_count(void);
u8 storm_apic_id(unsigned i);
u8 *storm_page(void);
void storm_init(u8 apic_id);
void storm_startup(u8 apic_id);		/* at the beginning of the page */

#endif
