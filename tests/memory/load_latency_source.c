/* SPDX-License-Identifier: MIT */
/*
 * The data source field of load latency records. SDM Table 18-24 "Data Source Encoding for Load
 * Latency Record" and Table 18-33 "Layout of Data Source Field of Load Latency Record", typed here
 * from the manual. A cache may have lost a line, and a prefetcher may have fetched one. So the
 * intended source is required for most of a workload's records, not for each. Other cores and
 * packages are in snoop.c and remote_source.c.
 */
#include "tests/measure/mem_sample.h"
#include "tests/frame/needs.h"

#define CODE(source)	((source) & 0xf)
#define STLB_MISS	BIT(4)
#define LOCK		BIT(5)
#define RESERVED	BITS(6, 63)
#define RESERVED_NHM	BITS(4, 63)	/* if bits 4 and 5 aren't defined */
#define RECORDS_FEW	3		/* of each kind, if each record decides */

/* Reserved are 07H, except on two models, and 09H. */
#define CODES_DEFINED	0xfd7f

static struct mem_sample_record records[MEM_SAMPLE_MOST];

static bool load_latency_source_take(struct test *t, struct test_claim claim, enum access access,
				     unsigned wanted, struct cache_workload *h, unsigned *count)
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	setup.wanted = wanted;
	return mem_sample_collect(t, claim, &setup, access, h, records, count);
}

/* Which of several loads is tagged isn't stated. */
static u64 codes_of_another(struct test *t, u64 codes)
{
	return test_is_strict(t) ? 0 : codes;
}

static void check_codes(struct test *t, struct test_claim claim, enum access access, u64 codes,
			const char *what)
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	mem_sample_check_most(t, claim, &setup, access, SHARE_MORE, mem_sample_has_code, codes,
			      what);
}

/*
 * LL-31  A load that hits the L1 data cache must be reported with code 01H.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  loads of one line, which hit the L1
 * When   records are made
 * Then   most have code 01H in bits 3:0 at A0H
 */
TEST(ll, l1_hit_has_data_source_01h, REQS(LL_31), NEEDS(need_perfmon, need_pebs, need_load_latency),
     .under_every_fault = true)
{
	check_codes(t, AT(LL_31), ACCESS_L1, BIT(0x1), "have code 01H");
}

/*
 * LL-32  A load whose line is on its way already must be reported with code 02H.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  four loads of each line that was just flushed: the first brings it, the other three find
 *        it on its way
 * When   records are made
 * Then   most have code 02H in bits 3:0 at A0H; or the first load's, a code of memory
 */
TEST(ll, load_of_a_pending_line_has_data_source_02h, REQS(LL_32),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_codes(t, AT(LL_32), ACCESS_PENDING,
		    BIT(0x2) | codes_of_another(t, mem_sample_codes_of_memory(t)), "have code 02H");
}

/*
 * LL-33  A load that hits the L2 must be reported with code 03H.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  loads of lines that the L1 has lost and the L2 hasn't
 * When   records are made
 * Then   most have code 03H in bits 3:0 at A0H
 */
TEST(ll, l2_hit_has_data_source_03h, REQS(LL_33), NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_codes(t, AT(LL_33), ACCESS_L2, BIT(0x3), "have code 03H");
}

/*
 * LL-34  A load that hits the L3 and needs no snoop must be reported with code 04H.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  loads of lines that the L2 has lost and the L3 hasn't
 * When   records are made
 * Then   most have code 04H in bits 3:0 at A0H; or one of memory, where the L3 need not have what
 *        the L2 has lost
 */
TEST(ll, l3_hit_has_data_source_04h, REQS(LL_34), NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_codes(t, AT(LL_34), ACCESS_L3,
		    BIT(0x4) | (test_erratum(t, ERRATUM_VICTIM_L3) ? mem_sample_codes_of_memory(t) :
								     0),
		    "have code 04H");
}

