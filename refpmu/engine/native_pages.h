/* SPDX-License-Identifier: MIT */
/*
 * What runs natively on a processor with RTM: pages in which code_scan.h finds nothing, and which
 * don't change unnoticed (code_page.h). In the nested tables of such runs a page is either writable
 * and not executable, as all are at first, or read-only and executable, or, where something was
 * found, neither: the engine runs that.
 *
 * Not seen: what a device writes to a page that is executable by then. Run by the engine as well:
 * code in pages that can't be protected (code_page.h), because they are written again and again
 * among others.
 */
#ifndef REFPMU_ENGINE_NATIVE_PAGES_H
#define REFPMU_ENGINE_NATIVE_PAGES_H

#include "refpmu/hv/cpu.h"

/* One VMRUN through those tables; the exit code, as of vmrun(). */
u64 native_pages_vmrun(struct cpu *cpu);

/* A nested page fault of such a run: was it an instruction fetch? */
bool native_pages_fetch(const struct cpu *cpu);

/* It was. true: the page is executable now; false: it isn't for native running. */
bool native_pages_allow(struct cpu *cpu);

/* Is the code at RIP not for native running? false as well where its page isn't found. */
bool native_pages_untrusted(struct cpu *cpu);

#endif
