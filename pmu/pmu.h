/* SPDX-License-Identifier: MIT */
/* The PMU as a whole: made ready for use, and made quiet. */
#ifndef PMU_PMU_H
#define PMU_PMU_H

#include "spec/types.h"

/*
 * Read the processor's capabilities, allocate the DS save area and have pmu_quiesce() run before
 * the machine is given back. Once, with the machine borrowed. false: no memory for the DS area.
 */
bool pmu_init(void);

/* Counters, PEBS, DS area and debug control off, LVTPC masked. In any state. */
void pmu_quiesce(void);

#endif