/*
 * LL-35  A load that misses the L3 and is served by memory must be reported with code 00H, 0AH,
 *        0BH, 0CH or 0DH.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  loads of a flushed line
 * When   records are made
 * Then   most have a code of memory in bits 3:0 at A0H: 00H (unknown), or 0AH to 0DH (local or
 *        remote, shared or exclusive); 08H and 09H too on processors that may have an eDRAM
 */
TEST(ll, load_from_memory_has_a_data_source_of_memory, REQS(LL_35),
     NEEDS(need_perfmon, need_pebs, need_load_latency), .under_every_fault = true)
{
	check_codes(t, AT(LL_35), ACCESS_MEMORY, mem_sample_codes_of_memory(t),
		    "have a code of memory");
}

static const enum access loads[] = {
	ACCESS_L1, ACCESS_PENDING, ACCESS_L2, ACCESS_L3, ACCESS_MEMORY, ACCESS_PAGE_WALK,
	ACCESS_LOCKED, ACCESS_SPLIT,
};

/*
 * LL-19  The data source must be one of the codes that the table defines for the generation.
 * LL-21  Bits 63:4 of the data source must be 0 on Nehalem.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 * LL-22  The reserved bits 63:6 of the data source must be 0.
 *        SDM 18.9.4.2 Load Latency Performance Monitoring Facility, Table 18-33 Layout of Data
 *        Source Field of Load Latency Record
 *
 * Given  loads of eight kinds: from each cache and from memory, of a line on its way, with a page
 *        walk, locked, and across a line's end
 * When   three records are made of each
 * Then   bits 3:0 at A0H are a code of Table 18-24: neither 09H, nor 07H but on models 2AH and 2EH.
 *        The bits above 5 are 0, and those above 3 where bits 4 and 5 aren't defined
 */
TEST(ll, data_source_has_only_defined_codes_and_bits, REQS(LL_19, LL_21, LL_22),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	bool bits_4_and_5 = counter_caps()->facilities & FAC_STLB_LOCK;
	/* LLC snoop HITM on 06_2A and 06_2E. */
	u64 defined = CODES_DEFINED;

	if (counter_caps()->family == 6 &&
	    (counter_caps()->model == 0x2a || counter_caps()->model == 0x2e))
		defined |= BIT(0x7);
	for (unsigned l = 0; l < sizeof(loads) / sizeof(loads[0]); l++) {
		struct cache_workload h;
		unsigned count;

		if (!load_latency_source_take(t, AT(LL_19), loads[l], RECORDS_FEW, &h, &count))
			return;
		for (unsigned i = 0; i < count; i++) {
			u64 source = records[i].source;

			CHECK(t, LL_19, defined >> CODE(source) & 1, "code %lx of record %u of %s",
			      CODE(source), i, h.name);
			if (bits_4_and_5)
				CHECK_EQ(t, LL_22, 0, source & RESERVED,
					 "bits 63:6 of A0H, record %u of %s", i, h.name);
			else
				CHECK_EQ(t, LL_21, 0, source & RESERVED_NHM,
					 "bits 63:4 of A0H, record %u of %s", i, h.name);
		}
	}
}

static unsigned with_bit(unsigned count, u64 bit)
{
	unsigned with = 0;

	for (unsigned i = 0; i < count; i++)
		with += (records[i].source & bit) != 0;
	return with;
}

/*
 * LL-20   Bits 4 and 5 of the data source must tell about the STLB and the lock: both must be seen
 *         0 and 1.
 * LL-27   Bit 5 of the data source must be 1 for the load of a locked read-modify-write and 0 for
 *         a plain load.
 *         SDM 18.9.4.2 Load Latency Performance Monitoring Facility, Table 18-33 Layout of Data
 *         Source Field of Load Latency Record
 * SKL-21  Bit 5 of the data source must be 1 for a locked load and 0 for a plain one; bit 4 must
 *         be 1 only if the STLB missed.
 *         SDM 18.9.4.2 Load Latency Performance Monitoring Facility, Table 18-33; Linux
 *
 * Given  locked additions, the same with a page walk each, across a line's end (where every
 *        requirement is judged) and to a flushed line; locked accesses of one, two, four and eight
 *        bytes, and by XCHG; and plain loads of one line
 * When   three records are made of each, and 32 of those of each size, plain loads after each of
 *        the others, so that a bit left over from the record before shows
 * Then   bit 5 at A0H is 1 in each record of a locked addition, and 0 in each of a plain load.
 *        Beside a CLFLUSH or INVLPG, which may be recorded too, it is 1 in one record at least, and
 *        in each where every requirement is judged
 */
