/* SPDX-License-Identifier: MIT */
/*
 * Bits of the data source that cores of different types have at different places, and the codes of
 * each type of core from Ice Lake on: Linux ds.c, latency data and data source tables of each core.
 * Table 18-33 applies to P-cores; spec/data_source.def has the bits at other places, and the codes.
 * A cache may have lost a line, and a prefetcher may have fetched one. So a code is required for
 * most of a workload's records, not for each.
 */
#include "kernel/output/fmt.h"
#include "pmu/event.h"
#include "pmu/memory_sampling.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

#define RECORDS	3u	/* of each kind, if each record decides */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

static bool need_later_core(char *reason, size_t size)
{
	/* Common to Golden Cove and later cores. */
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
 * Given  locked additions, the same with a page walk each and to a flushed line, and plain loads of
 *        one line
 * When   three records are made of each, plain loads after each of the others
 * Then   this core's bit is 1 in each record of a locked addition, and 0 in each of a plain load
 */
TEST(ll, locked_load_has_the_lock_bit_of_its_type_of_core, REQS(HYB_11),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_later_core))
{
	static const enum access turns[] = { ACCESS_LOCKED, ACCESS_L1, ACCESS_LOCKED_PAGE_WALK,
					     ACCESS_L1, ACCESS_LOCKED_MISS, ACCESS_L1 };
	const u64 bit = latency_lock_bit();

	for (unsigned turn = 0; turn < sizeof(turns) / sizeof(turns[0]); turn++) {
		struct mem_sample_setup setup = mem_sample_loads(t);
		struct cache_workload h;
		unsigned count;

		setup.wanted = RECORDS;
		if (!mem_sample_collect(t, AT(HYB_11), &setup, turns[turn], &h, records, &count))
			return;
		CHECK_EQ(t, HYB_11, turn % 2 ? 0 : count, with(count, bit),
			 "of %u records of %s have the bits %#lx", count, h.name, bit);
	}
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
	struct mem_sample_setup setup = mem_sample_loads(t);

	mem_sample_check_most(t, AT(HYB_12), &setup, ACCESS_PAGE_WALK, SHARE_MORE,
			      mem_sample_has_bit, latency_stlb_bit(), "have the bit");
	mem_sample_check_most(t, AT(HYB_12), &setup, ACCESS_L1, SHARE_FEWER, mem_sample_has_bit,
			      latency_stlb_bit(), "have the bit");
}

static void check_codes(struct test *t, struct test_claim claim, enum access access)
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	mem_sample_check_most(t, claim, &setup, access, SHARE_MORE, mem_sample_has_code_of_core,
			      mem_sample_codes_of_core(t, access), "have a code of this core");
}

/*
 * LL-47  A load that hits the L1 data cache must be reported with a code of its core: 01H, on Lion
 *        Cove and Cougar Cove 01H or 02H.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt, _lnl
 *
 * Given  loads of one line, which hit the L1
 * When   records are made
 * Then   most have this core's code of an L1 hit
 */
TEST(ll, l1_hit_has_the_code_of_its_type_of_core, REQS(LL_47),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_codes(t, AT(LL_47), ACCESS_L1);
}

/*
 * LL-48  A load whose line is on its way already must be reported with a code of its core: 02H, on
 *        Lion Cove and Cougar Cove 03H or 06H.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt, _lnl
 *
 * Given  four loads of each line that was just flushed: the first brings it, the other three find
 *        it on its way
 * When   records are made
 * Then   most have this core's code of a line on its way
 */
TEST(ll, load_of_a_pending_line_has_the_code_of_its_type_of_core, REQS(LL_48),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_codes(t, AT(LL_48), ACCESS_PENDING);
}

/*
 * LL-49  A load that hits the L2 must be reported with the code of its core: 03H, on Lion Cove and
 *        Cougar Cove 05H.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt, _lnl
 *
 * Given  loads of lines that the L1 has lost and the L2 hasn't
 * When   records are made
 * Then   most have this core's code of an L2 hit
 */
TEST(ll, l2_hit_has_the_code_of_its_type_of_core, REQS(LL_49),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_codes(t, AT(LL_49), ACCESS_L2);
}

