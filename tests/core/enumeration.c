/* SPDX-License-Identifier: MIT */
/*
 * The enumeration of the processor, compared with the bits that its PMU's registers accept: SDM
 * "Architectural Performance Monitoring", "IA32_PERF_CAPABILITIES MSR Enumeration", volume 2 WRMSR
 * (a reserved bit raises #GP). No counter counts here.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/processor/cpuid.h"
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "pmu/counter.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

#define COUNTER_BITS		48	/* of a general-purpose counter, from the event tables */
#define COUNTERS_OF_A_THREAD	4
#define COUNTERS_OF_A_CORE	8	/* of a core whose other thread is switched off */
#define GLOBAL_CTRL_BITS	48	/* bits for counters; 63:48 are for other facilities */
#define INDEXES_TRIED		16	/* of RDPMC */
#define FIXED_INDEXES_TRIED	8	/* with ECX[30] = 1 */
#define CANONICAL		0x1000	/* an address */

static bool readable(u32 msr)
{
	u64 value;

	return !msr_try_read(msr, &value).raised;
}

/*
 * MSR-01  CPUID leaf 0AH, DS, DTES64, PDCM and IA32_PERF_CAPABILITIES must agree with the
 *         registers that exist.
 *         SDM 18.18 IA32_PERF_CAPABILITIES MSR Enumeration; SDM 18.2.1.1 Architectural Performance
 *         Monitoring Version 1 Facilities
 *
 * Given  the counters that CPUID.0AH enumerates, PDCM and DS of CPUID.01H
 * When   each register that they stand for is read: counters, event selects, fixed counters and
 *        their control, the global registers, IA32_PERF_CAPABILITIES, IA32_DS_AREA, IA32_A_PMCx
 *        with full-width writes
 * Then   no read raises an exception
 */
TEST(enumeration, enumerated_registers_can_be_read, REQS(MSR_01), NEEDS(need_perfmon))
{
	const struct pmu_caps *caps = counter_caps();

	FOR_EACH_COUNTER (i, caps->gp_mask_enumerated) {
		CHECK(t, MSR_01, readable(MSR_IA32_PMC0 + i), "IA32_PMC%u", i);
		CHECK(t, MSR_01, readable(MSR_IA32_PERFEVTSEL0 + i), "IA32_PERFEVTSEL%u", i);
		if (caps->full_width)
			CHECK(t, MSR_01, readable(MSR_IA32_A_PMC0 + i), "IA32_A_PMC%u", i);
	}
	FOR_EACH_COUNTER (i, caps->fixed_mask)
		CHECK(t, MSR_01, readable(MSR_IA32_FIXED_CTR0 + i), "IA32_FIXED_CTR%u", i);
	CHECK(t, MSR_01, readable(MSR_IA32_FIXED_CTR_CTRL), "IA32_FIXED_CTR_CTRL");
	CHECK(t, MSR_01, readable(MSR_IA32_PERF_GLOBAL_CTRL), "IA32_PERF_GLOBAL_CTRL");
	CHECK(t, MSR_01, readable(MSR_IA32_PERF_GLOBAL_STATUS), "IA32_PERF_GLOBAL_STATUS");
	if (caps->pdcm)
		CHECK(t, MSR_01, readable(MSR_IA32_PERF_CAPABILITIES), "IA32_PERF_CAPABILITIES");
	if (caps->ds)
		CHECK(t, MSR_01, readable(MSR_IA32_DS_AREA), "IA32_DS_AREA");
}

static bool need_ds_registers(char *reason, size_t size)
{
	const struct pmu_caps *caps = counter_caps();

	if (caps->generation && !caps->hypervisor && !caps->msrs_ignored &&
	    !(caps->misc_enable & IA32_MISC_ENABLE_PEBS_UNAVAILABLE) &&
	    readable(MSR_IA32_DS_AREA) && readable(MSR_IA32_PEBS_ENABLE))
		return true;
	fmt_print(reason, size,
		  "a hypervisor, or no IA32_DS_AREA and IA32_PEBS_ENABLE (IA32_MISC_ENABLE = %#lx)",
		  caps->misc_enable);
	return false;
}

