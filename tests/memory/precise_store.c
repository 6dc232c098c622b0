/* SPDX-License-Identifier: MIT */
/*
 * Precise store: SDM "Precise Store Facility", Table 18-34. Only IA32_PMC3 has it, with bits 3 and
 * 63 of IA32_PEBS_ENABLE; the event is MEM_TRANS_RETIRED.PRECISE_STORE of chapter 19. The manual
 * doesn't say how many stores a processor samples, so no test expects a count.
 */
#include "pmu/pmi.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"
#include "tests/measure/overflow.h"

/* Table 18-34. */
#define L1D_HIT		BIT(0)
#define STLB_MISS	BIT(4)
#define LOCKED		BIT(5)
#define RESERVED	(BITS(1, 3) | BITS(6, 63))
#define AT_RIP		0x08	/* in a record: R/EIP, status, Data Linear Address */
#define AT_STATUS	0x90
#define AT_ADDRESS	0x98
#define RECORDS_FEW	3	/* of each kind, if each record decides */

#define ELSEWHERE	1024	/* bytes: another line, and another set of the L1 */

static struct mem_sample_record records[MEM_SAMPLE_MOST];

/*
 * PS-02   Both bit 3 and bit 63 of IA32_PEBS_ENABLE must be set for precise store.
 *         SDM 18.9.4.3 Precise Store Facility
 * PS-04   Offset 98H must hold the linear address of the store's destination.
 * PS-09   Offset A8H must be 0 in a precise-store record.
 *         SDM 18.9.4.3 Precise Store Facility, Table 18-34
 * REC-14  A field that is reserved, or not defined for the event, must be overwritten with zero.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS), Table 18-23; Table 18-44
 *
 * Given  stores to one address
 * When   IA32_PMC3 makes precise-store records
 * Then   each has that address at 98H, and 0 at A8H, a field that is for loads
 */
TEST(ps, precise_store_record_holds_the_address_and_no_latency, REQS(PS_02, PS_04, PS_09, REC_14),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores(t);
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, AT(PS_02), &setup, ACCESS_STORE_HIT, &h, records, &count))
		return;
	for (unsigned i = 0; i < count; i++) {
		CHECK_EQ(t, PS_04, h.first, records[i].address,
			 "address of record %u, all stores to one", i);
		CHECK_EQ(t, IDS(PS_09, REC_14), 0, records[i].latency, "A8H of record %u", i);
	}
}

/*
 * PS-04  Offset 98H must hold the linear address of the store's destination.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  stores by each form of an operand: with a segment base, and after an index
 * When   IA32_PMC3 makes a precise-store record of each
 * Then   the address at 98H is the linear one: segment base plus effective address
 */
TEST(ps, precise_store_address_is_linear_for_each_operand_form, REQS(PS_04),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores(t);

	mem_sample_check_addressing_modes(t, AT(PS_04), &setup, ACCESS_STORE_HIT,
					  addressing_mode_of_store, records);
}

/*
 * PS-02  Both bit 3 and bit 63 of IA32_PEBS_ENABLE must be set for precise store.
 * PS-11  Without its PEBS enable bit precise store must write no record.
 *        SDM 18.9.4.3 Precise Store Facility
 *
 * Given  stores to one address, as many as were needed for records while bits 3 and 63 of
 *        IA32_PEBS_ENABLE (3F1H) were both 1
 * When   they run with bit 63 (PS_EN) alone; and to another address with bit 3 (PEBS_EN_PMC3) alone
 * Then   there is no record; then none that has this address, though it may have the one before
 * Control: with both bits there are records
 */
TEST(ps, precise_store_needs_ps_en_and_pebs_en, REQS(PS_02, PS_11),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores(t);
	unsigned count, captured = 0;
	struct cache_workload h;

	if (!mem_sample_collect(t, CONTROL_AT(PS_02), &setup, ACCESS_STORE_HIT, &h, records,
				&count))
		return;
	setup.most = setup.rounds;
	setup.enable.bits = IA32_PEBS_ENABLE_PS_EN;
	CHECK_EQ(t, PS_11, 0, mem_sample_take(&setup, &h, records), "records with 3F1H = 0x%lx",
		 setup.enable.bits);
	setup.enable = pmc_one(PRECISE_STORE_COUNTER);
	cache_workload_shift(&h, ELSEWHERE);
	count = mem_sample_take(&setup, &h, records);
	for (unsigned i = 0; i < count; i++)
		captured += records[i].address == h.first;
	CHECK_EQ(t, PS_02, 0, captured, "records with the stores' address, 3F1H = 0x%lx",
		 setup.enable.bits);
}