TEST(ll, latency_record_has_the_lock_bit_exactly_for_locked_loads, REQS(LL_20, LL_27, SKL_21),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_stlb_lock))
{
	static const enum access locked[] = { ACCESS_LOCKED, ACCESS_LOCKED_PAGE_WALK,
					      ACCESS_LOCKED_SPLIT, ACCESS_LOCKED_WIDTHS,
					      ACCESS_LOCKED_MISS };

	for (unsigned turn = 0; turn < sizeof(locked) / sizeof(locked[0]); turn++) {
		const unsigned few = locked[turn] == ACCESS_LOCKED_WIDTHS ?
					     MEM_SAMPLE_RECORDS_EACH :
					     RECORDS_FEW;
		struct cache_workload h;
		unsigned count;
		bool beside;

		/* Microcode may have plain loads for it. */
		if (locked[turn] == ACCESS_LOCKED_SPLIT && !test_is_strict(t))
			continue;
		if (!load_latency_source_take(t, AT(LL_27, SKL_21), locked[turn], few, &h, &count))
			return;
		/* Beside it are a CLFLUSH or INVLPG, which may be recorded too. */
		beside = locked[turn] == ACCESS_LOCKED_PAGE_WALK ||
			 locked[turn] == ACCESS_LOCKED_MISS;
		CHECK_RANGE(t, IDS(LL_27, SKL_21), beside && !test_is_strict(t) ? 1 : count, count,
			    with_bit(count, LOCK), "of %u records of %s have bit 5", count, h.name);
		CHECK_RANGE(t, LL_20, 1, ~0ULL, with_bit(count, LOCK), "records with bit 5");
		if (!load_latency_source_take(t, AT(LL_27, SKL_21), ACCESS_L1, RECORDS_FEW, &h,
					      &count))
			return;
		CHECK_EQ(t, IDS(LL_27, SKL_21), 0, with_bit(count, LOCK),
			 "of %u records of %s have bit 5", count, h.name);
		CHECK_RANGE(t, LL_20, 1, ~0ULL, count - with_bit(count, LOCK),
			    "records without bit 5");
	}
}

/*
 * LL-20   Bits 4 and 5 of the data source must tell about the STLB and the lock: both must be seen
 *         0 and 1.
 * LL-28   Bit 4 of the data source must be 0 for a translation found in the DTLB or STLB, and 1
 *         when the STLB missed.
 *         SDM 18.9.4.2 Load Latency Performance Monitoring Facility, Table 18-33 Layout of Data
 *         Source Field of Load Latency Record
 * SKL-21  Bit 5 of the data source must be 1 for a locked load and 0 for a plain one; bit 4 must
 *         be 1 only if the STLB missed.
 *         SDM 18.9.4.2 Load Latency Performance Monitoring Facility, Table 18-33; Linux
 *
 * Given  loads after INVLPG, which need a page walk, in strict runs locked additions after INVLPG,
 *        and loads of one line
 * When   records are made of each in turn, twice, so that a bit left over from the record before
 *        shows
 * Then   bit 4 at A0H is 1 in most of the first and of the second, and 0 in most of the third
 */
TEST(ll, latency_record_has_the_stlb_miss_bit_exactly_for_misses, REQS(LL_20, LL_28, SKL_21),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_stlb_lock))
{
	struct mem_sample_setup setup = mem_sample_loads(t);

	for (unsigned turn = 0; turn < 2; turn++) {
		mem_sample_check_most(t, AT(LL_20, LL_28), &setup, ACCESS_PAGE_WALK, SHARE_MORE,
				      mem_sample_has_bit, STLB_MISS, "have bit 4");
		/* Its store may have walked before. */
		if (test_is_strict(t))
			mem_sample_check_most(t, AT(LL_20, LL_28), &setup, ACCESS_LOCKED_PAGE_WALK,
					      SHARE_MORE, mem_sample_has_bit, STLB_MISS,
					      "have bit 4");
		mem_sample_check_most(t, AT(LL_28, SKL_21), &setup, ACCESS_L1, SHARE_FEWER,
				      mem_sample_has_bit, STLB_MISS, "have bit 4");
	}
}

