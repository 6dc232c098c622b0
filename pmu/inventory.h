/* SPDX-License-Identifier: MIT */
/*
 * Describes each processor for the log: the leaves of CPUID, and, in words, the registers that say
 * what its PMU supports and how the firmware has set it.
 */
#ifndef PMU_INVENTORY_H
#define PMU_INVENTORY_H

#include "kernel/output/tap.h"
#include "pmu/caps.h"

/* On the calling processor, before any write. */
void inventory_keep(const struct pmu_caps *caps);
/* Is that processor, of those that were kept, the first of its kind? */
bool inventory_is_first_of_kind(unsigned cpu);
/* Comments about the first processor of each kind. For the second and further kinds only the
 * differences. */
void inventory_describe(struct tap *tap);

#endif
