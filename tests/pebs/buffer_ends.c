/* SPDX-License-Identifier: MIT */
/*
 * The ends of the PEBS buffer: SDM "DS Save Area", "Processor Event Based Sampling (PEBS)". The
 * threshold at either end, a record that fills the buffer, and one for which there isn't room.
 */
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

#define OVF_BUF IA32_PERF_GLOBAL_STATUS_OVF_BUF

/* A PEBS buffer, in records. */
struct ends {
	unsigned index, capacity, threshold;
};

/* Make one record of counter c at the index, and check its interrupt. */
static void check_interrupt(struct test *t, unsigned c, struct ends buffer)
{
	unsigned start = buffer.index, capacity = buffer.capacity, threshold = buffer.threshold;
	u64 size = record_size(counter_caps()->record_format);
	struct ds_setup setup = sampling_setup(capacity);
	const struct pmi_log *log;
	int64_t offset = 0;

	setup.start = start;
	setup.threshold = threshold;
	pmi_open(NULL);
	sampling_run_on(&setup, c, COUNT_BOTH);
	log = pmi_end();
	CHECK_EQ(t, DS_03, (start + 1) * size, (u64)ds_bytes(),
		 "index - base after record %u of a buffer for %u, IA32_PMC%u", start + 1, capacity,
		 c);
	CHECK(t, REC_13, !ds_written_outside(start, start + 1, &offset),
	      "a byte at offset %ld of the buffer", (long)offset);
	if (CHECK_EQ(t, DS_05, 1, log->count,
		     "interrupts of record %u of a buffer for %u, "
		     "threshold after %u, IA32_PMC%u",
		     start + 1, capacity, threshold, c)) {
		CHECK_EQ(t, DS_21, OVF_BUF, log->entry[0].status & OVF_BUF,
			 "OvfBuf at the handler's entry");
		CHECK_EQ(t, DS_05, ds_buffer() + (start + 1) * size, log->entry[0].index,
			 "index at the handler's entry");
	}
	counter_reset();
}

/*
 * DS-03   After a record the PEBS index must have advanced by the record's size.
 * DS-05   A threshold interrupt must be raised when the index has reached the threshold after a
 *         record.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-21   When a record has brought the index to the threshold, OvfBuf
 *         (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *         SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 * REC-13  An assist must write no byte of the buffer outside its record.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  a PEBS buffer for 1 or 3 records with room for one more, its threshold at the end or one
 *        record before it
 * When   each PEBS counter makes that record
 * Then   there is one interrupt; its handler finds OvfBuf, and the index after the record; nothing
 *        else is written
 */
TEST(ds, record_that_fills_the_buffer_interrupts, REQS(DS_03, DS_05, DS_21, REC_13),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		check_interrupt(t, c, (struct ends){ .index = 0, .capacity = 1, .threshold = 1 });
		check_interrupt(t, c, (struct ends){ .index = 2, .capacity = 3, .threshold = 3 });
		check_interrupt(t, c, (struct ends){ .index = 2, .capacity = 3, .threshold = 2 });
	}
}

/*
 * DS-03   After a record the PEBS index must have advanced by the record's size.
 * DS-05   A threshold interrupt must be raised when the index has reached the threshold after a
 *         record.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-21   When a record has brought the index to the threshold, OvfBuf
 *         (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *         SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 * REC-13  An assist must write no byte of the buffer outside its record.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  a PEBS buffer for 4 records, its threshold at the base: each record has reached it
 * When   each PEBS counter makes the first record, and the second
 * Then   there is one interrupt each; its handler finds OvfBuf, and the index after the record;
 *        nothing else is written
 */
TEST(ds, threshold_at_the_buffer_base_interrupts_at_each_record, REQS(DS_03, DS_05, DS_21, REC_13),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		check_interrupt(t, c, (struct ends){ .index = 0, .capacity = 4, .threshold = 0 });
		check_interrupt(t, c, (struct ends){ .index = 1, .capacity = 4, .threshold = 0 });
	}
}

/*
 * DS-05  A threshold interrupt must be raised when the index has reached the threshold after a
 *        record.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-21  When a record has brought the index to the threshold, OvfBuf
 *        (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *        SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 *
 * Given  a threshold far below the buffer, at address 0: the index "exceeds" it from the start
 * When   each PEBS counter makes a record
 * Then   there is one interrupt, and its handler finds OvfBuf. It is judged only where every
 *        requirement is: no software leaves the field 0, and the manual wants it in the buffer
 */