/*
 * MSR-01  CPUID leaf 0AH, DS, DTES64, PDCM and IA32_PERF_CAPABILITIES must agree with the
 *         registers that exist.
 *         SDM 18.18 IA32_PERF_CAPABILITIES MSR Enumeration; SDM 18.2.1.1 Architectural Performance
 *         Monitoring Version 1 Facilities
 *
 * Given  a processor whose IA32_MISC_ENABLE[12] is 0, and which has IA32_DS_AREA and
 *        IA32_PEBS_ENABLE
 * When   CPUID.01H is read
 * Then   DS, EDX[21], is 1, and so is DTES64, ECX[2]: the DS area has 64-bit fields
 */
TEST(enumeration, cpuid_shows_the_ds_area_that_is_there, REQS(MSR_01),
     NEEDS(need_perfmon, need_ds_registers))
{
	CHECK_EQ(t, MSR_01, 1, counter_caps()->ds, "CPUID.01H:EDX[21] (DS)");
	CHECK_EQ(t, MSR_01, 1, counter_caps()->dtes64, "CPUID.01H:ECX[2] (DTES64)");
}

/* Try PEBS although IA32_MISC_ENABLE says that it isn't available: the records of one overflow. */
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

/*
 * MSR-02  IA32_MISC_ENABLE[7] must be 1 where counters work, and IA32_MISC_ENABLE[12] must be 0
 *         where PEBS works.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  IA32_MISC_ENABLE as it was found: bit 7 stands for performance monitoring, bit 12 for no
 *        PEBS
 * When   where PEBS is available IA32_PEBS_ENABLE is read; where it isn't, but DS and a known
 *        record format are, a PEBS counter overflows
 * Then   bit 7 is 1; IA32_PEBS_ENABLE can be read; no record is written
 */
TEST(enumeration, misc_enable_agrees_with_counters_and_pebs, REQS(MSR_02), NEEDS(need_perfmon))
{
	const struct pmu_caps *caps = counter_caps();

	CHECK(t, MSR_02, caps->misc_enable & IA32_MISC_ENABLE_PERFMON_AVAILABLE,
	      "IA32_MISC_ENABLE = %#lx", caps->misc_enable);
	if (caps->pebs)
		CHECK(t, MSR_02, readable(MSR_IA32_PEBS_ENABLE),
		      "PEBS available by IA32_MISC_ENABLE = %#lx", caps->misc_enable);
	else if (caps->ds && caps->dtes64 && caps->record_known && caps->generation &&
		 !caps->pebs_microcode)	/* the harness doesn't use PEBS, MISC_ENABLE has it */
		CHECK_EQ(t, MSR_02, 0, records_all_the_same(),
			 "records, PEBS not available by IA32_MISC_ENABLE = %#lx",
			 caps->misc_enable);
}

/*
 * MSR-03  CPUID.0AH:EAX[23:16] must report a counter width of 48 bits.
 *         SDM 18.8.1 Enhancements of Performance Monitoring in the Processor Core (Nehalem)
 *
 * Given  a processor whose pages say 48 bits
 * When   CPUID.0AH is read
 * Then   EAX[23:16] is 48
 */
TEST(enumeration, general_purpose_counters_are_48_bits_wide, REQS(MSR_03),
     NEEDS(need_perfmon, need_events))
{
	CHECK_EQ(t, MSR_03, COUNTER_BITS, counter_caps()->gp_width, "CPUID.0AH:EAX[23:16]");
}

/*
 * MSR-04  A write to IA32_PMCx must take the low 32 bits and sign-extend them from bit 31 into the
 *         high-order bits.
 * MSR-07  A read of a counter must return zero in the bits above its width.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  values with bit 31 clear and set, with and without bits above it
 * When   each is written to each IA32_PMCx, and read back
 * Then   bits above 31 are bit 31, up to the counter's width, and the bits above the width are 0
 */
