/* SPDX-License-Identifier: MIT */
/*
 * Takes records of load latency and of precise store. The processor decides which accesses are
 * tagged, and how many. So a workload is run in batches until there are enough records to judge. If
 * MEM_SAMPLE_ROUNDS_MOST rounds leave no record, with a reset value of 32, this is evidence: even a
 * processor that tags only one access in 500 would have made several.
 */
#ifndef TESTS_MEASURE_MEM_SAMPLE_H
#define TESTS_MEASURE_MEM_SAMPLE_H

#include "pmu/event.h"
#include "pmu/memory_sampling.h"
#include "tests/measure/addressing_mode.h"
#include "tests/measure/cache_workload.h"
#include "tests/measure/sampling.h"

#define MEM_SAMPLE_PERIOD	32	/* smallest that all generations are known to honour */
#define MEM_SAMPLE_PERIOD_STRICT 8	/* the reference PMU honours each */
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
	struct pmc_mask beside;		/* further counters that run; the caller programs them */
	bool user;			/* at CPL 3, counting there alone; no INVLPG */
	unsigned wanted;		/* records */
	u64 most;			/* rounds; 0: MEM_SAMPLE_ROUNDS_MOST */
	u64 rounds;			/* that mem_sample_take() has run in all */
};

struct mem_sample_record {
	u64 address, source, latency;	/* as they stand at 98H, A0H, A8H */
	const volatile void *raw;	/* in the PEBS buffer, until the next one is taken */
};

/* MEM_SAMPLE_PERIOD, or that of strict runs. */
u64 mem_sample_period(const struct test *t);
/* Load latency on IA32_PMC3: threshold 3, that period, both enables. Needs need_load_latency. */
struct mem_sample_setup mem_sample_loads(const struct test *t);
/* Precise store, on IA32_PMC3. Needs need_precise_store. */
struct mem_sample_setup mem_sample_stores(const struct test *t);

/* Program and enable the counter as in setup, except the DS area, the global enable and the
 * period. */
void mem_sample_arm(const struct mem_sample_setup *setup, u64 period);
/* Switch it off, and clear the status. */
void mem_sample_off(const struct mem_sample_setup *setup);

/*
 * Run the workload and decode the records. Returns their number, at most MEM_SAMPLE_MOST.
 * Everything is off afterwards. If no record is expected, set `most` to a number of rounds that a
 * control has shown to be enough.
 */
unsigned mem_sample_take(struct mem_sample_setup *setup, const struct cache_workload *h,
			 struct mem_sample_record records[MEM_SAMPLE_MOST]);

/* The quadword at that offset of a record (sampling_offsets()). */
u64 mem_sample_at(const void *record, unsigned offset);

/* Is it one of the addresses that the workload accesses? */
bool mem_sample_in_place(const struct cache_workload *h, u64 address);

/* May the event have missed accesses, by an erratum? */
bool mem_sample_event_is_short(struct test *t, enum event_kind kind);

/* The events that the counter counts in n rounds, with a PEBS overflow out of reach. The other
 * function returns the least count of three windows, for events that shouldn't be counted at
 * all. */
u64 mem_sample_count(const struct mem_sample_setup *setup, const struct cache_workload *h, u64 n);
u64 mem_sample_count_least(const struct mem_sample_setup *setup, const struct cache_workload *h,
			   u64 n);

/* How many of the records must have a property: none, fewer or more than half, or each. */
enum mem_sample_share { SHARE_NONE, SHARE_FEWER, SHARE_MORE, SHARE_EACH };

/*
 * A property of most records of a workload, or of few: at least 3 of 4 of the first few records
 * have it (don't have it); otherwise more than half (fewer than half) of MEM_SAMPLE_RECORDS_SURE.
 * `holds` checks one record. share: SHARE_MORE or SHARE_FEWER.
 */
void mem_sample_check_most(struct test *t, struct test_claim claim, struct mem_sample_setup *setup,
			   enum access access, enum mem_sample_share share,
			   bool (*holds)(const struct mem_sample_record *record, u64 arg), u64 arg,
			   const char *what);

/* For it: one of these bits of the source is 1; its code, bits 3:0, is one of these (bit n: code
 * n). */