TEST(ds, threshold_of_0_interrupts_at_each_record, REQS(DS_05, DS_21),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	if (!test_is_strict(t)) {
		test_skip(t, "the manual wants the threshold in the buffer");
		return;
	}
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		struct ds_setup setup = sampling_setup(4);
		const struct pmi_log *log;

		pmi_open(NULL);
		ds_open(&setup);
		ds_set_threshold_bytes(-ds_buffer());
		sampling_overflow_on(c, COUNT_BOTH);
		log = pmi_end();
		pebs_disarm();
		CHECK_EQ(t, DS_05, 1, log->count,
			 "interrupts of a record, the threshold at 0, IA32_PMC%u", c);
		CHECK_EQ(t, DS_21, OVF_BUF, log->count ? log->entry[0].status & OVF_BUF : 0,
			 "OvfBuf at the handler's entry, IA32_PMC%u", c);
		counter_reset();
	}
}

/* Counter c overflows once with room for `room` bytes only, less than a record; then with room for
 * one record. */
static void check_room(struct test *t, unsigned c, u64 room, u64 record_bytes)
{
	struct ds_setup setup = sampling_setup(8);
	int64_t offset = 0;

	setup.threshold = DS_CAPACITY;
	for (unsigned fits = 0; fits < 2; fits++) {
		ds_open(&setup);
		ds_set_maximum_bytes(fits ? record_bytes : room);
		pebs_arm(c, sampling_event_on(c), COUNT_BOTH, PERIOD);
		workload_run(sampling_piece_on(c), PERIOD, pmc_one(c));
		if (fits)
			CONTROL_EQ(t, DS_24, 1, ds_records(),
				   "records where there is room for one, IA32_PMC%u", c);
		else
			CHECK(t, DS_24, !ds_written_outside(0, 0, &offset),
			      "a byte at offset %ld, with %lu bytes up to the maximum, IA32_PMC%u",
			      (long)offset, room, c);
		counter_reset();
	}
}

/*
 * DS-24  No record may be written where less than the whole of it fits below the absolute maximum.
 *        SDM DS Save Area: the absolute maximum is where the buffer ends; Table 18-44 Record Size
 *
 * Given  a PEBS buffer with a little less room than a record. On processors the result is only
 *        reported, because the manual requires the maximum to be at a multiple of the record size
 * When   each PEBS counter overflows
 * Then   no byte of the buffer is written
 * Control: with room for a record there is one
 */