TEST(enumeration, ia32_pmc_writes_are_sign_extended_from_bit_31, REQS(MSR_04, MSR_07),
     NEEDS(need_perfmon), .under_every_fault = true)
{
	static const u64 values[] = { 0x80000000, 0xffffffff, 0x7fffffff, 0xffffffff80000001,
				      0x12345678 };
	u64 width = BIT(counter_caps()->gp_width) - 1;

	FOR_EACH_COUNTER (c, counters_gp().bits) {
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

/*
 * MSR-05  A write to IA32_A_PMCx must set the counter's full width, and raise #GP if it sets a bit
 *         above the width.
 *         SDM 18.2.5 Full-Width Writes to Performance Counter Registers
 *
 * Given  IA32_PERF_CAPABILITIES.FW_WRITE = 1
 * When   values that differ in every part of the width are written to each IA32_A_PMCx; then
 *        each single bit above the width
 * Then   IA32_A_PMCx and IA32_PMCx both read the value; a bit above the width raises #GP and
 *        changes nothing
 */
TEST(enumeration, ia32_a_pmc_writes_reach_every_bit, REQS(MSR_05),
     NEEDS(need_perfmon, need_full_width))
{
	enum { KEPT = 0x55 };
	static const u64 DIGITS = 0x123456789abc; /* a different digit in each four bits */
	unsigned width = counter_caps()->gp_width;
	u64 all = BIT(width) - 1;
	u64 values[] = { all, DIGITS & all, BIT(width - 1), BIT(31), BIT(32) & all };

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			msr_write(MSR_IA32_A_PMC0 + c, values[i]);
			CHECK_EQ(t, MSR_05, values[i], msr_read(MSR_IA32_A_PMC0 + c),
				 "IA32_A_PMC%u after writing %#lx", c, values[i]);
			CHECK_EQ(t, MSR_05, values[i], msr_read(MSR_IA32_PMC0 + c),
				 "IA32_PMC%u after writing %#lx to IA32_A_PMC%u", c, values[i], c);
		}
		msr_write(MSR_IA32_A_PMC0 + c, KEPT);
		for (unsigned bit = width; bit < 64; bit++)
			CHECK(t, MSR_05, fault_is_gp(msr_try_write(MSR_IA32_A_PMC0 + c, BIT(bit))),
			      "#GP of a write of bit %u alone to IA32_A_PMC%u", bit, c);
		CHECK_EQ(t, MSR_05, KEPT, msr_read(MSR_IA32_PMC0 + c),
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

/*
 * MSR-06  An access to IA32_A_PMCx must raise #GP where IA32_PERF_CAPABILITIES.FW_WRITE is 0.
 *         SDM 18.2.5 Full-Width Writes to Performance Counter Registers
 *
 * Given  IA32_PERF_CAPABILITIES.FW_WRITE = 0
 * When   each IA32_A_PMCx is read and written
 * Then   both raise #GP
 * Control: IA32_PMCx, the counter's other address, is written and read
 */
TEST(enumeration, ia32_a_pmc_registers_are_absent_without_fw_write, REQS(MSR_06),
     NEEDS(need_perfmon, need_no_full_width, need_refused_msrs))
{
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		msr_write(MSR_IA32_PMC0 + c, 5);
		CONTROL_EQ(t, MSR_06, 5, msr_read(MSR_IA32_PMC0 + c), "IA32_PMC%u after writing it",
			   c);
		CHECK(t, MSR_06, !readable(MSR_IA32_A_PMC0 + c), "reading IA32_A_PMC%u", c);
		CHECK(t, MSR_06, fault_is_gp(msr_try_write(MSR_IA32_A_PMC0 + c, 1)),
		      "writing IA32_A_PMC%u", c);
	}
}

/*
 * MSR-07  A read of a counter must return zero in the bits above its width.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  the width of fixed counters by CPUID.0AH:EDX[12:5]
 * When   all ones of that width are written to each fixed counter
 * Then   each reads the same
 */
TEST(enumeration, fixed_counters_hold_all_bits_of_their_width, REQS(MSR_07),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	u64 all = BIT(counter_caps()->fixed_width) - 1;

	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask) {
		msr_write(MSR_IA32_FIXED_CTR0 + i, all);
		CHECK_EQ(t, MSR_07, all, msr_read(MSR_IA32_FIXED_CTR0 + i), "IA32_FIXED_CTR%u", i);
	}
}

/*
 * MSR-08  A write to IA32_PERF_GLOBAL_STATUS must raise #GP and change nothing.
 *         SDM Table 35-2 IA-32 Architectural MSRs (read-only); KVM
 * MSR-19  The bits that Figure 18-20 labels (R/W) must not make IA32_PERF_GLOBAL_STATUS writable.
 *         SDM Table 35-2 IA-32 Architectural MSRs against Figure 18-20
 * STS-05  A write to IA32_PERF_GLOBAL_STATUS must raise #GP.
 *         SDM 18.2.2 (read-only); KVM
 *
 * Given  IA32_PMC0 has overflowed, so that IA32_PERF_GLOBAL_STATUS isn't 0
 * When   0, bit 0 and each of the bits 61 to 63 are written; Figure 18-20 prints (R/W) next to 61
 *        and 63
 * Then   each write raises #GP, and the register reads the same value as before
 * Control: the bit of IA32_PMC0 is 1
 */
TEST(enumeration, global_status_refuses_writes, REQS(MSR_08, MSR_19, STS_05),
     NEEDS(need_perfmon, need_branches), .under_every_fault = true)
{
	u64 before;

	overflow(0, 0);
	counter_program_disabled(0, 0, 0);
	before = counters_status();
	CONTROL_EQ(t, IDS(MSR_08, MSR_19), 1, before & 1, "status bit of IA32_PMC0");
	CHECK(t, IDS(MSR_08, STS_05), fault_is_gp(msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS, 0)),
	      "writing 0");
	CHECK(t, IDS(MSR_08, STS_05), fault_is_gp(msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS, 1)),
	      "writing 1");
	CHECK_EQ(t, MSR_08, before, counters_status(), "IA32_PERF_GLOBAL_STATUS afterwards");
	/* Figure 18-20 prints (R/W) at bits 61 and 63. */
	for (unsigned bit = 61; bit < 64; bit++)
		CHECK(t, MSR_19, fault_is_gp(msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS, BIT(bit))),
		      "bit %u", bit);
	CHECK_EQ(t, MSR_19, before, counters_status(), "IA32_PERF_GLOBAL_STATUS afterwards");
	overflow_off(0);
}

