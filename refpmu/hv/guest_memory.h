/* SPDX-License-Identifier: MIT */
/*
 * The guest's memory by linear address, as its processor's own microcode accesses it: through
 * the current page tables, as supervisor, setting accessed and dirty bits. Long mode with four
 * or five levels, and no paging at all; 32-bit paging isn't followed (an access fails).
 */
#ifndef REFPMU_HV_GUEST_MEMORY_H
#define REFPMU_HV_GUEST_MEMORY_H

#include "refpmu/hv/cpu.h"

/* What a failed access would raise: the parameters of a page fault. */
struct guest_fault {
	u64 linear;
	u32 error;
};

/* Both transfer everything or nothing; fault may be NULL. At most two pages. */
bool guest_read(struct cpu *cpu, u64 linear, void *to, size_t bytes, struct guest_fault *fault);
bool guest_write(struct cpu *cpu, u64 linear, const void *from, size_t bytes,
		 struct guest_fault *fault);

/* The guest has run, or invalidated a page: what was found in its page tables is looked up anew. */
static inline void guest_memory_forget(struct cpu *cpu)
{
	cpu->translations.generation++;
}

/* Set the accessed bit of a page table's entry, which is at nested_paging_host() of its address. */
void guest_memory_accessed(struct cpu *cpu, u64 *entry);

/* Read up to `bytes` bytes, as many as are mapped, and return how many. */
unsigned guest_read_some(struct cpu *cpu, u64 linear, void *to, unsigned bytes);

/* May CPL 0, or with `user` CPL 3, execute there? Sets no accessed bit. Four levels of tables only:
 * others are absent. *host, unless it is NULL: where it is, if it may. */
enum guest_code { CODE_ABSENT, CODE_FORBIDDEN, CODE_ALLOWED };
enum guest_code guest_code_at(struct cpu *cpu, u64 linear, bool user, const u8 **host);

/*
 * Where the page with this address is, if CPL 0, or with `user` CPL 3, may execute there, and the
 * accessed bits of its path are set: `set` sets them, as executing there would. NULL otherwise.
 * Four levels of tables only.
 */
const u8 *guest_code_page(struct cpu *cpu, u64 linear, bool user, bool set);

/*
 * Where that many bytes at a linear address are, for an access of the guest's own, at its privilege
 * level, which sets accessed and dirty bits. NULL: it would fault or exit, it isn't memory in one
 * piece, or something unusual decides: the processor is to find out.
 */
void *guest_data_at(struct cpu *cpu, u64 linear, unsigned bytes, bool write);

/* The same of the code that is fetched from there, up to the end of its page. */
const u8 *guest_text_at(struct cpu *cpu, u64 linear);

/* The same, as struct model_host wants them; ctx is the struct cpu. Any length. */
bool guest_model_read(void *ctx, u64 linear, void *to, size_t bytes);
bool guest_model_write(void *ctx, u64 linear, const void *from, size_t bytes);

/* The same of physical memory. */
bool guest_model_write_physical(void *ctx, u64 physical, const void *from, size_t bytes);

/* Where a linear address leads, and what kind of memory that is, by the page attribute table; the
 * ranges of the APICs and the HPET are I/O. Sets no accessed bit. */
bool guest_model_translate(void *ctx, u64 linear, struct memory_page *page);

/* Memory that caches may hold, as far as the processor knows. */
bool guest_model_cacheable(void *ctx, u64 physical, u64 bytes);

#endif