bool mem_sample_has_bit(const struct mem_sample_record *record, u64 bit);
bool mem_sample_has_code(const struct mem_sample_record *record, u64 codes);
/* The code is that of one of these outcomes on this core (latency_codes()). */
bool mem_sample_has_code_of_core(const struct mem_sample_record *record, u64 codes);

/*
 * Are there enough records to judge? If not, a check has failed, and the result is false; but the
 * test is INCONCLUSIVE in these cases: there are no records under a hypervisor, whose host may use
 * PEBS itself; there are some, but too few, records of loads, and the run isn't strict, because the
 * manual doesn't say how many loads are tagged; there are no records of loads, and an erratum may
 * be the reason.
 */
bool mem_sample_enough(struct test *t, struct test_claim claim, const struct cache_workload *h,
		       unsigned records, unsigned wanted);

/*
 * n, events or records of load latency with threshold 3 of loads that hit the L1: are there none,
 * on an E-core? No source says how long such a load takes there: perhaps not longer than the
 * threshold. Then, unless the run is strict, the test is INCONCLUSIVE, and the result is true.
 */
bool mem_sample_hits_are_short(struct test *t, u64 n);

/* Take records of a workload; false: there aren't enough, and the check has failed, or it is as
 * mem_sample_enough() or mem_sample_hits_are_short() says. */
bool mem_sample_collect(struct test *t, struct test_claim claim, struct mem_sample_setup *setup,
			enum access access, struct cache_workload *h,
			struct mem_sample_record records[MEM_SAMPLE_MOST], unsigned *count);

/*
 * Checks the records of a sample piece (SAMPLE_MARKS marked accesses with known registers). In each
 * record whose instruction is a mark it checks the registers after the mark: RAX and the flags if
 * the mark adds to RAX, the other registers, and, if it is exact, the counter's bit in the status
 * field.
 */
struct mem_sample_claims {
	struct test_claim rax, flags, registers, status;
};
void mem_sample_check_registers(struct test *t, const struct mem_sample_claims *claims,
				struct mem_sample_setup *setup, const struct workload *w);

/*
 * The end of a window with one record, for which the buffer's threshold or (interrupts) its counter
 * requests an interrupt: the number of interrupts, and the status at the entry of the first.
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
 * remote, shared or exclusive. On a processor with a memory-side cache also the code of this
 * cache. */
u64 mem_sample_codes_of_memory(struct test *t);

/*
 * Bit n: code n is right on this type of core for loads of this access: ACCESS_L1, ACCESS_PENDING,
 * ACCESS_L2, ACCESS_L3 or ACCESS_MEMORY. In a run that isn't strict the source may be unknown or a
 * cache that CPUID doesn't describe, and the L3 need not have what the L2 has lost.
 */
u64 mem_sample_codes_of_core(struct test *t, enum access access);

/*
 * Does an event of local memory count each load from memory? Not on a machine with several
 * packages, unless the run is strict: the memory may belong to another package.
 */
bool mem_sample_memory_is_local(const struct test *t);

/* cache_workload_get(); if it fails, the test has ended. */
bool mem_sample_prepare(struct test *t, enum access access, struct cache_workload *h);

/* The least and the most of so many records that may have it. */
u64 mem_sample_share_least(enum mem_sample_share share, u64 records);
u64 mem_sample_share_most(enum mem_sample_share share, u64 records);

/*
 * Retire latencies of sampled loads: times between the retirement of an instruction and of the one
 * before it, in core cycles (intel/perfmon README: timed PEBS).
 */
#define RETIRE_LATENCY_MOST	0xffffu
struct retire_latencies {
	unsigned records, valid;	/* valid: of them, with a latency */
	u64 sum, cycles;		/* sum of the valid ones; cycles of the windows */
};
/* Are there latencies to judge? No records fail the claim in a strict run. */
bool retire_latencies_there(struct test *t, struct test_claim claim,
			    const struct retire_latencies *l);
/* Their sum is above 0 and not above the cycles that passed, because they don't overlap. config:
 * the register that says what is in the records, and its value. */
void retire_latencies_fit(struct test *t, struct test_claim claim, const struct retire_latencies *l,
			  const char *config, u64 value);
/* Loads that stall have a larger average than loads that don't. */
void retire_latencies_rise(struct test *t, struct test_claim claim,
			   const struct retire_latencies *none,
			   const struct retire_latencies *stall);

#endif