static bool need_pdcm(char *reason, size_t size)
{
	if (counter_caps()->pdcm)
		return true;
	fmt_print(reason, size, "no IA32_PERF_CAPABILITIES (PDCM, CPUID.01H:ECX[15], is 0)");
	return false;
}

/*
 * MSR-17  A write to IA32_PERF_CAPABILITIES must raise #GP and change nothing.
 *         SDM Table 35-2 IA-32 Architectural MSRs (read-only); KVM
 *
 * Given  IA32_PERF_CAPABILITIES as it was found
 * When   that value is written, and another one, with bit 6 inverted. Bit 6 says how records are
 *        taken; nothing is sampled meanwhile
 * Then   the write raises #GP, and the register reads the same value as before
 */
TEST(enumeration, perf_capabilities_refuses_writes, REQS(MSR_17), NEEDS(need_perfmon, need_pdcm))
{
	u64 before = msr_read(MSR_IA32_PERF_CAPABILITIES), after;

	CHECK(t, MSR_17, fault_is_gp(msr_try_write(MSR_IA32_PERF_CAPABILITIES, before)),
	      "writing the value that it has");
	/* Bit 6 says when records are taken; it has no effect while nothing is sampled. */
	msr_try_write(MSR_IA32_PERF_CAPABILITIES, before ^ IA32_PERF_CAPABILITIES_PEBS_TRAP);
	after = msr_read(MSR_IA32_PERF_CAPABILITIES);
	CHECK_EQ(t, MSR_17, before, after, "IA32_PERF_CAPABILITIES after a write of another value");
	if (after != before)
		msr_try_write(MSR_IA32_PERF_CAPABILITIES, before);
}

