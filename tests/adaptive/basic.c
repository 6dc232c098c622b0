/* SPDX-License-Identifier: MIT */
/*
 * The basic group, with baseline and without: kvm-unit-tests pmu_pebs, Linux struct pebs_basic. In
 * a guest of KVM records have only this group, and only general-purpose counters make them.
 */
#include "kernel/processor/time.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/measure/overflow.h"

#define AT_WORD		ADAPTIVE_BASIC_format
#define AT_EVENTING_IP	ADAPTIVE_BASIC_eventing_ip
#define AT_APPLICABLE	ADAPTIVE_BASIC_applicable
#define AT_TSC		ADAPTIVE_BASIC_tsc
#define MANY_RECORDS	16u

/* The groups that a basic record must not have: all of them, where the register can select them. */
static u32 every_group(void)
{
	return counter_caps()->baseline ? CONFIGS - 1 : 0;
}

/*
 * Decides ADP-01, ADP-10, ADP-15, ADP-17, ADP-18, ADP-35, ADP-38 (claims/requirement.def has their
 * sentences).
 *
 * Given  records of format 4, with baseline or without; the Adaptive_Record bits are 0; RDTSC
 *        before arming
 * When   each of IA32_PMC0 to IA32_PMC3 makes a record of a marked load, or of a jump where no
 *        table has loads, and RDTSC after it
 * Then   the index moves by 20H; the format word has 20H in bits 63:48 and 0 in 31:0 (and in 47:32
 *        without retire latency), EventingIP is a marked event, the applicable counters are that
 *        counter alone, and the TSC is between the two
 */
TEST(adaptive, basic_group_is_0x20_bytes_with_its_four_fields,
     REQS(ADP_01, ADP_10, ADP_15, ADP_17, ADP_18, ADP_35, ADP_38),
     NEEDS(need_perfmon, need_format4, need_loads_or_branches), .under_every_fault = true)
{
	for (unsigned c = 0; c < LOAD_COUNTERS; c++) {
		struct adaptive_run run = { .counter = c, .basic = true };
		u64 before = tsc_read(), after, word;
		int64_t offset = 0;

		adaptive_window(&run);
		after = tsc_read();
		if (!adaptive_one_record(t, AT(ADP_15), &run))
			return;
		CHECK(t, ADP_15, ds_record_written(0) && !ds_written_outside(0, 1, &offset),
		      "the record, and no byte beside it (offset %ld)", (long)offset);
		word = adaptive_at(AT_WORD);
		CHECK_EQ(t, ADP_01, BASIC_BYTES, word >> 48, "bits 63:48 of the format word");
		CHECK_EQ(t, ADP_17, 0, word & BITS(0, 31), "bits 31:0 of the format word");
		CHECK_EQ(t, ADP_10, 0, word & BITS(4, 23), "bits 23:4 of the format word");
		if (!adaptive_may_be_timed(t))
			CHECK_EQ(t, ADP_18, 0, word & BITS(32, 47),
				 "bits 47:32 of the format word");
		CHECK(t, ADP_15,
		      workload_mark_at(sampling_any_piece(), SAMPLE_MARKS,
				       adaptive_at(AT_EVENTING_IP)) >= 0,
		      "EventingIP %#lx at 08H is a marked event", adaptive_at(AT_EVENTING_IP));
		CHECK_EQ(t, IDS(ADP_15, ADP_35), BIT(c), adaptive_at(AT_APPLICABLE),
			 "applicable counters at 10H, IA32_PMC%u", c);
		CHECK_RANGE(t, IDS(ADP_15, ADP_38), before, after, adaptive_at(AT_TSC),
			    "TSC at 18H, from RDTSC before arming to one after");
	}
}

