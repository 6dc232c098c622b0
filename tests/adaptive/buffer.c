/* SPDX-License-Identifier: MIT */
/*
 * Threshold and absolute maximum with records of different sizes: in "BTS and DS Save Area" all
 * records have one size. With adaptive records the end of a record needn't be exactly at the
 * threshold or the maximum.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/lbr/any.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/measure/overflow.h"

#define BASIC_RECORDS	3u

/* Take one record of IA32_PMC0, armed with these flags and both levels. */
static void make_record(u64 flags)
{
	const u16 event = sampling_any_event();

	pebs_arm_as(0, event, COUNT_BOTH | flags, calibration_period(event, PERIOD));
	workload_run(sampling_any_piece(), PERIOD, pmc_one(0));
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
	counters_clear(BIT(0));
}

/*
 * ADP-42  A record whose end would be past the PEBS absolute maximum must not be written, whatever
 *         its size.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  a buffer whose absolute maximum is three basic records and 8 bytes after its base
 * When   two basic records are made, then an adaptive one whose end would be past the maximum
 * Then   the index stays after the two, and no byte is written after them
 * Control: with the maximum at its end the adaptive record is written
 */
TEST(adaptive, record_that_would_end_past_the_maximum_is_not_written, REQS(ADP_42),
     NEEDS(need_perfmon, need_baseline, need_loads_or_branches))
{
	/* ds_written_outside() takes the size of a record from the layout: here that of a basic
	 * record. */
	const struct adaptive_run run = { .config = CONFIG_MEMORY | CONFIG_GPR | CONFIG_XMM,
					  .capacity = 32 };
	const u64 two_basic = 2 * BASIC_BYTES, all_three = two_basic + adaptive_bytes(run.config);

	for (unsigned fits = 0; fits < 2; fits++) {
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);
		int64_t offset = 0;

		layout.size = BASIC_BYTES;
		ds_open(&setup);
		ds_set_maximum_bytes(fits ? all_three : BASIC_RECORDS * BASIC_BYTES + 8);
		ds_set_threshold_bytes(all_three + 8);
		make_record(0);
		make_record(0);
		if (!ds_bytes() && counter_caps()->hypervisor) {
			test_inconclusive(t, "no record");
			return;
		}
		if (!CONTROL_EQ(t, ADP_42, two_basic, (u64)ds_bytes(),
				"index after two basic records"))
			return;
		make_record(COUNT_ADAPTIVE);
		if (fits) {
			CONTROL_EQ(t, ADP_42, all_three, (u64)ds_bytes(),
				   "index after an adaptive record that ends at the maximum");
			return;
		}
		CHECK_EQ(t, ADP_42, two_basic, (u64)ds_bytes(),
			 "index after an adaptive record that has no room, maximum at %#x",
			 BASIC_RECORDS * BASIC_BYTES + 8);
		CHECK(t, ADP_42, !ds_written_outside(0, 2, &offset),
		      "no byte beside the two records (offset %ld)", (long)offset);
		counter_reset();
	}
}

/* Run windows until the counter has overflowed, and one more window, in which a record would be
 * written. */
static void overflow_at_maximum(unsigned c, u64 maximum, const struct ds_setup *setup)
{
	enum { WINDOWS = 16 };
	const struct pmc_mask on = pmc_one(c);

	ds_open(setup);
	ds_set_maximum_bytes(maximum);
	ds_set_threshold_bytes(DS_BUFFER_BYTES);
	pebs_arm(c, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH, ROUNDS_PERIOD);
	for (unsigned i = 0; i < WINDOWS && counter_read(c) >= ROUNDS_PERIOD && !ds_bytes(); i++)
		workload_run(&workload_load, ROUNDS_FOR(1), on);
	workload_run(&workload_load, ROUNDS_FOR(1), on);
	pebs_disarm();
	counter_program_disabled(c, 0, 0);
	counters_clear(BIT(c));
}

/*
 * ADP-42  A record whose end would be past the PEBS absolute maximum must not be written, whatever
 *         its size.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  a buffer whose absolute maximum is 8 bytes before the end of the record that is made next
 * When   each counter with PEBS overflows, fixed ones too except fixed counter 2, whose clock is
 *        slow
 * Then   the index stays, and no byte is written
 * Control: with the maximum at the record's end it is written
 */