static void check_global_ctrl(struct test *t, struct test_claim claim)
{
	u64 there = counters_gp().bits | (u64)counter_caps()->fixed_mask << PMC_FIXED(0);

	counters_enable(counters_gp());
	test_check_eq(t, test_control(claim), counters_gp().bits,
		      msr_read(MSR_IA32_PERF_GLOBAL_CTRL),
		      "IA32_PERF_GLOBAL_CTRL with the general-purpose counters enabled");
	for (unsigned bit = 0; bit < GLOBAL_CTRL_BITS; bit++) {
		if (there & BIT(bit))
			continue;
		test_check(t, claim,
			   fault_is_gp(msr_try_write(MSR_IA32_PERF_GLOBAL_CTRL, there | BIT(bit))),
			   "#GP", "bit %u of IA32_PERF_GLOBAL_CTRL", bit);
	}
	test_check_eq(t, claim, counters_gp().bits, msr_read(MSR_IA32_PERF_GLOBAL_CTRL),
		      "IA32_PERF_GLOBAL_CTRL after the refused writes");
	counters_disable();
}

/*
 * MSR-11  A write that sets a bit of IA32_PERF_GLOBAL_CTRL for a counter that doesn't exist must
 *         raise #GP and change nothing.
 *         SDM 18.9.2 Counter Coalescence
 *
 * Given  IA32_PERF_GLOBAL_CTRL
 * When   each bit below 48 that stands for no counter is written, together with the bits of all
 *        counters
 * Then   each write raises #GP and changes nothing
 * Control: the bits of the general-purpose counters are kept
 */
TEST(enumeration, global_ctrl_refuses_bits_of_absent_counters, REQS(MSR_11),
     NEEDS(need_perfmon, need_not_hybrid, need_events))
{
	check_global_ctrl(t, AT(MSR_11));
}

/*
 * MSR-36  A write that sets a reserved bit of IA32_PERF_GLOBAL_CTRL must raise #GP and change
 *         nothing.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; Table 35-13
 *
 * Given  IA32_PERF_GLOBAL_CTRL of Nehalem and Westmere
 * When   each bit below 48 that stands for no counter is written, together with the bits of all
 *        counters
 * Then   each write raises #GP and changes nothing
 * Control: the bits of the general-purpose counters are kept
 */
TEST(enumeration, global_ctrl_of_nehalem_refuses_reserved_bits, REQS(MSR_36),
     NEEDS(need_perfmon, need_events))
{
	check_global_ctrl(t, AT(MSR_36));
}

/*
 * MSR-12  Where CPUID reports four counters, an access to IA32_PMC4 to 7 or IA32_PERFEVTSEL4 to 7
 *         must raise #GP.
 *         SDM 18.9.2 Counter Coalescence; volume 2 RDMSR, Protected Mode Exceptions
 *
 * Given  a processor with four general-purpose counters a thread
 * When   IA32_PMC4 to 7 and IA32_PERFEVTSEL4 to 7 are read, and 0 is written to them
 * Then   each raises an exception
 */
TEST(enumeration, absent_counters_have_no_registers, REQS(MSR_12),
     NEEDS(need_perfmon, need_events, need_four_counters_only, need_refused_msrs))
{
	static const char *const names[] = { "IA32_PMC", "IA32_PERFEVTSEL" };

	for (u32 c = COUNTERS_OF_A_THREAD; c < COUNTERS_OF_A_CORE; c++) {
		const u32 msrs[] = { MSR_IA32_PMC0 + c, MSR_IA32_PERFEVTSEL0 + c };

		for (unsigned i = 0; i < 2; i++) {
			CHECK(t, MSR_12, !readable(msrs[i]), "reading %s%u", names[i], c);
			CHECK(t, MSR_12, msr_try_write(msrs[i], 0).raised, "writing %s%u", names[i],
			      c);
		}
	}
}

/*
 * MSR-13  A write that sets a reserved bit of IA32_PEBS_ENABLE must raise #GP and keep the old
 *         value.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS), Figure 18-21; KVM
 *
 * Given  IA32_PEBS_ENABLE with PEBS_EN_PMC0 set
 * When   each bit that isn't 3:0, 35:32, nor 63 where there is precise store, is written alone;
 *        with baseline those of all counters are left out
 * Then   each write raises #GP, and the register reads 1 still
 * Control: PEBS_EN_PMC0, which is there, was kept
 */
