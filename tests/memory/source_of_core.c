/* SPDX-License-Identifier: MIT */
/*
 * Bits of the data source that cores of different types have at different places: Linux ds.c,
 * latency data of each core. Table 18-33 applies to P-cores; spec/data_source.def has the bits at
 * other places.
 */
#include "kernel/output/fmt.h"
#include "pmu/memory_sampling.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

#define RECORDS	3u	/* of each kind, where each decides */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

static bool need_later_core(char *reason, size_t size)
{
	/* What Golden Cove and the cores after it have in common. */
	if (counter_caps()->facilities & FAC_LL_SPLIT)
		return true;
	fmt_print(reason, size, "a core before Golden Cove (family %02x model %02x)",
		  counter_caps()->family, counter_caps()->model);
	return false;
}

static unsigned with(unsigned count, u64 bit)
{
	unsigned n = 0;

	for (unsigned i = 0; i < count; i++)
		n += (records[i].source & bit) != 0;
	return n;
}

/*
 * HYB-11  A record of a locked load must have the lock bit of its core set, and one of a plain
 *         load must not: bit 4 of the data source on Gracemont, 5 on Crestmont, Skymont and
 *         Darkmont and from Golden Cove to Redwood Cove, 11 on Lion Cove and Cougar Cove.
 *         Linux grt_latency_data, adl_latency_data_p, cmt_latency_data, lnl_latency_data
 *
 * Given  locked additions, the same with a page walk each, and plain loads of one line
 * When   three records are made of each, plain loads after each of the others
 * Then   this core's bit is 1 in each record of a locked addition, and 0 in each of a plain load
 */
TEST(ll, locked_load_has_the_lock_bit_of_its_type_of_core, REQS(HYB_11),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_later_core))
{
	static const enum access turns[] = { ACCESS_LOCKED, ACCESS_L1, ACCESS_LOCKED_PAGE_WALK,
					     ACCESS_L1 };
	const u64 bit = latency_lock_bit();

	for (unsigned turn = 0; turn < sizeof(turns) / sizeof(turns[0]); turn++) {
		struct mem_sample_setup setup = mem_sample_loads();
		struct cache_workload h;
		unsigned count;

		setup.wanted = RECORDS;
		if (!mem_sample_collect(t, AT(HYB_11), &setup, turns[turn], &h, records, &count))
			return;
		CHECK_EQ(t, HYB_11, turn % 2 ? 0 : count, with(count, bit),
			 "of %u records of %s have the bits %#lx", count, h.name, bit);
	}
}

static bool has_bit(const struct mem_sample_record *record, u64 bit)
{
	return record->source & bit;
}

/*
 * HYB-12  A record of a load that missed the STLB must have the bit of its core set: bit 5 of the
 *         data source on Gracemont, 6 on Crestmont, Skymont and Darkmont, 4 from Golden Cove to
 *         Redwood Cove, 10 on Lion Cove and Cougar Cove.
 *         Linux grt_latency_data, adl_latency_data_p, cmt_latency_data, lnl_latency_data
 *
 * Given  loads after INVLPG, which need a page walk, and loads of one line
 * When   records are made of each
 * Then   this core's bit is 1 in most of the first, and 0 in most of the second
 */
TEST(ll, load_that_missed_the_stlb_has_the_bit_of_its_type_of_core, REQS(HYB_12),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_later_core))
{
	struct mem_sample_setup setup = mem_sample_loads();

	mem_sample_check_most(t, AT(HYB_12), &setup, ACCESS_PAGE_WALK, MOST, has_bit,
			      latency_stlb_bit(), "have the bit");
	mem_sample_check_most(t, AT(HYB_12), &setup, ACCESS_L1, FEW, has_bit, latency_stlb_bit(),
			      "have the bit");
}
