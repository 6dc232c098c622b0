/* SPDX-License-Identifier: MIT */
/*
 * Precise store: SDM "Precise Store Facility", Table 18-34. IA32_PMC3 alone, with bits 3 and 63 of
 * IA32_PEBS_ENABLE; the event is MEM_TRANS_RETIRED.PRECISE_STORE of chapter 19. How many stores a
 * processor looks at isn't stated, so no count is asserted.
 */
#include "pmu/pmi.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

/* Table 18-34. */
#define L1D_HIT		BIT(0)
#define STLB_MISS	BIT(4)
#define LOCKED		BIT(5)
#define RESERVED	(BITS(1, 3) | BITS(6, 63))

static struct mem_sample_record records[MEM_SAMPLE_MOST];

TEST(ps, records_hold_the_address_of_the_store, REQS(PS_02, PS_04, PS_09, REC_14),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores();
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, AT(PS_02), &setup, ACCESS_STORE_HIT, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++) {
		CHECK_EQ(t, PS_04, h.first, records[i].address,
			 "address of record %u, all stores to one", i);
		CHECK_EQ(t, PS_09, 0, records[i].latency, "A8H of record %u", i);
		CHECK_EQ(t, REC_14, 0, records[i].latency, "A8H of record %u", i);
	}
}

TEST(ps, the_address_is_the_stores_linear_one, REQS(PS_04),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores();

	mem_sample_check_addressing_modes(t, AT(PS_04), &setup, ACCESS_STORE_HIT,
					  addressing_mode_of_store, records);
}

/* With what a control has shown to be plenty of stores, other enables capture none. */
TEST(ps, both_enables_are_needed, REQS(PS_02, PS_11),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores();
	unsigned count, captured = 0;
	struct cache_workload h;

	if (!mem_sample_collect(t, AT(PS_02), &setup, ACCESS_STORE_HIT, &h, records, &count))
		return;
	setup.most = setup.rounds;
	setup.enable.bits = IA32_PEBS_ENABLE_PS_EN;
	CHECK_EQ(t, PS_11, 0, mem_sample_take(&setup, &h, records), "records with 3F1H = 0x%lx",
		 setup.enable.bits);
	setup.enable = pmc_one(PRECISE_STORE_COUNTER);
	count = mem_sample_take(&setup, &h, records);
	for (unsigned i = 0; i < count; i++)
		captured += records[i].address == h.first;
	CHECK_EQ(t, PS_02, 0, captured, "records with the stores' address, 3F1H = 0x%lx",
		 setup.enable.bits);
}

TEST(ps, no_other_counter_captures_stores, REQS(PS_01),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores();
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, AT(PS_01), &setup, ACCESS_STORE_HIT, &h, records, &count))
		return;
	setup.most = setup.rounds;
	for (setup.counter = 0; setup.counter < PRECISE_STORE_COUNTER; setup.counter++) {
		unsigned captured = 0;

		setup.enable.bits = IA32_PEBS_ENABLE_PS_EN | BIT(setup.counter);
		count = mem_sample_take(&setup, &h, records);
		for (unsigned i = 0; i < count; i++)
			captured += records[i].address == h.first;
		CHECK_EQ(t, PS_01, 0, captured, "records of IA32_PMC%u with the stores' address",
			 setup.counter);
	}
}

static u64 mark_address(unsigned mark)
{
	return (u64)(uintptr_t)workload_memory() + SAMPLE_OFFSET + 8 * mark;
}

/*
 * n stores to one place, of which the last overflows where every store counts, and then marked
 * ones. A processor that looks at fewer stores overflows later, or not at all.
 */
TEST(ps, the_next_store_that_retires_is_recorded, REQS(PS_03),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	const struct calibration *c = calibration_get();
	struct mem_sample_setup setup = mem_sample_stores();
	struct ds_setup ds = sampling_setup(8);
	const struct pmc_mask on = pmc_one(PRECISE_STORE_COUNTER);
	u64 address, rip, counted;
	int mark = -1;

	/* Does every store count? */
	ds_open(&ds);
	mem_sample_arm(&setup, NEVER);
	counted = counter_read(PRECISE_STORE_COUNTER);
	workload_run(&workload_sample_store, PERIOD, on);
	counted = counter_read(PRECISE_STORE_COUNTER) - counted;
	mem_sample_off(&setup);
	if (counted < PERIOD + SAMPLE_MARKS) {
		struct cache_workload h;
		unsigned count;

		if (mem_sample_collect(t, AT(PS_03), &setup, ACCESS_STORE_HIT, &h, records, &count))
			test_inconclusive(t, "%lu of %u stores are counted", counted,
					  PERIOD + SAMPLE_MARKS);
		return;
	}
	ds_open(&ds);
	mem_sample_arm(&setup, PERIOD);
	workload_run(&workload_sample_store, PERIOD, on);
	mem_sample_off(&setup);
	if (!CHECK_EQ(t, PS_03, 1, ds_records(), "records of one overflow"))
		return;
	address = *(const volatile u64 *)((uintptr_t)ds_record(0) + 0x98);
	rip = *(const volatile u64 *)((uintptr_t)ds_record(0) + 0x08);
	for (unsigned i = 0; i < SAMPLE_MARKS; i++)
		if (address == mark_address(i))
			mark = (int)i;
	CHECK(t, PS_03, mark >= 0, "address 0x%lx: of a store after the one that overflowed",
	      address);
	if (c->shadow_known && !c->shadow_most) {
		CHECK_EQ(t, PS_03, mark_address(0), address, "address of the next store");
		CHECK_EQ(t, PS_03, workload_mark(&workload_sample_store, 0) +
			 workload_sample_store.mark_length, rip, "R/EIP after that store");
	}
}

