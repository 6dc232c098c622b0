/* SPDX-License-Identifier: MIT */
/*
 * What the processor says it has, and what its PMU's registers accept: SDM "Architectural
 * Performance Monitoring", "IA32_PERF_CAPABILITIES MSR Enumeration", volume 2 WRMSR (a reserved
 * bit raises #GP). No counter counts here.
 */
#include "kernel/apic.h"
#include "kernel/cpuid.h"
#include "kernel/fault.h"
#include "kernel/fmt.h"
#include "pmu/counter.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

static bool readable(u32 msr)
{
	u64 value;

	return !msr_try_read(msr, &value).raised;
}

/* #GP and nothing else. */
static bool refused(struct fault fault)
{
	return fault.raised && fault.vector == VECTOR_GP;
}

TEST(enumeration, enumerated_registers_exist, REQS(MSR_01), NEEDS(need_perfmon))
{
	const struct pmu_caps *caps = counter_caps();

	for (u32 i = 0; i < caps->gp_enumerated; i++) {
		CHECK(t, MSR_01, readable(MSR_IA32_PMC0 + i), "IA32_PMC%u", i);
		CHECK(t, MSR_01, readable(MSR_IA32_PERFEVTSEL0 + i), "IA32_PERFEVTSEL%u", i);
		if (caps->full_width)
			CHECK(t, MSR_01, readable(MSR_IA32_A_PMC0 + i), "IA32_A_PMC%u", i);
	}
	for (u32 i = 0; i < caps->fixed; i++)
		CHECK(t, MSR_01, readable(MSR_IA32_FIXED_CTR0 + i), "IA32_FIXED_CTR%u", i);
	CHECK(t, MSR_01, readable(MSR_IA32_FIXED_CTR_CTRL), "IA32_FIXED_CTR_CTRL");
	CHECK(t, MSR_01, readable(MSR_IA32_PERF_GLOBAL_CTRL), "IA32_PERF_GLOBAL_CTRL");
	CHECK(t, MSR_01, readable(MSR_IA32_PERF_GLOBAL_STATUS), "IA32_PERF_GLOBAL_STATUS");
	if (caps->pdcm)
		CHECK(t, MSR_01, readable(MSR_IA32_PERF_CAPABILITIES), "IA32_PERF_CAPABILITIES");
	if (caps->ds)
		CHECK(t, MSR_01, readable(MSR_IA32_DS_AREA), "IA32_DS_AREA");
}

/* Records of one overflow, whatever IA32_MISC_ENABLE says of PEBS. */
static unsigned records_all_the_same(void)
{
	struct ds_setup setup = sampling_setup(8);
	unsigned records = 0;

	ds_open(&setup);
	counter_program(0, LOADS, COUNT_BOTH);
	counter_preset(0, PERIOD);
	if (!msr_try_write(MSR_IA32_PEBS_ENABLE, 1).raised) {
		workload_run(&workload_sample, PERIOD, pmc_one(0));
		records = ds_records();
		msr_write(MSR_IA32_PEBS_ENABLE, 0);
	}
	return records;
}

TEST(enumeration, misc_enable_agrees_with_the_facilities, REQS(MSR_02), NEEDS(need_perfmon))
{
	const struct pmu_caps *caps = counter_caps();

	CHECK(t, MSR_02, caps->misc_enable & IA32_MISC_ENABLE_PERFMON_AVAILABLE,
	      "IA32_MISC_ENABLE = %#lx", caps->misc_enable);
	if (caps->pebs)
		CHECK(t, MSR_02, readable(MSR_IA32_PEBS_ENABLE),
		      "PEBS available by IA32_MISC_ENABLE = %#lx", caps->misc_enable);
	else if (caps->ds && caps->dtes64 && caps->record_known && caps->generation &&
		 !caps->pebs_microcode)	/* PEBS is left alone, and IA32_MISC_ENABLE has it */
		CHECK_EQ(t, MSR_02, 0, records_all_the_same(),
			 "records, PEBS not available by IA32_MISC_ENABLE = %#lx",
			 caps->misc_enable);
}

TEST(enumeration, counters_are_48_bits_wide, REQS(MSR_03), NEEDS(need_perfmon, need_events))
{
	CHECK_EQ(t, MSR_03, 48, counter_caps()->gp_width, "CPUID.0AH:EAX[23:16]");
}