TEST(enumeration, pebs_enable_refuses_reserved_bits, REQS(MSR_13),
     NEEDS(need_perfmon, need_not_hybrid, need_pebs, need_load_latency))
{
	unsigned end = counter_caps()->facilities & FAC_PRECISE_STORE ? 63 : 64;
	u64 named = counter_caps()->pebs_mask | (u64)counter_caps()->pebs_fixed_mask << 32;

	if (counter_caps()->perf_capabilities & IA32_PERF_CAPABILITIES_PEBS_OUTPUT_PT)
		named |= BITS(60, 62);
	msr_write(MSR_IA32_PEBS_ENABLE, 1);
	CONTROL_EQ(t, MSR_13, 1, msr_read(MSR_IA32_PEBS_ENABLE), "PEBS_EN_PMC0");
	for (unsigned bit = 4; bit < end; bit++) {
		if ((bit >= 32 && bit <= 35) || (named & BIT(bit)))
			continue;
		CHECK(t, MSR_13, fault_is_gp(msr_try_write(MSR_IA32_PEBS_ENABLE, BIT(bit))),
		      "bit %u of IA32_PEBS_ENABLE", bit);
	}
	CHECK_EQ(t, MSR_13, 1, msr_read(MSR_IA32_PEBS_ENABLE), "after the refused writes");
	msr_write(MSR_IA32_PEBS_ENABLE, 0);
}

/*
 * DLA-07  Precise store must not exist: a write that sets bit 63 of IA32_PEBS_ENABLE must raise
 *         #GP.
 *         SDM 18.11.1 4th Generation Intel Core: Processor Event Based Sampling (PEBS) Facility,
 *         Table 18-43; Figure 18-21
 *
 * Given  IA32_PEBS_ENABLE with PEBS_EN_PMC3 set; "Processor Event Based Sampling (PEBS) Facility"
 *        (4th generation): data address profiling replaces precise store
 * When   bit 63, the precise store enable of Sandy Bridge, is written with it
 * Then   the write raises #GP and changes nothing
 * Control: PEBS_EN_PMC3 alone was kept
 */
TEST(enumeration, pebs_enable_of_haswell_refuses_precise_store, REQS(DLA_07),
     NEEDS(need_perfmon, need_pebs, need_data_address))
{
	msr_write(MSR_IA32_PEBS_ENABLE, BIT(3));
	CONTROL_EQ(t, DLA_07, BIT(3), msr_read(MSR_IA32_PEBS_ENABLE), "PEBS_EN_PMC3");
	CHECK(t, DLA_07, fault_is_gp(msr_try_write(MSR_IA32_PEBS_ENABLE, BIT(63) | BIT(3))),
	      "bit 63 of IA32_PEBS_ENABLE: precise store isn't there");
	CHECK_EQ(t, DLA_07, BIT(3), msr_read(MSR_IA32_PEBS_ENABLE), "after the refused write");
	msr_write(MSR_IA32_PEBS_ENABLE, 0);
}

/*
 * MSR-23  IA32_PEBS_ENABLE must have four PEBS enable bits, 3:0, and four load latency enable
 *         bits, 35:32, each by itself.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  IA32_PEBS_ENABLE; "Processor Event Based Sampling (PEBS)" (Nehalem): four bits and four
 *        additional ones
 * When   PEBS_EN_PMCx is written for each of four counters, alone and with LL_EN_PMCx
 * Then   no write raises an exception, and each value is read back
 */
