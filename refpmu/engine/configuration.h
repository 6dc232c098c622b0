/* SPDX-License-Identifier: MIT */
/* Which PMU the processors have: each takes over the latest configuration by itself. */
#ifndef REFPMU_ENGINE_CONFIGURATION_H
#define REFPMU_ENGINE_CONFIGURATION_H

#include "refpmu/hv/cpu.h"

/* A fresh PMU on every processor: on this one now, on others by configuration_follow(). */
void configuration_reset(struct cpu *cpu, const struct model_config *config);

/* Another broken rule, or none; the registers stay as they are. */
void configuration_set_fault(struct cpu *cpu, u32 fault, const struct fault_when *when);

/*
 * Take over a configuration, or a fault, that another processor has got. At each exit: the guest
 * sees the PMU only through exits. true: there was one.
 */
bool configuration_follow(struct cpu *cpu);

#endif