TEST(enumeration, pmc_writes_are_sign_extended, REQS(MSR_04, MSR_07), NEEDS(need_perfmon),
     .under_every_fault = true)
{
	static const u64 values[] = { 0x80000000, 0xffffffff, 0x7fffffff, 0xffffffff80000001,
				      0x12345678 };
	u64 width = BIT(counter_caps()->gp_width) - 1;

	for (u32 c = 0; c < counter_caps()->gp; c++) {
		for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			u64 want = (u64)(int64_t)(int32_t)(u32)values[i] & width;

			msr_write(MSR_IA32_PMC0 + c, values[i]);
			CHECK_EQ(t, MSR_04, want, msr_read(MSR_IA32_PMC0 + c) & width,
				 "IA32_PMC%u after writing %#lx", c, values[i]);
			CHECK_EQ(t, MSR_07, 0, msr_read(MSR_IA32_PMC0 + c) & ~width,
				 "bits of IA32_PMC%u above its width", c);
		}
	}
}

TEST(enumeration, full_width_writes_reach_every_bit, REQS(MSR_05),
     NEEDS(need_perfmon, need_full_width))
{
	unsigned width = counter_caps()->gp_width;
	u64 all = BIT(width) - 1;
	u64 values[] = { all, 0x123456789abc & all, BIT(width - 1), BIT(31), BIT(32) };

	for (u32 c = 0; c < counter_caps()->gp; c++) {
		for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			msr_write(MSR_IA32_A_PMC0 + c, values[i]);
			CHECK_EQ(t, MSR_05, values[i], msr_read(MSR_IA32_A_PMC0 + c),
				 "IA32_A_PMC%u after writing %#lx", c, values[i]);
			CHECK_EQ(t, MSR_05, values[i], msr_read(MSR_IA32_PMC0 + c),
				 "IA32_PMC%u after writing %#lx to IA32_A_PMC%u", c, values[i], c);
		}
		msr_write(MSR_IA32_A_PMC0 + c, 0x55);
		for (unsigned bit = width; bit < 64; bit += 5)
			CHECK(t, MSR_05, refused(msr_try_write(MSR_IA32_A_PMC0 + c, BIT(bit))),
			      "bit %u of IA32_A_PMC%u", bit, c);
		CHECK_EQ(t, MSR_05, 0x55, msr_read(MSR_IA32_PMC0 + c),
			 "IA32_PMC%u after the refused writes", c);
	}
}

static bool need_no_full_width(char *reason, size_t size)
{
	if (!counter_caps()->full_width)
		return true;
	fmt_print(reason, size, "full-width writes (IA32_PERF_CAPABILITIES = %#lx)",
		  counter_caps()->perf_capabilities);
	return false;
}

/* The control is the counter's other address, which is there. */
TEST(enumeration, without_full_width_writes_there_are_no_registers_for_them, REQS(MSR_06),
     NEEDS(need_perfmon, need_no_full_width, need_refused_msrs))
{
	for (u32 c = 0; c < counter_caps()->gp; c++) {
		msr_write(MSR_IA32_PMC0 + c, 5);
		CHECK_EQ(t, MSR_06, 5, msr_read(MSR_IA32_PMC0 + c), "IA32_PMC%u after writing it",
			 c);
		CHECK(t, MSR_06, !readable(MSR_IA32_A_PMC0 + c), "reading IA32_A_PMC%u", c);
		CHECK(t, MSR_06, refused(msr_try_write(MSR_IA32_A_PMC0 + c, 1)),
		      "writing IA32_A_PMC%u", c);
	}
}

TEST(enumeration, fixed_counters_hold_what_is_written, REQS(MSR_07),
     NEEDS(need_perfmon, need_fixed))
{
	u64 all = BIT(counter_caps()->fixed_width) - 1;

	for (u32 i = 0; i < counter_caps()->fixed; i++) {
		msr_write(MSR_IA32_FIXED_CTR0 + i, all);
		CHECK_EQ(t, MSR_07, all, msr_read(MSR_IA32_FIXED_CTR0 + i), "IA32_FIXED_CTR%u", i);
	}
}

TEST(enumeration, global_status_is_read_only, REQS(MSR_08, MSR_19), NEEDS(need_perfmon),
     .under_every_fault = true)
{
	u64 before = counters_status();

	CHECK(t, MSR_08, refused(msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS, 0)), "writing 0");
	CHECK(t, MSR_08, refused(msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS, 1)), "writing 1");
	CHECK_EQ(t, MSR_08, before, counters_status(), "IA32_PERF_GLOBAL_STATUS afterwards");
	/* Figure 18-20 prints (R/W) beside bits 61 and 63. */
	for (unsigned bit = 61; bit < 64; bit++)
		CHECK(t, MSR_19, refused(msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS, BIT(bit))),
		      "bit %u", bit);
	CHECK_EQ(t, MSR_19, before, counters_status(), "IA32_PERF_GLOBAL_STATUS afterwards");
}

