/* SPDX-License-Identifier: MIT */
/*
 * First visits on the fast engine (visit.h): code for which there is no block yet runs in the
 * hypervisor's own mode, many instructions in one go, till it has come by often enough.
 */
#ifndef REFPMU_ENGINE_VISIT_ENGINE_VISIT_H
#define REFPMU_ENGINE_VISIT_ENGINE_VISIT_H

#include "refpmu/hv/cpu.h"

/* Once per processor, before its first VMRUN. */
void engine_visit_init(struct cpu *cpu);

/* Whatever it was doing: no stretches. */
void engine_visit_forget(struct cpu *cpu);

/* Is what begins at this address for first visits still? */
bool engine_visit_wants(const struct cpu *cpu, u64 rip);

/*
 * From RIP on, in a state in which blocks may run and model_bulk_possible(), at most so many
 * instructions. true: some have retired and are reported, or an interrupt was delivered before
 * them. false: nothing was done.
 */
bool engine_visit(struct cpu *cpu, u64 most);

/* The same where model_bulk_possible_telling(), however often it has come by. */
bool engine_visit_telling(struct cpu *cpu, u64 most);

#endif
