/* SPDX-License-Identifier: MIT */
/*
 * Data address profiling: SDM "PEBS Data Address Profiling", Table 18-45 "Precise Events That
 * Supports Data Linear Address Profiling", Table 18-46 "Layout of Data Linear Address Information
 * In PEBS Record". Encodings are those of chapter 19, 4th generation. The manual doesn't say
 * whether the captured access is the one that overflowed or the one that starts the assist.
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/marked_walk.h"

/* Offsets in a record: Tables 18-44 and 18-46. */
#define AT_ADDRESS	0x98
#define AT_SOURCE	0xa0
#define AT_LATENCY	0xa8
#define AT_TX		0xb8

static u64 operand_address(unsigned mark)
{
	return (u64)(uintptr_t)workload_memory() + SAMPLE_OFFSET + 8 * mark;
}

/* The field at an offset of the table, read without the decoder. */
static u64 data_address_at(const void *record, unsigned offset)
{
	return *(const volatile u64 *)((uintptr_t)record + offset);
}

/* Take one record of the marked loads, which the counter counts. */
static bool data_address_take(struct test *t, struct test_claim claim, unsigned counter,
			      struct pebs_record *record, unsigned *mark)
{
	struct ds_setup setup = sampling_setup(8);
	int m;

	sampling_run(&setup, counter, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	if (!sampling_one_record(t, claim, record))
		return false;
	m = sampling_mark(&workload_sample, SAMPLE_MARKS, record);
	if (!test_check(t, claim, m >= 0, "m >= 0", "EventingIP 0x%lx is a mark (IA32_PMC%u)",
			sampling_field(record, RECORD_eventing_ip), counter))
		return false;
	*mark = (unsigned)m;
	return true;
}

/* Is this the address of an eligible load: one of the marked loads, or the load that overflowed? */
static bool eligible(u64 address)
{
	for (unsigned i = 0; i < SAMPLE_MARKS; i++)
		if (address == operand_address(i))
			return true;
	return address == (u64)(uintptr_t)workload_memory();
}

/*
 * DLA-01      Data address profiling must be active for an event of Table 18-45 on each of
 *             IA32_PMC0 to IA32_PMC3 whose PEBS enable bit is set.
 *             SDM 18.11.3 PEBS Data Address Profiling
 * DLA-02      Offset 98H must hold the linear address of the load, or of the destination of the
 *             store.
 *             SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 * DLA-08      The data linear address of a record must be one that the instruction at EventingIP
 *             accessed.
 *             SDM 18.11.3 PEBS Data Address Profiling (captured upon counter overflow; recorded
 *             later)
 * DLA-11      Data address profiling must need no enable bit beyond the PEBS enable bit of the
 *             counter.
 *             SDM 18.11.3 PEBS Data Address Profiling
 * REC-HSW-05  Offsets 98H, A0H and A8H must hold what the facility of the event defines: load
 *             latency or data address.
 *             SDM 18.11.2 4th Generation Intel Core: PEBS Data Format
 *
 * Given  marked loads with an address each, PEBS and no other enable
 * When   each counter of loads makes a record
 * Then   the field at 98H is the address of a load that may be recorded, and that of the load that
 *        EventingIP names
 */
TEST(record, haswell_load_record_holds_its_data_linear_address,
     REQS(DLA_01, DLA_02, DLA_08, DLA_11, REC_HSW_05),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct pebs_record record;
		unsigned mark;
		u64 address;

		if (!data_address_take(t, AT(DLA_01), c, &record, &mark))
			continue;
		address = sampling_field(&record, RECORD_data_linear_address);
		CHECK(t, IDS(DLA_01, DLA_02, DLA_11, REC_HSW_05), eligible(address),
		      "IA32_PMC%u: address 0x%lx at 98H, loads from 0x%lx and on", c, address,
		      operand_address(0));
		CHECK_EQ(t, DLA_08, operand_address(mark), address,
			 "IA32_PMC%u: address of the load that EventingIP names", c);
	}
}

/*
 * DLA-02  Offset 98H must hold the linear address of the load, or of the destination of the store.
 * DLA-04  Bits 63:1 of A0H must be 0 in a data-address record.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 * DLA-06  Data address profiling must cover loads as well as stores.
 *         SDM 18.11.3 PEBS Data Address Profiling
 *
 * Given  marked stores with an address each
 * When   IA32_PMC0 makes a record of stores
 * Then   EventingIP is a marked store, the field at 98H is the address of one, and bits 63:1 at
 *        A0H are 0
 */
