/* SPDX-License-Identifier: MIT */
/*
 * The PEBS facilities for memory accesses: load latency (SDM "Load Latency Performance Monitoring
 * Facility") and precise store ("Precise Store Facility"). As in pmu/pebs.h, the DS area must be
 * open before counting starts, and the workload writes the global enable. CPL 0, on a processor
 * that has the facility.
 */
#ifndef PMU_MEMORY_SAMPLING_H
#define PMU_MEMORY_SAMPLING_H

#include "pmu/pebs.h"
#include "spec/data_source.h"

#define LATENCY_THRESHOLD_LEAST	3u		/* the lowest allowed value */
#define LATENCY_THRESHOLD_MOST	0xffffu
#define PRECISE_STORE_COUNTER	3u		/* the only counter that supports it */

/* The value of IA32_PEBS_ENABLE for load latency on a counter: PEBS_EN, and LL_EN if it exists.
 */
static inline struct pmc_mask latency_enable(unsigned counter)
{
	u64 enable = BIT(counter);

	if (!(counter_caps()->facilities & FAC_LL_UNARMED))
		enable |= BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + counter);
	return (struct pmc_mask){ enable };
}

/* The value of IA32_PEBS_ENABLE for precise store. */
static inline struct pmc_mask precise_store_enable(void)
{
	return (struct pmc_mask){ BIT(PRECISE_STORE_COUNTER) | IA32_PEBS_ENABLE_PS_EN };
}

/* Bits in the data source of a load latency record on this type of core: the load was locked; the
 * load missed the STLB. */
u64 latency_lock_bit(void);
u64 latency_stlb_bit(void);

/* The code of the source in a data source, as wide as on this type of core. */
u64 latency_source_code(u64 data_source);
/* Is it one of these? Bit n: code n; 64 and more are none. */
bool latency_source_is(u64 data_source, u64 codes);
/* Bit n: code n is one of this outcome on this type of core. */
u64 latency_codes(enum memory_outcome outcome);

/* Bit n: code n is in the table of this type of core. */
u64 latency_codes_of_core(void);
/* Bits of a data source that have a name on this type of core, or of which it isn't known whether
 * they have one. */
u64 latency_named_bits(void);
/* Those which say that a store in front of the load has blocked it; 0: there are none. */
u64 latency_blocked_bits(void);

/* Write MSR_PEBS_LD_LAT_THRESHOLD, in core cycles. Writing 0 doesn't switch the facility off. */
void latency_set_threshold(u64 cycles);

/*
 * Program counter for event (load latency's, or precise store's) at these levels (COUNT_OS,
 * COUNT_USR or both), make it overflow on the nth, and write `enable` to IA32_PEBS_ENABLE: no other
 * PEBS event may be enabled beside it.
 */
void memory_sampling_arm(unsigned counter, u16 event, u64 levels, struct pmc_mask enable, u64 n);

#endif
