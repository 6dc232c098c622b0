/* SPDX-License-Identifier: MIT */
/*
 * Where the accesses of CPL 3 found their line: code, lock bit, latency and hit bit of records. The
 * counter counts at CPL 3 alone. user_walks.c has page walks at CPL 3.
 */
#include "pmu/memory_sampling.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

#define LOCK		BIT(5)		/* in A0H: Tables 18-33 and 18-34 */
#define L1D_HIT		BIT(0)		/* in A0H, of stores: Table 18-34 */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

static struct mem_sample_setup loads_at_cpl_3(const struct test *t)
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	setup.user = true;
	return setup;
}

static u64 if_lost_by_l2(struct test *t)
{
	return test_erratum(t, ERRATUM_VICTIM_L3) ? mem_sample_codes_of_memory(t) : 0;
}

/*
 * LL-31  A load that hits the L1 data cache must be reported with code 01H.
 * LL-32  A load whose line is on its way already must be reported with code 02H.
 * LL-33  A load that hits the L2 must be reported with code 03H.
 * LL-34  A load that hits the L3 and needs no snoop must be reported with code 04H.
 * LL-35  A load that misses the L3 and is served by memory must be reported with code 00H, 0AH,
 *        0BH, 0CH or 0DH.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  loads at CPL 3 that hit the L1, the L2, the L3; of a flushed line; of a line that is on
 *        its way
 * When   IA32_PMC3 makes records of them, counting with USR and without OS
 * Then   most have the code of their place in bits 3:0 at A0H, as at CPL 0
 */
TEST(ll, data_source_at_cpl_3_is_that_of_the_line, REQS(LL_31, LL_32, LL_33, LL_34, LL_35),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = loads_at_cpl_3(t);

	mem_sample_check_most(t, AT(LL_31), &setup, ACCESS_L1, SHARE_MORE, mem_sample_has_code,
			      BIT(0x1), "have code 01H, CPL 3");
	mem_sample_check_most(t, AT(LL_32), &setup, ACCESS_PENDING, SHARE_MORE, mem_sample_has_code,
			      BIT(0x2) | (test_is_strict(t) ? 0 : mem_sample_codes_of_memory(t)),
			      "have code 02H, CPL 3");
	mem_sample_check_most(t, AT(LL_33), &setup, ACCESS_L2, SHARE_MORE, mem_sample_has_code,
			      BIT(0x3), "have code 03H, CPL 3");
	mem_sample_check_most(t, AT(LL_34), &setup, ACCESS_L3, SHARE_MORE, mem_sample_has_code,
			      BIT(0x4) | if_lost_by_l2(t), "have code 04H, CPL 3");
	mem_sample_check_most(t, AT(LL_35), &setup, ACCESS_MEMORY, SHARE_MORE, mem_sample_has_code,
			      mem_sample_codes_of_memory(t), "have a code of memory, CPL 3");
}

/*
 * LL-47  A load that hits the L1 data cache must be reported with a code of its core: 01H, on Lion
 *        Cove and Cougar Cove 01H or 02H.
 * LL-48  A load whose line is on its way already must be reported with a code of its core: 02H, on
 *        Lion Cove and Cougar Cove 03H or 06H.
 * LL-49  A load that hits the L2 must be reported with the code of its core: 03H, on Lion Cove and
 *        Cougar Cove 05H.
 * LL-50  A load that hits the L3 and needs no snoop must be reported with a code of its core: 04H,
 *        on Crestmont, Skymont and Darkmont 04H or 05H, on Lion Cove and Cougar Cove 08H.
 * LL-51  A load that memory serves must be reported with a code of memory of its core: 0AH or 0BH,
 *        on Gracemont 0AH to 0DH, on Lion Cove and Cougar Cove 11H.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt, _lnl
 *
 * Given  loads at CPL 3 that hit the L1, the L2, the L3; of a flushed line; of a line that is on
 *        its way
 * When   records are made of them, counting with USR and without OS
 * Then   most have this core's code of their place, as at CPL 0
 */
TEST(ll, code_at_cpl_3_is_that_of_the_type_of_core, REQS(LL_47, LL_48, LL_49, LL_50, LL_51),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = loads_at_cpl_3(t);

	mem_sample_check_most(t, AT(LL_47), &setup, ACCESS_L1, SHARE_MORE,
			      mem_sample_has_code_of_core, mem_sample_codes_of_core(t, ACCESS_L1),
			      "have a code of this core");
	mem_sample_check_most(t, AT(LL_48), &setup, ACCESS_PENDING, SHARE_MORE,
			      mem_sample_has_code_of_core,
			      mem_sample_codes_of_core(t, ACCESS_PENDING),
			      "have a code of this core");
	mem_sample_check_most(t, AT(LL_49), &setup, ACCESS_L2, SHARE_MORE,
			      mem_sample_has_code_of_core, mem_sample_codes_of_core(t, ACCESS_L2),
			      "have a code of this core");
	mem_sample_check_most(t, AT(LL_50), &setup, ACCESS_L3, SHARE_MORE,
			      mem_sample_has_code_of_core, mem_sample_codes_of_core(t, ACCESS_L3),
			      "have a code of this core");
	mem_sample_check_most(t, AT(LL_51), &setup, ACCESS_MEMORY, SHARE_MORE,
			      mem_sample_has_code_of_core,
			      mem_sample_codes_of_core(t, ACCESS_MEMORY),
			      "have a code of this core");
}

