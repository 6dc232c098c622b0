/* SPDX-License-Identifier: MIT */
/* What a run cost and where it wasn't exact; read through the STATISTICS hypercall. */
#ifndef REFPMU_VMM_STATISTICS_H
#define REFPMU_VMM_STATISTICS_H

#include "refpmu/engine/statistics.h"
#include "refpmu/hv/statistics.h"

/* Sums over the processors. Nothing but numbers of 64 bits. */
struct statistics {
	struct exit_statistics exit;
	struct engine_statistics engine;
	u64 fault_acted;		/* times that the fault made a difference to the model */
};

#endif
