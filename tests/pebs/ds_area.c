/* SPDX-License-Identifier: MIT */
/*
 * The PEBS fields of the DS save area: the address of records, the threshold interrupt, the reset
 * values. SDM "DS Save Area", "Processor Event Based Sampling (PEBS)", Figure 18-22. Several
 * records in one window are counted by the rule of tests/measure/sampling.h, which allows for a
 * shadow.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/pebs/shared_assist.h"

#define THRESHOLD_NEVER	8	/* records: more than the maximum of these buffers */
#define USUAL_PERIOD	1000000	/* events, a period as software sets it */
#define EVERY_BIT	0x123456789a00	/* a reset value that isn't a small negative number */

/*
 * DS-03   After a record the PEBS index must have advanced by the record's size.
 * DS-04   The PEBS index in memory must be up to date when the record is.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * REC-13  An assist must write no byte of the buffer outside its record.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  an empty PEBS buffer
 * When   one, two and three records are made
 * Then   each is written, the index has advanced by that number of record sizes, in memory too, and
 *        no other byte of the buffer is written
 */
TEST(ds, pebs_index_advances_by_one_record_size, REQS(DS_03, DS_04, REC_13),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);
	int64_t offset = 0;

	if (!sampling_shadow_fits(t))
		return;
	for (unsigned records = 1; records <= 3; records++) {
		sampling_rounds(&setup, records);
		CHECK(t, DS_03, ds_record_written(records - 1), "record %u of %u", records - 1,
		      records);
		CHECK_EQ(t, DS_03, records * record_size(setup.format), (u64)ds_bytes(),
			 "bytes by which the index moved in %u records", records);
		CHECK_EQ(t, DS_04, ds_buffer() + records * record_size(setup.format), ds_index(),
			 "index in memory after %u records", records);
		CHECK(t, REC_13, !ds_written_outside(0, records, &offset),
		      "a byte at offset %ld of the buffer", (long)offset);
	}
}

/*
 * DS-02  A record must be written at the address in the PEBS index field, also where that isn't
 *        the buffer base.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  a PEBS buffer whose index stands after three records
 * When   a record is made
 * Then   it is the fourth, and the buffer's only one that is written
 */
TEST(ds, first_record_goes_to_the_pebs_index, REQS(DS_02),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);
	int64_t offset = 0;

	setup.start = 3;
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	sampling_want(t, 4);
	CHECK(t, DS_02, ds_record_written(3), "the record at the index, after three others");
	CHECK(t, DS_02, !ds_written_outside(3, 4, &offset), "a byte at offset %ld of the buffer",
	      (long)offset);
	CHECK_EQ(t, DS_02, 4 * record_size(setup.format), (u64)ds_bytes(), "index - base");
}

/*
 * DS-11  Once software sets the index back to the base, capture must go on at the base.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  a PEBS buffer with two records
 * When   software sets the index to the base, and the counter overflows again
 * Then   there is one record, at the base
 * Control: there were two before
 */
TEST(ds, pebs_capture_goes_on_at_the_base_after_an_index_reset, REQS(DS_11),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);

	if (!sampling_shadow_fits(t))
		return;
	sampling_rounds(&setup, 2);
	sampling_want(t, 2);
	CONTROL_EQ(t, DS_11, 2, ds_records(), "records before the reset");
	ds_set_index(0);
	pebs_arm(0, LOADS, COUNT_BOTH, ROUNDS_PERIOD);
	workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(0));
	sampling_want(t, 1);
	CHECK_EQ(t, DS_11, 1, ds_records(), "records after the index was set to the base");
}

/*
 * DS-07  No record may be written when the index equals the absolute maximum.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-10  An assist must write nothing when its bounds check fails.
 *        SDM 18.9.1 Global Counter Control Facilities in Sandy Bridge
 *
 * Given  a PEBS buffer for two records, its threshold out of reach: this is about the maximum
 *        alone
 * When   three records should be made; then one with the index at the maximum
 * Then   two records are written, nothing after them, and nothing with the index at the maximum
 */
TEST(ds, no_record_is_written_at_the_absolute_maximum, REQS(DS_07, DS_10),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(2);
	int64_t offset = 0;

	if (!sampling_shadow_fits(t))
		return;
	setup.threshold = THRESHOLD_NEVER;
	sampling_rounds(&setup, 3);
	sampling_want(t, 2);
	CHECK(t, DS_07, ds_record_written(0) && ds_record_written(1),
	      "two records up to the maximum");
	CHECK(t, DS_07, !ds_written_outside(0, 2, &offset), "a byte at offset %ld of the buffer",
	      (long)offset);
	CHECK_EQ(t, DS_07, 2 * record_size(setup.format), (u64)ds_bytes(), "index - base");
	setup.start = 2;
	sampling_rounds(&setup, 1);
	CHECK(t, DS_10, !ds_written_outside(0, 0, &offset),
	      "a byte at offset %ld, the index being at the maximum", (long)offset);
}

