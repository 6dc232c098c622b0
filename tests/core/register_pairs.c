/* SPDX-License-Identifier: MIT */
/*
 * Register writes of several bits at once, and writes of each bit that is visible in another
 * register. A bit that can be set alone must also be set together with each other bit. SDM
 * "IA32_DEBUGCTL MSR", "IA32_PERF_GLOBAL_INUSE MSR".
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/window.h"

#define REGISTER_BITS	64u

/*
 * The bits that are written here. Left out are bits 3 to 5 and 16 and up, which are reserved, and
 * TR and BTS, which together start to store branch traces.
 */
#define DEBUG_CONTROL_BITS	(BITS(0, 15) & ~(BITS(3, 5) | IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS))

static u64 debug_control_after(u64 value)
{
	if (msr_try_write(MSR_IA32_DEBUGCTL, value).raised)
		return 0;
	value = msr_read(MSR_IA32_DEBUGCTL);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	return value;
}

/* The bits of IA32_DEBUGCTL that this processor keeps when they are written alone. */
static u64 debug_control_alone(void)
{
	u64 kept = 0;

	for (unsigned bit = 0; bit < REGISTER_BITS; bit++)
		if (DEBUG_CONTROL_BITS & BIT(bit))
			kept |= debug_control_after(BIT(bit)) & BIT(bit);
	return kept;
}

/*
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 * FRZ-23  IA32_DEBUGCTL[14] must be writable if and only if IA32_PERF_CAPABILITIES[12] is 1.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  the bits of IA32_DEBUGCTL that are kept when they are written alone, without TR and BTS;
 *        with architectural last branch records bit 0 isn't among them
 * When   each two of them, and all of them, are written
 * Then   the value read is the value written
 * Control: IA32_DEBUGCTL[14] is among them where IA32_PERF_CAPABILITIES[12] is 1
 */
TEST(msr, each_pair_of_bits_of_debug_control_is_kept, REQS(MSR_28, FRZ_23),
     NEEDS(need_perfmon, need_debug_control))
{
	const u64 kept = debug_control_alone();
	const u64 smm = counter_caps()->perf_capabilities & IA32_PERF_CAPABILITIES_SMM_FREEZE ?
				IA32_DEBUGCTL_FREEZE_WHILE_SMM :
				0;

	CONTROL_EQ(t, FRZ_23, smm, kept & IA32_DEBUGCTL_FREEZE_WHILE_SMM,
		   "IA32_DEBUGCTL[14], written alone (IA32_PERF_CAPABILITIES = %#lx)",
		   counter_caps()->perf_capabilities);
	CHECK_EQ(t, IDS(MSR_28, FRZ_23), kept, debug_control_after(kept),
		 "IA32_DEBUGCTL, each bit that is kept alone");
	for (unsigned one = 0; one < REGISTER_BITS; one++)
		for (unsigned other = one + 1; other < REGISTER_BITS; other++) {
			const u64 pair = BIT(one) | BIT(other);

			if ((kept & pair) == pair)
				CHECK_EQ(t, IDS(MSR_28, FRZ_23), pair, debug_control_after(pair),
					 "IA32_DEBUGCTL after bits %u and %u were written", one,
					 other);
		}
}

/*
 * STS-09  IA32_PERF_GLOBAL_INUSE[63] must be 1 if any interrupt bit of IA32_PERFEVTSELx or of
 *         fixed counters 0 to 2 or the bit of one of IA32_PMC0 to IA32_PMC3 in IA32_PEBS_ENABLE is
 *         set, and 0 if nothing of the kind is.
 *         SDM 18.2.4.3 IA32_PERF_GLOBAL_INUSE MSR (its text says bit 32, Figure 18-13 bit 63)
 * STS-20  IA32_PERF_GLOBAL_INUSE[63] must be 1 as well by the interrupt bit of a later fixed
 *         counter and by any other bit of IA32_PEBS_ENABLE.
 *         SDM 18.2.4.3 IA32_PERF_GLOBAL_INUSE MSR: it lists IA32_FIXED_CTR_CTRL of i = 0, 1, 2 and
 *         IA32_PEBS_ENABLE of i = 0..3, all that were there
 *
 * Given  nothing is in use
 * When   each bit of IA32_PEBS_ENABLE that can be set is set alone: those of general-purpose and
 *        fixed counters, of load latency, of precise store
 * Then   bit 63 of IA32_PERF_GLOBAL_INUSE is 1
 * Control: it is 0 when the bit is cleared; the general-purpose counters' bits are among them
 */
TEST(msr, in_use_shows_pmi_for_each_bit_of_pebs_enable, REQS(STS_09, STS_20),
     NEEDS(need_perfmon, need_version_4, need_not_hybrid, need_any_pebs))
{
	u64 taken = 0;

	for (unsigned bit = 0; bit < REGISTER_BITS; bit++) {
		const u64 enable = BIT(bit);
		u64 in_use;

		if (msr_try_write(MSR_IA32_PEBS_ENABLE, enable).raised ||
		    msr_read(MSR_IA32_PEBS_ENABLE) != enable)
			continue;
		taken |= enable;
		in_use = msr_read(MSR_IA32_PERF_GLOBAL_INUSE);
		msr_write(MSR_IA32_PEBS_ENABLE, 0);
		if (enable & counter_caps()->pebs_mask)
			CHECK_EQ(t, STS_09, IA32_PERF_GLOBAL_INUSE_PMI,
				 in_use & IA32_PERF_GLOBAL_INUSE_PMI,
				 "PMI in use, IA32_PEBS_ENABLE = %#lx", enable);
		else
			CHECK_EQ(t, STS_20, IA32_PERF_GLOBAL_INUSE_PMI,
				 in_use & IA32_PERF_GLOBAL_INUSE_PMI,
				 "PMI in use, IA32_PEBS_ENABLE = %#lx", enable);
		CONTROL_EQ(t, IDS(STS_09, STS_20), 0,
			   msr_read(MSR_IA32_PERF_GLOBAL_INUSE) & IA32_PERF_GLOBAL_INUSE_PMI,
			   "PMI in use, IA32_PEBS_ENABLE = 0 again");
	}
	CONTROL_EQ(t, STS_09, counter_caps()->pebs_mask, taken & counter_caps()->pebs_mask,
		   "general-purpose counters whose bit of IA32_PEBS_ENABLE was written");
}