/*
 * ADP-02  A counter without its Adaptive_Record bit must make a record of the basic group alone,
 *         whatever MSR_PEBS_DATA_CFG says.
 * ADP-17  Bits 31:0 of the format word must be 0 in a record of a counter whose Adaptive_Record
 *         bit is 0.
 *         kvm-unit-tests pmu_pebs
 *
 * Given  MSR_PEBS_DATA_CFG asks for the memory, GPR, XMM and LBR groups
 * When   a counter with IA32_PERFEVTSELx[34] = 0 makes a record
 * Then   it is 20H bytes, and bits 31:0 of its format word are 0
 * Control: with IA32_PERFEVTSELx[34] = 1 bits 31:0 are MSR_PEBS_DATA_CFG
 */
TEST(adaptive, record_without_adaptive_bit_is_the_basic_group_alone, REQS(ADP_02, ADP_17),
     NEEDS(need_perfmon, need_baseline, need_loads_or_branches))
{
	for (unsigned c = 0; c < LOAD_COUNTERS; c++) {
		struct adaptive_run run = { .counter = c, .basic = true,
					    .config = every_group() };

		adaptive_window(&run);
		if (!adaptive_one_record(t, AT(ADP_02), &run))
			return;
		CHECK_EQ(t, ADP_17, 0, adaptive_at(AT_WORD) & BITS(0, 31),
			 "bits 31:0 of the format word, MSR_PEBS_DATA_CFG = %#lx", run.config);
		CHECK_EQ(t, ADP_02, BASIC_BYTES, adaptive_at(AT_WORD) >> 48,
			 "bits 63:48 of the format word");
		run.basic = false;
		adaptive_window(&run);
		CONTROL_EQ(t, IDS(ADP_02, ADP_17), run.config, adaptive_at(AT_WORD) & BITS(0, 31),
			   "bits 31:0 of the format word with the Adaptive_Record bit");
	}
}

/*
 * ADP-11  A buffer with records of different sizes must be walkable by bits 63:48 of each format
 *         word.
 * ADP-31  IA32_PERFEVTSELx[34] must make the records of that counter adaptive and of no other.
 *         kvm-unit-tests pmu_pebs
 *
 * Given  MSR_PEBS_DATA_CFG asks for the memory and the GPR group; PEBS on IA32_PMC0 and IA32_PMC1,
 *        IA32_PERFEVTSELx[34] set in one of them, then in the other
 * When   they overflow far apart
 * Then   the record of the counter whose bit is set has the groups, the other record is the basic
 *        group alone, and the size of the first leads to the second
 */
TEST(adaptive, adaptive_bit_of_one_counter_is_of_its_records_alone, REQS(ADP_11, ADP_31),
     NEEDS(need_perfmon, need_baseline, need_loads_or_branches), .under_every_fault = true)
{
	const u32 config = CONFIG_MEMORY | CONFIG_GPR;
	const u16 event = sampling_any_event();

	if (!sampling_shadow_fits(t))
		return;
	for (unsigned adaptive = 0; adaptive < 2; adaptive++) {
		unsigned size[2] = { BASIC_BYTES, BASIC_BYTES };
		struct adaptive_run run = { .config = config, .capacity = 8 };
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);

		size[adaptive] = adaptive_bytes(config);
		ds_open(&setup);
		pebs_arm_as(0, event, COUNT_BOTH | (adaptive ? 0 : COUNT_ADAPTIVE), PERIOD);
		pebs_arm_as(1, event, COUNT_BOTH | (adaptive ? COUNT_ADAPTIVE : 0),
			    4 * PERIOD + 2 * SHADOW_MOST);
		workload_run(&workload_load, 8 * PERIOD + 4 * SHADOW_MOST,
			     pmc_or(pmc_one(0), pmc_one(1)));
		pebs_disarm();
		if (!CHECK_EQ(t, ADP_31, size[0] + size[1], (u64)ds_bytes(),
			      "bytes of two records, IA32_PERFEVTSEL%u[34] = 1", adaptive))
			return;
		CHECK_EQ(t, ADP_31, BIT(0), adaptive_at(AT_APPLICABLE),
			 "applicable counters of the first record");
		CHECK_EQ(t, ADP_31, adaptive ? 0 : config, adaptive_at(AT_WORD) & BITS(0, 31),
			 "bits 31:0 of the format word of IA32_PMC0's record, "
			 "IA32_PERFEVTSEL%u[34] = 1",
			 adaptive);
		CHECK_EQ(t, ADP_11, size[0], adaptive_at(AT_WORD) >> 48,
			 "bits 63:48 of the first record: the way to the second");
		CHECK_EQ(t, ADP_11, BIT(1), adaptive_at(size[0] + AT_APPLICABLE),
			 "applicable counters of the second record");
		CHECK_EQ(t, ADP_31, adaptive ? config : 0,
			 adaptive_at(size[0] + AT_WORD) & BITS(0, 31),
			 "bits 31:0 of the format word of IA32_PMC1's record, "
			 "IA32_PERFEVTSEL%u[34] = 1",
			 adaptive);
		counter_reset();
	}
}

