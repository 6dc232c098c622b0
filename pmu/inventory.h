/* SPDX-License-Identifier: MIT */
/*
 * What each processor says of itself, for the log: leaves of CPUID as they read, and the registers
 * that tell what its monitoring can do and how firmware has set it, in words.
 */
#ifndef PMU_INVENTORY_H
#define PMU_INVENTORY_H

#include "kernel/output/tap.h"
#include "pmu/caps.h"

/* On the processor that calls, with nothing written yet. */
void inventory_keep(const struct pmu_caps *caps);
/* Is that processor, of those that were kept, the first of its kind? */
bool inventory_is_first_of_kind(unsigned cpu);
/* Comments about the first processor of each kind. Of the second kind on only what is different. */
void inventory_describe(struct tap *tap);

#endif
