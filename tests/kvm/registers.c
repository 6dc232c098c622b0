/* SPDX-License-Identifier: MIT */
/*
 * The PMU registers of a KVM guest, and their writable bits. Linux arch/x86/kvm/vmx/pmu_intel.c,
 * kvm_set_msr_common. A register that KVM passes through has the processor's own rules; the fixed
 * counters show whether KVM does so.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/kvm/guest.h"

#define KEPT		0x1234u

static bool has_baseline(void)
{
	return counter_caps()->perf_capabilities & IA32_PERF_CAPABILITIES_PEBS_BASELINE;
}

#define NONE	64u

/* The lowest of these bits whose write alone is accepted, or changes the register; NONE: no bit. */
static unsigned first_accepted(u32 msr, u64 bits)
{
	const u64 before = msr_read(msr);

	for (unsigned bit = 0; bit < 64; bit++)
		if (bits & BIT(bit) && (!fault_is_gp(msr_try_write(msr, before | BIT(bit))) ||
					msr_read(msr) != before)) {
			msr_try_write(msr, before);
			return bit;
		}
	return NONE;
}

/*
 * KVM-03  CPUID.0AH:EDX[15] must be 1, and a write that sets IA32_PERFEVTSELx[21] must raise #GP.
 *         KVM do_cpuid_func, intel_pmu_refresh
 * KVM-04  A write that sets one of IA32_PERFEVTSELx[63:35], or [34] without the baseline of
 *         adaptive records, must raise #GP.
 *         KVM intel_pmu_refresh
 *
 * Given  a guest of KVM, each event select 0
 * When   bit 21, and each of bits 63:34, is written to each event select
 * Then   each write raises #GP and changes nothing; bit 34 is allowed with the baseline.
 *        CPUID.0AH:EDX[15] is 1 where the KVM is of Linux 6.9 or later
 * Control: bits 18:0, 20 and 31:23 can be written
 */
TEST(kvm, event_selects_refuse_anythread_and_the_upper_half, REQS(KVM_03, KVM_04),
     NEEDS(need_perfmon, need_guest_of_kvm, need_refused_msrs))
{
	const u64 upper = has_baseline() ? BITS(35, 63) : BITS(34, 63);
	/* All but PC (19), ANY (21) and EN (22), which would let the counter run. */
	const u64 taken = BITS(0, 18) | BIT(20) | BITS(23, 31);

	/* KVM sets EDX[15] from Linux 5.11 on. The harness can only tell Linux 6.8 and before. */
	if (!counter_caps()->old_kvm || test_is_strict(t))
		CHECK_EQ(t, KVM_03, 1, counter_caps()->leaf_0a_edx >> 15 & 1, "CPUID.0AH:EDX[15]");
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		const u32 msr = MSR_IA32_PERFEVTSEL0 + c;

		CHECK_EQ(t, KVM_03, NONE, first_accepted(msr, IA32_PERFEVTSEL_ANY),
			 "lowest bit that IA32_PERFEVTSEL%u takes, bit 21 tried; 64: none", c);
		CHECK_EQ(t, KVM_04, NONE, first_accepted(msr, upper),
			 "lowest bit that IA32_PERFEVTSEL%u takes, of 63:%u; 64: none", c,
			 has_baseline() ? 35 : 34);
		msr_write(msr, taken);
		CONTROL_EQ(t, IDS(KVM_03, KVM_04), taken, msr_read(msr),
			   "IA32_PERFEVTSEL%u after all other bits but PC and EN were written", c);
		msr_write(msr, 0);
	}
}

/*
 * KVM-06  IA32_PERF_GLOBAL_STATUS_SET and IA32_PERF_GLOBAL_INUSE must not exist: RDMSR and WRMSR
 *         raise #GP.
 *         KVM kvm_pmu_set_msr; SDM 18.2.4 (version 4)
 * KVM-09  MSR_PEBS_DATA_CFG, MSR_PEBS_LD_LAT_THRESHOLD, MSR_PEBS_FRONTEND and the off-core
 *         response registers must raise #GP without the baseline of adaptive records.
 *         KVM intel_is_valid_msr, kvm_get_msr_common
 *
 * Given  a guest of KVM
 * When   each of these registers is read, and written 0
 * Then   each access raises #GP; MSR_PEBS_DATA_CFG may be there with the baseline
 * Control: IA32_PERF_GLOBAL_CTRL can be read and written 0
 */
