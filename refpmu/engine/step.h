/* SPDX-License-Identifier: MIT */
/* The slowest way, which works for every instruction: a single step by the trap flag. */
#ifndef REFPMU_ENGINE_STEP_H
#define REFPMU_ENGINE_STEP_H

#include "refpmu/hv/cpu.h"

/* Let the guest complete the instruction at RIP, or take an event instead, and report it. The
 * intercepts must be those for a single step. */
void step_instruction(struct cpu *cpu);

#endif