/*
 * ADP-35  The applicable counters must have bit n for IA32_PMCn and bit 32+i for fixed counter i.
 *         Linux; kvm-unit-tests pmu_pebs
 * ADP-36  The applicable counters must not name a counter without PEBS that overflowed on the same
 *         instruction.
 *         Linux masks the field with the counters that do PEBS
 *
 * Given  a PEBS counter; another one with the same event and start value, and fixed counter 0, both
 *        without PEBS
 * When   each of IA32_PMC0 to IA32_PMC3 makes a record
 * Then   the applicable counters are that counter alone
 * Control: the status bits of the two others are 1: both have overflowed
 */
TEST(adaptive, applicable_counters_leave_out_those_without_pebs, REQS(ADP_35, ADP_36),
     NEEDS(need_perfmon, need_format4, need_fixed_0_to_2, need_loads_or_branches))
{
	const unsigned fixed = PMC_FIXED(0);
	const u16 event = sampling_any_event();

	for (unsigned c = 0; c < LOAD_COUNTERS; c++) {
		const unsigned plain = (c + 1) % LOAD_COUNTERS;
		struct adaptive_run run = { .counter = c, .basic = true };
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);

		/* `plain` overflows on the same event as the PEBS counter, fixed counter 0 earlier.
		 */
		ds_open(&setup);
		counter_program(plain, event, COUNT_BOTH);
		counter_preset(plain, calibration_period(event, PERIOD));
		overflow_prepare(fixed, 0);
		pebs_arm_as(c, event, COUNT_BOTH, calibration_period(event, PERIOD));
		workload_run(sampling_any_piece(), PERIOD,
			     pmc_or(pmc_one(c), pmc_or(pmc_one(plain), pmc_one(fixed))));
		pebs_disarm();
		if (!adaptive_one_record(t, CONTROL_AT(ADP_35, ADP_36), &run))
			return;
		CHECK_EQ(t, ADP_35, BIT(c), adaptive_at(AT_APPLICABLE) & BIT(c),
			 "bit of IA32_PMC%u, %#lx at 10H", c, adaptive_at(AT_APPLICABLE));
		CHECK_EQ(t, ADP_36, 0, adaptive_at(AT_APPLICABLE) & ~BIT(c),
			 "bits of IA32_PMC%u and fixed counter 0, which wrapped without PEBS",
			 plain);
		CONTROL_EQ(t, ADP_36, BIT(plain) | BIT(fixed),
			   counters_status() & (BIT(plain) | BIT(fixed)),
			   "status of IA32_PMC%u and fixed counter 0, without PEBS", plain);
		counter_reset();
	}
}

/*
 * ADP-37  Two PEBS counters that overflow on one instruction must both be named, by one record or
 *         by two.
 *         Linux setup_pebs_adaptive_sample_data and its callers
 *
 * Given  PEBS on IA32_PMC0 and IA32_PMC1, with the same event and the same start value
 * When   they overflow
 * Then   one record, or two, name both of them
 * Control: there are one or two records
 */