TEST(kvm, registers_of_later_versions_and_of_load_latency_are_absent, REQS(KVM_06, KVM_09),
     NEEDS(need_perfmon, need_guest_of_kvm, need_refused_msrs))
{
	static const u32 later[] = { MSR_IA32_PERF_GLOBAL_STATUS_SET, MSR_IA32_PERF_GLOBAL_INUSE };
	static const u32 memory[] = { MSR_PEBS_LD_LAT_THRESHOLD, MSR_PEBS_FRONTEND,
				      MSR_OFFCORE_RSP_0, MSR_OFFCORE_RSP_1, MSR_PEBS_DATA_CFG };
	u64 value;

	for (unsigned i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		CHECK(t, KVM_06, fault_is_gp(msr_try_read(later[i], &value)), "#GP of RDMSR of %#x",
		      later[i]);
		CHECK(t, KVM_06, fault_is_gp(msr_try_write(later[i], 0)), "#GP of WRMSR of %#x",
		      later[i]);
	}
	for (unsigned i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		if (memory[i] == MSR_PEBS_DATA_CFG && has_baseline())
			continue;
		CHECK(t, KVM_09, fault_is_gp(msr_try_read(memory[i], &value)),
		      "#GP of RDMSR of %#x", memory[i]);
		CHECK(t, KVM_09, fault_is_gp(msr_try_write(memory[i], 0)), "#GP of WRMSR of %#x",
		      memory[i]);
	}
	CONTROL(t, IDS(KVM_06, KVM_09),
		!msr_try_read(MSR_IA32_PERF_GLOBAL_CTRL, &value).raised &&
			!msr_try_write(MSR_IA32_PERF_GLOBAL_CTRL, 0).raised,
		"IA32_PERF_GLOBAL_CTRL can be read and written 0");
}

/*
 * KVM-07  IA32_PERF_GLOBAL_OVF_CTRL must read 0, and a write that sets a bit other than those of
 *         counters, 55, 62 and 63 must raise #GP, unless KVM passes the register through.
 *         KVM kvm_pmu_get_msr, intel_pmu_refresh
 *
 * Given  a guest of KVM whose counters are emulated: fixed counters take bits above their width
 * When   IA32_PERF_GLOBAL_OVF_CTRL is read while a status bit is set, and each of its other bits is
 *        written
 * Then   it reads 0, and each write raises #GP
 * Control: the bit of IA32_PMC0 can be cleared
 */
TEST(kvm, overflow_control_reads_0_and_refuses_other_bits, REQS(KVM_07),
     NEEDS(need_perfmon, need_guest_of_kvm, need_branches, need_emulated_counters,
	   need_refused_msrs))
{
	const u64 known = counters_all().bits | BIT(55) | BITS(62, 63);
	u64 value = ~0ULL;

	guest_overflow(0);
	CONTROL_EQ(t, KVM_07, 1, counters_status() & 1, "status bit of IA32_PMC0, which wrapped");
	CHECK(t, KVM_07, !msr_try_read(MSR_IA32_PERF_GLOBAL_OVF_CTRL, &value).raised,
	      "RDMSR of IA32_PERF_GLOBAL_OVF_CTRL");
	CHECK_EQ(t, KVM_07, 0, value, "IA32_PERF_GLOBAL_OVF_CTRL as RDMSR reads it");
	for (unsigned bit = 0; bit < 64; bit++)
		if (!(known & BIT(bit)))
			CHECK(t, KVM_07,
			      fault_is_gp(msr_try_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(bit))),
			      "#GP of bit %u of IA32_PERF_GLOBAL_OVF_CTRL", bit);
	counters_clear(1);
	CONTROL_EQ(t, KVM_07, 0, counters_status() & 1, "status bit after it was cleared");
}

