/* SPDX-License-Identifier: MIT */
/*
 * The PEBS half of the DS save area: where records go, when the threshold interrupt comes, what
 * is loaded back. SDM "DS Save Area", "Processor Event Based Sampling (PEBS)", Figure 18-22.
 * Several records of one window are counted by the rule of tests/sampling.h, which leaves room
 * for a record shadow.
 */
#include "kernel/apic.h"
#include "kernel/fault.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/calibration.h"
#include "tests/needs.h"
#include "tests/sampling.h"

/* The counting rule of tests/sampling.h bears a shadow of so many events. */
static bool shadow_fits(struct test *t)
{
	const struct calibration *c = calibration_get();

	if (!c->shadow_known || c->shadow_most <= SHADOW_MOST)
		return true;
	test_inconclusive(t, "record shadow of up to %u events", c->shadow_most);
	return false;
}

/* Records wanted, with every reload a period away. */
static void sample_rounds(struct ds_setup *setup, unsigned records)
{
	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup->reset[i] = pebs_reset_value(i, PERIOD);
	ds_open(setup);
	pebs_arm(0, LOADS, COUNT_BOTH, PERIOD);
	workload_run(&workload_load, ROUNDS_FOR(records), pmc_one(0));
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
}

TEST(ds, the_index_advances_by_a_record_each, REQS(DS_03, DS_04),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);
	int64_t offset = 0;

	if (!shadow_fits(t))
		return;
	for (unsigned records = 1; records <= 3; records++) {
		sample_rounds(&setup, records);
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
	CHECK(t, DS_02, ds_record_written(3), "the record at the index, behind three others");
	CHECK(t, DS_02, !ds_written_outside(3, 4, &offset), "a byte at offset %ld of the buffer",
	      (long)offset);
	CHECK_EQ(t, DS_02, 4 * record_size(setup.format), (u64)ds_bytes(), "index - base");
}

TEST(ds, capture_goes_on_at_the_base_after_a_reset, REQS(DS_11),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);

	if (!shadow_fits(t))
		return;
	sample_rounds(&setup, 2);
	CHECK_EQ(t, DS_11, 2, ds_records(), "records before the reset");
	ds_set_index(0);
	pebs_arm(0, LOADS, COUNT_BOTH, PERIOD);
	workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(0));
	CHECK_EQ(t, DS_11, 1, ds_records(), "records after the index was set to the base");
}

/* The interrupts of three records with the threshold behind record `threshold`. */
static const struct pmi_log *threshold_interrupts(unsigned threshold)
{
	struct ds_setup setup = sampling_setup(16);
	const struct pmi_log *log;

	setup.threshold = threshold;
	pmi_open(NULL);
	sample_rounds(&setup, 3);
	log = pmi_settle();
	pmi_close();
	counters_clear(counters_status());
	return log;
}

TEST(ds, reaching_the_threshold_interrupts, REQS(DS_05, PMI_05),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	size_t size = record_size(counter_caps()->record_format);
	const struct pmi_log *log;

	if (!shadow_fits(t))
		return;
	log = threshold_interrupts(3);
	if (!CHECK_EQ(t, DS_05, 1, log->count,
		      "interrupts of three records, threshold behind the third"))
		return;
	CHECK_EQ(t, DS_05, ds_base() + 3 * size, log->entry[0].index,
		 "index at the handler's entry: the threshold");
	CHECK_EQ(t, PMI_05, VECTOR_PMI, log->entry[0].vector, "vector");
	CHECK_EQ(t, PMI_05, IA32_PERF_GLOBAL_STATUS_OVF_BUF,
		 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_OVF_BUF,
		 "OvfBuf at the handler's entry");
}

TEST(ds, below_the_threshold_nothing_interrupts, REQS(DS_06, PRIO_11),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	const struct pmi_log *log;

	if (!shadow_fits(t))
		return;
	log = threshold_interrupts(8);
	CHECK_EQ(t, DS_06, 0, log->count,
		 "interrupts of three records, threshold behind the eighth");
	CHECK_EQ(t, DS_06, 3, ds_records(), "records meanwhile");
	/* The control. */
	log = threshold_interrupts(3);
	if (!CHECK_RANGE(t, DS_06, 1, ~0ULL, log->count, "interrupts, threshold behind the third"))
		return;
	CHECK_RANGE(t, PRIO_11, ds_threshold(), ~0ULL, log->entry[0].index,
		    "index at the entry of the first threshold interrupt");
	CHECK(t, PRIO_11, ds_record_written(0), "a record with the interrupt");
}

TEST(ds, nothing_is_written_at_the_maximum, REQS(DS_07, DS_10),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(2);
	int64_t offset = 0;

	if (!shadow_fits(t))
		return;
	setup.threshold = 8;	/* out of reach: this is about the maximum alone */
	sample_rounds(&setup, 3);
	CHECK(t, DS_07, ds_record_written(0) && ds_record_written(1),
	      "two records up to the maximum");
	CHECK(t, DS_07, !ds_written_outside(0, 2, &offset), "a byte at offset %ld of the buffer",
	      (long)offset);
	CHECK_EQ(t, DS_07, 2 * record_size(setup.format), (u64)ds_bytes(), "index - base");
	setup.start = 2;
	sample_rounds(&setup, 1);
	CHECK(t, DS_10, !ds_written_outside(0, 0, &offset),
	      "a byte at offset %ld, the index being at the maximum", (long)offset);
}

