/* SPDX-License-Identifier: MIT */
/*
 * What the hypervisor runs on: its page tables (identity, 512 GiB), GDT and IDT. FS, GS, TR and
 * LDTR always hold the guest's values; the hypervisor needs none of them.
 */
#ifndef REFPMU_HV_HOST_H
#define REFPMU_HV_HOST_H

#include "refpmu/hv/cpu.h"

/*
 * Build tables in hypervisor.free, and beside them another copy of the image, of `image_size`
 * bytes, whose stubs are those of exceptions: where the first one has been destroyed (a device
 * writes over it, which nothing stops), the second still says its last words. Once, in the copy,
 * before host_load().
 */
void host_init(u64 image_size);

/* Load them on this processor. The guest's own must have been noted before. */
void host_load(struct cpu *cpu);

/*
 * Give the host the guest's CR0.WP and the paging bits of its CR4. QEMU flushes its TLB for each
 * difference at every VMRUN and #VMEXIT (1.9 us a flush), so equal values make exits cheap.
 */
void host_match_control_registers(struct cpu *cpu);

#endif