/*
 * LL-50  A load that hits the L3 and needs no snoop must be reported with a code of its core: 04H,
 *        on Crestmont, Skymont and Darkmont 04H or 05H, on Lion Cove and Cougar Cove 08H.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt, _lnl
 *
 * Given  loads of lines that the L2 has lost and the L3 hasn't
 * When   records are made
 * Then   most have this core's code of an L3 hit; or one of memory, where the L3 need not have what
 *        the L2 has lost
 */
TEST(ll, l3_hit_has_the_code_of_its_type_of_core, REQS(LL_50),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_codes(t, AT(LL_50), ACCESS_L3);
}

/*
 * LL-51  A load that memory serves must be reported with a code of memory of its core: 0AH or 0BH,
 *        on Gracemont 0AH to 0DH, on Lion Cove and Cougar Cove 11H.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt, _lnl
 *
 * Given  loads of a flushed line
 * When   records are made
 * Then   most have this core's code of memory; in a run that isn't strict 00H, unknown, too
 */
TEST(ll, load_from_memory_has_the_code_of_its_type_of_core, REQS(LL_51),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_codes(t, AT(LL_51), ACCESS_MEMORY);
}

static void check_outcomes(struct test *t, enum access access, u64 codes)
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	if (!test_is_strict(t))
		codes |= latency_codes(MEM_UNKNOWN_L3_MISS);
	mem_sample_check_most(t, AT(LL_55), &setup, access, SHARE_MORE, mem_sample_has_code_of_core,
			      codes, "have a code of this core");
}

/*
 * LL-55  A load from uncacheable memory must be reported with code 0FH, and one of a device's
 *        register with 0EH or 0FH.
 *        Linux intel_pmu_pebs_data_source_skl, _grt, _cmt
 *
 * Given  loads of a page of memory that isn't cacheable, and of a register of the HPET
 * When   records are made
 * Then   most of the first have this core's code of uncacheable memory, and most of the second that
 *        code or the one of I/O; in a run that isn't strict 00H, unknown, too
 */
TEST(ll, uncacheable_load_has_the_code_of_its_type_of_core, REQS(LL_55),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_outcomes(t, ACCESS_UNCACHEABLE, latency_codes(MEM_UC));
	check_outcomes(t, ACCESS_DEVICE, latency_codes(MEM_UC) | latency_codes(MEM_IO));
}

/* ---- each record: codes and bits without a name, loads that nothing blocks ---- */

static const enum access kinds[] = {
	ACCESS_L1, ACCESS_PENDING, ACCESS_L2, ACCESS_L3, ACCESS_MEMORY, ACCESS_PAGE_WALK,
	ACCESS_LOCKED, ACCESS_SPLIT,
};
#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

/* check() looks at each of a few records of each kind of load; what: record and kind. */
static void check_each(struct test *t, struct test_claim control,
		       void (*check)(struct test *t, u64 source, const char *what))
{
	for (unsigned kind = 0; kind < KINDS; kind++) {
		struct mem_sample_setup setup = mem_sample_loads(t);
		struct cache_workload h;
		unsigned count;

		setup.wanted = RECORDS;
		if (!mem_sample_collect(t, control, &setup, kinds[kind], &h, records, &count))
			return;
		for (unsigned i = 0; i < count; i++) {
			char what[80];

			fmt_print(what, sizeof(what), "record %u of %s", i, h.name);
			check(t, records[i].source, what);
		}
	}
}

static void check_code(struct test *t, u64 source, const char *what)
{
	CHECK(t, HYB_13, latency_source_is(source, latency_codes_of_core()), "code %lx of %s",
	      latency_source_code(source), what);
}

/*
 * HYB-13  The code of a data source must be one that the table of its core has: on Lion Cove and
 *         Cougar Cove 00H to 03H, 05H, 06H, 08H, 0CH, 0DH, 0FH, 10H or 11H.
 *         Linux: lnl_ and arl_ tables (one source)
 *
 * Given  loads of eight kinds: from each cache and from memory, of a line on its way, with a page
 *        walk, locked, and across a line's end
 * When   three records are made of each
 * Then   the code of each record is in the table of this core
 * Control: each kind of load is recorded
 */
