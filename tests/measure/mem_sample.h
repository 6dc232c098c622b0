/* SPDX-License-Identifier: MIT */
/*
 * Taking records of load latency and of precise store. Which access is tagged is up to the
 * processor, and so is how many: a workload is run in batches until there are records enough to
 * judge. MEM_SAMPLE_ROUNDS_MOST rounds that leave no record, with a reset value of 32, are
 * evidence: a processor that tags no more than one access in 500 would have made several.
 */
#ifndef TESTS_MEASURE_MEM_SAMPLE_H
#define TESTS_MEASURE_MEM_SAMPLE_H

#include "pmu/event.h"
#include "pmu/memory_sampling.h"
#include "tests/measure/addressing_mode.h"
#include "tests/measure/cache_workload.h"
#include "tests/measure/sampling.h"

#define MEM_SAMPLE_PERIOD	32	/* smallest that all generations are known to honour */
#define MEM_SAMPLE_ROUNDS_MOST	90000	/* in all */
#define MEM_SAMPLE_RECORDS	8	/* wanted for a first judgement of "most" ... */
#define MEM_SAMPLE_RECORDS_SURE	64	/* ... and for the last, where the first isn't clear */
#define MEM_SAMPLE_RECORDS_EACH	32	/* wanted where several kinds take turns */
#define MEM_SAMPLE_MOST		192	/* that a buffer holds */

struct mem_sample_setup {
	unsigned counter;
	u16 event;
	u64 threshold;			/* core cycles; 0: not load latency */
	u64 period;			/* start and reset value */
	struct pmc_mask enable;		/* what IA32_PEBS_ENABLE holds */
	unsigned wanted;		/* records */
	u64 most;			/* rounds; 0: MEM_SAMPLE_ROUNDS_MOST */
	u64 rounds;			/* that mem_sample_take() has run in all */
};

struct mem_sample_record {
	u64 address, source, latency;	/* as they stand at 98H, A0H, A8H */
	const volatile void *raw;	/* in the PEBS buffer, until the next one is taken */
};

/* Load latency on IA32_PMC3: threshold 3, MEM_SAMPLE_PERIOD, both enables. Needs
 * need_load_latency. */
struct mem_sample_setup mem_sample_loads(void);
/* Precise store, on IA32_PMC3. Needs need_precise_store. */
struct mem_sample_setup mem_sample_stores(void);

/* Program and enable as set up, but for the DS area, the global enable and the period. */
void mem_sample_arm(const struct mem_sample_setup *setup, u64 period);
/* Off, and the status clear. */
void mem_sample_off(const struct mem_sample_setup *setup);

/*
 * Run and decode; how many records, at most MEM_SAMPLE_MOST. Everything is off afterwards. Where
 * none are expected, set `most` to what a control has shown to be plenty.
 */
unsigned mem_sample_take(struct mem_sample_setup *setup, const struct cache_workload *h,
			 struct mem_sample_record records[MEM_SAMPLE_MOST]);

/* The quadword at that offset of a record (sampling_offsets()). */
u64 mem_sample_at(const void *record, unsigned offset);

/* Is it one of the addresses that the workload accesses? */
bool mem_sample_in_place(const struct cache_workload *h, u64 address);

/* Events that the counter saw in n rounds, PEBS armed out of reach; the least of three windows,
 * for what shouldn't be counted at all. */
u64 mem_sample_count(const struct mem_sample_setup *setup, const struct cache_workload *h, u64 n);
u64 mem_sample_count_least(const struct mem_sample_setup *setup, const struct cache_workload *h,
			   u64 n);

/*
 * A property that most records of a workload have, or few: at least 3 of 4 of a
 * first handful, else more than half (fewer than half) of MEM_SAMPLE_RECORDS_SURE. `holds` looks at
 * one record.
 */
enum share { FEW, MOST };
void mem_sample_check_most(struct test *t, struct test_claim claim, struct mem_sample_setup *setup,
			   enum access access, enum share share,
			   bool (*holds)(const struct mem_sample_record *record, u64 arg), u64 arg,
			   const char *what);

/*
 * The records that a judgement needs, and with too few of them a failed check: false then. With
 * none at all under a hypervisor it is INCONCLUSIVE, because the host may use PEBS itself. With
 * some of loads it is so too, but for a strict run: how many loads are tagged isn't stated. So are
 * no records of loads where an erratum may stop them.
 */
bool mem_sample_enough(struct test *t, struct test_claim claim, const struct cache_workload *h,
		       unsigned records, unsigned wanted);

/* Take records of a workload; false: not enough of them, and the check has failed. */
bool mem_sample_collect(struct test *t, struct test_claim claim, struct mem_sample_setup *setup,
			enum access access, struct cache_workload *h,
			struct mem_sample_record records[MEM_SAMPLE_MOST], unsigned *count);

/*
 * Records of a sample piece (SAMPLE_MARKS marked accesses with known registers), and in each whose
 * instruction is a mark the registers that it left: RAX and flags where it adds to RAX, the other
 * registers, and, where it is exact, the counter's bit in the status field.
 */
struct mem_sample_claims {
	struct test_claim rax, flags, registers, status;
};
void mem_sample_check_registers(struct test *t, const struct mem_sample_claims *claims,
				struct mem_sample_setup *setup, const struct workload *w);

/*
 * One record, for which the threshold of the buffer or (interrupts) its counter asks for an
 * interrupt; how many there were, and the status at the entry of the first.
 */
struct mem_sample_end {
	unsigned records, interrupts;
	u64 entry;
};
struct mem_sample_end mem_sample_one(struct mem_sample_setup *setup, const struct cache_workload *h,
				     bool threshold, bool interrupts);

/* Each record of each form of an operand (addressing_mode_of_load(), addressing_mode_of_store())
 * holds its linear address: with the segment base, and after an index. */
void mem_sample_check_addressing_modes(struct test *t, struct test_claim claim,
				       struct mem_sample_setup *setup, enum access access,
				       bool (*form_of)(unsigned i, struct addressing_mode *form),
				       struct mem_sample_record records[MEM_SAMPLE_MOST]);

/* Bit n: code n of a data source is right for a load from memory (Table 18-24): unknown; local or
 * remote, shared or exclusive. On a processor with a cache in front of its memory that too. */
u64 mem_sample_codes_of_memory(struct test *t);

/*
 * Does an event of local memory see each load from memory? Not on a processor of several packages,
 * but for a strict run: the memory may be another package's.
 */
bool mem_sample_memory_is_local(const struct test *t);

/* cache_workload_get() or the end of the test. */
bool mem_sample_prepare(struct test *t, enum access access, struct cache_workload *h);

#endif
