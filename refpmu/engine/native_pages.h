/* SPDX-License-Identifier: MIT */
/*
 * The pages that run natively on a processor with RTM: those in which code_scan.h finds nothing,
 * and which are write-protected (code_page.h). In the nested tables for native running a page is
 * writable and not executable (at first all are), or read-only and executable. If code_scan.h finds
 * something, the page is neither, and the engine runs its code.
 *
 * Not seen: writes by a device to a page that is already executable. The engine also runs code in
 * pages that can't be protected (code_page.h), for example because they are written repeatedly.
 */
#ifndef REFPMU_ENGINE_NATIVE_PAGES_H
#define REFPMU_ENGINE_NATIVE_PAGES_H

#include "refpmu/hv/cpu.h"

/* One VMRUN with those tables; returns the exit code, like vmrun(). */
u64 native_pages_vmrun(struct cpu *cpu);

/* A nested page fault of such a run: was it an instruction fetch? */
bool native_pages_fetch(const struct cpu *cpu);

/* It was. true: the page is executable now; false: it can't run natively. */
bool native_pages_allow(struct cpu *cpu);

/* Is the page at RIP untrusted? Also false if its page isn't found. */
bool native_pages_untrusted(struct cpu *cpu);

#endif
