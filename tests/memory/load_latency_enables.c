/* SPDX-License-Identifier: MIT */
/*
 * Load latency of Skylake: both enables of a counter, and the codes of sources that are its own.
 * SDM "Load Latency Performance Monitoring Facility", Table 18-54; Linux pebs_data_source.
 */
#include "kernel/output/fmt.h"
#include "pmu/counter.h"
#include "spec/data_source.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

static struct mem_sample_record records[MEM_SAMPLE_MOST];

#define ENOUGH_TIMES	4u	/* the rounds that made a record */

/*
 * SKL-20  Load latency on IA32_PMCn must need both IA32_PEBS_ENABLE[n] and IA32_PEBS_ENABLE[32+n].
 *         Linux; SDM Table 18-54
 *
 * Given  load latency on IA32_PMC3, which makes records with both of its enables
 * When   only one of the two is set, over four times as many rounds
 * Then   with bit 35 alone there is no record; with bit 3 alone no record has a latency
 * Control: with both there are records with a latency
 */
TEST(ll, load_latency_needs_both_enables_of_its_counter, REQS(SKL_20),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_format3))
{
	const u64 both = BIT(3) | BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + 3);
	struct mem_sample_setup setup = mem_sample_loads();
	struct cache_workload h;
	unsigned count;
	u64 rounds;

	if (!CONTROL_EQ(t, SKL_20, both, setup.enable.bits, "both enables of IA32_PMC3") ||
	    !mem_sample_collect(t, CONTROL_AT(SKL_20), &setup, ACCESS_L1, &h, records, &count))
		return;
	rounds = ENOUGH_TIMES * setup.rounds;
	for (unsigned i = 0; i < 2; i++) {
		struct mem_sample_setup one = mem_sample_loads();

		one.enable.bits = i ? both & ~BIT(3) : BIT(3);
		one.most = rounds;
		count = mem_sample_take(&one, &h, records);
		for (unsigned r = 0; r < count; r++)
			CHECK_EQ(t, SKL_20, 0, records[r].latency,
				 "latency of record %u, IA32_PEBS_ENABLE = %#lx", r,
				 one.enable.bits);
		if (i)
			CHECK_EQ(t, SKL_20, 0, count, "records, IA32_PEBS_ENABLE = %#lx",
				 one.enable.bits);
	}
}

/* Codes that the table has for this processor. */
static u32 known_codes(void)
{
	const u32 set = counter_caps()->generation ? counter_caps()->generation->set : 0;
	u32 codes = 0;

#define DATA_SOURCE(gens, code, outcome, authority, title, source) \
	if ((gens) & set) \
		codes |= (u32)BIT(code);
#include "spec/data_source.def"
	return codes;
}

/*
 * SKL-22  The data source code must be one of those that the table defines for the part.
 *         Linux intel_pmu_pebs_data_source_skl
 *
 * Given  loads that hit the L1, L2, L3, go to memory, and find their line on its way
 * When   load latency makes records of each
 * Then   each record's code is one that the table has for this processor
 */
TEST(ll, data_source_is_a_code_of_the_table, REQS(SKL_22),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_format3))
{
	static const enum access kinds[] = { ACCESS_L1, ACCESS_L2, ACCESS_L3, ACCESS_MEMORY,
					     ACCESS_PENDING };

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct mem_sample_setup setup = mem_sample_loads();
		struct cache_workload h;
		unsigned count;

		if (!mem_sample_collect(t, AT(SKL_22), &setup, kinds[i], &h, records, &count))
			return;
		for (unsigned r = 0; r < count; r++)
			CHECK_EQ(t, SKL_22, 1, known_codes() >> (records[r].source & 0xf) & 1,
				 "data source code %#lx of %s is in the table, record %u",
				 records[r].source & 0xf, h.name, r);
	}
}
