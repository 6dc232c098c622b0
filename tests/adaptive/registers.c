/* SPDX-License-Identifier: MIT */
/*
 * The registers of adaptive PEBS: their writable and reserved bits with baseline, and their absence
 * without baseline. Sources: KVM, kvm-unit-tests, Linux. No counter counts meanwhile.
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/measure/register_bits.h"

/* The bits for counters and metrics in records of format 6. */
#define DATA_CFG_FORMAT_6							\
	(PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS | PEBS_DATA_CFG_CNTR_GP |		\
	 PEBS_DATA_CFG_CNTR_FIXED)
#define SELECT_ADAPTIVE	34		/* bit of IA32_PERFEVTSELx */
#define FIXED_ADAPTIVE(i) (32 + 4 * (i))	/* bit of IA32_FIXED_CTR_CTRL */
#define OUTPUT_PT	BITS(60, 62)	/* of IA32_PEBS_ENABLE: IA32_PERF_CAPABILITIES[16] */

/* Read the register: a refused value must not have reached it. */
static u64 held(u32 msr)
{
	u64 value = ~0ULL;

	msr_try_read(msr, &value);
	return value;
}

/*
 * ADP-28  MSR_PEBS_DATA_CFG must read back what was written, for every legal value.
 *         KVM; Linux
 *
 * Given  PEBS with baseline
 * When   MSR_PEBS_DATA_CFG is written with each combination of bits 3:0, with each bit of 31:24 and
 *        with all of them; in format 6 also with those of counters and metrics
 * Then   each value is read back
 */
TEST(msr, pebs_data_cfg_holds_every_legal_value, REQS(ADP_28), NEEDS(need_perfmon, need_baseline),
     .under_every_fault = true)
{
	const u64 legal = bits_of_data_cfg().writable;

	for (u32 entries = 0; entries < 256; entries += entries < 4 ? 1 : 36)
		for (u32 groups = 0; groups < CONFIGS; groups++) {
			u64 value = (u64)entries << 24 | groups;

			msr_write(MSR_PEBS_DATA_CFG, value);
			CHECK_EQ(t, ADP_28, value, held(MSR_PEBS_DATA_CFG),
				 "MSR_PEBS_DATA_CFG after writing %#lx", value);
		}
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(legal & BIT(bit)))
			continue;
		msr_write(MSR_PEBS_DATA_CFG, legal & ~BIT(bit));
		CHECK_EQ(t, ADP_28, legal & ~BIT(bit), held(MSR_PEBS_DATA_CFG),
			 "MSR_PEBS_DATA_CFG after writing all bits but %u", bit);
	}
	msr_write(MSR_PEBS_DATA_CFG, 0);
}

/*
 * MSR-16  A write that sets a reserved bit of MSR_PEBS_DATA_CFG must raise #GP.
 * V6-26   A write that sets MSR_PEBS_DATA_CFG[4], [5] or one of [55:32] must raise #GP below
 *         format 6.
 *         KVM
 *
 * Given  PEBS with baseline
 * When   each bit of MSR_PEBS_DATA_CFG[23:4] and [63:32] is written; in format 6 each of [23:6] and
 *        [63:56]
 * Then   #GP is raised, and the register keeps its value
 * Control: that value was accepted
 */
TEST(msr, pebs_data_cfg_refuses_reserved_bits, REQS(MSR_16, V6_26),
     NEEDS(need_perfmon, need_baseline))
{
	const u64 kept = 0x05000005, other = 0x0a00000a;

	msr_write(MSR_PEBS_DATA_CFG, kept);
	CONTROL_EQ(t, MSR_16, kept, held(MSR_PEBS_DATA_CFG), "MSR_PEBS_DATA_CFG");
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(bits_of_data_cfg().reserved & BIT(bit)))
			continue;
		if (DATA_CFG_FORMAT_6 & BIT(bit))
			CHECK(t, IDS(MSR_16, V6_26),
			      fault_is_gp(msr_try_write(MSR_PEBS_DATA_CFG, other | BIT(bit))),
			      "#GP of bit %u of MSR_PEBS_DATA_CFG", bit);
		else
			CHECK(t, MSR_16,
			      fault_is_gp(msr_try_write(MSR_PEBS_DATA_CFG, other | BIT(bit))),
			      "#GP of bit %u of MSR_PEBS_DATA_CFG", bit);
		CHECK_EQ(t, MSR_16, kept, held(MSR_PEBS_DATA_CFG),
			 "MSR_PEBS_DATA_CFG after the write of bit %u", bit);
	}
	msr_write(MSR_PEBS_DATA_CFG, 0);
}

/*
 * ADP-29  MSR_PEBS_DATA_CFG must not exist (#GP) where baseline is 0.
 *         KVM
 *
 * Given  a processor without baseline: any record format, or no PEBS at all
 * When   MSR_PEBS_DATA_CFG is read, and written if reading it raises #GP
 * Then   #GP is raised by both
 */
TEST(msr, pebs_data_cfg_is_not_there_without_baseline, REQS(ADP_29),
     NEEDS(need_perfmon, need_no_baseline, need_refused_msrs))
{
	u64 value = 0;

	if (CHECK(t, ADP_29, fault_is_gp(msr_try_read(MSR_PEBS_DATA_CFG, &value)),
		  "#GP of RDMSR, IA32_PERF_CAPABILITIES = %#lx", counter_caps()->perf_capabilities))
		CHECK(t, ADP_29, fault_is_gp(msr_try_write(MSR_PEBS_DATA_CFG, 0)), "#GP of WRMSR");
}

