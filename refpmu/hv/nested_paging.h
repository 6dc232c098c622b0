/* SPDX-License-Identifier: MIT */
/*
 * What the guest sees as physical memory: everything at its own address, except the hypervisor
 * (each of its pages shows one page of zeros that can be written and forgets nothing), the
 * exerciser's registers, and stores to those and to the local APIC's page, which exit.
 *
 * Not hidden: memory as devices see it (DMA).
 */
#ifndef REFPMU_HV_NESTED_PAGING_H
#define REFPMU_HV_NESTED_PAGING_H

#include "refpmu/hv/cpu.h"

/* Build this processor's tables and put them into its VMCB. */
void nested_paging_init(struct cpu *cpu);

/* Once: tables for all processors in which nothing is executable (native_pages.h); their root. */
void nested_paging_init_native(void);
u64 nested_paging_native(void);

/* Is the 2 MiB page with this address, below 4 GiB, still one, with nothing special in it? */
bool nested_paging_is_plain(u64 guest_physical);
/* Take tables of 4-KiB pages in its place, on all processors: one for native_pages.h, and one. The
 * same entry for each. */
void nested_paging_split(u64 guest_physical, const u64 *level1, const u64 *native);
u64 nested_paging_entry(u64 guest_physical, bool writable);
u64 nested_paging_native_entry(u64 guest_physical, bool writable, bool executable);

/* Where the exerciser's registers are: where no chip set has anything, in the APIC's 2 MiB. */
#define EXERCISER_PAGE	0xfef00000ULL

/* Guest-physical address of such a page, and where what the guest reads there is for the host. */
u64 nested_paging_trapped(enum trapped_page page);
u64 nested_paging_shown(enum trapped_page page);
/* Let loads and stores of that page go to cpu->trapped_scratch; and stores to all of them exit. */
void nested_paging_scratch(struct cpu *cpu, enum trapped_page page);
void nested_paging_trap_again(struct cpu *cpu);

/*
 * Further tables, in which the guest sees `bytes` of the hypervisor's memory from `at` on, the
 * first `writable` of which it can write, and all else as in its own. Returns their root. `at` is a
 * multiple of 2 MiB beyond all memory, NESTED_PAGING_EXTRA or more, and they don't leave its
 * gigabyte. Before the first VMRUN.
 */
#define NESTED_PAGING_EXTRA	(1ULL << 39)
u64 nested_paging_with(struct cpu *cpu, u64 at, const void *memory, u64 bytes, u64 writable);

/* Where the host finds the byte at a guest-physical address; NULL beyond 512 GiB. */
void *nested_paging_host(u64 guest_physical);

#endif
