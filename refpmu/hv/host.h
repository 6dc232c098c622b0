/* SPDX-License-Identifier: MIT */
/*
 * The hypervisor's own page tables (identity, 512 GiB), GDT and IDT. FS, GS, TR and LDTR always
 * have the guest's values; the hypervisor doesn't need them.
 */
#ifndef REFPMU_HV_HOST_H
#define REFPMU_HV_HOST_H

#include "refpmu/hv/cpu.h"

/*
 * Build the tables in hypervisor.free, and there a second copy of the image, of `image_size` bytes,
 * whose stubs handle exceptions. If a device overwrites the first copy, which can't be prevented,
 * the second can still print the final message. Once, in the first copy, before host_load().
 */
void host_init(u64 image_size);

/* Load the tables on this processor. The guest's tables must have been saved before. */
void host_load(struct cpu *cpu);

/*
 * Give the host the guest's CR0.WP and the paging bits of its CR4. QEMU flushes its TLB for each
 * difference at every VMRUN and #VMEXIT (1.9 us a flush), so equal values make exits cheap.
 */
void host_match_control_registers(struct cpu *cpu);

#endif