/* The mean latency of the records, or 0: there aren't enough, and the test has ended. */
static u64 mean_latency(struct test *t, enum access access)
{
	struct mem_sample_setup setup = loads_at_cpl_3(t);
	struct cache_workload h;
	u64 sum = 0, in_place = 0;
	unsigned count;

	if (!mem_sample_collect(t, AT(LL_08), &setup, access, &h, records, &count))
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (mem_sample_in_place(&h, records[i].address)) {
			sum += records[i].latency;
			in_place++;
		}
	if (!in_place)
		test_inconclusive(t, "no record of %s at CPL 3", h.name);
	return in_place ? sum / in_place : 0;
}

/*
 * LL-08  The latency must run from the first dispatch of the load to the final data writeback, so
 *        that a load that misses takes longer than one that hits.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  loads of one line at CPL 3, which hit the L1, and of a flushed line
 * When   records are made of each
 * Then   the mean latency of the second is at least twice that of the first, as at CPL 0
 */
TEST(ll, latency_at_cpl_3_of_loads_from_memory_is_larger_than_of_l1_hits, REQS(LL_08),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	const u64 near = mean_latency(t, ACCESS_L1);
	const u64 far = near ? mean_latency(t, ACCESS_MEMORY) : 0;

	if (far)
		CHECK_RANGE(t, LL_08, 2 * near, ~0ULL, far,
			    "mean latency of loads from memory at CPL 3; of L1 hits: %lu", near);
}

/*
 * LL-27   Bit 5 of the data source must be 1 for the load of a locked read-modify-write and 0 for
 *         a plain load.
 *         SDM 18.9.4.2 Load Latency Performance Monitoring Facility, Table 18-33 Layout of Data
 *         Source Field of Load Latency Record
 * HYB-11  A record of a locked load must have the lock bit of its core set, and one of a plain
 *         load must not: bit 4 of the data source on Gracemont, 5 on Crestmont, Skymont and
 *         Darkmont and from Golden Cove to Redwood Cove, 11 on Lion Cove and Cougar Cove.
 *         Linux grt_latency_data, adl_latency_data_p, cmt_latency_data, lnl_latency_data
 *
 * Given  locked additions at CPL 3, and plain loads of one line
 * When   records are made of each in turn, twice
 * Then   at A0H the lock bit is 1 in each record of an addition, and 0 in each of a plain load
 */
TEST(ll, latency_record_of_cpl_3_has_the_lock_bit_exactly_for_locked_loads, REQS(LL_27, HYB_11),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_stlb_lock))
{
	for (unsigned turn = 0; turn < 4; turn++) {
		const bool locked = turn % 2 == 0;
		struct mem_sample_setup setup = loads_at_cpl_3(t);
		unsigned count, in_place = 0, set = 0;
		struct cache_workload h;

		if (!mem_sample_collect(t, AT(LL_27, HYB_11), &setup,
					locked ? ACCESS_LOCKED : ACCESS_L1, &h, records, &count))
			return;
		/* The piece at CPL 3 has loads of its own, of the stack. */
		for (unsigned i = 0; i < count; i++)
			if (mem_sample_in_place(&h, records[i].address)) {
				in_place++;
				set += mem_sample_has_bit(&records[i], latency_lock_bit());
			}
		if (!in_place) {
			test_inconclusive(t, "no record of %s at CPL 3", h.name);
			return;
		}
		CHECK_EQ(t, IDS(LL_27, HYB_11), locked ? in_place : 0, set,
			 "of %u records of %s at CPL 3 have bits %#lx", in_place, h.name,
			 latency_lock_bit());
	}
}

/*
 * PS-05  Bit 0 of A0H must be 1 for a store that hit the L1 data cache and 0 for one that missed
 *        it.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  stores at CPL 3 to one line, which hit the L1, to a flushed line, and to lines of the L2,
 *        which a processor may bring before the store gets there
 * When   IA32_PMC3 makes precise-store records of them, those of hits before each of the others
 * Then   bit 0 at A0H is 1 in most of the first, and in strict runs 0 in most of the others
 */
TEST(ps, precise_store_record_of_cpl_3_has_the_hit_bit_for_l1_hits, REQS(PS_05),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores(t);

	static const enum access turns[] = { ACCESS_STORE_HIT, ACCESS_STORE_MISS, ACCESS_STORE_HIT,
					     ACCESS_STORE_L2 };

	setup.user = true;
	for (unsigned turn = 0; turn < sizeof(turns) / sizeof(turns[0]); turn++) {
		const bool hits = turns[turn] == ACCESS_STORE_HIT;

		if (hits || test_is_strict(t))
			mem_sample_check_most(t, AT(PS_05), &setup, turns[turn],
					      hits ? SHARE_MORE : SHARE_FEWER, mem_sample_has_bit,
					      L1D_HIT, "have bit 0, CPL 3");
	}
}