TEST(record, haswell_store_record_holds_its_data_linear_address, REQS(DLA_02, DLA_04, DLA_06),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	u64 address;

	sampling_run(&setup, 0, STORES, COUNT_BOTH, &workload_sample_store, NO_OTHERS);
	if (!sampling_one_record(t, AT(DLA_06), &record))
		return;
	address = sampling_field(&record, RECORD_data_linear_address);
	CHECK(t, DLA_06, sampling_mark(&workload_sample_store, SAMPLE_MARKS, &record) >= 0,
	      "EventingIP 0x%lx is a marked store", sampling_field(&record, RECORD_eventing_ip));
	CHECK(t, DLA_02, eligible(address), "address 0x%lx, stores to 0x%lx", address,
	      operand_address(0));
	CHECK_EQ(t, DLA_04, 0, sampling_field(&record, RECORD_data_source) & ~BIT(0),
		 "bits 63:1 of a store's data source");
}

/*
 * DLA-10  Every event of Table 18-45 must yield a data address when PEBS is enabled for it.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-45
 *
 * Given  locked loads by one instruction from one address; Table 18-45 lists
 *        MEM_UOPS_RETIRED.LOCK_LOADS
 * When   IA32_PMC0 makes a record of them
 * Then   EventingIP is that instruction, and the field at 98H that address
 */
TEST(record, haswell_locked_load_record_holds_its_data_linear_address, REQS(DLA_10),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;

	ds_open(&setup);
	pebs_arm(0, EVENT_MEM_UOPS_RETIRED_LOCK_LOADS, COUNT_BOTH, PERIOD);
	workload_run(&workload_lock, ROUNDS_FOR(1), pmc_one(0));
	if (!sampling_one_record(t, AT(DLA_10), &record))
		return;
	CHECK_EQ(t, DLA_10, (u64)(uintptr_t)workload_lock.begin,
		 sampling_field(&record, RECORD_eventing_ip), "EventingIP: the locked instruction");
	CHECK_EQ(t, DLA_10, (u64)(uintptr_t)workload_memory(),
		 sampling_field(&record, RECORD_data_linear_address), "its data linear address");
}

/*
 * DLA-04      Bits 63:1 of A0H must be 0 in a data-address record.
 * DLA-05      Offset A8H must be 0 in a data-address record.
 *             SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 * REC-14      A field that is reserved, or not defined for the event, must be overwritten with
 *             zero.
 *             SDM 18.8.1.1 Processor Event Based Sampling (PEBS), Table 18-23; Table 18-44
 * REC-HSW-06  The latency value must be at offset A8H (ABH in the text is a misprint).
 *             SDM 18.11.2 4th Generation Intel Core: PEBS Data Format, Table 18-44
 *
 * Given  marked loads, PEBS without load latency; Table 18-46: bits 63:1 of A0H and all of A8H are
 *        0, bit 0 is for stores alone
 * When   IA32_PMC0 makes a record of loads
 * Then   the field at A8H, and bits 63:1 at A0H, are 0
 */
TEST(record, haswell_load_record_has_zero_source_and_latency,
     REQS(DLA_04, DLA_05, REC_14, REC_HSW_06),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	struct pebs_record record;
	unsigned mark;

	if (!data_address_take(t, AT(DLA_05), 0, &record, &mark))
		return;
	CHECK_EQ(t, IDS(DLA_05, REC_14, REC_HSW_06), 0, data_address_at(ds_record(0), AT_LATENCY),
		 "latency at A8H");
	CHECK_EQ(t, IDS(DLA_04, REC_14), 0, data_address_at(ds_record(0), AT_SOURCE) & ~BIT(0),
		 "bits 63:1 at A0H");
}

/*
 * DLA-12  Without its PEBS enable bit a counter must cause no record, whatever event it counts.
 *         SDM 18.11.3 PEBS Data Address Profiling
 *
 * Given  IA32_PMC0 counts loads, a precise event, with PEBS_EN_PMC0 = 0
 * When   it overflows
 * Then   the index doesn't move, and no byte of the buffer is written
 * Control: the status bit is set, and with PEBS_EN_PMC0 = 1 there is a record
 */
TEST(record, precise_event_without_pebs_enable_makes_no_record, REQS(DLA_12),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	unsigned mark;
	int64_t offset = 0;

	if (!data_address_take(t, CONTROL_AT(DLA_12), 0, &record, &mark))
		return;
	ds_open(&setup);
	counter_program(0, LOADS, COUNT_BOTH);
	counter_preset(0, PERIOD);
	workload_run(&workload_sample, PERIOD, pmc_one(0));
	CHECK_EQ(t, DLA_12, 0, (u64)ds_bytes(), "bytes by which the index moved, PEBS_EN_PMC0 = 0");
	CHECK(t, DLA_12, !ds_written_outside(0, 0, &offset), "a byte at offset %ld of the buffer",
	      (long)offset);
	CONTROL_EQ(t, DLA_12, 1, counters_status() & 1, "status bit of the counter, which wrapped");
}

