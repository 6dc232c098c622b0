/* SPDX-License-Identifier: MIT */
/*
 * The memory group of an adaptive record, for accesses with known addresses: Linux struct
 * pebs_meminfo. Only events of a memory access are tested: MEM_INST_RETIRED and
 * MEM_TRANS_RETIRED.LOAD_LATENCY. No source defines the group for other events, or which access is
 * tagged.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "pmu/memory_sampling.h"
#include "spec/adaptive.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/measure/mem_sample.h"

#define AT_EVENTING_IP	ADAPTIVE_BASIC_eventing_ip
#define AT_ADDRESS	(BASIC_BYTES + ADAPTIVE_MEMORY_data_linear_address)
#define AT_LATENCY	(BASIC_BYTES + ADAPTIVE_MEMORY_latency)
#define AT_TX		(BASIC_BYTES + ADAPTIVE_MEMORY_tx_abort)
/* In the GPR group after it. */
#define AT_RIP		(BASIC_BYTES + ADAPTIVE_MEMORY_BYTES + ADAPTIVE_GPR_rip)
/* The XMM group comes after them. */
#define LATENCY_CONFIG	(CONFIG_MEMORY | CONFIG_GPR | CONFIG_XMM)
#define EVERY_GROUP	(LATENCY_CONFIG | CONFIG_LBR_OF(2))
#define BATCH		250u	/* rounds */
#define LONGER		4u
#define LATENCY_VALID	BITS(0, 31)	/* bits that Ice Lake uses */

/*
 * ADP-20  The memory group must hold the data linear address at 00H, the data source at 08H, the
 *         latency at 10H and the TX abort information at 18H.
 * ADP-47  The address of a memory group must be the linear address of the access that was sampled.
 *         Linux struct pebs_meminfo
 * ADP-50  The TX abort information must be 0 for a sample outside a transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 *
 * Given  marked loads and stores at addresses of their own, one after the other in a line and in
 *        those that follow
 * When   each of IA32_PMC0 to IA32_PMC3 makes a record with the memory group, two of them with all
 *        groups
 * Then   its first quadword is the linear address of the access that EventingIP names, and the last
 *        one is 0, outside of transactions (bits 31:0 are cycles of the last one, where there are
 *        any)
 * Control: there is one record, and EventingIP is a marked access
 */
TEST(adaptive, memory_group_has_the_linear_address_of_the_access, REQS(ADP_20, ADP_47, ADP_50),
     NEEDS(need_perfmon, need_baseline, need_events), .under_every_fault = true)
{
	u64 operands = (u64)(uintptr_t)workload_memory() + SAMPLE_OFFSET;

	for (unsigned c = 0; c < LOAD_COUNTERS; c++) {
		for (unsigned store = 0; store < 2; store++) {
			const struct workload *w = store ? &workload_sample_store :
							   &workload_sample;
			struct adaptive_run run = { .counter = c,
						    .config = c & 1 ? EVERY_GROUP : CONFIG_MEMORY,
						    .event = store ? STORES : LOADS,
						    .workload = w,
						    .later = 2 * c + store + 1 };
			int mark;

			adaptive_window(&run);
			if (!adaptive_one_record(t, CONTROL_AT(ADP_20, ADP_47, ADP_50), &run))
				return;
			mark = workload_mark_at(w, SAMPLE_MARKS, adaptive_at(AT_EVENTING_IP));
			if (!CONTROL(t, ADP_47, mark >= 0, "EventingIP %#lx is a marked access",
				     adaptive_at(AT_EVENTING_IP)))
				return;
			CHECK_EQ(t, IDS(ADP_20, ADP_47), operands + 8 * (u64)mark,
				 adaptive_at(AT_ADDRESS), "address at 00H, of %s %d, IA32_PMC%u",
				 store ? "store" : "load", mark, c);
			CHECK_EQ(t, ADP_50, 0, adaptive_at(AT_TX) & sampling_tx_mask(),
				 "TX abort information at 18H (where there are transactions, bits "
				 "63:32)");
		}
	}
}

/* The latency; of two latencies the greater one, because no source says which of them the threshold
 * applies to. */
static u64 latency_at(unsigned at)
{
	u64 word = adaptive_at(at + AT_LATENCY), instruction, cache;

	if (!(counter_caps()->facilities & FAC_LL_SPLIT))
		return word & LATENCY_VALID;
	instruction = (word & ADAPTIVE_LATENCY_INSTRUCTION) >> ADAPTIVE_LATENCY_INSTRUCTION_SHIFT;
	cache = (word & ADAPTIVE_LATENCY_CACHE) >> ADAPTIVE_LATENCY_CACHE_SHIFT;
	return instruction > cache ? instruction : cache;
}

static u32 latency_counters(void)
{
	struct event event = { .counters = 0 };

	event_get(EK_LOAD_LATENCY, EV_LL, &event);
	return event.counters;
}

