/* SPDX-License-Identifier: MIT */
/*
 * Record format 3: SDM Table 18-55 "PEBS Record Format for 6th Generation Intel Core Processor
 * Family". In place of the status image of formats 1 and 2 it has the applicable counters; the
 * time-stamp counter is new.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/time.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

#define FORMAT3_BYTES	0xc8u	/* Table 18-55: the last field begins at C0H */
#define AT_APPLICABLE	0x90
#define AT_TSC		0xc0
#define MANY_RECORDS	16u

/* The field at an offset of the table, read without the decoder. */
static u64 record_at(unsigned i, unsigned offset)
{
	return *(const volatile u64 *)((uintptr_t)ds_record(i) + offset);
}

static bool need_eight_counters(char *reason, size_t size)
{
	if (counter_caps()->gp >= 8)
		return need_format3(reason, size);
	fmt_print(reason, size, "%u general-purpose counters (CPUID.0AH:EAX = %#x)",
		  counter_caps()->gp, counter_caps()->leaf_0a_eax);
	return false;
}

/*
 * SKL-01  A record must be C8H bytes.
 *         SDM 18.13.1.1 6th Generation Intel Core: PEBS Data Format, Table 18-55
 *
 * Given  record format 3; Table 18-55: the last field begins at C0H
 * When   each PEBS counter makes a record
 * Then   the index moves by C8H, and the record is written
 */
TEST(record, pebs_format3_record_is_0xc8_bytes, REQS(SKL_01),
     NEEDS(need_perfmon, need_format3, need_events), .under_every_fault = true)
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct ds_setup setup = sampling_setup(8);

		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		sampling_want(t, 1);
		CHECK_EQ(t, SKL_01, FORMAT3_BYTES, (u64)ds_bytes(),
			 "bytes by which the index moved, IA32_PMC%u", c);
		CHECK(t, SKL_01, ds_record_written(0), "the record's bytes");
		counters_clear(BIT(c));
	}
}

/*
 * SKL-07  Offsets 00H to B8H must have the fields of format 2.
 *         SDM 18.13.1.1 6th Generation Intel Core: PEBS Data Format, Table 18-55
 *
 * Given  record format 3; registers with values that differ, marked loads
 * When   IA32_PMC0 makes a record
 * Then   read without the decoder, each field of format 2 but the one at 90H is at the offset
 *        of Table 18-44
 */
TEST(record, pebs_format3_record_begins_as_format2, REQS(SKL_07),
     NEEDS(need_perfmon, need_format3, need_events))
{
	struct ds_setup setup = sampling_setup(8);
	struct sampling_sum expected[SAMPLE_MARKS];
	struct pebs_record record;
	int mark;

	sampling_fill(expected, SAMPLE_MARKS);
	sampling_run(&setup, 0, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
	if (!sampling_one_record(t, AT(SKL_07), &record))
		return;
	mark = workload_mark_at(&workload_sample, SAMPLE_MARKS, record_at(0, 0xb0));
	if (!CHECK(t, SKL_07, mark >= 0, "EventingIP %#lx at B0H is a marked load",
		   record_at(0, 0xb0)))
		return;
	sampling_check_registers(t, AT(SKL_07), ds_record(0), (u64)(uintptr_t)workload_memory(),
				 workload_stack());
	CHECK_EQ(t, SKL_07, record_at(0, 0xb0) + workload_sample.mark_length, record_at(0, 0x08),
		 "R/EIP at 08H");
	CHECK_EQ(t, SKL_07, expected[mark].rax, record_at(0, 0x10), "RAX at 10H");
	CHECK_EQ(t, SKL_07,
		 (u64)(uintptr_t)workload_memory() + SAMPLE_OFFSET + 8 * (u64)mark,
		 record_at(0, 0x98), "data linear address at 98H");
	CHECK_EQ(t, SKL_07, 0, record_at(0, 0xa8), "latency at A8H, of another event");
	CHECK_EQ(t, SKL_07, 0, record_at(0, 0xb8) & sampling_tx_mask(),
		 "TX abort information at B8H, outside of transactions");
}

/*
 * SKL-02  The quadword at C0H must be a TSC value between an RDTSC before arming and one after.
 *         SDM 18.13.1.1 6th Generation Intel Core: PEBS Data Format
 *
 * Given  RDTSC before arming
 * When   each PEBS counter makes a record, and RDTSC after it
 * Then   the quadword at C0H is between the two
 * Control: there is one record
 */
TEST(record, tsc_of_a_record_is_of_the_time_when_it_was_made, REQS(SKL_02),
     NEEDS(need_perfmon, need_format3, need_events), .under_every_fault = true)
{
	struct pebs_record record;
	u64 before, after;

	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct ds_setup setup = sampling_setup(8);

		before = tsc_read();
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
		after = tsc_read();
		if (!sampling_one_record(t, CONTROL_AT(SKL_02), &record))
			return;
		CHECK_RANGE(t, SKL_02, before, after, record_at(0, AT_TSC),
			    "TSC at C0H, from RDTSC before arming to one after, IA32_PMC%u", c);
		counters_clear(BIT(c));
	}
}

