/* SPDX-License-Identifier: MIT */
/*
 * INIT and SIPI in quick succession to processors that do nothing but leave for the hypervisor:
 * each INIT hits them somewhere in it, and each SIPI has to make guests of them again. Needs QEMU's
 * -smp 2 or more.
 */
#ifndef REFPMU_SELFTEST_INIT_STORM_H
#define REFPMU_SELFTEST_INIT_STORM_H

#include <efi.h>

#include "spec/types.h"

/* Before machine_enter(). How many other processors there are. */
unsigned init_storm_open(EFI_SYSTEM_TABLE *system);

/* INITs, `times` of them, every other one doubled. NULL: each processor came every time, as one of
 * Intel's; or what went wrong. Afterwards they wait for a SIPI. */
const char *init_storm(unsigned times);

/* For others that start processors: which there are, the page below 1 MiB, and the commands. */
unsigned init_storm_count(void);
u8 init_storm_apic_id(unsigned i);
u8 *init_storm_page(void);
void init_storm_send_init(u8 apic_id);
void init_storm_send_startup(u8 apic_id);	/* at the beginning of the page */

#endif
