/* SPDX-License-Identifier: MIT */
/* The PMU as a whole: prepares it for use, and switches it off. */
#ifndef PMU_PMU_H
#define PMU_PMU_H

#include "spec/types.h"

/*
 * Read the capabilities of the calling processor and allocate its DS save area. Before the
 * processor is given back, counters, PEBS, DS area and debug control will be switched off and LVTPC
 * masked. Call it once on each processor, one after the other, while the machine is borrowed.
 * false: no memory for the DS area.
 */
bool pmu_init(void);

#endif
