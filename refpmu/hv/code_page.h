/* SPDX-License-Identifier: MIT */
/*
 * Write-protected guest-physical pages: they are read-only in the nested tables of all processors,
 * which share the level-1 tables made here. A store of any processor exits before it retires and
 * ends the protection; then vmrun() runs it again. The hypervisor also ends the protection when it
 * writes for the guest (guest_memory.c). APM volume 2, "Nested Paging".
 *
 * A page that is written repeatedly isn't protected for a while: its code must be compared instead.
 *
 * Writes by devices aren't noticed. Code that relies on a page compares its bytes again when a
 * device may have written. Not protected: memory from 4 GiB on, the hypervisor's memory, the 2 MiB
 * around the local APIC, and further 2 MiB areas when CODE_TABLES such areas already have protected
 * pages.
 */
#ifndef REFPMU_HV_CODE_PAGE_H
#define REFPMU_HV_CODE_PAGE_H

#include "refpmu/hv/cpu.h"

#define CODE_TABLES	64

/* Once, when all processors have their nested tables; before the first VMRUN. */
void code_page_init(void);

/*
 * Protect the page with this guest-physical address: until its generation changes, no processor
 * writes to it. false: it can't be protected, or it is written too often. Waits until no other
 * processor runs its guest with older nested tables.
 */
bool code_page_protect(struct cpu *cpu, u64 physical, u32 *generation);

/* Has the page been protected without interruption since then? */
bool code_page_holds(u64 physical, u32 generation);

/* For native_pages.h: make a protected page executable while it is protected. false: it isn't
 * protected any more. */
bool code_page_make_executable(struct cpu *cpu, u64 physical, u32 generation);
bool code_page_is_executable(u64 physical);

/* The hypervisor will write to this page for the guest. Waits as above: afterwards no processor
 * runs code that was made from the page without checking code_page_epoch(). */
void code_page_written(struct cpu *cpu, u64 physical);

/* Changes whenever a protection ends. */
u32 code_page_epoch(void);

/*
 * For an EXIT_NPF: was it a store to a protected page? Then the page is writable now, and an event
 * that was being delivered must be injected again.
 */
bool code_page_fault(struct cpu *cpu);

/* Wait until each other processor has left its guest, if it was there. false: for too long. */
bool code_page_others_left(struct cpu *cpu);

/* Before and after each VMRUN: the processor uses its guest's nested tables. code_page_enter()
 * returns false, and code_page_leave() isn't called, if a protection has ended since `epoch`; NULL:
 * that doesn't matter. */
bool code_page_enter(struct cpu *cpu, const u32 *epoch);
void code_page_leave(struct cpu *cpu);

/* A processor was restarted; an INIT has stopped it at any place. */
void code_page_started(struct cpu *cpu);

#endif