/* Sample load latency on a counter, enabled by its own PEBS enable bit alone, for at most *most
 * rounds of the piece. Returns the number of records; *most: the rounds that they took. */
static unsigned take_latency(const struct workload *w, unsigned counter, u64 threshold,
			     unsigned *most)
{
	const struct adaptive_layout layout = { .config = LATENCY_CONFIG,
						.size = (u16)adaptive_bytes(LATENCY_CONFIG) };
	struct ds_setup setup = sampling_setup(MEM_SAMPLE_RECORDS_SURE);
	struct event event = { .code = 0 };
	unsigned rounds = 0;

	setup.layout = &layout;
	setup.threshold = MEM_SAMPLE_RECORDS_SURE + 1;
	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup.reset[i] = pebs_reset_value(0, MEM_SAMPLE_PERIOD);
	event_get(EK_LOAD_LATENCY, EV_LL, &event);
	ds_open(&setup);
	latency_set_threshold(threshold);
	pebs_arm(counter, event.code, COUNT_BOTH, MEM_SAMPLE_PERIOD);
	for (; rounds < *most && ds_records() < MEM_SAMPLE_RECORDS; rounds += BATCH)
		workload_run(w, BATCH, pmc_one(counter));
	*most = rounds;
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	counters_clear(counters_status());
	latency_set_threshold(LATENCY_THRESHOLD_LEAST);
	return ds_records();
}

/* Are there enough records? If not, the test has ended. */
static bool enough(struct test *t, struct test_claim claim, unsigned records, unsigned counter)
{
	if (!records && !test_is_strict(t)) {
		test_inconclusive(t, "no load was tagged");
		return false;
	}
	return test_check(t, claim, records > 0, "records", "records of load latency, IA32_PMC%u",
			  counter);
}

/*
 * ADP-20  The memory group must hold the data linear address at 00H, the data source at 08H, the
 *         latency at 10H and the TX abort information at 18H.
 * ADP-47  The address of a memory group must be the linear address of the access that was sampled.
 *         Linux struct pebs_meminfo
 * ADP-48  A load latency record must need no bit of IA32_PEBS_ENABLE[35:32].
 *         Linux intel_pmu_pebs_enable: version 5 sets no bit 32+n
 * ADP-49  The latency of a load latency record must be above the threshold of
 *         MSR_PEBS_LD_LAT_THRESHOLD.
 *         SDM 18.8.1.2 Load Latency Performance Monitoring Facility; Linux struct pebs_meminfo
 * HYB-08  Load latency must be usable on IA32_PMC0 and IA32_PMC1 of Gracemont, Crestmont and
 *         Skymont.
 *         Linux; intel/perfmon MEM_UOPS_RETIRED.LOAD_LATENCY
 * HYB-10  Load latency must be usable on IA32_PMC1 to IA32_PMC7 from Golden Cove to Redwood Cove,
 *         and on IA32_PMC2 to IA32_PMC9 of Lion Cove.
 *         Linux; intel/perfmon MEM_TRANS_RETIRED.LOAD_LATENCY
 *
 * Given  the load latency event and a threshold of 3 cycles; loads of a line that was just flushed
 * When   each general-purpose counter that has the event makes records, IA32_PEBS_ENABLE[n] alone
 *        set
 * Then   there are records, each of the line that is loaded, with the counter alone among its
 *        applicable counters and a latency above 3
 */
TEST(adaptive, load_latency_needs_the_counters_own_enable_alone,
     REQS(ADP_20, ADP_47, ADP_48, ADP_49, HYB_08, HYB_10),
     NEEDS(need_perfmon, need_baseline, need_events, need_load_latency), .deadline_ms = 5000)
{
	u64 memory = (u64)(uintptr_t)workload_memory();

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		unsigned most = MEM_SAMPLE_ROUNDS_MOST;
		unsigned records;

		if (!(latency_counters() & BIT(c)))
			continue;
		records = take_latency(&workload_uncached, c, LATENCY_THRESHOLD_LEAST, &most);
		if (!enough(t, AT(ADP_48, HYB_08, HYB_10), records, c))
			return;
		for (unsigned i = 0; i < records; i++) {
			unsigned at = i * adaptive_bytes(LATENCY_CONFIG);
			u64 latency = latency_at(at);

			CHECK_EQ(t, ADP_48, BIT(c), adaptive_at(at + 0x10),
				 "applicable counters of record %u, IA32_PMC%u", i, c);
			if (!sampling_is_switching(&workload_uncached, adaptive_at(at + AT_RIP)))
				CHECK_EQ(t, IDS(ADP_20, ADP_47), memory,
					 adaptive_at(at + AT_ADDRESS), "address of record %u", i);
			CHECK_RANGE(t, IDS(ADP_20, ADP_49), LATENCY_THRESHOLD_LEAST + 1,
				    LATENCY_VALID, latency, "latency of record %u", i);
		}
	}
}