/*
 * DLA-04  Bits 63:1 of A0H must be 0 in a data-address record.
 * DLA-05  Offset A8H must be 0 in a data-address record.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 * REC-14  A field that is reserved, or not defined for the event, must be overwritten with zero.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS), Table 18-23; Table 18-44
 *
 * Given  the first record since the harness began, kept by the calibration: on a machine whose
 *        fields are those of the previous record only this first record can show it
 * When   its bytes are examined
 * Then   bits 63:1 at A0H, the field at A8H, and the transaction bits at B8H are 0
 */
TEST(record, first_pebs_record_of_the_run_has_zero_source_latency_and_tx,
     REQS(DLA_04, DLA_05, REC_14), NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	const struct calibration *c = calibration_get();

	if (!c->first_record_taken) {
		test_inconclusive(t, "the run's first overflow made no record");
		return;
	}
	CHECK_EQ(t, DLA_04, 0, data_address_at(c->first_record, AT_SOURCE) & ~BIT(0),
		 "bits 63:1 at A0H");
	CHECK_EQ(t, DLA_05, 0, data_address_at(c->first_record, AT_LATENCY), "latency at A8H");
	CHECK_EQ(t, REC_14, 0, data_address_at(c->first_record, AT_TX) & sampling_tx_mask(),
		 "TX abort information at B8H");
}

/*
 * DLA-03  For the store events that Table 18-46 names, bit 0 of A0H must be 1 exactly when the
 *         store hit the L1 data cache.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 *
 * Given  records of loads and stores alternately, on each counter, so that a value left over from
 *        the previous record shows; stores to lines that were just written
 * When   eight records of stores are taken
 * Then   bit 0 at A0H is 1 in most of them
 */
TEST(record, store_record_after_a_load_record_has_its_hit_bit, REQS(DLA_03),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	enum { TURNS = 8 };
	unsigned hits = 0;

	for (unsigned i = 0; i < TURNS; i++) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;

		sampling_run(&setup, i % PEBS_COUNTERS, LOADS, COUNT_BOTH, &workload_sample,
			     NO_OTHERS);
		counters_clear(counters_status());
		sampling_run(&setup, i % PEBS_COUNTERS, STORES, COUNT_BOTH, &workload_sample_store,
			     NO_OTHERS);
		counters_clear(counters_status());
		if (!sampling_one_record(t, AT(DLA_03), &record))
			return;
		hits += (unsigned)(sampling_field(&record, RECORD_data_source) & 1);
	}
	CHECK_RANGE(t, DLA_03, TURNS / 2 + 1, TURNS, hits,
		    "of %u stores to lines just written hit the L1", TURNS);
}

struct listed {
	const char *name;
	u16 event;
	const struct workload *workload;
};

/* Take records of an event with a workload; each must have an address in the workload's memory. */
static unsigned check_listed(struct test *t, struct test_claim claim, const struct listed *e)
{
	u64 low = (u64)(uintptr_t)workload_memory(), high = low + 8 * WORKLOAD_WORDS;
	struct ds_setup setup = sampling_setup(8);
	unsigned records;

	ds_open(&setup);
	pebs_arm(2, e->event, COUNT_BOTH, MARKED_WALK_PERIOD);
	workload_run(e->workload, ROUNDS_FOR(1), pmc_one(2));
	pebs_disarm();
	counter_program_disabled(2, 0, 0);
	counters_clear(counters_status());
	records = ds_records();
	sampling_want(t, 1);
	for (unsigned i = 0; i < records; i++)
		test_check_range(t, claim, low, high - 1, data_address_at(ds_record(i), AT_ADDRESS),
				 "data linear address of a record of %s", e->name);
	return records;
}

/*
 * DLA-10  Every event of Table 18-45 must yield a data address when PEBS is enabled for it.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-45
 *
 * Given  MEM_UOPS_RETIRED.ALL_LOADS, ALL_STORES and LOCK_LOADS, over workloads whose accesses lie
 *        in one piece of memory
 * When   IA32_PMC2 makes a record of each
 * Then   there is one, and its data linear address lies in that memory
 */
TEST(record, uop_events_of_table_18_45_have_addresses, REQS(DLA_10),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address))
{
	static const struct listed events[] = {
		{ "MEM_UOPS_RETIRED.ALL_LOADS", 0x81d0, &workload_split },
		{ "MEM_UOPS_RETIRED.ALL_STORES", 0x82d0, &workload_split },
		{ "MEM_UOPS_RETIRED.LOCK_LOADS", 0x21d0, &workload_lock },
	};

	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		CHECK_EQ(t, DLA_10, 1, check_listed(t, AT(DLA_10), &events[i]),
			 "records of an overflow of %s", events[i].name);
}