/*
 * PS-01  Precise store must capture stores on IA32_PMC3 only.
 *        SDM 18.9.4.3 Precise Store Facility
 *
 * Given  stores to one address, as many as were needed for records of IA32_PMC3
 * When   they run to another address, with PS_EN and the event on each of IA32_PMC0 to IA32_PMC2
 * Then   no record has this address, though it may have the one before
 * Control: with IA32_PMC3 there are records
 */
TEST(ps, precise_store_works_on_pmc3_only, REQS(PS_01),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores(t);
	struct cache_workload h;
	unsigned count;

	if (!mem_sample_collect(t, CONTROL_AT(PS_01), &setup, ACCESS_STORE_HIT, &h, records,
				&count))
		return;
	setup.most = setup.rounds;
	cache_workload_shift(&h, ELSEWHERE);
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
 * PS-03  The store recorded must be the next one that retires after the overflow.
 *        SDM 18.9.4.3 Precise Store Facility
 *
 * Given  stores to one address, the last of which overflows the counter where every store counts,
 *        then marked stores with an address each; INCONCLUSIVE where fewer count
 * When   the counter overflows once
 * Then   there is one record, of a marked store; where the shadow is known to be 0, it is the
 *        first one, and R/EIP is the instruction after it
 */
TEST(ps, precise_store_record_is_of_the_next_store_after_overflow, REQS(PS_03),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	const struct calibration *c = calibration_get();
	struct mem_sample_setup setup = mem_sample_stores(t);
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
	sampling_want(t, 1);
	if (!CHECK_EQ(t, PS_03, 1, ds_records(), "records of one overflow"))
		return;
	address = *(const volatile u64 *)((uintptr_t)ds_record(0) + AT_ADDRESS);
	rip = *(const volatile u64 *)((uintptr_t)ds_record(0) + AT_RIP);
	for (unsigned i = 0; i < SAMPLE_MARKS; i++)
		if (address == mark_address(i))
			mark = (int)i;
	CHECK(t, PS_03, mark >= 0, "address 0x%lx: of a store after the one that overflowed",
	      address);
	if (c->shadow_known && !c->shadow_most) {
		CHECK_EQ(t, PS_03, mark_address(0), address, "address of the next store");
		CHECK_EQ(t, PS_03,
			 workload_mark(&workload_sample_store, 0) +
				 workload_sample_store.mark_length,
			 rip, "R/EIP after that store");
	}
}

static unsigned with_bit(unsigned count, u64 bit)
{
	unsigned with = 0;

	for (unsigned i = 0; i < count; i++)
		with += (records[i].source & bit) != 0;
	return with;
}

/* Most records of `with` must have the bit, and few records of `without`; each twice. A line may
 * already be in the L1 when its store executes, so misses are checked in strict runs only. */
static void check_bit(struct test *t, struct test_claim claim, u64 bit, enum access with,
		      enum access without, const char *what)
{
	struct mem_sample_setup setup = mem_sample_stores(t);

	for (unsigned turn = 0; turn < 2; turn++) {
		mem_sample_check_most(t, claim, &setup, with, SHARE_MORE, mem_sample_has_bit, bit,
				      what);
		if (bit != L1D_HIT || test_is_strict(t))
			mem_sample_check_most(t, claim, &setup, without, SHARE_FEWER,
					      mem_sample_has_bit, bit, what);
	}
}

/*
 * PS-05  Bit 0 of A0H must be 1 for a store that hit the L1 data cache and 0 for one that missed
 *        it.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  stores to one line, which hit the L1, and stores to lines that are in the L2, in the L3
 *        or only in memory, which a processor may bring before the store gets there; stores across
 *        a line's end, both lines in the L1 or both flushed; stores after INVLPG to a line in the
 *        L1; locked additions to one line, and locked accesses of each size to one; in strict runs
 *        locked additions across a line's end, which may take the bus
 * When   records are made of each in turn, twice, so that a bit left over from the record before
 *        shows; then of those after INVLPG and of the locked ones
 * Then   bit 0 at A0H is 1 in most of the first, in strict runs 0 in most of those that miss,
 *        across a line's end too, and 1 in most of those that walk pages or are locked
 */
TEST(ps, precise_store_record_has_the_hit_bit_exactly_for_l1_hits, REQS(PS_05),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	static const enum access others[] = { ACCESS_STORE_PAGE_WALK, ACCESS_LOCKED,
					      ACCESS_LOCKED_WIDTHS, ACCESS_LOCKED_SPLIT };
	struct mem_sample_setup setup = mem_sample_stores(t);

	check_bit(t, AT(PS_05), L1D_HIT, ACCESS_STORE_HIT, ACCESS_STORE_MISS, "have bit 0");
	check_bit(t, AT(PS_05), L1D_HIT, ACCESS_STORE_HIT, ACCESS_STORE_L2, "have bit 0");
	check_bit(t, AT(PS_05), L1D_HIT, ACCESS_STORE_HIT, ACCESS_STORE_L3, "have bit 0");
	check_bit(t, AT(PS_05), L1D_HIT, ACCESS_SPLIT, ACCESS_STORE_MISS_SPLIT, "have bit 0");
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i] != ACCESS_LOCKED_SPLIT || test_is_strict(t))
			mem_sample_check_most(t, AT(PS_05), &setup, others[i], SHARE_MORE,
					      mem_sample_has_bit, L1D_HIT, "have bit 0");
}

