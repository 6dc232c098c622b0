/* SPDX-License-Identifier: MIT */
/*
 * CPUID leaf 23H: the sets of counters that exist, that can be reloaded and that write
 * architectural PEBS records; and the addresses of their registers from version 6 on. Pure: the
 * caller provides CPUID. The bit of a counter in a set is its position in IA32_PERF_GLOBAL_CTRL
 * (pmu/counter.h).
 */
#ifndef PMU_VERSION6_H
#define PMU_VERSION6_H

#include "spec/types.h"

struct version6 {
	bool leaf;			/* there is leaf 23H */
	u32 subleaves;			/* bit n: it has sub-leaf n */
	bool umask2, equal, rdpmc_user_disable;	/* of IA32_PERFEVTSELx: 47:40, 36, 37 */
	unsigned slots_per_cycle;	/* 0: not known */
	u64 counters;			/* sub-leaf 1; 0: it isn't there */
	u64 reloadable, causes;		/* sub-leaf 2: auto counter reload */
	u32 events;   /* sub-leaf 3: bit i: architectural event i is there; 0: it isn't */
	u32 groups;			/* sub-leaf 4: bit n is IA32_PMC_x_CFG_C[32 + n] */
	u64 pebs, pdist;		/* sub-leaf 5 */
};

/* All 0 if the leaf doesn't exist. */
struct version6 version6_read(void (*cpuid)(u32 leaf, u32 subleaf, u32 regs[4]));

/* Sub-leaves 4 and 5 are both there. */
bool version6_has_arch_pebs(const struct version6 *v);

/* The first counter of the set from `from` on; COUNTERS_END: there is none. */
#define COUNTERS_END	64u
unsigned counter_next(u64 set, unsigned from);
#define FOR_EACH_COUNTER(c, set) \
	for (unsigned c = counter_next((set), 0); c < COUNTERS_END; \
	     c = counter_next((set), c + 1))

/* Addresses of a counter's registers in the banks from 1900H on. In each bank the addresses of two
 * neighbouring counters are four apart. Fixed counters have no CFG_A. */
u32 version6_ctr(unsigned counter);
u32 version6_cfg_a(unsigned counter);
u32 version6_cfg_b(unsigned counter);
u32 version6_cfg_c(unsigned counter);

/* The bits of a counter's CFG_C that this leaf enumerates. */
u64 version6_cfg_c_bits(const struct version6 *v, unsigned counter);
/* Has the counter CFG_C? */
bool version6_has_cfg_c(const struct version6 *v, unsigned counter);

#endif
