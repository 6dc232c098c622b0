/* SPDX-License-Identifier: MIT */
/*
 * One instruction after the other without world switches (solo.h), each reported to the model as
 * after a step: for the fast engine, where the model has to see each, and where a run of blocks
 * would cost more than it brings.
 */
#ifndef REFPMU_ENGINE_SOLO_H
#define REFPMU_ENGINE_SOLO_H

#include "refpmu/cpu.h"

/* Once per processor, before its first VMRUN. */
void engine_solo_init(struct cpu *cpu);

/*
 * The instruction at RIP, in 64-bit code at CPL 0 or 3 without trap flag, breakpoints, shadow or
 * protection keys. true: it has been carried out and reported, or an interrupt was delivered before
 * it (*delivered). false: nothing was done.
 */
bool engine_solo(struct cpu *cpu, bool *delivered);

#endif