/* Events of the instructions that close the window, and of microcode, which memory events count. */
#define COUNTING_SLACK 32

/* The counter's value is the reload plus at least `least` and at most `most` events. */
static void check_reload(struct test *t, struct test_claim claim, unsigned c, u64 reload, u64 least,
			 u64 most)
{
	u64 value = counter_read(c), width = BIT(counter_width(c)) - 1;

	test_check_range(t, claim, (reload & width) + least, (reload & width) + most, value,
			 "IA32_PMC%u after a record, its reset slot being 0x%lx", c, reload);
}

/* Take one record of counter c, with `reload` in its slot and different values in the other
 * slots. */
static void reload_one(struct test *t, struct test_claim claim, unsigned c, u64 reload)
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	u64 after;
	int mark;

	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup.reset[i] = i == c ? reload : reload + ((u64)i + 1) * 0x1010000;
	sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	if (!sampling_one_record(t, claim, &record))
		return;
	mark = sampling_mark(&workload_sample, SAMPLE_MARKS, &record);
	/* The marked loads after the recorded one, perhaps the recorded one too, and a few loads
	 * that close the window. */
	after = mark < 0 ? 0 : (u64)(SAMPLE_MARKS - 1 - mark);
	check_reload(t, claim, c, reload, after, after + COUNTING_SLACK);
	counters_clear(counters_status());
}

/*
 * DS-12  After a record the counter that caused it must be loaded with its reset value.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-15  The reset values of IA32_PMC0 to IA32_PMC3 must be at 40H, 48H, 50H and 58H of the DS
 *        area.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility, Figure
 *        18-22
 *
 * Given  reset values that differ in each slot of the DS area: far below 0, as software sets them,
 *        and one that needs every bit of the counter
 * When   each PEBS counter makes a record
 * Then   it reads its own slot's value, and the loads that followed the record
 */
TEST(ds, counter_is_reloaded_from_its_own_reset_slot, REQS(DS_12, DS_15),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	for (unsigned c = 0; c < DS_RESET_SLOTS_OF_FORMAT_3; c++) {
		reload_one(t, AT(DS_12), c, 0 - USUAL_PERIOD * ((u64)c + 1));
		reload_one(t, AT(DS_15), c, EVERY_BIT + ((u64)c << 36));
	}
}

static void reload_two(struct test *t, unsigned a, unsigned b)
{
	struct ds_setup setup = sampling_setup(8);

	setup.reset[a] = pebs_reset_value(a, 100000);
	setup.reset[b] = pebs_reset_value(b, 200000);
	ds_open(&setup);
	pebs_arm(a, LOADS, COUNT_BOTH, calibration_period(LOADS, PERIOD));
	pebs_arm(b, LOADS, COUNT_BOTH, calibration_period(LOADS, PERIOD));
	workload_run(&workload_sample, PERIOD, pmc_or(pmc_one(a), pmc_one(b)));
	sampling_want(t, 1);
	CHECK_RANGE(t, DS_13, 1, 2, ds_records(),
		    "records of overflows of IA32_PMC%u and IA32_PMC%u on one load", a, b);
	check_reload(t, AT(DS_13), a, 0 - 100000ULL, 0, SAMPLE_MARKS + COUNTING_SLACK);
	check_reload(t, AT(DS_13), b, 0 - 200000ULL, 0, SAMPLE_MARKS + COUNTING_SLACK);
	if (sampling_clears_status(t))
		CHECK_EQ(t, DS_13, 0, counters_status() & (BIT(a) | BIT(b)),
			 "their status bits afterwards");
	counter_reset();
}

/*
 * DS-13  After a record every counter that overflowed and is PEBS-enabled must be loaded with its
 *        reset value.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  two PEBS counters that overflow on one load, with reset values that differ
 * When   the assist takes place
 * Then   there are one or two records, both counters read their own slot's value and the loads
 *        after it, and neither status bit is left
 */
TEST(ds, assist_reloads_all_pebs_counters_that_overflowed, REQS(DS_13),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	reload_two(t, 0, 1);
	reload_two(t, 2, 3);
}

/* Counter a overflows on the last store of a window, so it waits. Then counter b makes a record of
 * a load, with counter a enabled (on) or not. */
