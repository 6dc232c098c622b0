/* SPDX-License-Identifier: MIT */
/* VMMCALL: a request of the launcher (hypercall.h), or #UD. */
#ifndef REFPMU_VMM_EXIT_HYPERCALL_H
#define REFPMU_VMM_EXIT_HYPERCALL_H

#include "refpmu/hv/cpu.h"
#include "refpmu/vmm/statistics.h"

/* true: carried out, RIP is still at the instruction; false: an exception has been delivered. */
bool exit_hypercall(struct cpu *cpu);

/* The result of HYPERCALL_STATISTICS. */
void hypercall_statistics(const struct cpu *cpu, struct statistics *sum);

#endif