TEST(adaptive, counters_that_overflow_on_one_load_are_both_named, REQS(ADP_37),
     NEEDS(need_perfmon, need_format4, need_loads_or_branches))
{
	struct adaptive_run run = { .basic = true };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	const u64 both = BIT(0) | BIT(1);
	const u16 event = sampling_any_event();
	u64 all = 0;

	ds_open(&setup);
	pebs_arm_as(1, event, COUNT_BOTH, PERIOD);
	pebs_arm_as(0, event, COUNT_BOTH, PERIOD);
	workload_run(&workload_load, 2 * PERIOD + 2 * SHADOW_MOST, pmc_or(pmc_one(0), pmc_one(1)));
	pebs_disarm();
	if (!ds_bytes() && counter_caps()->hypervisor) {
		test_inconclusive(t, "no record");
		return;
	}
	if (CONTROL_RANGE(t, ADP_37, 1, 2, ds_records(), "records of two overflows on one load"))
		for (unsigned i = 0; i < ds_records(); i++)
			all |= adaptive_at(i * BASIC_BYTES + AT_APPLICABLE);
	/* A host doesn't run a guest's counter whose number differs on the processor (KVM,
	 * host_cross_mapped_mask): then there is no record, or a record of the other counter
	 * alone. */
	if (counter_caps()->hypervisor && both & ~all) {
		CHECK_EQ(t, ADP_37, 0, all & ~both, "counters too many in the records");
		test_inconclusive(t, "no record names counters %#lx under hypervisor \"%s\"",
				  both & ~all, counter_caps()->host.signature);
		return;
	}
	CHECK_EQ(t, ADP_37, both, all, "applicable counters of the records, taken together");
}

/*
 * ADP-38  The TSC of a record must lie between an RDTSC before arming and one after reading the
 *         buffer.
 *         Linux setup_pebs_time
 * ADP-39  The TSC fields of consecutive records of one buffer must not decrease.
 *         Linux setup_pebs_time (no order of two records is stated)
 *
 * Given  RDTSC before arming
 * When   IA32_PMC0 makes many consecutive records
 * Then   no TSC is less than that of the previous record, the last is more than the first, and
 *        RDTSC afterwards is no less
 * Control: there are records
 */
TEST(adaptive, tsc_of_a_record_is_not_before_that_of_the_record_before, REQS(ADP_38, ADP_39),
     NEEDS(need_perfmon, need_format4, need_loads_or_branches))
{
	struct adaptive_run run = { .basic = true, .capacity = MANY_RECORDS + 1 };
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(&run, &layout);
	const u16 event = sampling_any_event();
	u64 previous = tsc_read();
	unsigned records;

	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup.reset[i] = pebs_reset_value(0, ROUNDS_PERIOD);
	ds_open(&setup);
	pebs_arm_as(0, event, COUNT_BOTH, ROUNDS_PERIOD);
	workload_run(&workload_load, MANY_RECORDS * ROUNDS_PERIOD, pmc_one(0));
	pebs_disarm();
	records = ds_records();
	if (!records && counter_caps()->hypervisor) {
		test_inconclusive(t, "no record");
		return;
	}
	sampling_want(t, MANY_RECORDS / 2);
	CONTROL_RANGE(t, IDS(ADP_38, ADP_39), counter_caps()->hypervisor ? 1 : MANY_RECORDS / 2,
		      MANY_RECORDS, records, "records");
	for (unsigned i = 0; i < records; i++) {
		u64 tsc = adaptive_at(i * BASIC_BYTES + AT_TSC);

		CHECK_RANGE(t, ADP_39, previous, ~0ULL, tsc,
			    "TSC of record %u of %u, not before that of the one before", i,
			    records);
		previous = tsc;
	}
	CHECK_RANGE(t, ADP_38, 0, tsc_read(), previous,
		    "TSC of the last record of %u, up to RDTSC after it", records);
	if (records > 1)
		CHECK_RANGE(t, ADP_39, 1, ~0ULL, previous - adaptive_at(AT_TSC),
			    "TSC from the first to the last of %u records", records);
}