static bool reload_waiting(struct test *t, unsigned a, unsigned b, bool on)
{
	struct ds_setup setup = sampling_setup(8);

	setup.reset[a] = pebs_reset_value(a, 100000);
	setup.reset[b] = pebs_reset_value(b, 200000);
	ds_open(&setup);
	pebs_arm(a, STORES, COUNT_BOTH, PERIOD);
	workload_run(&workload_store, PERIOD, pmc_one(a));
	if (ds_records() || !(counters_status() & BIT(a))) {
		test_inconclusive(t, "IA32_PMC%u isn't armed by the window's last store", a);
		return false;
	}
	pebs_arm(b, LOADS, COUNT_BOTH, calibration_period(LOADS, PERIOD));
	workload_run(&workload_sample, PERIOD, on ? pmc_or(pmc_one(a), pmc_one(b)) : pmc_one(b));
	sampling_want(t, 1);
	CHECK_EQ(t, DS_13, 1, ds_records(), "records of IA32_PMC%u while IA32_PMC%u waits, %s", b,
		 a, on ? "on" : "off");
	check_reload(t, AT(DS_13), a, 0 - 100000ULL, 0, on ? COUNTING_SLACK : 0);
	check_reload(t, AT(DS_13), b, 0 - 200000ULL, 0, SAMPLE_MARKS + COUNTING_SLACK);
	if (sampling_clears_status(t))
		CHECK_EQ(t, DS_22, 0, counters_status() & (BIT(a) | BIT(b)),
			 "their status bits afterwards");
	counter_reset();
	return true;
}

/*
 * DS-13  After a record every counter that overflowed and is PEBS-enabled must be loaded with its
 *        reset value.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-22  An assist must clear the overflow bits of the counters that overflowed and are enabled
 *        for PEBS, and no others.
 *        SDM 18.9.4.1 PEBS Record Format
 *
 * Given  a PEBS counter of stores, without PDist, that has overflowed and waits for the next store
 * When   another PEBS counter makes a record of a load, with the waiting counter's bit in
 *        IA32_PERF_GLOBAL_CTRL set; and with it clear. The waiting counter's PEBS bit is set in
 *        both cases
 * Then   both read their own slot's value plus the events after the record; a disabled counter
 *        reads that value alone. Neither status bit is left
 */
TEST(ds, assist_covers_a_counter_that_waits_for_its_event, REQS(DS_13, DS_22),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	static const u8 pairs[][2] = { { 0, 1 }, { 1, 0 }, { 2, 3 }, { 3, 2 }, { 0, 3 }, { 3, 0 } };

	if (!shared_assist_covers_waiting(t)) {
		test_skip(t, WAITING_NOT_ASKED);
		return;
	}
	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (pebs_has_pdist(pairs[i][0]) || pebs_has_pdist(pairs[i][1]))
			continue;	/* a counter with PDist never waits */
		if (!reload_waiting(t, pairs[i][0], pairs[i][1], true) ||
		    !reload_waiting(t, pairs[i][0], pairs[i][1], false))
			return;
	}
}

/*
 * DS-14  An assist must not modify a counter that isn't enabled for PEBS.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  IA32_PMC1 without PEBS, with a value in its reset slot, overflows in time for the assist
 *        of IA32_PMC0
 * When   IA32_PMC0 makes a record
 * Then   IA32_PMC1 has counted on from its overflow
 * Control: its status bit shows the overflow
 */
TEST(ds, counter_without_pebs_is_not_reloaded_by_an_assist, REQS(DS_14),
     NEEDS(need_perfmon, need_any_pebs, need_events), .under_every_fault = true)
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;

	setup.reset[1] = pebs_reset_value(1, 200000);
	counter_program(1, LOADS, COUNT_BOTH);
	counter_preset(1, PERIOD / 2);
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, pmc_one(1));
	if (!sampling_one_record(t, AT(DS_14), &record))
		return;
	CONTROL_EQ(t, DS_14, 2, counters_status() & 2, "status bit of IA32_PMC1, which wrapped");
	CHECK_RANGE(t, DS_14, PERIOD / 2 + SAMPLE_MARKS, PERIOD / 2 + SAMPLE_MARKS + COUNTING_SLACK,
		    counter_read(1), "IA32_PMC1, which wrapped half a period before IA32_PMC0");
}

/*
 * DS-17  PEBS records must not go to the BTS buffer, nor branch records to the PEBS buffer.
 *        SDM 17.4.9 BTS and DS Save Area
 * DS-20  The BTS fields must be at 00H to 18H and the PEBS fields base, index, absolute maximum,
 *        threshold at 20H, 28H, 30H, 38H of the DS area.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility, Figure
 *        18-22
 *
 * Given  a DS area with a different value in each field
 * When   each PEBS counter makes a record
 * Then   the PEBS index, at 28H, has advanced by a record; the BTS half and all other fields are
 *        unchanged
 * Control: the record is written
 */
