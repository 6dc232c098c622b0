/* SPDX-License-Identifier: MIT */
/*
 * What a load latency record says, and the threshold, on each counter: the pages' example is
 * IA32_PMC0, other tests use IA32_PMC3.
 */
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"
#include "tests/measure/overflow.h"

#define LOCK		BIT(5)		/* in A0H: Table 18-33 */
#define STLB_MISS	BIT(4)
#define THRESHOLD_MOST	0xffffu		/* MSR_PEBS_LD_LAT_THRESHOLD[15:0] */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

static void check_sources(struct test *t, struct mem_sample_setup *setup)
{
	char reason[96];

	mem_sample_check_most(t, AT(LL_30), setup, ACCESS_MEMORY, SHARE_MORE, mem_sample_has_code,
			      mem_sample_codes_of_memory(t), "have a code of memory");
	mem_sample_check_most(t, AT(LL_30), setup, ACCESS_L2, SHARE_MORE, mem_sample_has_code,
			      BIT(0x3), "have code 03H");
	if (!need_stlb_lock(reason, sizeof(reason)))
		return;
	mem_sample_check_most(t, AT(LL_30), setup, ACCESS_LOCKED, SHARE_MORE, mem_sample_has_bit,
			      LOCK, "have bit 5");
	mem_sample_check_most(t, AT(LL_30), setup, ACCESS_PAGE_WALK, SHARE_MORE, mem_sample_has_bit,
			      STLB_MISS, "have bit 4");
}

/*
 * LL-30  Load latency must work on each of IA32_PMC0 to IA32_PMC3.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility: for example IA32_PMC0
 *
 * Given  load latency on each of IA32_PMC0 to IA32_PMC3, with its own two enables
 * When   each makes records of loads of a flushed line, of the L2, of locked additions and of loads
 *        after INVLPG; makes one record that reaches the PEBS threshold, and one with INT; counts
 *        L1 hits with a latency threshold of FFFFH
 * Then   most records have the code of their place, bit 5 (locked) and bit 4 (a page walk) at A0H;
 *        each of the two single records interrupts; no L1 hit is counted
 * Control: with a latency threshold of 3 L1 hits make records
 */
TEST(ll, each_counter_has_sources_bits_and_thresholds_of_load_latency, REQS(LL_30),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct mem_sample_setup setup = mem_sample_loads(t);
		struct mem_sample_end end;
		struct cache_workload h;
		unsigned count;

		setup.counter = c;
		setup.enable = latency_enable(c);
		check_sources(t, &setup);
		setup.wanted = MEM_SAMPLE_RECORDS;
		if (!mem_sample_collect(t, CONTROL_AT(LL_30), &setup, ACCESS_L1, &h, records,
					&count))
			return;
		end = mem_sample_one(&setup, &h, true, false);
		if (CONTROL_RANGE(t, LL_30, 1, ~0ULL, end.records, "records of IA32_PMC%u", c))
			CHECK_EQ(t, LL_30, 1, end.interrupts,
				 "interrupts of a record of IA32_PMC%u that reaches the threshold",
				 c);
		if (end.interrupts && sampling_clears_status(t))
			CHECK_EQ(t, LL_30, 0, end.entry & BIT(c),
				 "bit of IA32_PMC%u in the status at its entry", c);
		if (sampling_int_has_source(t)) {
			end = mem_sample_one(&setup, &h, false, true);
			CHECK_RANGE(t, LL_30, 1, overflow_allowed(t, 1, end.interrupts),
				    end.interrupts,
				    "interrupts of one overflow of IA32_PMC%u, INT set", c);
		}
		setup.threshold = THRESHOLD_MOST;
		CHECK_EQ(t, LL_30, 0, mem_sample_count_least(&setup, &h, setup.rounds),
			 "L1 hits that IA32_PMC%u counts with a latency threshold of %#x", c,
			 THRESHOLD_MOST);
	}
}