TEST(ll, code_of_each_source_is_in_the_table_of_its_type_of_core, REQS(HYB_13),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_each(t, CONTROL_AT(HYB_13), check_code);
}

static void check_nameless(struct test *t, u64 source, const char *what)
{
	CHECK_EQ(t, HYB_27, 0, source & ~latency_named_bits(), "bits %#lx of the data source of %s",
		 ~latency_named_bits(), what);
}

/*
 * HYB-27  Bits of a load's data source that have no name on its core must be 0, but for bits 7:6
 *         of Ice Lake and bit 4 of Crestmont, Skymont and Darkmont, which may have one.
 *         Linux grt_latency_data, adl_latency_data_p, cmt_latency_data, lnl_latency_data: the bits
 *         that they name
 *
 * Given  loads of eight kinds: from each cache and from memory, of a line on its way, with a page
 *        walk, locked, and across a line's end
 * When   three records are made of each
 * Then   the bits that have no name on this core are 0 in each
 * Control: each kind of load is recorded
 */
TEST(ll, bits_of_a_source_without_a_name_are_0, REQS(HYB_27),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_each(t, CONTROL_AT(HYB_27), check_nameless);
}

/* The counter in front of load latency's for the event without which the bits of a blocked load
 * aren't right, or another one. false: this core has the event, and no counter is left for it. */
static bool helper_counter(unsigned latency, struct event *helper, struct pmc_mask *beside)
{
	u32 others, before;

	*beside = (struct pmc_mask){ 0 };
	if (!event_get(EK_STORE_FORWARD, EV_LL_AUX, helper))
		return true;
	others = helper->counters & counter_caps()->gp_mask & ~(u32)BIT(latency);
	before = others & (u32)(BIT(latency) - 1);
	if (!others)
		return false;
	*beside = pmc_one(before ? 31u - (unsigned)__builtin_clz(before) :
				   (unsigned)__builtin_ctz(others));
	return true;
}

/*
 * HYB-28  A record of a load that no store is in front of must not say that it was blocked: bits
 *         7:6 of the data source from Golden Cove to Redwood Cove, on Golden Cove while event
 *         8203H counts too; 13:12 on Lion Cove and Cougar Cove, 6 on Gracemont, 7 on Crestmont,
 *         Skymont and Darkmont.
 *         Linux pebs_block, PMU_FL_MEM_LOADS_AUX; ds.c, latency data of each core
 *
 * Given  loads of one line, and of lines that the L1 has lost, with no store; on Golden Cove event
 *        8203H counts on the counter before
 * When   records are made of each
 * Then   the bits that say that a load was blocked are 0 in each
 * Control: both kinds of loads are recorded
 */
TEST(ll, load_behind_no_store_is_not_reported_as_blocked, REQS(HYB_28),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_later_core))
{
	static const enum access free_loads[] = { ACCESS_L1, ACCESS_L2 };
	struct mem_sample_setup setup = mem_sample_loads(t);
	const u64 bits = latency_blocked_bits();
	struct event helper = { .code = 0 };

	if (!helper_counter(setup.counter, &helper, &setup.beside)) {
		test_inconclusive(t, "no counter for event %#x beside IA32_PMC%u", helper.code,
				  setup.counter);
		return;
	}
	for (unsigned i = 0; i < sizeof(free_loads) / sizeof(free_loads[0]); i++) {
		struct cache_workload h;
		unsigned count;
		bool taken;

		FOR_EACH_COUNTER (c, setup.beside.bits)
			counter_program(c, helper.code, COUNT_BOTH);
		taken = mem_sample_collect(t, CONTROL_AT(HYB_28), &setup, free_loads[i], &h,
					   records, &count);
		FOR_EACH_COUNTER (c, setup.beside.bits)
			counter_program_disabled(c, 0, 0);
		if (!taken)
			return;
		CHECK_EQ(t, HYB_28, 0, with(count, bits),
			 "of %u records of %s have one of the bits %#lx", count, h.name, bits);
	}
}
