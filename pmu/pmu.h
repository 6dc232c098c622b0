/* SPDX-License-Identifier: MIT */
/* The PMU as a whole: made ready for use, and made quiet. */
#ifndef PMU_PMU_H
#define PMU_PMU_H

#include "spec/types.h"

/*
 * Read the capabilities of the processor that calls, allocate its DS save area, and have counters,
 * PEBS, DS area and debug control off and LVTPC masked before it is given back. Once on each
 * processor, one after the other, with the machine borrowed. false: no memory for the DS area.
 */
bool pmu_init(void);

#endif