/*
 * ADP-33  A write that sets IA32_PERFEVTSELx[34] must raise #GP where baseline is 0.
 *         KVM
 *
 * Given  a processor without baseline; each event select with an event
 * When   bit 34 is set together with it
 * Then   #GP is raised, and the register keeps its value
 * Control: the same value without bit 34 is accepted
 */
TEST(msr, adaptive_bit_of_an_event_select_is_reserved_without_baseline, REQS(ADP_33),
     NEEDS(need_perfmon, need_no_baseline, need_refused_msrs))
{
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		const u64 kept = 0x0300c4, other = 0x0100c0;	/* USR and OS, USR */
		const u32 msr = MSR_IA32_PERFEVTSEL0 + c;

		msr_write(msr, other);
		CONTROL_EQ(t, ADP_33, other, held(msr), "IA32_PERFEVTSEL%u without bit 34", c);
		msr_write(msr, kept);
		CHECK(t, ADP_33, fault_is_gp(msr_try_write(msr, other | BIT(SELECT_ADAPTIVE))),
		      "#GP of IA32_PERFEVTSEL%u[34]", c);
		CHECK_EQ(t, ADP_33, kept, held(msr), "IA32_PERFEVTSEL%u after it", c);
		msr_write(msr, 0);
	}
}

/*
 * ADP-34  A write that sets IA32_FIXED_CTR_CTRL[32+4i] must raise #GP where baseline is 0.
 *         KVM
 *
 * Given  a processor without baseline; each fixed counter enabled at CPL 0 and above
 * When   IA32_FIXED_CTR_CTRL[32+4i] is set together with it
 * Then   #GP is raised, and the register keeps its value
 * Control: the enables are accepted without it
 */
TEST(msr, adaptive_bit_of_a_fixed_counter_is_reserved_without_baseline, REQS(ADP_34),
     NEEDS(need_perfmon, need_no_baseline, need_fixed_0_to_2, need_refused_msrs))
{
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask) {
		const u64 kept = 0x3ULL << 4 * i, other = 0x1ULL << 4 * i;

		msr_write(MSR_IA32_FIXED_CTR_CTRL, other);
		CONTROL_EQ(t, ADP_34, other, held(MSR_IA32_FIXED_CTR_CTRL),
			   "IA32_FIXED_CTR_CTRL without bit %u", FIXED_ADAPTIVE(i));
		msr_write(MSR_IA32_FIXED_CTR_CTRL, kept);
		CHECK(t, ADP_34,
		      fault_is_gp(msr_try_write(MSR_IA32_FIXED_CTR_CTRL,
						other | BIT(FIXED_ADAPTIVE(i)))),
		      "#GP of IA32_FIXED_CTR_CTRL[%u]", FIXED_ADAPTIVE(i));
		CHECK_EQ(t, ADP_34, kept, held(MSR_IA32_FIXED_CTR_CTRL),
			 "IA32_FIXED_CTR_CTRL after it");
	}
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 0);
}

/*
 * FIX-10  IA32_PEBS_ENABLE must accept one bit for each counter that CPUID reports, from 0 and
 *         from 32, and no other (but 62:60 where IA32_PERF_CAPABILITIES[16] is 1).
 *         KVM
 *
 * Given  PEBS with baseline
 * When   each bit of IA32_PEBS_ENABLE is written
 * Then   bits of counters that CPUID reports, from 0 general-purpose and from 32 fixed, are read
 *        back; each other bit, except bits 62:60 of output to PT, raises #GP and changes nothing
 */
TEST(msr, pebs_enable_has_a_bit_for_each_counter_and_no_other, REQS(FIX_10),
     NEEDS(need_perfmon, need_not_hybrid, need_baseline, need_refused_msrs),
     .under_every_fault = true)
{
	const struct pmu_caps *caps = counter_caps();
	const u64 counters = counters_gp().bits | (u64)caps->fixed_mask << 32;
	u64 unknown = 0;

	if (caps->perf_capabilities & IA32_PERF_CAPABILITIES_PEBS_OUTPUT_PT)
		unknown = OUTPUT_PT;
	for (unsigned bit = 0; bit < 64; bit++) {
		u64 kept = BIT(bit ? 0 : 1);

		if (unknown & BIT(bit))
			continue;
		msr_write(MSR_IA32_PEBS_ENABLE, kept);
		if (counters & BIT(bit)) {
			CHECK(t, FIX_10, !msr_try_write(MSR_IA32_PEBS_ENABLE, BIT(bit)).raised,
			      "no #GP of IA32_PEBS_ENABLE[%u]", bit);
			CHECK_EQ(t, FIX_10, BIT(bit), held(MSR_IA32_PEBS_ENABLE),
				 "IA32_PEBS_ENABLE after bit %u", bit);
		} else {
			CHECK(t, FIX_10, fault_is_gp(msr_try_write(MSR_IA32_PEBS_ENABLE, BIT(bit))),
			      "#GP of IA32_PEBS_ENABLE[%u]", bit);
			CHECK_EQ(t, FIX_10, kept, held(MSR_IA32_PEBS_ENABLE),
				 "IA32_PEBS_ENABLE after the refused bit %u", bit);
		}
	}
	msr_write(MSR_IA32_PEBS_ENABLE, 0);
}
