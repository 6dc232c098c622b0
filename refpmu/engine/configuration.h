/* SPDX-License-Identifier: MIT */
/* The configuration of the PMU: each processor adopts the latest one by itself. */
#ifndef REFPMU_ENGINE_CONFIGURATION_H
#define REFPMU_ENGINE_CONFIGURATION_H

#include "refpmu/hv/cpu.h"

/* Reset the PMU of every processor: of this one now, of the others by configuration_follow(). */
void configuration_reset(struct cpu *cpu, const struct model_config *config);

/* Change the fault, 0 for none; the registers stay as they are. */
void configuration_set_fault(struct cpu *cpu, u32 fault, const struct fault_when *when);

/*
 * Adopt a configuration, or a fault, that another processor has received. Called at each exit,
 * because the guest sees the PMU only through exits. true: there was one.
 */
bool configuration_follow(struct cpu *cpu);

#endif