TEST(ds, assist_changes_only_the_index_of_the_ds_area, REQS(DS_17, DS_20),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		struct ds_setup setup = sampling_setup(8);

		sampling_run_on(&setup, c, COUNT_BOTH);
		sampling_want(t, 1);
		CONTROL(t, DS_17, ds_record_written(0),
			"the record of IA32_PMC%u in the PEBS buffer", c);
		CHECK(t, IDS(DS_17, DS_20), ds_area_unchanged(),
		      "the BTS half and the fields of the DS area but for the index");
		CHECK_EQ(t, DS_20, ds_buffer() + record_size(setup.format), ds_index(),
			 "the PEBS index, at offset 28H, after a record of IA32_PMC%u", c);
		counters_clear(BIT(c));
	}
}

/*
 * DS-01  Records must go to the buffer that the DS area at IA32_DS_AREA describes.
 *        SDM 17.4.9 BTS and DS Save Area
 *
 * Given  two DS areas with a buffer each
 * When   a record is made with the address of each area in IA32_DS_AREA, in turn
 * Then   it is in the buffer of that area; the index of that area has advanced, and the index of
 *        the other area hasn't
 * Control: neither buffer is written before its turn
 */
TEST(ds, record_goes_to_the_buffer_of_the_area_in_ia32_ds_area, REQS(DS_01),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);
	u64 index[DS_AREAS];
	int64_t offset = 0;

	for (unsigned area = 0; area < DS_AREAS; area++) {
		ds_use(area);	/* the area that functions of pmu/ds.h are about */
		ds_open(&setup);
		index[area] = ds_index();
	}
	for (unsigned area = 0; area < DS_AREAS; area++) {
		pebs_disarm();
		ds_use(area);
		CONTROL(t, DS_01, !ds_written_outside(0, 0, &offset), "buffer %u before its turn",
			area);
		msr_write(MSR_IA32_DS_AREA, ds_area());
		pebs_arm(0, LOADS, COUNT_BOTH, calibration_period(LOADS, PERIOD));
		workload_run(&workload_sample, PERIOD, pmc_one(0));
		if (ds_index() == index[area])
			test_missed(t);
		CHECK(t, DS_01, ds_record_written(0), "a record in the buffer of area %u", area);
		CHECK_EQ(t, DS_01, index[area] + record_size(setup.format), ds_index(),
			 "index of area %u", area);
	}
	ds_use(0);
	CHECK_EQ(t, DS_01, index[0] + record_size(setup.format), ds_index(),
		 "index of area 0 after the record in area 1");
}

/*
 * DS-23  An index below the buffer base must be out of bounds: nothing is written and the index
 *        stays.
 *        SDM 18.9.1 (bounds checks); 18.7.1.3 Goldmont (index below the base)
 *
 * Given  a PEBS index a record below the base; on processors the result is only reported
 * When   IA32_PMC0 overflows
 * Then   no byte is written, and the index doesn't move
 * Control: with the index at the base there is a record
 */
TEST(ds, no_record_is_written_with_the_index_below_the_base, REQS(DS_23),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	int64_t size = (int64_t)record_size(counter_caps()->record_format), offset = 0;
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	ds_set_index_bytes(-size);
	pebs_arm(0, LOADS, COUNT_BOTH, calibration_period(LOADS, PERIOD));
	workload_run(&workload_sample, PERIOD, pmc_one(0));
	CHECK(t, DS_23, !ds_written_outside(0, 0, &offset),
	      "a byte at offset %ld, the index being a record below the base", (long)offset);
	CHECK_EQ(t, DS_23, 0 - (u64)size, (u64)ds_bytes(), "index - base");
	pebs_disarm();
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	sampling_want(t, 1);
	CONTROL(t, DS_23, ds_record_written(0), "a record, the index being at the base");
}

/*
 * DS-11  Once software sets the index back to the base, capture must go on at the base.
 * DS-05  A threshold interrupt must be raised when the index has reached the threshold after a
 *        record.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  a PEBS buffer for two records that is full. The manual doesn't say whether the overflow at
 *        a full buffer keeps its record pending
 * When   software makes room, sets a threshold of one record and writes the counter's period, and
 *        nothing else
 * Then   there are one or two records, and at least one further interrupt, at most one for each
 * Control: there were two records before
 */
