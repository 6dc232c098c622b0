/* SPDX-License-Identifier: MIT */
/*
 * The guest's physical memory. Every address is mapped to itself, except the hypervisor's memory:
 * in place of each of its pages the guest sees the same ordinary page, at first full of zeros. The
 * exerciser's registers have a page of their own. Stores to this page and to the local APIC's page
 * exit.
 *
 * Devices (DMA) see all memory.
 */
#ifndef REFPMU_HV_NESTED_PAGING_H
#define REFPMU_HV_NESTED_PAGING_H

#include "refpmu/hv/cpu.h"

/* Build this processor's tables and put them into its VMCB. */
void nested_paging_init(struct cpu *cpu);

/* Once: tables for all processors in which nothing is executable (native_pages.h); their root. */
void nested_paging_init_native(void);
u64 nested_paging_native(void);

/* Is the 2 MiB area at this address, below 4 GiB, still mapped by one page, with nothing special in
 * it? */
bool nested_paging_is_plain(u64 guest_physical);
/* Replace that page by tables of 4 KiB pages, on all processors: level1 in the usual tables, native
 * in those of native_pages.h. */
void nested_paging_split(u64 guest_physical, const u64 *level1, const u64 *native);
u64 nested_paging_entry(u64 guest_physical, bool writable);
u64 nested_paging_native_entry(u64 guest_physical, bool writable, bool executable);

/* The address of the exerciser's registers: in the local APIC's 2 MiB, where no chip set has
 * anything. */
#define EXERCISER_PAGE	0xfef00000ULL

/* The guest-physical address of a trapped page, and the host's address of its contents. */
u64 nested_paging_trapped(enum trapped_page page);
u64 nested_paging_shown(enum trapped_page page);
/* Map that page to cpu->trapped_scratch for loads and stores; restore it, so that stores exit
 * again. */
void nested_paging_scratch(struct cpu *cpu, enum trapped_page page);
void nested_paging_trap_again(struct cpu *cpu);

/*
 * Make additional nested tables, in which `bytes` of the hypervisor's memory are mapped at
 * guest-physical address `at`, the first `writable` bytes writable; all else is as in the usual
 * tables. Returns their root. `at` is a multiple of 2 MiB beyond all memory, NESTED_PAGING_EXTRA or
 * more, and the range is inside one gigabyte. Before the first VMRUN.
 */
#define NESTED_PAGING_EXTRA	(1ULL << 39)
u64 nested_paging_with(struct cpu *cpu, u64 at, const void *memory, u64 bytes, u64 writable);

/* The host's address of a guest-physical address; NULL beyond 512 GiB. */
void *nested_paging_host(u64 guest_physical);

#endif
