/* SPDX-License-Identifier: MIT */
/* Runs the guest natively while model_needs_retire() is false, and by the engine while it is
 * true. */
#ifndef REFPMU_VMM_MAIN_LOOP_H
#define REFPMU_VMM_MAIN_LOOP_H

#include "refpmu/hv/cpu.h"

/* Never returns. */
__attribute__((noreturn)) void main_loop(struct cpu *cpu);

#endif
