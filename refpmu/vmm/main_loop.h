/* SPDX-License-Identifier: MIT */
/* The guest runs natively while the model doesn't watch, through the engine while it does. */
#ifndef REFPMU_VMM_MAIN_LOOP_H
#define REFPMU_VMM_MAIN_LOOP_H

#include "refpmu/hv/cpu.h"

/* The rest of the processor's life. */
__attribute__((noreturn)) void main_loop(struct cpu *cpu);

#endif