/*
 * PS-06  Bit 4 of A0H must be 1 for a store that missed the STLB and 0 for one that didn't.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  stores after INVLPG, which need a page walk, within a line, across its end and across a
 *        page's end; stores to one line, and locked additions to it
 * When   records are made of each in turn, twice, so that a bit left over from the record before
 *        shows; then of the locked ones
 * Then   bit 4 at A0H is 1 in most of those after INVLPG, and 0 in most of the others
 */
TEST(ps, precise_store_record_has_the_stlb_bit_exactly_for_misses, REQS(PS_06),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	static const enum access walking[] = { ACCESS_STORE_PAGE_WALK, ACCESS_STORE_SPLIT_WALK,
					       ACCESS_STORE_PAGE_END_WALK };

	struct mem_sample_setup setup = mem_sample_stores(t);

	for (unsigned i = 0; i < sizeof(walking) / sizeof(walking[0]); i++)
		check_bit(t, AT(PS_06), STLB_MISS, walking[i], ACCESS_STORE_HIT, "have bit 4");
	mem_sample_check_most(t, AT(PS_06), &setup, ACCESS_LOCKED, SHARE_FEWER, mem_sample_has_bit,
			      STLB_MISS, "have bit 4");
}

/* The accesses of workload_lock_widths without a record; bit n: access n. */
static unsigned sizes_missing(unsigned count, u64 first)
{
	unsigned missing = (1u << LOCK_WIDTHS) - 1;

	for (unsigned i = 0; i < count; i++)
		missing &= ~(1u << (records[i].address - first) / 8 % 32);
	return missing;
}

/*
 * PS-07  Bit 5 of A0H must be 1 for a store that is part of a locked access and 0 for a plain
 *        store.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  locked additions, within a line and across the end of one; locked accesses of one, two,
 *        four and eight bytes, and by XCHG; and plain stores to one line
 * When   three records are made of each, and 32 of those of each size, plain stores after each of
 *        the others, so that a bit left over from the record before shows; INCONCLUSIVE where a
 *        size isn't among them
 * Then   bit 5 at A0H is 1 in each record of the locked ones, and 0 in each of the plain ones
 */
