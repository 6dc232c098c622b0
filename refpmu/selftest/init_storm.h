/* SPDX-License-Identifier: MIT */
/*
 * Sends INIT and SIPI in quick succession to processors that exit to the hypervisor all the time.
 * So each INIT hits a processor somewhere in the hypervisor, and after each SIPI it must become a
 * guest again. Needs QEMU's -smp 2 or more.
 */
#ifndef REFPMU_SELFTEST_INIT_STORM_H
#define REFPMU_SELFTEST_INIT_STORM_H

#include <efi.h>

#include "spec/types.h"

/* Before machine_enter(). How many other processors there are. */
unsigned init_storm_open(EFI_SYSTEM_TABLE *system);

/* Send `times` INITs, every second one twice. NULL: each processor started every time, as an Intel
 * processor does; otherwise what went wrong. Afterwards the processors wait for a SIPI. */
const char *init_storm(unsigned times);

/* For other files that start processors: the processors, the page below 1 MiB, and the commands. */
unsigned init_storm_count(void);
u8 init_storm_apic_id(unsigned i);
u8 *init_storm_page(void);
void init_storm_send_init(u8 apic_id);
void init_storm_send_startup(u8 apic_id);	/* at the beginning of the page */

#endif
