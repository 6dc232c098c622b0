/* SPDX-License-Identifier: MIT */
/*
 * Data address profiling: SDM "PEBS Data Address Profiling", Table 18-45 "Precise Events That
 * Supports Data Linear Address Profiling", Table 18-46 "Layout of Data Linear Address Information
 * In PEBS Record". Encodings are those of chapter 19, 4th generation. Which access is captured,
 * the one that overflowed or the one that starts the assist, isn't stated.
 */
#include "kernel/fault.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/walk.h"

static u64 operand_address(unsigned mark)
{
	return (u64)(uintptr_t)workload_memory() + SAMPLE_OFFSET + 8 * mark;
}

/* The field at an offset of the table, read without the decoder. */
static u64 at(const void *record, unsigned offset)
{
	return *(const volatile u64 *)((uintptr_t)record + offset);
}

/* One record of the marked loads, counted on a counter. */
static bool take(struct test *t, struct test_claim claim, unsigned counter,
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

/* An address of an eligible load: the marked ones, or the one that overflowed. */
static bool eligible(u64 address)
{
	for (unsigned i = 0; i < SAMPLE_MARKS; i++)
		if (address == operand_address(i))
			return true;
	return address == (u64)(uintptr_t)workload_memory();
}

TEST(record, it_holds_the_address_of_the_load, REQS(DLA_01, DLA_02, DLA_08, DLA_11, REC_HSW_05),
     NEEDS(need_perfmon, need_format2, need_haswell))
{
	for (unsigned c = 0; c < 4; c++) {
		struct pebs_record record;
		unsigned mark;
		u64 address;

		if (!take(t, AT(DLA_01), c, &record, &mark))
			continue;
		address = sampling_field(&record, RECORD_data_linear_address);
		CHECK(t, DLA_01, eligible(address), "IA32_PMC%u: an address, 0x%lx", c, address);
		CHECK(t, DLA_02, eligible(address), "IA32_PMC%u: address 0x%lx, loads from 0x%lx",
		      c, address, operand_address(0));
		CHECK(t, REC_HSW_05, eligible(address), "IA32_PMC%u: address 0x%lx at 98H", c,
		      address);
		CHECK(t, DLA_11, eligible(address), "IA32_PMC%u: address without another enable",
		      c);
		CHECK_EQ(t, DLA_08, operand_address(mark), address,
			 "IA32_PMC%u: address of the load that EventingIP names", c);
	}
}

TEST(record, it_holds_the_address_of_the_store, REQS(DLA_02, DLA_04, DLA_06),
     NEEDS(need_perfmon, need_format2, need_haswell))
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

/* Table 18-45 lists MEM_UOPS_RETIRED.LOCK_LOADS; all its loads here are from one place. */
TEST(record, a_locked_load_has_its_address_too, REQS(DLA_10),
     NEEDS(need_perfmon, need_format2, need_haswell))
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

/* Table 18-46: bits 63:1 of A0H and all of A8H are 0; bit 0 is for stores alone. */
TEST(record, a_loads_source_and_latency_are_zero, REQS(DLA_04, DLA_05, REC_14, REC_HSW_06),
     NEEDS(need_perfmon, need_format2, need_haswell))
{
	struct pebs_record record;
	unsigned mark;

	if (!take(t, AT(DLA_05), 0, &record, &mark))
		return;
	CHECK_EQ(t, DLA_05, 0, at(ds_record(0), 0xa8), "latency at A8H");
	CHECK_EQ(t, DLA_04, 0, at(ds_record(0), 0xa0) & ~BIT(0), "bits 63:1 at A0H");
	CHECK_EQ(t, REC_14, 0, at(ds_record(0), 0xa8) | (at(ds_record(0), 0xa0) & ~BIT(0)),
		 "what the manual calls zero");
	CHECK_EQ(t, REC_HSW_06, 0, at(ds_record(0), 0xa8), "the latency field, at A8H");
}

/* The control is the same run with the enable. */
TEST(record, without_the_pebs_enable_there_is_none, REQS(DLA_12),
     NEEDS(need_perfmon, need_format2, need_haswell))
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	unsigned mark;
	int64_t offset = 0;

	if (!take(t, AT(DLA_12), 0, &record, &mark))
		return;
	ds_open(&setup);
	counter_program(0, LOADS, COUNT_BOTH);
	counter_preset(0, PERIOD);
	workload_run(&workload_sample, PERIOD, pmc_one(0));
	CHECK_EQ(t, DLA_12, 0, (u64)ds_bytes(), "bytes by which the index moved, PEBS_EN_PMC0 = 0");
	CHECK(t, DLA_12, !ds_written_outside(0, 0, &offset), "a byte at offset %ld of the buffer",
	      (long)offset);
	CHECK_EQ(t, DLA_12, 1, counters_status() & 1, "status bit of the counter, which wrapped");
}

/* A machine whose fields lag by a record can show it at the first of all only. */
TEST(record, the_first_of_the_run_is_no_different, REQS(DLA_04, DLA_05, REC_14),
     NEEDS(need_perfmon, need_format2, need_haswell))
{
	const struct calibration *c = calibration_get();

	if (!c->first_record_taken) {
		test_inconclusive(t, "the run's first overflow made no record");
		return;
	}
	CHECK_EQ(t, DLA_04, 0, at(c->first_record, 0xa0) & ~BIT(0), "bits 63:1 at A0H");
	CHECK_EQ(t, DLA_05, 0, at(c->first_record, 0xa8), "latency at A8H");
	CHECK_EQ(t, REC_14, 0, at(c->first_record, 0xb8) & sampling_tx_mask(),
		 "TX abort information at B8H");
}

/* Loads and stores by turns, so that what a record takes over from the one before shows. */
TEST(record, a_store_after_a_load_says_that_it_hit, REQS(DLA_03),
     NEEDS(need_perfmon, need_format2, need_haswell))
{
	enum { TURNS = 8 };
	unsigned hits = 0;

	for (unsigned i = 0; i < TURNS; i++) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;

		sampling_run(&setup, i % 4, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		counters_clear(counters_status());
		sampling_run(&setup, i % 4, STORES, COUNT_BOTH, &workload_sample_store, NO_OTHERS);
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

/* Records of an event over a workload; each must hold an address of its memory. */
static unsigned check_listed(struct test *t, struct test_claim claim, const struct listed *e)
{
	u64 low = (u64)(uintptr_t)workload_memory(), high = low + 8 * WORKLOAD_WORDS;
	struct ds_setup setup = sampling_setup(8);
	unsigned records;

	ds_open(&setup);
	pebs_arm(2, e->event, COUNT_BOTH, WALK_PERIOD);
	workload_run(e->workload, ROUNDS_FOR(1), pmc_one(2));
	pebs_disarm();
	counter_program_disabled(2, 0, 0);
	counters_clear(counters_status());
	records = ds_records();
	sampling_want(t, 1);
	for (unsigned i = 0; i < records; i++)
		test_check_range(t, claim, low, high - 1, at(ds_record(i), 0x98),
				 "data linear address of a record of %s", e->name);
	return records;
}

TEST(record, listed_events_have_addresses, REQS(DLA_10),
     NEEDS(need_perfmon, need_format2, need_haswell))
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