/*
 * KVM-08  A guest's write to IA32_PERF_GLOBAL_STATUS must raise #GP.
 *         KVM kvm_pmu_set_msr; TDX compliance tables
 * KVM-10  IA32_PERF_CAPABILITIES must refuse a guest's writes, and its bit 14 must be 0.
 *         KVM vmx_get_perf_capabilities, commit 9e985cbf2942 (Linux 6.9, 6.1.88)
 *
 * Given  a guest of KVM
 * When   the value that was read, and another value, are written to IA32_PERF_GLOBAL_STATUS and to
 *        IA32_PERF_CAPABILITIES
 * Then   each write raises #GP, and they read as before; IA32_PERF_CAPABILITIES[14] is 0
 */
TEST(kvm, status_and_capabilities_refuse_writes, REQS(KVM_08, KVM_10),
     NEEDS(need_perfmon, need_guest_of_kvm, need_capabilities, need_refused_msrs))
{
	const u64 capabilities = msr_read(MSR_IA32_PERF_CAPABILITIES);
	const u64 status = msr_read(MSR_IA32_PERF_GLOBAL_STATUS);

	CHECK(t, KVM_08, fault_is_gp(msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS, status)),
	      "#GP of IA32_PERF_GLOBAL_STATUS, what it reads");
	CHECK(t, KVM_08, fault_is_gp(msr_try_write(MSR_IA32_PERF_GLOBAL_STATUS, status ^ 1)),
	      "#GP of IA32_PERF_GLOBAL_STATUS, another value");
	CHECK_EQ(t, KVM_08, status, msr_read(MSR_IA32_PERF_GLOBAL_STATUS),
		 "IA32_PERF_GLOBAL_STATUS afterwards");
	CHECK(t, KVM_10, fault_is_gp(msr_try_write(MSR_IA32_PERF_CAPABILITIES, capabilities)),
	      "#GP of IA32_PERF_CAPABILITIES, what it reads");
	CHECK(t, KVM_10,
	      fault_is_gp(msr_try_write(MSR_IA32_PERF_CAPABILITIES, capabilities ^ BIT(13))),
	      "#GP of IA32_PERF_CAPABILITIES, another value");
	CHECK_EQ(t, KVM_10, capabilities, msr_read(MSR_IA32_PERF_CAPABILITIES),
		 "IA32_PERF_CAPABILITIES afterwards");
	CHECK_EQ(t, KVM_10, 0, capabilities & IA32_PERF_CAPABILITIES_PEBS_BASELINE,
		 "IA32_PERF_CAPABILITIES[14]");
}

/*
 * KVM-18  A guest's write that sets one of IA32_DEBUGCTL[14:12] or [8:6] must raise #GP.
 * KVM-19  Where the guest has no last branch records, IA32_DEBUGCTL[1:0] must be accepted and read
 *         0.
 *         KVM vmx_set_msr
 *
 * Given  a guest of KVM, IA32_DEBUGCTL = 0
 * When   each of bits 14:12 and 8:6, and bits 0 and 1, is written
 * Then   the first six raise #GP; the last two don't, and read 0 where
 *        IA32_PERF_CAPABILITIES[5:0] = 0
 */
TEST(kvm, debug_control_refuses_freezes_and_traces_and_drops_lbr, REQS(KVM_18, KVM_19),
     NEEDS(need_perfmon, need_guest_of_kvm, need_debug_control_write, need_refused_msrs))
{
	const u64 refused_bits = BITS(12, 14) | BITS(6, 8);
	const bool lbr = counter_caps()->perf_capabilities & IA32_PERF_CAPABILITIES_LBR_FMT;

	CHECK_EQ(t, KVM_18, NONE, first_accepted(MSR_IA32_DEBUGCTL, refused_bits),
		 "bit of IA32_DEBUGCTL that raises no #GP, of 14:12 and 8:6; 64: none");
	for (unsigned bit = 0; !lbr && bit < 2; bit++) {
		CHECK(t, KVM_19, !msr_try_write(MSR_IA32_DEBUGCTL, BIT(bit)).raised,
		      "WRMSR of bit %u of IA32_DEBUGCTL", bit);
		CHECK_EQ(t, KVM_19, 0, msr_read(MSR_IA32_DEBUGCTL), "IA32_DEBUGCTL after bit %u",
			 bit);
	}
	msr_write(MSR_IA32_DEBUGCTL, 0);
}

