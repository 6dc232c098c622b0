/* SPDX-License-Identifier: MIT */
/*
 * Page walks at CPL 3: the events of STLB misses, and bit 4 of A0H in records. CPL 0 executes
 * INVLPG for all pages, and then CPL 3 accesses each page once. The control has no INVLPG, and the
 * STLB has most of the pages.
 */
#include "kernel/memory/pages.h"
#include "kernel/memory/paging.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

#define COUNTER		2u
#define WALKS		2u			/* of all pages, for a count */
#define STRICT_WALKS	1u
#define WALKS_MOST	64u			/* until there are enough records */
#define STLB_MISS	BIT(4)			/* in A0H: Tables 18-33 and 18-34 */

/* The counter counts only at CPL 3, so INVLPG, at CPL 0, isn't counted. */
static void walk_at_cpl_3(const struct cache_workload *h, bool fresh)
{
	for (unsigned i = 0; fresh && i < PAGES_SMALL; i++)
		__asm__ volatile("invlpg %0" ::"m"(pages_get()->small[i * PAGE_SIZE]) : "memory");
	workload_run_user_at(h->workload, PAGES_SMALL, &h->at);
}

static u64 count_walks(u64 walks, u16 event, const struct cache_workload *h, bool fresh)
{
	u64 count;

	counter_program(COUNTER, event, COUNT_USR);
	walk_at_cpl_3(h, false);	/* brings the pages into caches and STLB */
	counter_write(COUNTER, 0);
	counters_enable(pmc_one(COUNTER));
	for (unsigned i = 0; i < walks; i++)
		walk_at_cpl_3(h, fresh);
	counters_disable();
	count = counter_read(COUNTER);
	counter_program_disabled(COUNTER, 0, 0);
	return count;
}

/*
 * DLA-13  An event of Table 18-45 must count each access that its name is about, locked or not, in
 *         one page or in two, and no access of another kind.
 *         SDM chapter 19: MEM_UOPS_RETIRED, MEM_LOAD_UOPS_RETIRED; Table 18-45
 * CNT-49  An event of retired loads or stores must count each that its name is about, whatever
 *         else it is: locked, split, in two pages, with a page walk, one of several of an
 *         instruction.
 *         SDM chapter 19: MEM_UOPS_RETIRED of Sandy Bridge to Broadwell, MEM_INST_RETIRED
 * CNT-52  Events of retired loads by the cache that had the line, of DTLB misses of loads and of
 *         stores, and of uncacheable loads must count those, and no others, and make records of
 *         them.
 *         SDM chapter 19: MEM_LOAD_RETIRED, MEM_STORE_RETIRED, MEM_UNCORE_RETIRED of Intel Core i7
 *
 * Given  loads of 256 pages, and stores to them, at CPL 3, counted with USR and without OS by the
 *        events of STLB misses, on Nehalem of DTLB misses
 * When   each page is visited twice (once in strict runs), each time after INVLPG
 * Then   three of four accesses are counted at least, and few others
 * Control: without INVLPG at most one STLB miss of four accesses is counted: the STLB has the
 *          pages
 */
TEST(dla, stlb_miss_events_count_page_walks_at_cpl_3, REQS(DLA_13, CNT_49, CNT_52),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	static const struct {
		enum event_kind kind;
		enum access access;
	} rows[] = {
		{ EK_STLB_MISS_LOADS, ACCESS_STLB },
		{ EK_STLB_MISS_STORES, ACCESS_STORE_STLB },
		{ EK_DTLB_MISS_LOADS, ACCESS_STLB },
		{ EK_DTLB_MISS_STORES, ACCESS_STORE_STLB },
	};

	const u64 walks = test_rounds(t, STRICT_WALKS, WALKS), accesses = walks * PAGES_SMALL;
	const u64 slack = accesses / 4;		/* prefetched translations, interrupts */

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const bool of_stlb = rows[i].kind == EK_STLB_MISS_LOADS ||
				     rows[i].kind == EK_STLB_MISS_STORES;
		struct cache_workload h;
		struct event event;

		if (!event_get(rows[i].kind, EV_PEBS, &event))
			continue;
		if (!mem_sample_prepare(t, rows[i].access, &h))
			return;
		CHECK_RANGE(t, IDS(DLA_13, CNT_49, CNT_52), accesses - slack, accesses + slack,
			    count_walks(walks, event.code, &h, true),
			    "events of code 0x%x in %lu %s at CPL 3, after INVLPG", event.code,
			    accesses, h.name);
		if (of_stlb)
			CONTROL_RANGE(t, IDS(DLA_13, CNT_49), 0, slack,
				      count_walks(walks, event.code, &h, false),
				      "events of code 0x%x in %lu %s at CPL 3", event.code,
				      accesses, h.name);
	}
}

