/* SPDX-License-Identifier: MIT */
/*
 * Taking records of load latency and of precise store. Which access is tagged is up to the
 * processor, and so is how many: a workload is run in ever larger batches until there are records
 * enough to judge. A batch of TAGGED_BATCH_MOST rounds that leaves no record, with a reset value
 * of 32, is evidence: a processor that tags no more than one access in 500 would have made several.
 */
#ifndef TESTS_TAGGED_H
#define TESTS_TAGGED_H

#include "pmu/event.h"
#include "pmu/memory_sampling.h"
#include "tests/hierarchy.h"
#include "tests/sampling.h"

#define TAGGED_PERIOD		32	/* smallest that all generations are known to honour */
#define TAGGED_BATCH_MOST	90000	/* rounds of the largest batch */
#define TAGGED_RECORDS		24	/* wanted for a judgement of "most" */
#define TAGGED_MOST		192	/* that a buffer holds */

struct tagged_setup {
	unsigned counter;
	u16 event;
	u64 threshold;			/* core cycles; 0: not load latency */
	u64 period;			/* start and reset value */
	struct pmc_mask enable;		/* what IA32_PEBS_ENABLE holds */
	unsigned wanted;		/* records */
	u64 most;			/* rounds of the largest batch; 0: TAGGED_BATCH_MOST */
	u64 rounds;			/* that tagged_take() has run in all */
};

struct tagged_record {
	u64 address, source, latency;	/* as they stand at 98H, A0H, A8H */
};

/* Load latency on IA32_PMC3: threshold 3, TAGGED_PERIOD, both enables. Needs need_load_latency. */
struct tagged_setup tagged_loads(void);
/* Precise store, on IA32_PMC3. Needs need_precise_store. */
struct tagged_setup tagged_stores(void);

/* Program and enable as set up, but for the DS area, the global enable and the period. */
void tagged_arm(const struct tagged_setup *setup, u64 period);
/* Off, and the status clear. */
void tagged_off(const struct tagged_setup *setup);

/*
 * Run and decode; how many records, at most TAGGED_MOST. Everything is off afterwards. Where none
 * are expected, set `most` to what a control has shown to be plenty.
 */
unsigned tagged_take(struct tagged_setup *setup, const struct hierarchy *h,
		      struct tagged_record records[TAGGED_MOST]);

/* Is it one of the addresses that the workload accesses? */
bool tagged_in_place(const struct hierarchy *h, u64 address);

/* Events that the counter saw in n rounds: the least of three windows, PEBS armed out of reach. */
u64 tagged_count(const struct tagged_setup *setup, const struct hierarchy *h, u64 n);

/*
 * The records that a judgement needs, and with too few of them a failed check (under a hypervisor,
 * whose host may use PEBS itself, INCONCLUSIVE with none at all): false then.
 */
bool tagged_enough(struct test *t, struct test_claim claim, const struct hierarchy *h,
		    unsigned records, unsigned wanted);

/* hierarchy_get() or the end of the test. */
bool tagged_prepare(struct test *t, enum access access, struct hierarchy *h);

#endif
