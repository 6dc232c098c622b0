/* SPDX-License-Identifier: MIT */
/*
 * Counters: SDM "Architectural Performance Monitoring Version 1 Facilities", "... Version 2
 * Facilities" and "Full-Width Writes to Performance Counter Registers". The version 4
 * status registers aren't driven; the uncore's counters are pmu/uncore.h.
 */
#include "pmu/counter.h"

#include "kernel/fault.h"
#include "kernel/percpu.h"
#include "pmu/netburst.h"
#include "pmu/uncore.h"
#include "spec/msr.h"

static struct pmu_caps processors[CPU_MAX];

static struct pmu_caps *here(void)
{
	return &processors[cpu_index()];
}

/* Bits of one fixed counter in IA32_FIXED_CTR_CTRL: counter i's are 4 * i higher. */
static u64 fixed_control(unsigned index, u64 flags)
{
	u64 control = 0;

	if (flags & COUNT_OS)
		control |= BIT(0);
	if (flags & COUNT_USR)
		control |= BIT(1);
	if (flags & COUNT_ANY)
		control |= IA32_FIXED_CTR_CTRL_ANY0;
	if (flags & COUNT_INT)
		control |= IA32_FIXED_CTR_CTRL_PMI0;
	return control << 4 * index;
}

static u64 ones(unsigned bits)
{
	return bits < 64 ? BIT(bits) - 1 : ~0ULL;
}

void counter_init(void)
{
	struct pmu_caps *caps = here();
	u64 value;

	*caps = caps_read();
	/* An enumeration that promises too much is one test's business, and shouldn't end all. */
	while (caps->gp && (msr_try_read(MSR_IA32_PMC0 + caps->gp - 1, &value).raised ||
			    msr_try_read(MSR_IA32_PERFEVTSEL0 + caps->gp - 1, &value).raised))
		caps->gp--;
}

const struct pmu_caps *counter_caps(void)
{
	return here();
}

struct pmc_mask counters_gp(void)
{
	return (struct pmc_mask){ ones(here()->gp) };
}

struct pmc_mask counters_fixed(void)
{
	return (struct pmc_mask){ ones(here()->fixed) << PMC_FIXED(0) };
}

static bool put(u32 msr, u64 value)
{
	return !msr_try_write(msr, value).raised;
}

static bool put_row(u32 first, unsigned count, u64 value)
{
	return !msr_try_write_row(first, count, value).raised;
}

/* Status bits that can be cleared: one for each counter, and those that have a row here. */
static u64 clearable_status(void)
{
	u64 mask = counters_gp().bits | counters_fixed().bits |
		   IA32_PERF_GLOBAL_OVF_CTRL_CLR_COND_CHGD;

	if (here()->version >= 3)
		mask |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_UNCORE;
	if (here()->ds)
		mask |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF;
	return mask;
}

bool counter_reset(void)
{
	const struct pmu_caps *caps = here();
	bool good = true;

	if (caps->netburst)
		return netburst_reset();
	if (!caps->version)
		return true;
	if (caps->version >= 2)
		good &= put(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	if (caps->pebs)
		good &= put(MSR_IA32_PEBS_ENABLE, 0);
	good &= put_row(MSR_IA32_PERFEVTSEL0, caps->gp, 0);
	good &= put_row(MSR_IA32_PMC0, caps->gp, 0);
	if (caps->version >= 2) {
		good &= put(MSR_IA32_FIXED_CTR_CTRL, 0);
		good &= put_row(MSR_IA32_FIXED_CTR0, caps->fixed, 0);
		/* A guest has no uncore, and its bit may be reserved. */
		good &= put(MSR_IA32_PERF_GLOBAL_OVF_CTRL, clearable_status()) ||
			put(MSR_IA32_PERF_GLOBAL_OVF_CTRL, clearable_status() &
			    ~IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_UNCORE);
	}
	if (caps->ds)
		good &= put(MSR_IA32_DS_AREA, 0);
	good &= put(MSR_IA32_DEBUGCTL, 0);
	if ((caps->facilities & FAC_UNCORE) && uncore_present())
		good &= uncore_reset();
	return good;
}

unsigned counter_width(unsigned counter)
{
	return PMC_IS_FIXED(counter) ? here()->fixed_width : here()->gp_width;
}

static void select(unsigned counter, u16 event, u64 flags, bool enable)
{
	if (PMC_IS_FIXED(counter)) {
		unsigned index = counter - PMC_FIXED(0);
		u64 all = msr_read(MSR_IA32_FIXED_CTR_CTRL) & ~(BITS(0, 3) << 4 * index);

		msr_write(MSR_IA32_FIXED_CTR_CTRL,
			  all | (enable ? fixed_control(index, flags) : 0));
	} else {
		msr_write(MSR_IA32_PERFEVTSEL0 + counter,
			  event | flags | (enable ? IA32_PERFEVTSEL_EN : 0));
	}
}

void counter_program(unsigned counter, u16 event, u64 flags)
{
	select(counter, event, flags, true);
}

void counter_program_disabled(unsigned counter, u16 event, u64 flags)
{
	select(counter, event, flags, false);
}

bool counter_write(unsigned counter, u64 value)
{
	u64 width = ones(counter_width(counter));
	u64 sign_extended = (u64)(int64_t)(int32_t)(u32)value;

	value &= width;
	if (PMC_IS_FIXED(counter)) {
		msr_write(MSR_IA32_FIXED_CTR0 + (counter - PMC_FIXED(0)), value);
	} else if (here()->full_width) {
		msr_write(MSR_IA32_A_PMC0 + counter, value);
	} else {
		if ((sign_extended & width) != value)
			return false;
		msr_write(MSR_IA32_PMC0 + counter, (u32)value);
	}
	return true;
}

void counter_preset(unsigned counter, u64 n)
{
	counter_write(counter, 0 - n);	/* fits either way of writing for n up to 2^31 */
}

u64 counter_read(unsigned counter)
{
	if (PMC_IS_FIXED(counter))
		return msr_read(MSR_IA32_FIXED_CTR0 + (counter - PMC_FIXED(0)));
	return msr_read(MSR_IA32_PMC0 + counter);
}

void counters_enable(struct pmc_mask mask)
{
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, mask.bits);
}

void counters_disable(void)
{
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
}

u64 counters_status(void)
{
	return msr_read(MSR_IA32_PERF_GLOBAL_STATUS);
}

void counters_clear(u64 status)
{
	msr_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, status);
}