static unsigned with_bit(unsigned count, u64 bit)
{
	unsigned with = 0;

	for (unsigned i = 0; i < count; i++)
		with += (records[i].source & bit) != 0;
	return with;
}

static bool has_bit(const struct mem_sample_record *record, u64 bit)
{
	return record->source & bit;
}

/* Most of the records of `with` have the bit, and few of `without`; turn about. */
static void check_bit(struct test *t, struct test_claim claim, u64 bit, enum access with,
		      enum access without, const char *what)
{
	struct mem_sample_setup setup = mem_sample_stores();

	for (unsigned turn = 0; turn < 2; turn++) {
		mem_sample_check_most(t, claim, &setup, with, true, has_bit, bit, what);
		mem_sample_check_most(t, claim, &setup, without, false, has_bit, bit, what);
	}
}

TEST(ps, the_hit_bit_is_of_stores_that_hit_the_l1, REQS(PS_05),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	check_bit(t, AT(PS_05), L1D_HIT, ACCESS_STORE_HIT, ACCESS_STORE_MISS, "have bit 0");
}

TEST(ps, the_stlb_bit_is_of_missed_translations, REQS(PS_06),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	check_bit(t, AT(PS_06), STLB_MISS, ACCESS_STORE_PAGE_WALK, ACCESS_STORE_HIT,
		  "have bit 4");
}

TEST(ps, the_lock_bit_is_of_locked_stores, REQS(PS_07),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores();
	struct cache_workload h;
	unsigned count;

	setup.wanted = 3;
	for (unsigned turn = 0; turn < 2; turn++) {
		if (!mem_sample_collect(t, AT(PS_07), &setup, ACCESS_LOCKED, &h, records, &count))
			return;
		CHECK_EQ(t, PS_07, count, with_bit(count, LOCKED), "of %u records of %s have bit 5",
			 count, h.name);
		if (!mem_sample_collect(t, AT(PS_07), &setup, ACCESS_STORE_HIT, &h, records,
					&count))
			return;
		CHECK_EQ(t, PS_07, 0, with_bit(count, LOCKED), "of %u records of %s have bit 5",
			 count, h.name);
	}
}

TEST(ps, reserved_bits_are_zero, REQS(PS_08), NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	static const enum access stores[] = {
		ACCESS_STORE_HIT, ACCESS_STORE_MISS, ACCESS_STORE_PAGE_WALK, ACCESS_LOCKED,
		ACCESS_SPLIT,
	};
	struct mem_sample_setup setup = mem_sample_stores();

	setup.wanted = 3;
	for (unsigned s = 0; s < sizeof(stores) / sizeof(stores[0]); s++) {
		struct cache_workload h;
		unsigned count;

		if (!mem_sample_collect(t, AT(PS_08), &setup, stores[s], &h, records, &count))
			return;
		for (unsigned i = 0; i < count; i++)
			CHECK_EQ(t, PS_08, 0, records[i].source & RESERVED,
				 "bits 3:1 and 63:6 of A0H, record %u of %s", i, h.name);
	}
}

/* The record's size, the index, the threshold and its interrupt are those of any PEBS record. */
TEST(ps, records_go_through_the_ordinary_buffer, REQS(PS_10),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores();
	struct ds_setup ds = sampling_setup(8);
	const struct pmi_log *log;
	struct cache_workload h;
	int64_t offset = 0;
	unsigned count;

	setup.wanted = 2;
	if (!mem_sample_collect(t, AT(PS_10), &setup, ACCESS_STORE_HIT, &h, records, &count))
		return;
	ds.start = 1;
	ds.threshold = 2;
	ds_open(&ds);
	pmi_open(NULL);
	mem_sample_arm(&setup, setup.period);
	/* As many as two records took. */
	cache_workload_run(&h, setup.rounds, pmc_one(PRECISE_STORE_COUNTER));
	log = pmi_settle();
	pmi_close();
	mem_sample_off(&setup);
	CHECK_EQ(t, PS_10, record_size(ds.format), (u64)ds_bytes() - record_size(ds.format),
		 "bytes by which the index moved");
	CHECK(t, PS_10, ds_record_written(1), "the record at the index");
	CHECK(t, PS_10, !ds_written_outside(1, 2, &offset), "a byte at offset %ld of the buffer",
	      (long)offset);
	if (CHECK_EQ(t, PS_10, 1, log->count, "interrupts at the threshold"))
		CHECK_EQ(t, PS_10, IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			 "OvfBuf at the handler's entry");
}