static bool need_pdcm(char *reason, size_t size)
{
	if (counter_caps()->pdcm)
		return true;
	return need_legacy_freeze(reason, size);	/* it says what PDCM is */
}

TEST(enumeration, perf_capabilities_is_read_only, REQS(MSR_17), NEEDS(need_perfmon, need_pdcm))
{
	u64 before = msr_read(MSR_IA32_PERF_CAPABILITIES), after;

	CHECK(t, MSR_17, refused(msr_try_write(MSR_IA32_PERF_CAPABILITIES, before)),
	      "writing the value that it has");
	/* Bit 6 says how records are taken: nobody looks at it while nothing is sampled. */
	msr_try_write(MSR_IA32_PERF_CAPABILITIES, before ^ IA32_PERF_CAPABILITIES_PEBS_TRAP);
	after = msr_read(MSR_IA32_PERF_CAPABILITIES);
	CHECK_EQ(t, MSR_17, before, after,
		 "IA32_PERF_CAPABILITIES after a write of another value");
	if (after != before)
		msr_try_write(MSR_IA32_PERF_CAPABILITIES, before);
}

static void check_global_ctrl(struct test *t, struct test_claim claim)
{
	u64 there = counters_gp().bits | counters_fixed().bits;

	/* The control: a bit of a counter that exists is kept. */
	counters_enable(counters_gp());
	test_check_eq(t, claim, counters_gp().bits, msr_read(MSR_IA32_PERF_GLOBAL_CTRL),
		      "IA32_PERF_GLOBAL_CTRL with the general-purpose counters enabled");
	for (unsigned bit = 0; bit < 48; bit++) {
		if (there & BIT(bit))
			continue;
		test_check(t, claim,
			   refused(msr_try_write(MSR_IA32_PERF_GLOBAL_CTRL, there | BIT(bit))),
			   "#GP", "bit %u of IA32_PERF_GLOBAL_CTRL", bit);
	}
	test_check_eq(t, claim, counters_gp().bits, msr_read(MSR_IA32_PERF_GLOBAL_CTRL),
		      "IA32_PERF_GLOBAL_CTRL after the refused writes");
	counters_disable();
}

TEST(enumeration, global_ctrl_refuses_counters_that_are_not_there, REQS(MSR_11),
     NEEDS(need_perfmon, need_events))
{
	check_global_ctrl(t, AT(MSR_11));
}

TEST(enumeration, global_ctrl_refuses_reserved_bits, REQS(MSR_36),
     NEEDS(need_perfmon, need_events))
{
	check_global_ctrl(t, AT(MSR_36));
}

TEST(enumeration, missing_counters_have_no_registers, REQS(MSR_12),
     NEEDS(need_perfmon, need_events, need_four_counters_only, need_refused_msrs))
{
	for (u32 c = 4; c < 8; c++) {
		CHECK(t, MSR_12, !readable(MSR_IA32_PMC0 + c), "IA32_PMC%u", c);
		CHECK(t, MSR_12, !readable(MSR_IA32_PERFEVTSEL0 + c), "IA32_PERFEVTSEL%u", c);
	}
}

TEST(enumeration, pebs_enable_refuses_reserved_bits, REQS(MSR_13),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	unsigned end = counter_caps()->facilities & FAC_PRECISE_STORE ? 63 : 64;

	/* The control: a bit that is there is kept. */
	msr_write(MSR_IA32_PEBS_ENABLE, 1);
	CHECK_EQ(t, MSR_13, 1, msr_read(MSR_IA32_PEBS_ENABLE), "PEBS_EN_PMC0");
	for (unsigned bit = 4; bit < end; bit++) {
		if (bit >= 32 && bit <= 35)
			continue;
		CHECK(t, MSR_13, refused(msr_try_write(MSR_IA32_PEBS_ENABLE, BIT(bit))),
		      "bit %u of IA32_PEBS_ENABLE", bit);
	}
	CHECK_EQ(t, MSR_13, 1, msr_read(MSR_IA32_PEBS_ENABLE), "after the refused writes");
	msr_write(MSR_IA32_PEBS_ENABLE, 0);
}

/* "Processor Event Based Sampling (PEBS) Facility" (4th generation): data address profiling is in
 * its place. */