/*
 * SKL-03  The TSC fields of consecutive records must not decrease.
 *         SDM 18.13.1.1 6th Generation Intel Core: PEBS Data Format (no order of two records is
 *         stated)
 * SKL-02  The quadword at C0H must be a TSC value between an RDTSC before arming and one after.
 *         SDM 18.13.1.1 6th Generation Intel Core: PEBS Data Format
 *
 * Given  RDTSC before arming
 * When   IA32_PMC0 makes many consecutive records
 * Then   no TSC field is less than that of the previous record, the last is more than the first,
 *        and RDTSC afterwards is no less
 * Control: there are records
 */
TEST(record, tsc_of_a_record_is_not_before_that_of_the_record_before, REQS(SKL_03, SKL_02),
     NEEDS(need_perfmon, need_format3, need_events))
{
	struct ds_setup setup = sampling_setup(MANY_RECORDS + 1);
	unsigned records;
	u64 previous;

	previous = tsc_read();
	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup.reset[i] = pebs_reset_value(i, ROUNDS_PERIOD);
	ds_open(&setup);
	pebs_arm(0, LOADS, COUNT_BOTH, ROUNDS_PERIOD);
	workload_run(&workload_load, MANY_RECORDS * ROUNDS_PERIOD, pmc_one(0));
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
	records = ds_records();
	sampling_want(t, MANY_RECORDS / 2);
	CONTROL_RANGE(t, IDS(SKL_02, SKL_03), MANY_RECORDS / 2, MANY_RECORDS, records, "records");
	for (unsigned i = 0; i < records; i++) {
		CHECK_RANGE(t, SKL_03, previous, ~0ULL, record_at(i, AT_TSC),
			    "TSC of record %u of %u, not before that of the one before", i,
			    records);
		previous = record_at(i, AT_TSC);
	}
	CHECK_RANGE(t, SKL_02, record_at(0, AT_TSC), tsc_read(), previous,
		    "TSC of the last record of %u, up to RDTSC after it", records);
	if (records > 1)
		CHECK_RANGE(t, SKL_03, 1, ~0ULL, previous - record_at(0, AT_TSC),
			    "TSC from the first to the last of %u records", records);
}

/*
 * SKL-04  The quadword at 90H must name the counters whose overflow the record is for.
 * SKL-05  The quadword at 90H must not have the bit of a counter that overflowed without PEBS.
 *         SDM 18.13.1.1 6th Generation Intel Core: PEBS Data Format
 * SKL-06  Bits 63:4 of the quadword at 90H must be 0.
 *         SDM 18.13.1.1 6th Generation Intel Core: PEBS Data Format, Table 18-54 (PEBS on PMC0 to
 *         PMC3 only)
 *
 * Given  a PEBS counter; another one and fixed counter 0, without PEBS, wrap long before the
 *        record
 * When   each PEBS counter makes a record
 * Then   the quadword at 90H has its bit alone
 * Control: the two others' bits are set in the status
 */
TEST(record, applicable_counters_of_a_record_are_those_that_it_is_for, REQS(SKL_04, SKL_05, SKL_06),
     NEEDS(need_perfmon, need_format3, need_fixed_0_to_2, need_events, need_branches),
     .under_every_fault = true)
{
	const u64 fixed = PMC_FIXED(0);

	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		const unsigned plain = (c + 1) % PEBS_COUNTERS;
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;
		u64 named;

		/* Both have wrapped long before the record. */
		overflow_prepare(plain, 0);
		counter_preset(plain, PERIOD / 2);
		overflow_prepare((unsigned)fixed, 0);
		sampling_run(&setup, c, LOADS, COUNT_BOTH, &workload_sample,
			     pmc_or(pmc_one(plain), pmc_one((unsigned)fixed)));
		if (!sampling_one_record(t, CONTROL_AT(SKL_04, SKL_05, SKL_06), &record))
			return;
		named = record_at(0, AT_APPLICABLE);
		CHECK_EQ(t, SKL_04, BIT(c), named & BIT(c), "bit of IA32_PMC%u, %#lx at 90H", c,
			 named);
		CHECK_EQ(t, SKL_05, 0, named & BIT(plain),
			 "bit of IA32_PMC%u, which wrapped without PEBS, %#lx at 90H", plain,
			 named);
		CHECK_EQ(t, SKL_04, 0, named & 0xf & ~(BIT(c) | BIT(plain)),
			 "bits of counters that haven't wrapped, %#lx at 90H", named);
		CHECK_EQ(t, SKL_06, 0, named & ~0xfULL, "bits 63:4 at 90H");
		CONTROL_EQ(t, IDS(SKL_05, SKL_06), BIT(plain) | BIT(fixed),
			   counters_status() & (BIT(plain) | BIT(fixed)),
			   "status of IA32_PMC%u and fixed counter 0, without PEBS", plain);
		counter_reset();
	}
}