TEST(ps, precise_store_record_has_the_lock_bit_exactly_for_locked, REQS(PS_07),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	static const enum access locked[] = { ACCESS_LOCKED, ACCESS_LOCKED_SPLIT,
					      ACCESS_LOCKED_WIDTHS };
	struct mem_sample_setup setup = mem_sample_stores(t);
	struct cache_workload h;
	unsigned count, missing = 0;

	for (unsigned turn = 0; turn < sizeof(locked) / sizeof(locked[0]); turn++) {
		const bool widths = locked[turn] == ACCESS_LOCKED_WIDTHS;

		setup.wanted = widths ? MEM_SAMPLE_RECORDS_EACH : RECORDS_FEW;
		if (!mem_sample_collect(t, AT(PS_07), &setup, locked[turn], &h, records, &count))
			return;
		CHECK_EQ(t, PS_07, count, with_bit(count, LOCKED), "of %u records of %s have bit 5",
			 count, h.name);
		missing = widths ? sizes_missing(count, h.first) : 0;
		setup.wanted = RECORDS_FEW;
		if (!mem_sample_collect(t, AT(PS_07), &setup, ACCESS_STORE_HIT, &h, records,
					&count))
			return;
		CHECK_EQ(t, PS_07, 0, with_bit(count, LOCKED), "of %u records of %s have bit 5",
			 count, h.name);
	}
	if (missing)
		test_inconclusive(t, "no record of the locked accesses 0x%x", missing);
}

/*
 * PS-08  The reserved bits 3:1 and 63:6 of A0H must be 0.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  stores of five kinds: to one line, to a flushed line, after INVLPG, locked, and across a
 *        line's end
 * When   three precise-store records are made of each
 * Then   bits 3:1 and 63:6 at A0H are 0
 */