TEST(enumeration, pebs_enable_has_four_pebs_and_four_latency_bits, REQS(MSR_23),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	for (unsigned i = 0; i < COUNTERS_OF_A_THREAD; i++) {
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

/*
 * MSR-24  Both off-core response MSRs, 1A6H and 1A7H, must exist.
 *         SDM 18.8.1 Enhancements of Performance Monitoring in the Processor Core (Nehalem) (two);
 *         18.8.1.3 (one on Nehalem)
 *
 * Given  a processor with two off-core response registers
 * When   MSR_OFFCORE_RSP_0 (1A6H) and MSR_OFFCORE_RSP_1 (1A7H) are read
 * Then   neither read raises an exception
 */
TEST(enumeration, both_off_core_response_registers_can_be_read, REQS(MSR_24),
     NEEDS(need_perfmon, need_offcore_2))
{
	CHECK(t, MSR_24, readable(MSR_OFFCORE_RSP_0), "MSR_OFFCORE_RSP_0 (1A6H)");
	CHECK(t, MSR_24, readable(MSR_OFFCORE_RSP_1), "MSR_OFFCORE_RSP_1 (1A7H)");
}

/*
 * CNT-14  RDPMC with the index of a counter that doesn't exist must raise #GP.
 *         SDM volume 2 RDPMC
 *
 * Given  the numbers of general-purpose and fixed counters by CPUID.0AH. The test is a SKIP
 *        on a hybrid processor, where the leaf may report only what all types of cores have in
 *        common, and where version 2 reports no fixed counter: these processors have three
 * When   RDPMC is executed with the indexes above them, up to 15 and up to 40000007H
 * Then   each raises #GP
 * Control: the last general-purpose counter is read without an exception
 */
TEST(enumeration, rdpmc_of_an_absent_counter_raises_gp, REQS(CNT_14), NEEDS(need_perfmon))
{
	const struct pmu_caps *caps = counter_caps();
	u64 value;

	if (caps->told_less) {
		test_skip(t,
			  "the processor may have more than the %u and %u counters that CPUID.0AH "
			  "reports (hybrid %u, core type %#x)",
			  caps->gp_enumerated, caps->fixed, caps->hybrid,
			  cpuid_get(CPUID_CORE_TYPE));
		return;
	}
	CONTROL(t, CNT_14, !rdpmc_try(counter_last(), &value).raised, "ECX = %u", counter_last());
	FOR_EACH_COUNTER (c, ~(u64)caps->gp_mask_enumerated & BITS(0, INDEXES_TRIED - 1))
		CHECK(t, CNT_14, fault_is_gp(rdpmc_try(c, &value)), "ECX = %u", c);
	for (u32 c = 0; c < FIXED_INDEXES_TRIED; c++)
		if (c >= 32 || !(caps->fixed_mask & BIT(c)))
			CHECK(t, CNT_14, fault_is_gp(rdpmc_try((u32)RDPMC_FIXED | c, &value)),
			      "ECX = %#x", (u32)RDPMC_FIXED | c);
}

/*
 * CNT-20  RDPMC with ECX[31] set, the fast read of NetBurst, must raise #GP on a processor with
 *         architectural performance monitoring.
 *         SDM volume 2 RDPMC (fast read if supported; NetBurst only)
 *
 * Given  ECX = 80000000H, which asked earlier processors for the fast read
 * When   RDPMC is executed
 * Then   it raises #GP: the index stands for no counter
 * Control: with ECX = 0 it doesn't
 */
TEST(enumeration, rdpmc_with_ecx_bit_31_raises_gp, REQS(CNT_20), NEEDS(need_perfmon))
{
	u64 value;

	CONTROL(t, CNT_20, !rdpmc_try(0, &value).raised, "ECX = 0");
	CHECK(t, CNT_20, fault_is_gp(rdpmc_try((u32)BIT(31), &value)), "ECX = 80000000H");
}

static bool need_ds(char *reason, size_t size)
{
	return counter_caps()->ds || need_pebs(reason, size);
}

/*
 * DS-19  A write of a non-canonical address to IA32_DS_AREA must raise #GP.
 *        SDM volume 2 WRMSR, Protected Mode Exceptions
 *
 * Given  IA32_DS_AREA with a canonical address
 * When   an address with bit 63 alone is written
 * Then   the write raises #GP, and the canonical address is read back
 * Control: the canonical address was kept
 */
TEST(enumeration, ds_area_refuses_a_non_canonical_address, REQS(DS_19),
     NEEDS(need_perfmon, need_ds, need_ds_write))
{
	msr_write(MSR_IA32_DS_AREA, CANONICAL);
	CONTROL_EQ(t, DS_19, CANONICAL, msr_read(MSR_IA32_DS_AREA), "IA32_DS_AREA");
	CHECK(t, DS_19, fault_is_gp(msr_try_write(MSR_IA32_DS_AREA, BIT(63))), "address %#llx",
	      BIT(63));
	CHECK_EQ(t, DS_19, CANONICAL, msr_read(MSR_IA32_DS_AREA), "after the refused write");
	msr_write(MSR_IA32_DS_AREA, 0);
}