/*
 * ADP-49  The latency of a load latency record must be above the threshold of
 *         MSR_PEBS_LD_LAT_THRESHOLD.
 *         SDM 18.8.1.2 Load Latency Performance Monitoring Facility; Linux struct pebs_meminfo
 *
 * Given  the load latency event on its first counter; loads of lines that were just flushed
 * When   the threshold is 3, 32, 128, 255, 256 and 4096 cycles
 * Then   the latency of each record is above it
 * Control: there are records at the least threshold
 */
TEST(adaptive, latency_of_a_memory_group_is_above_the_threshold, REQS(ADP_49),
     NEEDS(need_perfmon, need_baseline, need_events, need_load_latency), .deadline_ms = 5000)
{
	static const u16 thresholds[] = { LATENCY_THRESHOLD_LEAST, 32, 128, 255, 256, 4096 };

	const unsigned counter = (unsigned)__builtin_ctz(latency_counters());
	unsigned most = MEM_SAMPLE_ROUNDS_MOST;

	for (unsigned i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
		unsigned records = take_latency(&workload_uncached, counter, thresholds[i], &most);

		if (!i && !enough(t, CONTROL_AT(ADP_49), records, counter))
			return;
		/* There may be no load above the higher thresholds: limit their runs to a few times
		 * as many rounds. */
		most *= i ? 1 : LONGER;
		for (unsigned r = 0; r < records; r++) {
			unsigned at = r * adaptive_bytes(LATENCY_CONFIG);

			CHECK_RANGE(t, ADP_49, thresholds[i] + 1u, LATENCY_VALID,
				    latency_at(at),
				    "latency of record %u, threshold %u", r, thresholds[i]);
		}
	}
}

static bool need_split_latency(char *reason, size_t size)
{
	if (counter_caps()->facilities & FAC_LL_SPLIT)
		return true;
	fmt_print(reason, size, "one latency (family %02x model %02x)", counter_caps()->family,
		  counter_caps()->model);
	return false;
}

/*
 * ADP-12  The latency of the memory group must be two numbers: of the instruction in bits 15:0, of
 *         the cache in bits 47:32.
 *         Linux struct pebs_meminfo, PMU_FL_INSTR_LATENCY; intel/perfmon README
 * HYB-15  The latency of the instruction must not be below that of the cache.
 *         intel/perfmon README: dispatch to completion, and the time in the memory subsystem
 * HYB-16  The latencies of a memory group must be two numbers of 16 bits, at bits 15:0 and 47:32.
 *         Linux struct pebs_meminfo, PMU_FL_INSTR_LATENCY
 *
 * Given  the load latency event on its first counter; loads of a line that was just flushed, which
 *        the memory subsystem has to bring; then locked loads of one line
 * When   records are made
 * Then   bits 15:0 of the latency are 0 in none, bits 47:32 never above them, and these not 0 in
 *        all records of the line that was flushed
 */
TEST(adaptive, latency_of_a_memory_group_is_that_of_the_instruction_and_of_the_cache,
     REQS(ADP_12, HYB_15, HYB_16),
     NEEDS(need_perfmon, need_baseline, need_events, need_load_latency, need_split_latency),
     .deadline_ms = 5000)
{
	static const struct workload *const pieces[] = { &workload_uncached, &workload_lock };
	const unsigned counter = (unsigned)__builtin_ctz(latency_counters());

	for (unsigned p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++) {
		unsigned most = MEM_SAMPLE_ROUNDS_MOST, with_cache = 0, records;

		records = take_latency(pieces[p], counter, LATENCY_THRESHOLD_LEAST, &most);
		if (!enough(t, AT(ADP_12, HYB_15, HYB_16), records, counter))
			return;
		for (unsigned i = 0; i < records; i++) {
			const unsigned at = i * adaptive_bytes(LATENCY_CONFIG);
			const u64 word = adaptive_at(at + AT_LATENCY);
			const u64 instruction = word & 0xffff, cache = word >> 32 & 0xffff;

			CHECK_RANGE(t, IDS(ADP_12, HYB_16), 1, 0xffff, instruction,
				    "bits 15:0 of the latency of record %u of %s, %#lx", i,
				    pieces[p]->name, word);
			CHECK_RANGE(t, HYB_15, 0, instruction, cache,
				    "bits 47:32 of the latency of record %u of %s, %#lx", i,
				    pieces[p]->name, word);
			with_cache += cache != 0;
		}
		if (pieces[p] == &workload_uncached)
			CHECK_RANGE(t, IDS(ADP_12, HYB_16), 1, records, with_cache,
				    "of %u records those whose bits 47:32 of the latency aren't 0",
				    records);
	}
}
