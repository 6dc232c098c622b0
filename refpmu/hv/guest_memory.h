/* SPDX-License-Identifier: MIT */
/*
 * The guest's memory by linear address, as its processor's own microcode accesses it: through
 * the current page tables, as supervisor, setting accessed and dirty bits. Long mode with four
 * or five levels, and no paging at all; 32-bit paging isn't followed (an access fails).
 */
#ifndef REFPMU_HV_GUEST_MEMORY_H
#define REFPMU_HV_GUEST_MEMORY_H

#include "refpmu/hv/cpu.h"

/* The page fault that a failed access would raise. */
struct guest_fault {
	u64 linear;
	u32 error;
};

/* Both transfer everything or nothing; fault may be NULL. At most two pages. */
bool guest_read(struct cpu *cpu, u64 linear, void *to, size_t bytes, struct guest_fault *fault);
bool guest_write(struct cpu *cpu, u64 linear, const void *from, size_t bytes,
		 struct guest_fault *fault);

/* The guest has run, or has invalidated a page: forget the translations that were found in its page
 * tables. */
static inline void guest_memory_forget(struct cpu *cpu)
{
	cpu->translations.generation++;
}

/* Set the accessed bit of a page table's entry, which is at nested_paging_host() of its address. */
void guest_memory_accessed(struct cpu *cpu, u64 *entry);

/* Read up to `bytes` bytes, as many as are mapped, and return how many. */
unsigned guest_read_some(struct cpu *cpu, u64 linear, void *to, unsigned bytes);

/* May CPL 0, or with `user` CPL 3, execute at this address? Sets no accessed bit. Only for four
 * levels of tables; with others the page counts as absent. *host, if host isn't NULL: the host's
 * address, if it may. */
enum guest_code { CODE_ABSENT, CODE_FORBIDDEN, CODE_ALLOWED };
enum guest_code guest_code_at(struct cpu *cpu, u64 linear, bool user, const u8 **host);

/*
 * The host's address of the page with this address, if CPL 0, or with `user` CPL 3, may execute
 * there and the accessed bits of its path are set; `set` sets them, as a fetch would. NULL
 * otherwise. Only for four levels of tables.
 */
const u8 *guest_code_page(struct cpu *cpu, u64 linear, bool user, bool set);

/*
 * The host's address of that many bytes at a linear address, for an access of the guest at its
 * privilege level. Sets accessed and dirty bits. NULL: the access would fault or exit, the memory
 * isn't contiguous, or the case is unusual: let the processor carry out the access.
 */
void *guest_data_at(struct cpu *cpu, u64 linear, unsigned bytes, bool write);

/* The same for code, up to the end of its page. */
const u8 *guest_text_at(struct cpu *cpu, u64 linear);

/* Reads and writes as functions of struct model_host; ctx is the struct cpu. Any length. */
bool guest_model_read(void *ctx, u64 linear, void *to, size_t bytes);
bool guest_model_write(void *ctx, u64 linear, const void *from, size_t bytes);

/* The same of physical memory. */
bool guest_model_write_physical(void *ctx, u64 physical, const void *from, size_t bytes);

/* The translation of a linear address and its memory type, by the page attribute table; the ranges
 * of the APICs and the HPET are I/O. Sets no accessed bit. */
bool guest_model_translate(void *ctx, u64 linear, struct memory_page *page);

/* Is this memory that caches may hold, as far as the processor knows? */
bool guest_model_cacheable(void *ctx, u64 physical, u64 bytes);

#endif
