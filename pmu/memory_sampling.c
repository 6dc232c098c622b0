/* SPDX-License-Identifier: MIT */
/* Load latency and precise store. */
#include "pmu/memory_sampling.h"

#include "kernel/interrupt/fault.h"

void latency_set_threshold(u64 cycles)
{
	msr_write(MSR_PEBS_LD_LAT_THRESHOLD, cycles);
}

void memory_sampling_arm(unsigned counter, u16 event, struct pmc_mask enable, u64 n)
{
	pebs_disarm();
	counter_program(counter, event, COUNT_BOTH);
	counter_preset(counter, n);
	pebs_enable(enable);
}