TEST(ds, pebs_capture_goes_on_after_a_full_buffer, REQS(DS_11, DS_05),
     NEEDS(need_perfmon, need_any_pebs, need_events), .under_every_fault = true)
{
	struct ds_setup setup = sampling_setup(2);
	u32 before, further;

	if (!sampling_shadow_fits(t))
		return;
	setup.threshold = THRESHOLD_NEVER;
	pmi_open(NULL);
	sampling_open_rounds(&setup);
	workload_run(&workload_load, ROUNDS_FOR(3), pmc_one(0));
	sampling_want(t, 2);
	CONTROL_EQ(t, DS_11, 2, ds_records(), "records in a buffer for two");
	before = pmi_settle()->count;	/* a full buffer may signal: DS-08 is an inference */
	ds_set_index(0);
	ds_set_threshold_bytes(record_size(setup.format));
	counter_preset(0, ROUNDS_PERIOD);
	workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(0));
	further = pmi_end()->count - before;
	/* The manual doesn't say whether the overflow that found the buffer full still waits for
	 * its record. */
	sampling_want(t, 1);
	CHECK_RANGE(t, DS_11, 1, 2, ds_records(), "records after the index was set to the base");
	CHECK_RANGE(t, DS_05, 1, ds_records(), further, "interrupts of %u records at the threshold",
		    (unsigned)ds_records());
}

/*
 * DS-08  A full buffer must not by itself raise an interrupt.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility (no
 *        signaling); 18.9.1 says OvfBuffer is set
 *
 * Given  a PEBS buffer whose index is at the absolute maximum, the threshold out of reach. On
 *        processors the result is only reported, because the manual has three different statements
 *        about a full buffer
 * When   IA32_PMC0 overflows
 * Then   no interrupt is delivered, and the index doesn't move
 * Control: with an empty buffer there is a record and no interrupt; with the threshold at that
 *        record, one
 */
TEST(ds, full_pebs_buffer_raises_no_interrupt, REQS(DS_08),
     NEEDS(need_perfmon, need_any_pebs, need_events), .under_every_fault = true)
{
	struct ds_setup setup = sampling_setup(2);
	unsigned full, room;

	setup.threshold = THRESHOLD_NEVER;
	setup.start = 2;
	pmi_open(NULL);
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	full = pmi_settle()->count;
	CHECK_EQ(t, DS_08, 0, full, "interrupts, the index being at the absolute maximum");
	CHECK_EQ(t, DS_08, 2 * record_size(setup.format), (u64)ds_bytes(), "index - base");
	setup.start = 0;
	counters_clear(counters_status());
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	sampling_want(t, 1);
	CONTROL_EQ(t, DS_08, 1, ds_records(), "records in an empty buffer");
	CONTROL_EQ(t, DS_08, 0, pmi_settle()->count - full, "interrupts of that record");
	setup.threshold = 1;
	counters_clear(counters_status());
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	room = pmi_settle()->count - full;
	pmi_close();
	sampling_want(t, 1);
	CONTROL_EQ(t, DS_08, 1, room, "interrupts of a record that reaches the threshold");
}

/*
 * DS-22  An assist must clear the overflow bits of the counters that overflowed and are enabled
 *        for PEBS, and no others.
 *        SDM 18.9.4.1 PEBS Record Format
 *
 * Given  one PEBS counter; the others wrap without PEBS before its record
 * When   the record is made
 * Then   the status bit of the PEBS counter is clear, those of the others are set
 */
TEST(ds, assist_clears_only_status_bits_of_pebs_counters, REQS(DS_22),
     NEEDS(need_perfmon, need_any_pebs, need_events))
{
	for (unsigned c = 0; c < sampling_gp_counters(); c++) {
		struct ds_setup setup = sampling_setup(8);
		struct pmc_mask others = { counters_gp().bits &
					   BITS(0, sampling_gp_counters() - 1) & ~BIT(c) };
		struct pebs_record record;

		FOR_EACH_COUNTER (i, others.bits) {
			counter_program(i, sampling_event_on(c), COUNT_BOTH);
			counter_preset(i, PERIOD / 2);
		}
		sampling_run(&setup, c, sampling_event_on(c), COUNT_BOTH, sampling_piece_on(c),
			     others);
		if (sampling_one_record(t, AT(DS_22), &record)) {
			if (sampling_clears_status(t))
				CHECK_EQ(t, DS_22, 0, counters_status() & BIT(c),
					 "status bit of IA32_PMC%u after its record", c);
			CHECK_EQ(t, DS_22, others.bits, counters_status() & others.bits,
				 "status bits of the others, without PEBS, after it");
		}
		counter_reset();
	}
}
