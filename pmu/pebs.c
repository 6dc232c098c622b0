/* SPDX-License-Identifier: MIT */
/*
 * PEBS: SDM "Processor Event Based Sampling (PEBS)" in "Performance Monitoring (Processors Based on
 * Intel Microarchitecture Code Name Nehalem)". Load latency is in memory_sampling.c.
 */
#include "pmu/pebs.h"

#include "kernel/interrupt/fault.h"
#include "spec/msr.h"

void pebs_arm_as(unsigned counter, u16 event, u64 flags, u64 n)
{
	counter_program(counter, event, flags);
	counter_preset(counter, n);
	msr_write(MSR_IA32_PEBS_ENABLE, msr_read(MSR_IA32_PEBS_ENABLE) | BIT(counter));
}

void pebs_arm(unsigned counter, u16 event, u64 flags, u64 n)
{
	pebs_arm_as(counter, event, flags | (counter_caps()->baseline ? COUNT_ADAPTIVE : 0), n);
}

void pebs_disarm(void)
{
	msr_write(MSR_IA32_PEBS_ENABLE, 0);
}

void pebs_enable(struct pmc_mask counters)
{
	for (unsigned c = 0; counter_caps()->baseline && c < 64; c++)
		if (counters.bits & counters_all().bits & BIT(c))
			counter_set_adaptive(c, true);
	msr_write(MSR_IA32_PEBS_ENABLE, counters.bits);
}

u64 pebs_reset_value(unsigned counter, u64 n)
{
	return (0 - n) & (BIT(counter_width(counter)) - 1);
}

bool pebs_has_pdist(unsigned counter)
{
	if (counter == 1)
		return counter_caps()->facilities & FAC_PDIST_1;
	return (counter_caps()->facilities & FAC_PDIST) &&
	       (counter == 0 || counter == PMC_FIXED(0));
}

bool pebs_may_have_pdist(unsigned counter)
{
	const struct pmu_caps *caps = counter_caps();

	return pebs_has_pdist(counter) ||
	       (!caps->generation && (caps->baseline || caps->arch_pebs));
}

unsigned pebs_first_without_pdist(void)
{
	unsigned counter = 0;

	while (pebs_has_pdist(counter))
		counter++;
	return counter;
}
