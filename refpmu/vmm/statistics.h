/* SPDX-License-Identifier: MIT */
/* The statistics of a run: how instructions were carried out, and how often the count wasn't exact.
 * Read by the hypercall STATISTICS. */
#ifndef REFPMU_VMM_STATISTICS_H
#define REFPMU_VMM_STATISTICS_H

#include "refpmu/engine/statistics.h"
#include "refpmu/hv/statistics.h"

/* Sums over the processors. All members are 64-bit numbers. */
struct statistics {
	struct exit_statistics exit;
	struct engine_statistics engine;
	u64 fault_acted;		/* times that the fault made a difference to the model */
};

#endif
