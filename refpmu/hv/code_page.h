/* SPDX-License-Identifier: MIT */
/*
 * Guest-physical pages that don't change unnoticed: read-only in the nested tables of all
 * processors, which share the level-1 tables made here. A store of any processor exits and ends
 * the protection before it retires (vmrun() runs it again then), and so does the hypervisor
 * itself where it writes for the guest (guest_memory.c). APM volume 2, "Nested Paging".
 *
 * A page that is written again and again isn't protected for a while: its code has to be compared.
 *
 * Not noticed: what devices write. Code that relies on a page compares its bytes again where that
 * may have happened. Not protected: memory from 4 GiB on, the hypervisor's, the 2 MiB around the
 * local APIC, and what is beyond CODE_TABLES times 2 MiB with protected pages.
 */
#ifndef REFPMU_HV_CODE_PAGE_H
#define REFPMU_HV_CODE_PAGE_H

#include "refpmu/hv/cpu.h"

#define CODE_TABLES	64

/* Once, when all processors have their nested tables; before the first VMRUN. */
void code_page_init(void);

/*
 * From now on, and till its generation is another one, the page with this guest-physical address
 * is written by no processor. false: it can't be, or it is written too often. Waits until no other
 * processor runs its guest with an older view.
 */
bool code_page_protect(struct cpu *cpu, u64 physical, u32 *generation);

/* Is it still as it was then? */
bool code_page_holds(u64 physical, u32 generation);

/* Of a protected page, for native_pages.h: let it be executed there as long as it is protected.
 * false: it isn't any more. */
bool code_page_make_executable(struct cpu *cpu, u64 physical, u32 generation);
bool code_page_is_executable(u64 physical);

/* The hypervisor is about to write there for the guest. Waits as above: after it no processor runs
 * on what it made from the page without having looked at code_page_epoch(). */
void code_page_written(struct cpu *cpu, u64 physical);

/* Changes whenever a protection ends. */
u32 code_page_epoch(void);

/*
 * Of an EXIT_NPF: was it a store to a page of these? Then it is writable now, and what was being
 * delivered is to be injected again.
 */
bool code_page_fault(struct cpu *cpu);

/* Wait until each other processor has left its guest, if it was there. false: for too long. */
bool code_page_others_left(struct cpu *cpu);

/* Around each VMRUN: the processor has its guest's view of memory. Enter is false, and there is
 * nothing to leave, when a protection has ended since `epoch`; NULL: that doesn't matter. */
bool code_page_enter(struct cpu *cpu, const u32 *epoch);
void code_page_leave(struct cpu *cpu);

/* A processor starts anew, wherever an INIT has stopped it. */
void code_page_started(struct cpu *cpu);

#endif