/*
 * LL-28  Bit 4 of the data source must be 0 for a translation found in the DTLB or STLB, and 1
 *        when the STLB missed.
 *        SDM 18.9.4.2 Load Latency Performance Monitoring Facility, Table 18-33 Layout of Data
 *        Source Field of Load Latency Record
 *
 * Given  loads after INVLPG across a line's end and across a page's end, and such loads of flushed
 *        lines
 * When   records are made of each
 * Then   bit 4 at A0H is 1 in most of them
 * Control: bit 4 is 0 in most records of loads of one line
 */
TEST(ll, latency_record_of_a_split_load_has_the_stlb_miss_bit, REQS(LL_28),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_stlb_lock))
{
	static const enum access walking[] = { ACCESS_SPLIT_WALK, ACCESS_PAGE_END_WALK,
					       ACCESS_SLOW };
	struct mem_sample_setup setup = mem_sample_loads(t);

	for (unsigned i = 0; i < sizeof(walking) / sizeof(walking[0]); i++)
		mem_sample_check_most(t, AT(LL_28), &setup, walking[i], SHARE_MORE,
				      mem_sample_has_bit, STLB_MISS, "have bit 4");
	mem_sample_check_most(t, CONTROL_AT(LL_28), &setup, ACCESS_L1, SHARE_FEWER,
			      mem_sample_has_bit, STLB_MISS, "have bit 4");
}

/*
 * LL-31  A load that hits the L1 data cache must be reported with code 01H.
 * LL-35  A load that misses the L3 and is served by memory must be reported with code 00H, 0AH,
 *        0BH, 0CH or 0DH.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  loads after INVLPG of a line that is in the L1, and such loads of two flushed lines
 * When   records are made of each
 * Then   most of the first have code 01H, most of the second a code of memory, or of a line that
 *        has come: what the page walk takes is no matter
 */
TEST(ll, data_source_code_of_a_load_with_a_page_walk_is_that_of_its_line, REQS(LL_31, LL_35),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	check_codes(t, AT(LL_31), ACCESS_PAGE_WALK, BIT(0x1), "have code 01H");
	/* A load across a line's end is two accesses, of which the manual picks none. */
	check_codes(t, AT(LL_35), ACCESS_SLOW,
		    mem_sample_codes_of_memory(t) | codes_of_another(t, BIT(0x1) | BIT(0x2)),
		    "have a code of memory");
}

/* ------------------------------------------------------------------ tags and the reset value */
#define LINE		64	/* bytes */
#define LINES		16	/* lines, accessed in turn */
#define ADDRESSES	3	/* that must occur: 8 of 16 draw fewer 7 times in a million */

/* Periods of 33 and 48 loads, if all loads are tagged: the second period hits the same line each
 * time. */
static const u64 periods[] = { MEM_SAMPLE_PERIOD, 3 * LINES - 1 };

static unsigned distinct_addresses(unsigned count)
{
	unsigned distinct = 0;

	for (unsigned i = 0; i < count; i++) {
		bool seen = false;

		for (unsigned j = 0; j < i; j++)
			seen |= records[j].address == records[i].address;
		distinct += !seen;
	}
	return distinct;
}

/*
 * LL-10  Which loads are tagged must not be locked to the reset value: loads visited in turn must
 *        show up in the records by more than one address.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility
 *
 * Given  loads of 16 lines in turn; a period of 48 loads would meet the same line each time if
 *        every load were tagged
 * When   records are made with reset values of -32 and -47
 * Then   the records are of these loads, and of at least three different lines
 */
