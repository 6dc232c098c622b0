/* SPDX-License-Identifier: MIT */
/* Load latency and precise store. */
#include "pmu/memory_sampling.h"

#include "kernel/interrupt/fault.h"
#include "spec/data_source.h"

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

static const struct {
	u32 generations;
	u64 usual, here;
} moved[] = {
#define DATA_SOURCE_MOVED(gens, facility, field, lo, hi, source) \
	{ gens, DATA_SOURCE_##facility##_##field, BITS(lo, hi) },
#include "spec/data_source.def"
};

static u64 place_of(u64 field)
{
	const struct generation *g = counter_caps()->generation;

	for (unsigned i = 0; g && i < sizeof(moved) / sizeof(moved[0]); i++)
		if (moved[i].usual == field && moved[i].generations & g->set)
			return moved[i].here;
	return field;
}

u64 latency_lock_bit(void)
{
	return place_of(DATA_SOURCE_LL_LOCK);
}

u64 latency_stlb_bit(void)
{
	return place_of(DATA_SOURCE_LL_STLB_MISS);
}