TEST(ps, precise_store_record_has_zero_in_reserved_source_bits, REQS(PS_08),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	static const enum access stores[] = {
		ACCESS_STORE_HIT, ACCESS_STORE_MISS, ACCESS_STORE_PAGE_WALK, ACCESS_LOCKED,
		ACCESS_SPLIT,
	};
	struct mem_sample_setup setup = mem_sample_stores(t);

	setup.wanted = RECORDS_FEW;
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

/* How many rounds of stores to one line make two records. false: there aren't two, and the check
 * has failed. */
static bool find_rounds(struct test *t, struct test_claim claim, struct mem_sample_setup *setup,
			struct cache_workload *h)
{
	unsigned count;

	setup->wanted = 2;
	return mem_sample_collect(t, claim, setup, ACCESS_STORE_HIT, h, records, &count);
}

/*
 * PS-10  Precise-store records must go through the ordinary buffer, index and threshold of PEBS.
 *        SDM 18.9.4.3 Precise Store Facility
 *
 * Given  the DS area has one record in use, and its threshold is after the second
 * When   as many stores run as were needed for two records before
 * Then   the index moves by one record, which is written where the index was and not a byte
 *        outside; there is one interrupt, with OvfBuf at its entry
 * Control: stores to one line make records
 */
TEST(ps, precise_store_uses_buffer_index_threshold_and_pmi_of_pebs, REQS(PS_10),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores(t);
	struct ds_setup ds = sampling_setup(8);
	const struct pmi_log *log;
	struct cache_workload h;
	int64_t offset = 0;

	if (!find_rounds(t, CONTROL_AT(PS_10), &setup, &h))
		return;
	ds.start = 1;
	ds.threshold = 2;
	ds_open(&ds);
	pmi_open(NULL);
	mem_sample_arm(&setup, setup.period);
	/* As many rounds as two records took. */
	cache_workload_run(&h, setup.rounds, pmc_one(PRECISE_STORE_COUNTER));
	log = pmi_end();
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

/*
 * PS-10  Precise-store records must go through the ordinary buffer, index and threshold of PEBS.
 *        SDM 18.9.4.3 Precise Store Facility
 *
 * Given  the buffer is full, and its threshold is out of reach. The manual doesn't say whether the
 *        overflow at a full buffer keeps its record pending
 * When   as many stores run as were needed for two records before; then the index is set to the
 *        base, and as many run again
 * Then   first no byte of the buffer is written and the index stays; then there are one or two
 *        records, and no byte outside them is written
 * Control: stores to one line make records
 */
TEST(ps, precise_stores_write_nothing_into_a_full_buffer, REQS(PS_10),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	struct mem_sample_setup setup = mem_sample_stores(t);
	struct ds_setup ds = sampling_setup(2);
	struct cache_workload h;
	int64_t offset = 0;
	unsigned count;

	if (!find_rounds(t, CONTROL_AT(PS_10), &setup, &h))
		return;
	ds.start = 2;
	ds.threshold = 8; /* never */
	ds_open(&ds);
	mem_sample_arm(&setup, setup.period);
	cache_workload_run(&h, setup.rounds, pmc_one(PRECISE_STORE_COUNTER));
	CHECK(t, PS_10, !ds_written_outside(0, 0, &offset), "a byte at offset %ld of a full buffer",
	      (long)offset);
	CHECK_EQ(t, PS_10, 2 * record_size(ds.format), (u64)ds_bytes(), "index - base");
	ds_set_index(0);
	counter_preset(PRECISE_STORE_COUNTER, setup.period);
	cache_workload_run(&h, setup.rounds, pmc_one(PRECISE_STORE_COUNTER));
	count = ds_records();
	CHECK_RANGE(t, PS_10, 1, 2, count, "records after the index was set to the base");
	CHECK(t, PS_10, !ds_written_outside(0, count, &offset), "a byte at offset %ld outside %u",
	      (long)offset, count);
	mem_sample_off(&setup);
}

/*
 * ARM-03  A PEBS-enabled counter that wraps with its INT bit clear must raise no overflow
 *         interrupt.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 * DS-05   A threshold interrupt must be raised when the index has reached the threshold after a
 *         record.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-22   An assist must clear the overflow bits of the counters that overflowed and are enabled
 *         for PEBS, and no others.
 *         SDM 18.9.4.1 PEBS Record Format
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  stores to one line; a precise store counter that overflows once
 * When   its record brings the index to the threshold; the counter's INT bit is set, and the
 *        threshold is out of reach; neither
 * Then   there is one interrupt in the first two cases, and none in the last; in the first case the
 *        counter's overflow bit is 0 at its entry
 * Control: there is one record each time
 */
TEST(ps, precise_store_record_interrupts_by_threshold_and_by_int,
     REQS(ARM_03, DS_05, DS_22, PMI_01), NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	static const struct {
		bool threshold, by_int;
	} cases[] = { { true, false }, { false, true }, { false, false } };
	struct mem_sample_setup setup = mem_sample_stores(t);
	struct cache_workload h;

	if (!find_rounds(t, CONTROL_AT(ARM_03, DS_05, DS_22, PMI_01), &setup, &h))
		return;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bool threshold = cases[i].threshold, by_int = cases[i].by_int;
		const struct mem_sample_end end = mem_sample_one(&setup, &h, threshold, by_int);
		const unsigned wanted = threshold || by_int;

		if (!CONTROL_EQ(t, IDS(ARM_03, DS_05, DS_22, PMI_01), 1, end.records,
				"records, threshold %s, INT = %u",
				threshold ? "reached" : "out of reach", by_int))
			return;
		test_check_range(t,
				 threshold ? AT(DS_05) :
				 by_int	   ? AT(PMI_01) :
					     AT(ARM_03),
				 wanted, by_int ? overflow_allowed(t, 1, end.interrupts) : wanted,
				 end.interrupts, "interrupts of a record, threshold %s, INT = %u",
				 threshold ? "reached" : "out of reach", by_int);
		if (threshold && end.interrupts && sampling_clears_status(t))
			CHECK_EQ(t, DS_22, 0, end.entry & BIT(PRECISE_STORE_COUNTER),
				 "bit of IA32_PMC3 in the status at the entry");
	}
}

/*
 * REC-04      The register fields must hold the values after the causing instruction retired, a
 *             register that it loaded included.
 * REC-07      The status field of formats 1 and 2 must be IA32_PERF_GLOBAL_STATUS as it was before
 *             the assist.
 *             SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * REC-HSW-10  Each general register must be at its offset of Table 18-44: RAX 10H, RBX 18H, RCX
 *             20H, RDX 28H, RSI 30H, RDI 38H, RBP 40H, RSP 48H, R8 50H to R15 88H.
 *             SDM 18.11.2 4th Generation Intel Core: PEBS Data Format, Table 18-44
 *
 * Given  marked stores with known registers
 * When   precise-store records of them are made
 * Then   those whose R/EIP is after a marked store have all registers as that store left them; the
 *        status field has the counter's bit
 */
TEST(ps, precise_store_record_has_the_registers_after_its_store, REQS(REC_04, REC_07, REC_HSW_10),
     NEEDS(need_perfmon, need_pebs, need_precise_store))
{
	const struct mem_sample_claims claims = { AT(REC_04), AT(REC_04), AT(REC_HSW_10),
						  AT(REC_07) };
	struct mem_sample_setup setup = mem_sample_stores(t);

	mem_sample_check_registers(t, &claims, &setup, &workload_sample_store);
}

#define OTHER	0u	/* the counter of loads, in addition to precise store */
#define BESIDE_ROUNDS 400u

/* Take records of loads by IA32_PMC0 and of stores by IA32_PMC3 in one window. of[]: how many have
 * the bit of the first alone in their status, and how many that of the second. */
static void count_beside(const struct test *t, u64 enable, unsigned of[2])
{
	struct mem_sample_setup setup = mem_sample_stores(t);
	struct ds_setup ds = sampling_setup(MEM_SAMPLE_MOST);

	setup.enable.bits = enable;
	ds.reset[OTHER] = pebs_reset_value(OTHER, setup.period);
	ds.reset[setup.counter] = pebs_reset_value(setup.counter, setup.period);
	ds_open(&ds);
	mem_sample_arm(&setup, setup.period);
	counter_program(OTHER, LOADS, COUNT_BOTH);
	counter_preset(OTHER, setup.period);
	workload_run(&workload_mixed, BESIDE_ROUNDS,
		     pmc_or(pmc_one(OTHER), pmc_one(setup.counter)));
	pebs_disarm();
	counter_program_disabled(OTHER, 0, 0);
	mem_sample_off(&setup);
	of[0] = of[1] = 0;
	for (unsigned i = 0; i < ds_records(); i++) {
		u64 status = *(const volatile u64 *)((uintptr_t)ds_record(i) + AT_STATUS);

		of[0] += (status & BITS(0, 3)) == BIT(OTHER);
		of[1] += !!(status & BIT(setup.counter));
	}
}

/*
 * MSR-22  Each of IA32_PMC0 to IA32_PMC3 must be usable for PEBS.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * PS-02   Both bit 3 and bit 63 of IA32_PEBS_ENABLE must be set for precise store.
 *         SDM 18.9.4.3 Precise Store Facility
 *
 * Given  IA32_PMC0 samples loads together with precise store on IA32_PMC3: PS_EN, PEBS_EN_PMC3 and
 *        PEBS_EN_PMC0 of IA32_PEBS_ENABLE are set
 * When   loads and stores run
 * Then   there are records with the bit of IA32_PMC0 alone in their status, and with that of
 *        IA32_PMC3
 * Control: without PS_EN there are records with the bit of IA32_PMC0 alone
 */
TEST(ps, other_counter_samples_loads_beside_precise_store, REQS(MSR_22, PS_02),
     NEEDS(need_perfmon, need_pebs, need_precise_store, need_events))
{
	const u64 both = BIT(OTHER) | BIT(PRECISE_STORE_COUNTER);
	unsigned of[2];

	count_beside(t, both, of);
	CONTROL_RANGE(t, MSR_22, RECORDS_FEW, ~0ULL, of[0], "records of loads without PS_EN");
	count_beside(t, both | IA32_PEBS_ENABLE_PS_EN, of);
	CHECK_RANGE(t, MSR_22, RECORDS_FEW, ~0ULL, of[0], "records of loads beside precise store");
	CHECK_RANGE(t, PS_02, 1, ~0ULL, of[1], "records of stores beside those of loads");
}