/* The counter, as a signed distance from 0, lies between its reload and what may follow it. */
static void check_reload(struct test *t, struct test_claim claim, unsigned c, u64 reload,
			 u64 events)
{
	u64 value = counter_read(c), width = BIT(counter_width(c)) - 1;
	u64 low = (0 - reload) & width;

	test_check_range(t, claim, low, low + events, value,
			 "IA32_PMC%u after a record, its reset slot being -%lu", c, reload);
}

TEST(ds, the_counter_is_reloaded_from_its_slot, REQS(DS_12, DS_15),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	for (unsigned c = 0; c < DS_RESET_SLOTS; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;

		for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
			setup.reset[i] = pebs_reset_value(i, 100000 * (i + 1));
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		if (!sampling_one_record(t, AT(DS_12), &record))
			continue;
		/* 16 marked loads, and a few that close the window. */
		check_reload(t, AT(DS_12), c, 100000 * (c + 1), SAMPLE_MARKS + 4);
		check_reload(t, AT(DS_15), c, 100000 * (c + 1), SAMPLE_MARKS + 4);
		counters_clear(counters_status());
	}
}

TEST(ds, all_pebs_counters_that_overflowed_are_reloaded, REQS(DS_13),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);

	setup.reset[0] = pebs_reset_value(0, 100000);
	setup.reset[1] = pebs_reset_value(1, 200000);
	ds_open(&setup);
	pebs_arm(0, LOADS, COUNT_BOTH, PERIOD);
	pebs_arm(1, LOADS, COUNT_BOTH, PERIOD);
	workload_run(&workload_sample, PERIOD, pmc_or(pmc_one(0), pmc_one(1)));
	CHECK_RANGE(t, DS_13, 1, 2, ds_records(), "records of two overflows on one load");
	check_reload(t, AT(DS_13), 0, 100000, SAMPLE_MARKS + 4);
	check_reload(t, AT(DS_13), 1, 200000, SAMPLE_MARKS + 4);
	CHECK_EQ(t, DS_13, 0, counters_status() & 3, "their status bits afterwards");
}

/* IA32_PMC1 wraps without PEBS in time for PMC0's assist, and must just count on. */
TEST(ds, other_counters_are_not_reloaded, REQS(DS_14), NEEDS(need_perfmon, need_pebs, need_events))
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
	CHECK_RANGE(t, DS_14, PERIOD / 2 + SAMPLE_MARKS, PERIOD / 2 + SAMPLE_MARKS + 4,
		    counter_read(1), "IA32_PMC1, which wrapped half a period before IA32_PMC0");
}

TEST(ds, only_the_index_is_changed, REQS(DS_17, DS_20), NEEDS(need_perfmon, need_pebs, need_events))
{
	struct ds_setup setup = sampling_setup(8);

	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	CHECK(t, DS_17, ds_record_written(0), "the record in the PEBS buffer");
	CHECK(t, DS_17, ds_area_unchanged(), "the BTS half of the DS area");
	CHECK(t, DS_20, ds_area_unchanged(), "the fields of the DS area but for the index");
	CHECK_EQ(t, DS_20, ds_base() + record_size(setup.format), ds_index(),
		 "the PEBS index, at offset 28H");
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
		pebs_arm(0, LOADS, COUNT_BOTH, PERIOD);
		workload_run(&workload_sample, PERIOD, pmc_one(0));
		CHECK(t, DS_01, ds_record_written(0), "a record in the buffer of area %u", area);
		CHECK_EQ(t, DS_01, index[area] + record_size(setup.format), ds_index(),
			 "index of area %u", area);
	}
	ds_use(0);
	CHECK_EQ(t, DS_01, index[0] + record_size(setup.format), ds_index(),
		 "index of area 0 after the record in area 1");
}

/* The control is the same threshold interrupt without the freeze. */
TEST(ds, a_threshold_interrupt_freezes_too, REQS(PMI_18),
     NEEDS(need_perfmon, need_pebs, need_events, need_legacy_freeze))
{
	const struct pmi_log *log = threshold_interrupts(1);

	if (!CHECK_RANGE(t, PMI_18, 1, ~0ULL, log->count, "threshold interrupts without freeze"))
		return;
	if (!log->entry[0].global_ctrl) {
		test_inconclusive(t, "the interrupt comes only after the window");
		return;
	}
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	log = threshold_interrupts(1);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	if (CHECK_RANGE(t, PMI_18, 1, ~0ULL, log->count, "threshold interrupts with freeze"))
		CHECK_EQ(t, PMI_18, 0, log->entry[0].global_ctrl,
			 "IA32_PERF_GLOBAL_CTRL at the handler's entry");
}
