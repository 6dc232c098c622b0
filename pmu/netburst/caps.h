/* SPDX-License-Identifier: MIT */
/* Does this processor have the PMU of NetBurst, and how much of it? */
#ifndef PMU_NETBURST_CAPS_H
#define PMU_NETBURST_CAPS_H

#include "spec/types.h"

struct pmu_caps;

struct netburst_caps {
	bool counters;	/* it has those of spec/netburst.def */
	bool threads;	/* with Hyper-Threading: T1 exists */
	bool pebs;	/* and MISC_ENABLE says available */
};

/* Of the processor that calls, after netburst_take(). */
const struct netburst_caps *netburst_caps(void);

/*
 * If this processor has NetBurst's counters, change caps accordingly: operations, format of a
 * record, no architectural performance monitoring. The other members stay as caps_read() set them.
 */
void netburst_take(struct pmu_caps *caps);

#endif
