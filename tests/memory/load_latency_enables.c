/* SPDX-License-Identifier: MIT */
/*
 * Load latency of Skylake: both enables of a counter. SDM "Load Latency Performance Monitoring
 * Facility", Table 18-54.
 */
#include "pmu/counter.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

static struct mem_sample_record records[MEM_SAMPLE_MOST];

#define ENOUGH_TIMES	4u	/* times the rounds that made a record */

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
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	unsigned count;
	u64 rounds;

	if (!CONTROL_EQ(t, SKL_20, both, setup.enable.bits, "both enables of IA32_PMC3") ||
	    !mem_sample_collect(t, CONTROL_AT(SKL_20), &setup, ACCESS_L1, &h, records, &count))
		return;
	rounds = ENOUGH_TIMES * setup.rounds;
	for (unsigned i = 0; i < 2; i++) {
		struct mem_sample_setup one = mem_sample_loads(t);

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