/*
 * KVM-21  A guest's write to IA32_PMCx must extend bit 31 to the width of the counter.
 *         KVM intel_pmu_set_msr; SDM 18.2.2
 * KVM-22  IA32_A_PMCx must exist if and only if IA32_PERF_CAPABILITIES[13] is 1, and bits above
 *         the width must raise #GP.
 *         KVM intel_pmu_set_msr
 * KVM-23  A guest's counter must never read with bits above its width.
 *         KVM pmc_write_counter, commit b29a2acd36dd (Linux 6.6)
 *
 * Given  a guest of KVM
 * When   IA32_PMCx is written with and without bit 31, IA32_A_PMCx with all bits of the width,
 *        and with each bit above it
 * Then   RDMSR and RDPMC read the written value, with bit 31 extended to the width and no further;
 *        a bit above the width raises #GP. IA32_A_PMCx exists if and only if
 *        IA32_PERF_CAPABILITIES[13] is 1
 */
TEST(kvm, counters_take_and_show_the_bits_of_their_width, REQS(KVM_21, KVM_22, KVM_23),
     NEEDS(need_perfmon, need_guest_of_kvm, need_refused_msrs))
{
	static const u64 written[] = { 0x80000000, 0x7fffffff, 0xffffffff, 0x12345678 };
	const u64 width = BIT(counter_caps()->gp_width) - 1;
	u64 value;

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		for (unsigned i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
			msr_write(MSR_IA32_PMC0 + c, written[i]);
			CHECK_EQ(t, KVM_21, (u64)(int64_t)(int32_t)(u32)written[i] & width,
				 msr_read(MSR_IA32_PMC0 + c) & width,
				 "IA32_PMC%u after %#lx was written", c, written[i]);
			CHECK_EQ(t, KVM_23, 0, (msr_read(MSR_IA32_PMC0 + c) | rdpmc(c)) & ~width,
				 "bits of IA32_PMC%u above its width, RDMSR and RDPMC", c);
		}
		CHECK_EQ(t, KVM_22, counter_caps()->full_width,
			 !msr_try_read(MSR_IA32_A_PMC0 + c, &value).raised,
			 "IA32_A_PMC%u is there, IA32_PERF_CAPABILITIES[13] = %u", c,
			 counter_caps()->full_width);
		if (!counter_caps()->full_width)
			continue;
		msr_write(MSR_IA32_A_PMC0 + c, width);
		CHECK_EQ(t, KVM_23, width, msr_read(MSR_IA32_PMC0 + c),
			 "IA32_PMC%u after all bits of its width were written", c);
		msr_write(MSR_IA32_A_PMC0 + c, KEPT);
		CHECK_EQ(t, KVM_22, NONE, first_accepted(MSR_IA32_A_PMC0 + c, ~width),
			 "bit of IA32_A_PMC%u above its width that raises no #GP; 64: none", c);
		msr_write(MSR_IA32_PMC0 + c, 0);
	}
}

/*
 * KVM-24  A guest's write to a fixed counter must be cut to the width, or, where KVM passes the
 *         counter through, raise #GP and change nothing.
 *         KVM intel_pmu_set_msr
 *
 * Given  a guest of KVM, fixed counters with a value
 * When   bits above their width are written, and all bits
 * Then   either each write raises #GP, and the counter keeps its value; or none does, and it
 *        reads what is within its width. All counters are alike
 */
TEST(kvm, fixed_counters_cut_what_is_above_their_width_or_refuse_it, REQS(KVM_24),
     NEEDS(need_perfmon, need_guest_of_kvm, need_fixed_0_to_2, need_refused_msrs))
{
	const u64 width = BIT(counter_caps()->fixed_width) - 1;
	const bool refuses = fault_is_gp(msr_try_write(MSR_IA32_FIXED_CTR0, ~0ULL));

	for (u32 i = 0; i < counter_caps()->fixed; i++) {
		const u64 values[] = { ~0ULL, BIT(63) | KEPT, (width + 1) | KEPT };

		for (unsigned v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			msr_write(MSR_IA32_FIXED_CTR0 + i, KEPT + 1);
			CHECK_EQ(t, KVM_24, refuses,
				 fault_is_gp(msr_try_write(MSR_IA32_FIXED_CTR0 + i, values[v])),
				 "#GP of %#lx to fixed counter %u, as for counter 0", values[v], i);
			CHECK_EQ(t, KVM_24, refuses ? KEPT + 1 : values[v] & width,
				 msr_read(MSR_IA32_FIXED_CTR0 + i),
				 "fixed counter %u after %#lx was written", i, values[v]);
		}
		msr_write(MSR_IA32_FIXED_CTR0 + i, 0);
	}
}

