/* SPDX-License-Identifier: MIT */
/*
 * Linear addresses of 64 bits in the DS area: SDM "64 Bit Format of the DS Save Area", "Processor
 * Event Based Sampling (PEBS)", Figure 18-22. The area and the buffer are above 4 GiB, or the
 * buffer is so large that its ends, the index and the threshold differ in their upper halves. The
 * base or the absolute maximum of such a buffer is far away, and no record is written there.
 */
#include "kernel/memory/paging.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

#define OVF_BUF IA32_PERF_GLOBAL_STATUS_OVF_BUF

#define RECORDS_ACROSS	4u

/* Make one record of counter c in the buffer as it is now described. Returns the log. */
static const struct pmi_log *one_more(unsigned c)
{
	pmi_open(NULL);
	sampling_overflow_on(c, COUNT_BOTH);
	return pmi_end();
}

/*
 * DS-01   Records must go to the buffer that the DS area at IA32_DS_AREA describes.
 * REC-13  An assist must write no byte of the buffer outside its record.
 *         SDM 17.4.9 BTS and DS Save Area
 * DS-03   After a record the PEBS index must have advanced by the record's size.
 * DS-05   A threshold interrupt must be raised when the index has reached the threshold after a
 *         record.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  a DS area and a PEBS buffer above 4 GiB; the lower halves of their addresses are those of
 *        other memory; then both in the upper half of the address space, where bits 63:47 are 1
 * When   each PEBS counter makes a record that reaches the threshold
 * Then   it is in that buffer, the index in memory has advanced by its size, nothing else is
 *        written, and there is one interrupt
 */
TEST(ds, area_and_buffer_may_lie_above_4_gib, REQS(DS_01, REC_13, DS_03, DS_05),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(DS_HIGH_CAPACITY);

	for (unsigned i = 0; i < 2 * sampling_gp_counters(); i++) {
		const unsigned c = i % sampling_gp_counters(), at = c % DS_HIGH_CAPACITY;
		const struct pmi_log *log;
		int64_t offset = 0;

		ds_use(i / sampling_gp_counters() ? DS_UPPER : DS_HIGH);
		setup.start = at;
		setup.threshold = at + 1;
		ds_open(&setup);
		log = one_more(c);
		sampling_want(t, at + 1);
		CHECK(t, DS_01, ds_record_written(at),
		      "a record at the index, 0x%lx, the DS area being at 0x%lx, IA32_PMC%u",
		      ds_buffer() + at * ds_record_size(), ds_area(), c);
		CHECK_EQ(t, DS_03, ds_buffer() + (at + 1) * ds_record_size(), ds_index(),
			 "index in memory after a record of IA32_PMC%u", c);
		CHECK(t, REC_13, !ds_written_outside(at, at + 1, &offset),
		      "a byte at offset %ld of the buffer", (long)offset);
		CHECK_EQ(t, DS_05, 1, log->count, "interrupts of a record at the threshold");
		counter_reset();
	}
	ds_use(0);
}

/* Make four records of counter c, the third one at the threshold, in a buffer that begins so many
 * bytes before a multiple of 4 GiB. */
static void check_carry(struct test *t, unsigned c, unsigned before)
{
	struct ds_setup setup = sampling_setup(RECORDS_ACROSS);
	const unsigned threshold = RECORDS_ACROSS - 1;
	int64_t offset = 0;

	setup.threshold = threshold;
	ds_carry(before);
	ds_open(&setup);
	for (unsigned made = 1; made <= RECORDS_ACROSS; made++) {
		const struct pmi_log *log = one_more(c);

		sampling_want(t, made);
		CHECK_EQ(t, DS_03, ds_buffer() + made * ds_record_size(), ds_index(),
			 "index after record %u of a buffer that begins %u bytes before a "
			 "multiple of 4 GiB, IA32_PMC%u",
			 made, before, c);
		CHECK(t, REC_13, !ds_written_outside(0, made, &offset),
		      "a byte at offset %ld of the buffer after record %u", (long)offset, made);
		CHECK(t, DS_02, ds_record_written(made - 1), "record %u is after the one before",
		      made);
		if (made <= threshold)
			CHECK_EQ(t, DS_05, made == threshold, log->count,
				 "interrupts of record %u, the threshold being after %u", made,
				 threshold);
	}
	counter_reset();
}

/*
 * DS-02   A record must be written at the address in the PEBS index field, also where that isn't
 *         the buffer base.
 * DS-03   After a record the PEBS index must have advanced by the record's size.
 * DS-05   A threshold interrupt must be raised when the index has reached the threshold after a
 *         record.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * REC-13  An assist must write no byte of the buffer outside its record.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  a PEBS buffer for four records, its threshold after the third; a multiple of 4 GiB is
 *        where the second one ends, or within it
 * When   each PEBS counter makes four records
 * Then   each is after the one before, and the index in memory is where it ends; nothing else is
 *        written; the third one raises an interrupt, and those before it none
 */
TEST(ds, index_carries_across_a_multiple_of_4_gib, REQS(DS_02, DS_03, DS_05, REC_13),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	ds_use(DS_CARRY);
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		unsigned size = (unsigned)record_size(counter_caps()->record_format);

		check_carry(t, c, 2 * size);
		check_carry(t, c, size + size / 2);
	}
	ds_use(0);
}

/* Open a buffer of eight records. Returns the size of one. */
static u64 eight_records(void)
{
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	return ds_record_size();
}

