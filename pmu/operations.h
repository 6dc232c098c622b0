/* SPDX-License-Identifier: MIT */
/*
 * What differs between kinds of PMU, for code that serves all of them: the interrupt handler, what
 * switches everything off. Which kind a processor has is in its capabilities.
 */
#ifndef PMU_OPERATIONS_H
#define PMU_OPERATIONS_H

#include "spec/types.h"

struct pmi_entry;
struct reset_refusal;

struct pmu_operations {
	/* Everything off and zero, counter_reset(). false: what may disturb a test was refused. */
	bool (*reset)(struct reset_refusal *refusal);
	/* What counts, records or interrupts by itself off, counter_quiet(). */
	void (*quiet)(void);
	/* In the handler of an interrupt: stop the counters, unless told not to, and note the
	 * overflow bits, and what else there is of global registers. */
	void (*interrupted)(struct pmi_entry *entry, bool keep_counting);
	/* Clear these overflow bits of interrupted(). */
	void (*clear)(u64 status);
};

/* Architectural performance monitoring, also where there is none: nothing is done then. */
extern const struct pmu_operations pmu_architectural;

#endif
