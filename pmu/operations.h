/* SPDX-License-Identifier: MIT */
/*
 * Functions that differ between kinds of PMU, for code that works with all of them: the interrupt
 * handler and the reset. The capabilities of a processor say which kind it has.
 */
#ifndef PMU_OPERATIONS_H
#define PMU_OPERATIONS_H

#include "spec/types.h"

struct pmi_entry;
struct reset_refusal;

struct pmu_operations {
	/* For counter_reset(): switch everything off and write 0. false: a write was refused, and
	 * this may disturb a test. */
	bool (*reset)(struct reset_refusal *refusal);
	/* For counter_quiet(): switch off what counts, records or interrupts by itself. */
	void (*quiet)(void);
	/* In the interrupt handler: stop the counters, unless keep_counting, and note the overflow
	 * bits and the other global registers. */
	void (*interrupted)(struct pmi_entry *entry, bool keep_counting);
	/* Clear these overflow bits of interrupted(). */
	void (*clear)(u64 status);
};

/* Architectural performance monitoring. Also used on a processor without a PMU: then the functions
 * do nothing. */
extern const struct pmu_operations pmu_architectural;

#endif