/* The threshold and absolute maximum differ from the base in the upper half only. */
static void check_far_ends(struct test *t, unsigned c)
{
	u64 size = eight_records(), far = size << 32;	/* bytes of 4 Gi records */
	const struct pmi_log *log;

	ds_set_maximum_bytes(far);
	ds_set_threshold_bytes(far);
	log = one_more(c);
	sampling_want(t, 1);
	CHECK_EQ(t, DS_02, size, (u64)ds_bytes(),
		 "index - base, the absolute maximum being 0x%lx after the base, IA32_PMC%u", far,
		 c);
	CHECK(t, DS_02, ds_record_written(0), "the record at the index, IA32_PMC%u", c);
	CHECK_EQ(t, DS_06, 0, log->count,
		 "interrupts, the threshold being 0x%lx after the base, IA32_PMC%u", far, c);
	CHECK_EQ(t, DS_06, 0, counters_status() & OVF_BUF, "OvfBuf below the threshold");
	counter_reset();
}

/* The base and threshold are far below the index; the lower half of the threshold is larger than
 * that of the index. */
static void check_far_base(struct test *t, unsigned c)
{
	u64 size = eight_records(), records = PAGING_HIGH / size;
	const struct pmi_log *log;

	ds_set_index_bytes((int64_t)PAGING_HIGH);
	ds_set_maximum_bytes(PAGING_HIGH + 8 * size);
	/* The index is `records` records after the base. */
	ds_set_base_bytes(PAGING_HIGH - records * size);
	ds_set_threshold_bytes(PAGING_HIGH - records * size + 4 * size);
	log = one_more(c);
	if (!ds_record_written(0))
		test_missed(t);
	CHECK(t, DS_02, ds_record_written(0),
	      "a record at the index, 0x%lx records after the base, IA32_PMC%u", records, c);
	CHECK_EQ(t, DS_05, 1, log->count,
		 "interrupts of a record with the index 0x%lx records above the threshold, "
		 "IA32_PMC%u",
		 records - 4, c);
	CHECK_EQ(t, DS_05, OVF_BUF, log->entry[0].status & OVF_BUF,
		 "OvfBuf at the handler's entry");
	counter_reset();
}

/*
 * DS-02  A record must be written at the address in the PEBS index field, also where that isn't
 *        the buffer base.
 * DS-05  A threshold interrupt must be raised when the index has reached the threshold after a
 *        record.
 * DS-06  No threshold interrupt may be raised while the index is below the threshold.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  a PEBS buffer of more than 4 GiB, described so that no two of base, index, threshold and
 *        absolute maximum are in the same order as their lower halves
 * When   each PEBS counter makes a record near the base, and one far above it
 * Then   it is at the index; the first raises no interrupt, because the threshold is far above it;
 *        the second raises one, because it is far below
 */
TEST(ds, pebs_index_is_compared_by_all_64_bits, REQS(DS_02, DS_05, DS_06),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		check_far_ends(t, c);
		check_far_base(t, c);
	}
}

/* The index is out of bounds by its upper half alone: no record may be written. */
static void check_out_of_bounds(struct test *t, struct test_claim claim, bool above)
{
	struct ds_setup setup = sampling_setup(8);
	int64_t offset = 0;

	ds_open(&setup);
	if (above) {
		ds_set_index_bytes((int64_t)PAGING_HIGH);
	} else {
		ds_set_base_bytes(PAGING_HIGH);
		ds_set_maximum_bytes(PAGING_HIGH + 8 * ds_record_size());
		ds_set_threshold_bytes(PAGING_HIGH + 8 * ds_record_size());
	}
	one_more(0);
	test_check_eq(t, claim, 0, ds_written_outside(0, 0, &offset),
		      "a byte written at offset %ld, index and base being 0x%lx apart",
		      (long)offset, (u64)PAGING_HIGH);
	test_check_eq(t, claim, above ? PAGING_HIGH : 0, (u64)ds_bytes(), "index - buffer");
	counter_reset();
}

/* The control: in the same buffer the index is in bounds. */
static void check_in_bounds(struct test *t, struct test_claim claim)
{
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	one_more(0);
	sampling_want(t, 1);
	test_check_eq(t, claim, 1, ds_records(), "records, the index being at the base");
	counter_reset();
}

/*
 * DS-10  An assist must write nothing when its bounds check fails.
 *        SDM 18.9.1 Global Counter Control Facilities in Sandy Bridge
 *
 * Given  a PEBS buffer below 4 GiB, its index the base with other bits above bit 38: the same
 *        memory at another linear address
 * When   IA32_PMC0 overflows
 * Then   no byte is written, and the index doesn't move
 * Control: with the index at the base there is a record
 */
TEST(ds, index_beyond_the_maximum_by_its_upper_half_is_out_of_bounds, REQS(DS_10),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	check_out_of_bounds(t, AT(DS_10), true);
	check_in_bounds(t, CONTROL_AT(DS_10));
}

/*
 * DS-23  An index below the buffer base must be out of bounds: nothing is written and the index
 *        stays.
 *        SDM 18.9.1 (bounds checks); 18.7.1.3 Goldmont (index below the base)
 *
 * Given  a PEBS buffer above 4 GiB, its index the base with bits 63:39 clear: the same memory at
 *        another linear address; on processors the result is only reported
 * When   IA32_PMC0 overflows
 * Then   no byte is written, and the index doesn't move
 * Control: with the index at the base there is a record
 */
TEST(ds, index_below_the_base_by_its_upper_half_is_out_of_bounds, REQS(DS_23),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	check_out_of_bounds(t, AT(DS_23), false);
	check_in_bounds(t, CONTROL_AT(DS_23));
}