/* Most of the pages' records must have the bit after INVLPG, and few without it. */
static void check_bit(struct test *t, struct test_claim claim, const struct mem_sample_setup *setup,
		      enum access access, u64 bit, bool fresh)
{
	const struct sampling_offsets at = sampling_offsets();
	struct ds_setup ds = sampling_setup(MEM_SAMPLE_MOST);
	unsigned count = 0, set = 0;
	struct cache_workload h;

	if (!mem_sample_prepare(t, access, &h))
		return;
	ds.reset[setup->counter] = pebs_reset_value(setup->counter, setup->period);
	ds_open(&ds);
	mem_sample_arm(setup, setup->period);
	walk_at_cpl_3(&h, false);
	counters_enable(pmc_one(setup->counter));
	for (unsigned i = 0; i < WALKS_MOST && ds_records() < 2 * MEM_SAMPLE_RECORDS; i++)
		walk_at_cpl_3(&h, fresh);
	counters_disable();
	mem_sample_off(setup);
	for (unsigned i = 0; i < ds_records(); i++) {
		const u8 *record = ds_record(i);

		if (!mem_sample_in_place(&h, mem_sample_at(record, at.address)))
			continue;
		count++;
		set += !!(mem_sample_at(record, at.source) & bit);
	}
	if (mem_sample_enough(t, claim, &h, count, MEM_SAMPLE_RECORDS))
		test_check_range(t, claim, fresh ? count / 2 + 1 : 0,
				 fresh ? count : (count - 1) / 2, set,
				 "of %u records of %s at CPL 3, %s INVLPG, that have bits %#lx of "
				 "A0H",
				 count, h.name, fresh ? "after" : "without", bit);
}

/*
 * LL-28   Bit 4 of the data source must be 0 for a translation found in the DTLB or STLB, and 1
 *         when the STLB missed.
 *         SDM 18.9.4.2 Load Latency Performance Monitoring Facility, Table 18-33 Layout of Data
 *         Source Field of Load Latency Record
 * HYB-12  A record of a load that missed the STLB must have the bit of its core set: bit 5 of the
 *         data source on Gracemont, 6 on Crestmont, Skymont and Darkmont, 4 from Golden Cove to
 *         Redwood Cove, 10 on Lion Cove and Cougar Cove.
 *         Linux grt_latency_data, adl_latency_data_p, cmt_latency_data, lnl_latency_data
 *
 * Given  loads of 256 pages at CPL 3
 * When   IA32_PMC3 makes records of them after INVLPG of each page, counting with USR and without
 *        OS
 * Then   at A0H the bit is 1 in more than half of those of these pages
 * Control: without INVLPG in less than half: the STLB has the pages
 */
TEST(ll, latency_record_of_a_page_walk_at_cpl_3_has_the_stlb_miss_bit, REQS(LL_28, HYB_12),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_stlb_lock))
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	setup.user = true;
	check_bit(t, AT(LL_28, HYB_12), &setup, ACCESS_STLB, latency_stlb_bit(), true);
	check_bit(t, CONTROL_AT(LL_28, HYB_12), &setup, ACCESS_STLB, latency_stlb_bit(), false);
}

/*
 * PS-06  Bit 4 of A0H must be 1 for a store that missed the STLB and 0 for one that didn't.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  stores to 256 pages at CPL 3
 * When   IA32_PMC3 makes precise-store records of them after INVLPG of each page, counting with USR
 *        and without OS
 * Then   at A0H bit 4 is 1 in more than half of those of these pages
 * Control: without INVLPG in less than half: the STLB has the pages
 */
TEST(ps, precise_store_record_of_a_page_walk_at_cpl_3_has_the_stlb_miss_bit, REQS(PS_06),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores(t);

	setup.user = true;
	check_bit(t, AT(PS_06), &setup, ACCESS_STORE_STLB, STLB_MISS, true);
	check_bit(t, CONTROL_AT(PS_06), &setup, ACCESS_STORE_STLB, STLB_MISS, false);
}