/*
 * SKL-04  The quadword at 90H must name the counters whose overflow the record is for.
 *         SDM 18.13.1.1 6th Generation Intel Core: PEBS Data Format
 * SKL-06  Bits 63:4 of the quadword at 90H must be 0.
 *         SDM 18.13.1.1 6th Generation Intel Core: PEBS Data Format, Table 18-54 (PEBS on PMC0 to
 *         PMC3 only)
 *
 * Given  PEBS on IA32_PMC0 and IA32_PMC1
 * When   they overflow far apart; on one load
 * Then   each record names its own counter alone; one record, or two, name both
 * Control: there are two records; one or two
 */
TEST(record, records_of_two_counters_name_their_own_or_both, REQS(SKL_04, SKL_06),
     NEEDS(need_perfmon, need_format3, need_events))
{
	struct ds_setup setup = sampling_setup(8);
	u64 all = 0;

	if (!sampling_shadow_fits(t))
		return;
	ds_open(&setup);
	pebs_arm(1, LOADS, COUNT_BOTH, 4 * PERIOD + 2 * SHADOW_MOST);
	pebs_arm(0, LOADS, COUNT_BOTH, PERIOD);
	workload_run(&workload_load, 8 * PERIOD + 4 * SHADOW_MOST, pmc_or(pmc_one(0), pmc_one(1)));
	pebs_disarm();
	sampling_want(t, 2);
	if (!CONTROL_EQ(t, IDS(SKL_04, SKL_06), 2, ds_records(), "records of two overflows"))
		return;
	for (unsigned i = 0; i < 2; i++) {
		u64 named = record_at(i, AT_APPLICABLE);

		CHECK_EQ(t, SKL_04, BIT(i), named,
			 "counters at 90H of record %u, overflows far apart", i);
		CHECK_EQ(t, SKL_06, 0, named & ~0xfULL, "bits 63:4 at 90H of record %u", i);
	}
	counter_reset();
	ds_open(&setup);
	pebs_arm(1, LOADS, COUNT_BOTH, PERIOD);
	pebs_arm(0, LOADS, COUNT_BOTH, PERIOD);
	workload_run(&workload_load, 2 * PERIOD + 2 * SHADOW_MOST, pmc_or(pmc_one(0), pmc_one(1)));
	pebs_disarm();
	if (CONTROL_RANGE(t, SKL_04, 1, 2, ds_records(), "records of overflows on one load"))
		for (unsigned i = 0; i < ds_records(); i++)
			all |= record_at(i, AT_APPLICABLE);
	CHECK_EQ(t, SKL_04, BIT(0) | BIT(1), all,
		 "counters at 90H of the records of overflows on one load, taken together");
	counter_reset();
}

/*
 * SKL-08  PEBS must not be possible on PMC4 to PMC7 when Hyper-Threading is off.
 *         SDM 18.13.1 6th Generation Intel Core: Processor Event Based Sampling (PEBS) Facility,
 *         Table 18-54
 *
 * Given  eight general-purpose counters
 * When   each of IA32_PEBS_ENABLE[7:4] is written
 * Then   each write raises #GP, and the register stays 0
 * Control: IA32_PEBS_ENABLE[3:0] can be written
 */
TEST(arm, pebs_enable_has_no_bits_of_counters_4_to_7, REQS(SKL_08),
     NEEDS(need_perfmon, need_events, need_eight_counters, need_refused_msrs))
{
	for (unsigned c = 4; c < 8; c++) {
		CHECK(t, SKL_08, msr_try_write(MSR_IA32_PEBS_ENABLE, BIT(c)).raised,
		      "#GP of WRMSR of IA32_PEBS_ENABLE[%u]", c);
		CHECK_EQ(t, SKL_08, 0, msr_read(MSR_IA32_PEBS_ENABLE), "IA32_PEBS_ENABLE after it");
		CONTROL(t, SKL_08, !msr_try_write(MSR_IA32_PEBS_ENABLE, BIT(c - 4)).raised,
			"WRMSR of IA32_PEBS_ENABLE[%u]", c - 4);
		pebs_disarm();
	}
}