/*
 * KVM-25  RDPMC must read a guest's counters by ECX = n and 40000000H + i, and raise #GP for types
 *         and numbers that it hasn't; 10000H to 10002H belong to another hypervisor's interface.
 *         KVM kvm_pmu_rdpmc, intel_rdpmc_ecx_to_pmc
 *
 * Given  a guest of KVM, a value in each counter
 * When   RDPMC reads each, the numbers after the last ones, and 20000000H
 * Then   each counter's value; #GP for the others
 */
TEST(kvm, rdpmc_reads_counters_and_no_metrics, REQS(KVM_25), NEEDS(need_perfmon, need_guest_of_kvm))
{
	const struct pmu_caps *caps = counter_caps();
	u64 value = 0;

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		counter_write(c, KEPT + c);
		CHECK(t, KVM_25, !rdpmc_try(c, &value).raised, "RDPMC, ECX = %u", c);
		CHECK_EQ(t, KVM_25, KEPT + c, value, "RDPMC, ECX = %u", c);
		counter_write(c, 0);
	}
	for (u32 i = 0; i < caps->fixed; i++) {
		msr_write(MSR_IA32_FIXED_CTR0 + i, KEPT + i);
		CHECK(t, KVM_25, !rdpmc_try((u32)RDPMC_FIXED + i, &value).raised,
		      "RDPMC, ECX = %#x", (u32)RDPMC_FIXED + i);
		CHECK_EQ(t, KVM_25, KEPT + i, value, "RDPMC, ECX = %#x", (u32)RDPMC_FIXED + i);
		msr_write(MSR_IA32_FIXED_CTR0 + i, 0);
	}
	CHECK(t, KVM_25, fault_is_gp(rdpmc_try(caps->gp, &value)), "#GP of RDPMC, ECX = %u",
	      caps->gp);
	CHECK(t, KVM_25, fault_is_gp(rdpmc_try((u32)RDPMC_FIXED + caps->fixed, &value)),
	      "#GP of RDPMC, ECX = %#x", (u32)RDPMC_FIXED + caps->fixed);
	CHECK(t, KVM_25, fault_is_gp(rdpmc_try((u32)RDPMC_METRICS, &value)),
	      "#GP of RDPMC, ECX = %#x", (u32)RDPMC_METRICS);
}

/*
 * KVM-27  A guest's write that changes IA32_MISC_ENABLE[11] or [12] must raise #GP.
 *         KVM kvm_set_msr_common
 *
 * Given  a guest of KVM, at any value of IA32_MISC_ENABLE[12:11]
 * When   each of the two bits is written with its inverse
 * Then   #GP, and the register reads as before
 * Control: the value that it reads can be written
 */
TEST(kvm, misc_enable_refuses_a_change_of_bts_and_pebs_unavailable, REQS(KVM_27),
     NEEDS(need_perfmon, need_guest_of_kvm, need_refused_msrs))
{
	const u64 before = msr_read(MSR_IA32_MISC_ENABLE);

	for (unsigned bit = 11; bit <= 12; bit++) {
		CHECK(t, KVM_27,
		      fault_is_gp(msr_try_write(MSR_IA32_MISC_ENABLE, before ^ BIT(bit))),
		      "#GP of IA32_MISC_ENABLE with bit %u changed, %#lx", bit, before);
		CHECK_EQ(t, KVM_27, before, msr_read(MSR_IA32_MISC_ENABLE),
			 "IA32_MISC_ENABLE after it");
	}
	CONTROL(t, KVM_27, !msr_try_write(MSR_IA32_MISC_ENABLE, before).raised,
		"WRMSR of what IA32_MISC_ENABLE reads");
}