TEST(adaptive, record_of_each_counter_stays_below_the_maximum, REQS(ADP_42),
     NEEDS(need_perfmon, need_baseline, need_branches))
{
	FOR_EACH_COUNTER (c, adaptive_sure_counters() & ~BIT(OVERFLOW_SLOW)) {
		const struct adaptive_run run = { .counter = c, .config = CONFIG_GPR };
		const u64 size = adaptive_bytes(run.config);
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);
		int64_t offset = 0;

		overflow_at_maximum(c, size - 8, &setup);
		CHECK_EQ(t, ADP_42, 0, (u64)ds_bytes(),
			 "index after an overflow of counter %u, maximum at %#lx", c, size - 8);
		CHECK(t, ADP_42, !ds_written_outside(0, 0, &offset),
		      "no byte of the buffer, counter %u (offset %ld)", c, (long)offset);
		overflow_at_maximum(c, size, &setup);
		if (!ds_bytes() && counter_caps()->hypervisor) {
			test_inconclusive(t, "no record");
			return;
		}
		sampling_want(t, 1);
		CONTROL_EQ(t, ADP_42, size, (u64)ds_bytes(),
			   "index after an overflow of counter %u, maximum at %#lx", c, size);
		counter_reset();
	}
}

/* The interrupts of one adaptive record in an empty buffer with this threshold. */
static const struct pmi_log *interrupts_with_threshold(const struct adaptive_run *run,
						       u64 threshold)
{
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(run, &layout);

	ds_open(&setup);
	ds_set_maximum_bytes(DS_BUFFER_BYTES);
	ds_set_threshold_bytes(threshold);
	pmi_open(NULL);
	make_record(COUNT_ADAPTIVE);
	return pmi_end();
}

/* One interrupt with a threshold anywhere in the record or at its end. */
static bool check_passed_thresholds(struct test *t, const struct adaptive_run *run)
{
	const unsigned size = adaptive_bytes(run->config);
	const unsigned thresholds[] = { 0x20, 0x40, 0x48, 0xd0, 0x1d0, size - 8, size };
	const struct pmi_log *log;

	for (unsigned i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
		log = interrupts_with_threshold(run, thresholds[i]);
		sampling_want(t, 1);
		if (!CONTROL_EQ(t, ADP_43, size, (u64)ds_bytes(), "index after the record") ||
		    !CHECK_EQ(t, ADP_43, 1, log->count,
			      "interrupts of a record of %#x bytes, threshold at %#x", size,
			      thresholds[i]))
			return false;
		CHECK_EQ(t, ADP_43, IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			 "OvfBuf at the handler's entry");
		CHECK_EQ(t, ADP_43, ds_buffer() + size, log->entry[0].index,
			 "index at the handler's entry");
		counter_reset();
	}
	log = interrupts_with_threshold(run, size + 8);
	CONTROL_EQ(t, ADP_43, 0, log->count, "interrupts below the threshold");
	counter_reset();
	return true;
}

/*
 * ADP-43  A record that moves the PEBS index past the threshold without meeting it must raise the
 *         threshold interrupt.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  a PEBS threshold at the beginning of each group of the record that is made next, within
 *        its GPR group, 8 bytes before its end, and at its end
 * When   IA32_PMC0 makes a record with the memory, GPR and XMM group, and one with all entries of
 *        the LBR group too
 * Then   there is one interrupt, whose handler finds OvfBuf, and the index after the record
 * Control: there is none with the threshold 8 bytes after the record's end
 */
TEST(adaptive, record_that_passes_the_threshold_interrupts, REQS(ADP_43),
     NEEDS(need_perfmon, need_baseline, need_loads_or_branches))
{
	struct adaptive_run run = { .config = CONFIG_MEMORY | CONFIG_GPR | CONFIG_XMM };

	if (!check_passed_thresholds(t, &run) || !lbr_any_depth())
		return;
	run.config |= CONFIG_LBR_OF(lbr_any_depth());
	check_passed_thresholds(t, &run);
}

/*
 * ADP-43  A record that moves the PEBS index past the threshold without meeting it must raise the
 *         threshold interrupt.
 *         SDM 17.4.9 BTS and DS Save Area
 *
 * Given  a PEBS threshold 8 bytes after the end of the first basic record
 * When   IA32_PMC0 makes one basic record, then another
 * Then   the first record raises no interrupt; the second record raises one
 */
TEST(adaptive, basic_record_below_a_threshold_does_not_interrupt, REQS(ADP_43),
     NEEDS(need_perfmon, need_format4, need_loads_or_branches))
{
	const struct adaptive_run run = { .basic = true };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	const struct pmi_log *log;

	ds_open(&setup);
	ds_set_threshold_bytes(BASIC_BYTES + 8);
	for (unsigned i = 0; i < 2; i++) {
		pmi_open(NULL);
		make_record(0);
		log = pmi_end();
		if (ds_bytes() < (int64_t)(BASIC_BYTES * (i + 1)) && counter_caps()->hypervisor) {
			test_inconclusive(t, "no record");
			return;
		}
		sampling_want(t, i + 1);
		const unsigned past = i == 1;	/* is this record past the threshold? */

		CHECK_EQ(t, ADP_43, past, log->count,
			 "interrupts of record %u, threshold 8 bytes after the first", i + 1);
	}
}
