/* SPDX-License-Identifier: MIT */
/* The uncore of Nehalem and Westmere. Opcode and address matching isn't supported. */
#include "pmu/uncore.h"

#include "kernel/interrupt/fault.h"
#include "spec/msr.h"

/* Does the register hold what is written, each bit as 0 and 1? It holds 0 afterwards. */
static bool uncore_holds(u32 msr, u64 mask)
{
	const u64 patterns[] = { mask, mask & 0x5555555555555555, 0 };
	u64 value;

	for (unsigned i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (msr_try_write(msr, patterns[i]).raised || msr_try_read(msr, &value).raised ||
		    value != patterns[i])
			return false;
	return true;
}

/* Some hypervisors answer every read with 0 and drop every write: QEMU's TCG, KVM with ignore_msrs.
 * One register that holds its value is enough: tests check the others. No interrupt is enabled
 * during this. */
bool uncore_present(void)
{
	return uncore_holds(MSR_UNCORE_PERF_GLOBAL_CTRL, UNCORE_PERF_GLOBAL_CTRL_EN_PC) ||
	       uncore_holds(MSR_UNCORE_PMC0, BITS(0, UNCORE_WIDTH - 1)) ||
	       uncore_holds(MSR_UNCORE_FIXED_CTR0, BITS(0, UNCORE_WIDTH - 1));
}

static bool uncore_put(u32 msr, u64 value)
{
	return !msr_try_write(msr, value).raised;
}

bool uncore_reset(void)
{
	bool good = uncore_put(MSR_UNCORE_PERF_GLOBAL_CTRL, 0);

	for (u32 i = 0; i < UNCORE_COUNTERS; i++) {
		good &= uncore_put(MSR_UNCORE_PERFEVTSEL0 + i, 0);
		good &= uncore_put(MSR_UNCORE_PMC0 + i, 0);
	}
	good &= uncore_put(MSR_UNCORE_FIXED_CTR_CTRL, 0);
	good &= uncore_put(MSR_UNCORE_FIXED_CTR0, 0);
	good &= uncore_put(MSR_UNCORE_PERF_GLOBAL_OVF_CTRL,
			   UNCORE_PERF_GLOBAL_OVF_CTRL_CLR_OVF_PC |
				   UNCORE_PERF_GLOBAL_OVF_CTRL_CLR_OVF_FC0 |
				   UNCORE_PERF_GLOBAL_OVF_CTRL_CLR_OVF_PMI |
				   UNCORE_PERF_GLOBAL_OVF_CTRL_CLR_CHG);
	return good;
}

void uncore_program(unsigned counter, u16 event, bool pmi)
{
	if (counter == UNCORE_FIXED)
		msr_write(MSR_UNCORE_FIXED_CTR_CTRL,
			  UNCORE_FIXED_CTR_CTRL_EN | (pmi ? (u64)UNCORE_FIXED_CTR_CTRL_PMI : 0));
	else
		msr_write(MSR_UNCORE_PERFEVTSEL0 + counter,
			  event | UNCORE_PERFEVTSEL_EN | (pmi ? (u64)UNCORE_PERFEVTSEL_PMI : 0));
}

void uncore_program_disabled(unsigned counter)
{
	if (counter == UNCORE_FIXED)
		msr_write(MSR_UNCORE_FIXED_CTR_CTRL, 0);
	else
		msr_write(MSR_UNCORE_PERFEVTSEL0 + counter, 0);
}

static u32 counter_msr(unsigned counter)
{
	return counter == UNCORE_FIXED ? MSR_UNCORE_FIXED_CTR0 : MSR_UNCORE_PMC0 + counter;
}

void uncore_write(unsigned counter, u64 value)
{
	msr_write(counter_msr(counter), value);
}

void uncore_preset(unsigned counter, u64 n)
{
	uncore_write(counter, (0 - n) & (BIT(UNCORE_WIDTH) - 1));
}

u64 uncore_read(unsigned counter)
{
	return msr_read(counter_msr(counter));
}

void uncore_enable(u64 control)
{
	msr_write(MSR_UNCORE_PERF_GLOBAL_CTRL, control);
}

u64 uncore_status(void)
{
	return msr_read(MSR_UNCORE_PERF_GLOBAL_STATUS);
}

void uncore_clear(u64 status)
{
	msr_write(MSR_UNCORE_PERF_GLOBAL_OVF_CTRL, status);
}
