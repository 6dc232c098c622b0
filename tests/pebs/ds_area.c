/* SPDX-License-Identifier: MIT */
/*
 * The PEBS half of the DS save area: where records go, when the threshold interrupt comes, what
 * is loaded back. SDM "DS Save Area", "Processor Event Based Sampling (PEBS)", Figure 18-22.
 * Several records of one window are counted by the rule of tests/measure/sampling.h, which leaves
 * room for a record shadow.
 */
#include "kernel/apic.h"
#include "kernel/fault.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

TEST(ds, the_index_advances_by_a_record_each, REQS(DS_03, DS_04, REC_13),
     NEEDS(need_perfmon, need_pebs, need_events))
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
		CHECK_EQ(t, DS_04, ds_base() + records * record_size(setup.format), ds_index(),
			 "index in memory after %u records", records);
		CHECK(t, REC_13, !ds_written_outside(0, records, &offset),
		      "a byte at offset %ld of the buffer", (long)offset);
	}
}

TEST(ds, the_first_record_goes_to_the_index, REQS(DS_02),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);
	int64_t offset = 0;

	setup.start = 3;
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	sampling_want(t, 4);
	CHECK(t, DS_02, ds_record_written(3), "the record at the index, behind three others");
	CHECK(t, DS_02, !ds_written_outside(3, 4, &offset), "a byte at offset %ld of the buffer",
	      (long)offset);
	CHECK_EQ(t, DS_02, 4 * record_size(setup.format), (u64)ds_bytes(), "index - base");
}

TEST(ds, capture_goes_on_at_the_base_after_a_reset, REQS(DS_11),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);

	if (!sampling_shadow_fits(t))
		return;
	sampling_rounds(&setup, 2);
	sampling_want(t, 2);
	CHECK_EQ(t, DS_11, 2, ds_records(), "records before the reset");
	ds_set_index(0);
	pebs_arm(0, LOADS, COUNT_BOTH, ROUNDS_PERIOD);
	workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(0));
	sampling_want(t, 1);
	CHECK_EQ(t, DS_11, 1, ds_records(), "records after the index was set to the base");
}

TEST(ds, nothing_is_written_at_the_maximum, REQS(DS_07, DS_10),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(2);
	int64_t offset = 0;

	if (!sampling_shadow_fits(t))
		return;
	setup.threshold = 8;	/* out of reach: this is about the maximum alone */
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

/* Of the instructions that close the window, and of microcode: memory events see it. */
#define LOADS_ASIDE 32

/* The counter lies between its reload and what may follow it. */
static void check_reload(struct test *t, struct test_claim claim, unsigned c, u64 reload,
			 u64 least, u64 most)
{
	u64 value = counter_read(c), width = BIT(counter_width(c)) - 1;

	test_check_range(t, claim, (reload & width) + least, (reload & width) + most, value,
			 "IA32_PMC%u after a record, its reset slot being 0x%lx", c, reload);
}

/* One record of the counter, with that value in its slot and others in the others'. */
static void reload_one(struct test *t, struct test_claim claim, unsigned c, u64 reload)
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;
	u64 behind;
	int mark;

	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup.reset[i] = i == c ? reload : reload + ((u64)i + 1) * 0x1010000;
	sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	if (!sampling_one_record(t, claim, &record))
		return;
	mark = sampling_mark(&workload_sample, SAMPLE_MARKS, &record);
	/* The marked loads behind the recorded one, itself perhaps, and a few that close the
	 * window. */
	behind = mark < 0 ? 0 : (u64)(SAMPLE_MARKS - 1 - mark);
	check_reload(t, claim, c, reload, behind, behind + LOADS_ASIDE);
	counters_clear(counters_status());
}

/* Far below 0 as software sets them, and a value that needs every bit of the counter. */
TEST(ds, the_counter_is_reloaded_from_its_slot, REQS(DS_12, DS_15),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = 0; c < DS_RESET_SLOTS; c++) {
		reload_one(t, AT(DS_12), c, 0 - 1000000 * ((u64)c + 1));
		reload_one(t, AT(DS_15), c, 0x123456789a00 + ((u64)c << 36));
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
	check_reload(t, AT(DS_13), a, 0 - 100000ULL, 0, SAMPLE_MARKS + LOADS_ASIDE);
	check_reload(t, AT(DS_13), b, 0 - 200000ULL, 0, SAMPLE_MARKS + LOADS_ASIDE);
	CHECK_EQ(t, DS_13, 0, counters_status() & (BIT(a) | BIT(b)),
		 "their status bits afterwards");
	counter_reset();
}

TEST(ds, all_pebs_counters_that_overflowed_are_reloaded, REQS(DS_13),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	reload_two(t, 0, 1);
	reload_two(t, 2, 3);
}