TEST(ll, tagged_loads_do_not_depend_on_the_reset_value, REQS(LL_10),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;

	if (!mem_sample_prepare(t, ACCESS_L1, &h))
		return;
	h.workload = &workload_stride;
	h.name = "loads of 16 lines in turn";
	h.at.stride = LINE;
	h.at.mask = LINES * LINE - 1;
	h.last = h.first + h.at.mask;
	for (unsigned i = 0; i < 2; i++) {
		unsigned count;

		setup.period = periods[i];
		count = mem_sample_take(&setup, &h, records);
		if (!mem_sample_enough(t, AT(LL_10), &h, count, setup.wanted))
			return;
		for (unsigned r = 0; r < count; r++)
			CHECK(t, LL_10, mem_sample_in_place(&h, records[r].address),
			      "address 0x%lx of record %u of %s", records[r].address, r, h.name);
		CHECK_RANGE(t, LL_10, ADDRESSES, LINES, distinct_addresses(count),
			    "addresses in %u records with a reset value of -%lu", count,
			    setup.period);
	}
}

/* Events and records of n rounds with a reset value. */
static u64 events_with_period(struct mem_sample_setup *setup, const struct cache_workload *h, u64 n,
			      unsigned *count)
{
	struct ds_setup ds = sampling_setup(DS_CAPACITY);
	u64 value, reload = pebs_reset_value(setup->counter, setup->period);

	ds.reset[setup->counter] = reload;
	ds_open(&ds);
	mem_sample_arm(setup, setup->period);
	cache_workload_run(h, n, pmc_one(setup->counter));
	value = counter_read(setup->counter);
	mem_sample_off(setup);
	*count = ds_records();
	/* A counter that waits for its next event has wrapped but isn't reloaded yet. */
	if (value < reload)
		value += 1ULL << counter_width(setup->counter);
	return *count * setup->period + (value - reload);
}

#define EVENTS_WANTED	200
#define EVENTS_LEAST	(EVENTS_WANTED / 4)	/* if the time doesn't allow all loads */

/* Their low bits differ. */
static const u64 other_periods[] = { MEM_SAMPLE_PERIOD, 41, 54 };

/*
 * LL-14  How many loads the event counts must not depend on the reset value.
 * LL-25  The reset value must govern the number of records: one for each time that the counter
 *        overflows, with the whole period of the reset value between two.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility; intel/perfmon
 *
 * Given  loads of one line, as many as make 200 load latency events, or all that the buffer's time
 *        allows
 * When   as many run with reset values of -32, -41 and -54
 * Then   the counter sees the same number of events within a factor of two, as loads are tagged at
 *        random. There is a record for each period, as often as the shadow allows
 * Control: the loads are counted without records
 */
TEST(ll, reset_value_sets_the_rate_of_records_not_of_events, REQS(LL_14, LL_25),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct cache_workload h;
	u64 all, n = EVENTS_WANTED;

	if (!mem_sample_prepare(t, ACCESS_L1, &h))
		return;
	while ((all = mem_sample_count(&setup, &h, n)) < EVENTS_WANTED &&
	       2 * n <= MEM_SAMPLE_ROUNDS_MOST)
		n *= 2;
	if (mem_sample_hits_are_short(t, all))
		return;
	if (!CONTROL_RANGE(t, LL_14, EVENTS_LEAST, ~0ULL, all, "events of %lu loads", n))
		return;
	for (unsigned i = 0; i < sizeof(other_periods) / sizeof(other_periods[0]); i++) {
		unsigned count;
		u64 events;

		setup.period = other_periods[i];
		if (all / setup.period >= DS_CAPACITY)
			continue;
		events = events_with_period(&setup, &h, n, &count);
		CHECK_RANGE(t, LL_14, all / 2, 2 * all, events,
			    "events of %lu loads with a reset value of -%lu", n, setup.period);
		CHECK_RANGE(t, LL_25, all / (2 * (setup.period + 1 + sampling_shadow_bound())),
			    2 * all / setup.period, count,
			    "records of %lu events with a reset value of -%lu", all, setup.period);
	}
}