TEST(ds, record_without_room_for_all_of_it_is_not_written, REQS(DS_24),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	u64 size = record_size(counter_caps()->record_format);
	const u64 rooms[] = { size - 1, size - 8, size - 0x10, 0x90, 8 };

	/* A record may be only a basic group, which has less than 90H bytes. */
	for (unsigned i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
		for (unsigned c = 0; rooms[i] < size && c < sampling_gp_counters(); c++)
			check_room(t, c, rooms[i], size);
}

/* Counter c overflows once while the index, `start` records after the base, is beyond the maximum;
 * then while the maximum is one record after the index. */
static void check_beyond(struct test *t, unsigned c, unsigned start, u64 record_bytes)
{
	struct ds_setup setup = sampling_setup(8);
	int64_t offset = 0;

	setup.start = start;
	setup.threshold = DS_CAPACITY;
	for (unsigned fits = 0; fits < 2; fits++) {
		ds_open(&setup);
		ds_set_maximum_bytes(fits ? (start + 1) * record_bytes : record_bytes);
		sampling_overflow_on(c, COUNT_BOTH);
		if (fits) {
			sampling_want(t, start + 1);
			CONTROL(t, DS_10, ds_record_written(start),
				"a record at the index, with room for it, IA32_PMC%u", c);
		} else {
			CHECK(t, DS_10, !ds_written_outside(0, 0, &offset),
			      "a byte at offset %ld, the index being %u records after the base of "
			      "a buffer for one, IA32_PMC%u",
			      (long)offset, start, c);
			CHECK_EQ(t, DS_10, start * record_bytes, (u64)ds_bytes(), "index - base");
		}
		counter_reset();
	}
}

/*
 * DS-10  An assist must write nothing when its bounds check fails.
 *        SDM 18.9.1 Global Counter Control Facilities in Sandy Bridge
 *
 * Given  a PEBS buffer for one record, its index one or two records beyond the absolute maximum
 * When   each PEBS counter overflows
 * Then   no byte of the buffer is written, and the index doesn't move
 * Control: with the maximum a record after the same index there is a record there
 */
TEST(ds, no_record_is_written_with_the_index_beyond_the_absolute_maximum, REQS(DS_10),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	u64 size = record_size(counter_caps()->record_format);

	for (unsigned start = 2; start <= 3; start++)
		for (unsigned c = 0; c < sampling_gp_counters(); c++)
			check_beyond(t, c, start, size);
}

/*
 * PMI-08  A write to IA32_PERF_GLOBAL_OVF_CTRL must clear the named bits of
 *         IA32_PERF_GLOBAL_STATUS and no others.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  a record at the threshold, and an overflow of IA32_PMC1 without PEBS
 * When   bit 1 is cleared, then both bits
 * Then   OvfBuf is still set after the first write, and neither bit after the second
 * Control: both were set
 */
TEST(pmi, ovfbuf_and_a_counter_bit_are_cleared_separately, REQS(PMI_08),
     NEEDS(need_perfmon, need_any_pebs, need_events, need_two_counters))
{
	struct ds_setup setup = sampling_setup(8);
	u64 bits = OVF_BUF | BIT(1);

	setup.threshold = 1;
	counter_program(1, LOADS, COUNT_BOTH);
	counter_preset(1, PERIOD / 2);
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, pmc_one(1));
	CONTROL_EQ(t, PMI_08, bits, counters_status() & bits,
		   "OvfBuf and IA32_PMC1's bit after a record at the threshold");
	counters_clear(BIT(1));
	CHECK_EQ(t, PMI_08, OVF_BUF, counters_status() & bits, "after clearing IA32_PMC1's bit");
	counters_clear(bits);
	CHECK_EQ(t, PMI_08, 0, counters_status() & bits, "after clearing both");
}

/* Counter c wraps on the window's last load, or its last branch, which comes after the piece; and
 * waits for the next one. false: the write that closes the window has caused the event. */
static bool wait_for_an_event(unsigned c)
{
	const unsigned last = c < PEBS_COUNTERS ? PERIOD : PERIOD + 1;
	const u16 event = sampling_event_on(c);
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	pebs_arm(c, event, COUNT_BOTH, calibration_period(event, last));
	workload_run(&workload_load, PERIOD, pmc_one(c));
	return !ds_bytes();
}

/*
 * PMI-08  A write to IA32_PERF_GLOBAL_OVF_CTRL must clear the named bits of
 *         IA32_PERF_GLOBAL_STATUS and no others.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  OvfBuf is set by a record at the threshold; then a counter with PEBS and without PDist has
 *        wrapped with its last event, and its record waits for the next one; each such counter in
 *        turn. A record of the write that closes its window makes the test INCONCLUSIVE
 * When   bit 62 alone of IA32_PERF_GLOBAL_OVF_CTRL is written, with the counter's bit of
 *        IA32_PEBS_ENABLE still set; then the counter's bit
 * Then   OvfBuf is 0 after the first write and the counter's status bit stays 1; after the second
 *        it is 0
 * Control: both were set
 */
TEST(pmi, clearing_ovfbuf_keeps_the_status_bit_of_an_armed_counter, REQS(PMI_08),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		struct ds_setup setup = sampling_setup(8);
		u64 bits = OVF_BUF | BIT(c);

		if (pebs_has_pdist(c))
			continue;
		setup.threshold = 1;
		sampling_run_on(&setup, c, COUNT_BOTH);
		if (!wait_for_an_event(c)) {
			test_inconclusive(t, "the write that closes the window has the event");
			counter_reset();
			return;
		}
		CONTROL_EQ(t, PMI_08, bits, counters_status() & bits,
			   "OvfBuf and the bit of IA32_PMC%u, which has wrapped", c);
		counters_clear(OVF_BUF);
		CHECK_EQ(t, PMI_08, BIT(c), counters_status() & bits,
			 "after clearing OvfBuf alone, IA32_PMC%u being armed", c);
		counters_clear(BIT(c));
		CHECK_EQ(t, PMI_08, 0, counters_status() & bits, "after clearing IA32_PMC%u's bit",
			 c);
		counter_reset();
	}
}