/* IA32_PMC1 wraps without PEBS in time for PMC0's assist, and must just count on. */
TEST(ds, other_counters_are_not_reloaded, REQS(DS_14), NEEDS(need_perfmon, need_pebs, need_events),
     .under_every_fault = true)
{
	struct ds_setup setup = sampling_setup(8);
	struct pebs_record record;

	setup.reset[1] = pebs_reset_value(1, 200000);
	counter_program(1, LOADS, COUNT_BOTH);
	counter_preset(1, PERIOD / 2);
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, pmc_one(1));
	if (!sampling_one_record(t, AT(DS_14), &record))
		return;
	CHECK_EQ(t, DS_14, 2, counters_status() & 2, "status bit of IA32_PMC1, which wrapped");
	CHECK_RANGE(t, DS_14, PERIOD / 2 + SAMPLE_MARKS, PERIOD / 2 + SAMPLE_MARKS + LOADS_ASIDE,
		    counter_read(1), "IA32_PMC1, which wrapped half a period before IA32_PMC0");
}

TEST(ds, only_the_index_is_changed, REQS(DS_17, DS_20), NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = 0; c < 4; c++) {
		struct ds_setup setup = sampling_setup(8);

		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		sampling_want(t, 1);
		CHECK(t, DS_17, ds_record_written(0), "the record of IA32_PMC%u in the PEBS buffer",
		      c);
		CHECK(t, DS_17, ds_area_unchanged(), "the BTS half of the DS area");
		CHECK(t, DS_20, ds_area_unchanged(), "the fields of the DS area but for the index");
		CHECK_EQ(t, DS_20, ds_base() + record_size(setup.format), ds_index(),
			 "the PEBS index, at offset 28H, after a record of IA32_PMC%u", c);
		counters_clear(BIT(c));
	}
}

/* Two areas with a buffer each; the register is moved between two records. */
TEST(ds, records_go_to_the_area_that_the_register_names, REQS(DS_01),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);
	u64 index[DS_AREAS];
	int64_t offset = 0;

	for (unsigned area = DS_AREAS; area-- > 0;) {
		ds_use(area);
		ds_open(&setup);
		index[area] = ds_index();
	}
	for (unsigned area = 0; area < DS_AREAS; area++) {
		ds_use(area);
		CHECK(t, DS_01, !ds_written_outside(0, 0, &offset), "buffer %u before its turn",
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

/* Reported on processors; the control is a record where the index is in bounds. */
TEST(ds, nothing_is_written_below_the_base, REQS(DS_10, DS_23),
     NEEDS(need_perfmon, need_pebs, need_events))
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
	CHECK(t, DS_10, ds_record_written(0), "a record, the index being at the base");
}

/* Software makes room and gives the counter a period, and touches nothing else. */
TEST(ds, capture_goes_on_after_a_full_buffer, REQS(DS_11),
     NEEDS(need_perfmon, need_pebs, need_events), .under_every_fault = true)
{
	struct ds_setup setup = sampling_setup(2);

	if (!sampling_shadow_fits(t))
		return;
	setup.threshold = 8;
	sampling_open_rounds(&setup);
	workload_run(&workload_load, ROUNDS_FOR(3), pmc_one(0));
	sampling_want(t, 2);
	CHECK_EQ(t, DS_11, 2, ds_records(), "records in a buffer for two");
	ds_set_index(0);
	counter_preset(0, ROUNDS_PERIOD);
	workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(0));
	/* Whether the overflow that found the buffer full waits for its record isn't stated. */
	sampling_want(t, 1);
	CHECK_RANGE(t, DS_11, 1, 2, ds_records(), "records after the index was set to the base");
}

/* Not judged on silicon: the SDM contradicts itself about a full buffer (18.7.1.3, 18.8.1.1,
 * 18.9.1). */
TEST(ds, a_full_buffer_raises_no_interrupt, REQS(DS_08),
     NEEDS(need_perfmon, need_pebs, need_events), .under_every_fault = true)
{
	struct ds_setup setup = sampling_setup(2);
	unsigned full, room;

	setup.threshold = 8;
	setup.start = 2;
	pmi_open(NULL);
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	full = pmi_settle()->count;
	CHECK_EQ(t, DS_08, 0, full, "interrupts, the index being at the absolute maximum");
	CHECK_EQ(t, DS_08, 2 * record_size(setup.format), (u64)ds_bytes(), "index - base");
	/* The control: the record that reaches the threshold does interrupt. */
	setup.start = 0;
	setup.threshold = 1;
	counters_clear(counters_status());
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	room = pmi_settle()->count - full;
	pmi_close();
	sampling_want(t, 1);
	CHECK_EQ(t, DS_08, 1, room, "interrupts of a record that reaches the threshold");
}

/* IA32_PMC1 to 3 wrap without PEBS before the record of IA32_PMC0, and the other way round. */
TEST(ds, an_assist_clears_its_own_bits_alone, REQS(DS_22),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = 0; c < 4; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct pmc_mask others = { counters_gp().bits & 0xf & ~BIT(c) };
		struct pebs_record record;

		for (unsigned i = 0; i < 4; i++) {
			if (!(others.bits & BIT(i)))
				continue;
			counter_program(i, LOADS, COUNT_BOTH);
			counter_preset(i, PERIOD / 2);
		}
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, others);
		if (sampling_one_record(t, AT(DS_22), &record)) {
			CHECK_EQ(t, DS_22, 0, counters_status() & BIT(c),
				 "status bit of IA32_PMC%u after its record", c);
			CHECK_EQ(t, DS_22, others.bits, counters_status() & others.bits,
				 "status bits of the others, without PEBS, after it");
		}
		counter_reset();
	}
}