TEST(enumeration, precise_store_is_gone, REQS(DLA_07),
     NEEDS(need_perfmon, need_pebs, need_haswell))
{
	msr_write(MSR_IA32_PEBS_ENABLE, 8);
	CHECK_EQ(t, DLA_07, 8, msr_read(MSR_IA32_PEBS_ENABLE), "PEBS_EN_PMC3");
	CHECK(t, DLA_07, refused(msr_try_write(MSR_IA32_PEBS_ENABLE, BIT(63) | 8)),
	      "bit 63 of IA32_PEBS_ENABLE: precise store isn't there");
	CHECK_EQ(t, DLA_07, 8, msr_read(MSR_IA32_PEBS_ENABLE), "after the refused write");
	msr_write(MSR_IA32_PEBS_ENABLE, 0);
}

/* SDM "Processor Event Based Sampling (PEBS)" (Nehalem): four bits and four additional bits. */
TEST(enumeration, pebs_enable_has_four_bits_of_each_kind, REQS(MSR_23),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	for (unsigned i = 0; i < 4; i++) {
		u64 one[] = { BIT(i), BIT(i) | BIT(32 + i) };

		for (unsigned k = 0; k < 2; k++) {
			CHECK(t, MSR_23, !msr_try_write(MSR_IA32_PEBS_ENABLE, one[k]).raised,
			      "writing %#lx to IA32_PEBS_ENABLE", one[k]);
			CHECK_EQ(t, MSR_23, one[k], msr_read(MSR_IA32_PEBS_ENABLE),
				 "IA32_PEBS_ENABLE for IA32_PMC%u%s", i, k ? ", load latency" : "");
		}
	}
	msr_write(MSR_IA32_PEBS_ENABLE, 0);
}

TEST(enumeration, off_core_response_registers_exist, REQS(MSR_24),
     NEEDS(need_perfmon, need_offcore_2))
{
	CHECK(t, MSR_24, readable(MSR_OFFCORE_RSP_0), "MSR_OFFCORE_RSP_0 (1A6H)");
	CHECK(t, MSR_24, readable(MSR_OFFCORE_RSP_1), "MSR_OFFCORE_RSP_1 (1A7H)");
}

TEST(enumeration, rdpmc_refuses_counters_that_are_not_there, REQS(CNT_14), NEEDS(need_perfmon))
{
	const struct pmu_caps *caps = counter_caps();
	u64 value;

	if (caps->hybrid) {
		test_skip(t, "a hybrid processor (CPUID.7H:EDX[15] = 1, core type %#x): CPUID.0AH "
			  "may say what all types of cores have in common, %u counters",
			  cpuid_get(CPUID_CORE_TYPE), caps->gp_enumerated);
		return;
	}
	/* The control: the last one that is there answers. */
	CHECK(t, CNT_14, !rdpmc_try(caps->gp - 1, &value).raised, "ECX = %u", caps->gp - 1);
	for (u32 c = caps->gp_enumerated; c < 16; c++)
		CHECK(t, CNT_14, refused(rdpmc_try(c, &value)), "ECX = %u", c);
	for (u32 c = caps->fixed; c < 8; c++)
		CHECK(t, CNT_14, refused(rdpmc_try((u32)RDPMC_FIXED | c, &value)),
		      "ECX = %#x", (u32)RDPMC_FIXED | c);
}

/* RDPMC: ECX[31] asks for the fast read of the processors that have one; here it is no index. */
TEST(enumeration, rdpmc_has_no_fast_read, REQS(CNT_20), NEEDS(need_perfmon))
{
	u64 value;

	CHECK(t, CNT_20, !rdpmc_try(0, &value).raised, "ECX = 0");
	CHECK(t, CNT_20, refused(rdpmc_try((u32)BIT(31), &value)), "ECX = 80000000H");
}

static bool need_ds(char *reason, size_t size)
{
	return counter_caps()->ds || need_pebs(reason, size);
}

TEST(enumeration, ds_area_refuses_a_non_canonical_address, REQS(DS_19),
     NEEDS(need_perfmon, need_ds, need_ds_write))
{
	/* The control: a canonical one is kept. */
	msr_write(MSR_IA32_DS_AREA, 0x1000);
	CHECK_EQ(t, DS_19, 0x1000, msr_read(MSR_IA32_DS_AREA), "IA32_DS_AREA");
	CHECK(t, DS_19, refused(msr_try_write(MSR_IA32_DS_AREA, BIT(63))), "address %#llx",
	      BIT(63));
	CHECK_EQ(t, DS_19, 0x1000, msr_read(MSR_IA32_DS_AREA), "after the refused write");
	msr_write(MSR_IA32_DS_AREA, 0);
}
