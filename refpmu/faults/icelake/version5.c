/* SPDX-License-Identifier: MIT */
/* Faults of version 5: fixed counter 3, MSR_PERF_METRICS, PEBS on every counter. */
#include "refpmu/faults/broken.h"
#include "refpmu/model/msr.h"

void fault_metrics_clear(struct model *m, struct metrics_clear *clear)
{
	(void)m;
	(void)clear;
}

struct msr_result fault_rdpmc_metrics(struct model *m, struct msr_result result)
{
	(void)m;
	return result;
}

u64 fault_metrics(struct model *m, u64 value)
{
	(void)m;
	return value;
}

bool fault_metrics_run(const struct model *m, bool run)
{
	(void)m;
	return run;
}
