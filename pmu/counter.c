/* SPDX-License-Identifier: MIT */
/*
 * Counters: SDM "Architectural Performance Monitoring Version 1 Facilities", "... Version 2
 * Facilities" and "Full-Width Writes to Performance Counter Registers". This file doesn't use the
 * status registers of version 4. The uncore's counters are in pmu/uncore.h.
 */
#include "pmu/counter.h"

#include "kernel/interrupt/fault.h"
#include "kernel/processor/percpu.h"
#include "pmu/found.h"
#include "pmu/inventory.h"
#include "pmu/reset.h"
#include "pmu/written.h"
#include "spec/msr.h"

static struct pmu_caps processors[CPU_MAX];

static struct pmu_caps *counter_this_cpu(void)
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
	if (flags & COUNT_ADAPTIVE)
		control |= IA32_FIXED_CTR_CTRL_ADAPTIVE0;
	return control << 4 * index;
}

static u64 ones(unsigned bits)
{
	return bits < 64 ? BIT(bits) - 1 : ~0ULL;
}

/* Errata AAK100, AAP53, BD53. A guest's write may be refused; then its host has done it. */
static void set_up(void)
{
	static const u32 selects[] = {
#define SETUP_SELECT(counter, value) [counter] = value,
#include "spec/setup.def"
	};
	const unsigned count = sizeof(selects) / sizeof(selects[0]);

	if (counter_this_cpu()->version < 2 || counter_this_cpu()->gp < count)
		return;
	(void)msr_try_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	for (unsigned i = 0; i < count; i++) {
		(void)msr_try_write(MSR_IA32_PERFEVTSEL0 + i, selects[i]);
		(void)msr_try_write(MSR_IA32_PMC0 + i, 0);
	}
	(void)msr_try_write(MSR_IA32_PERF_GLOBAL_CTRL, BITS(0, count - 1));
	(void)msr_try_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	for (unsigned i = 0; i < count; i++) {
		(void)msr_try_write(MSR_IA32_PERFEVTSEL0 + i, 0);
		(void)msr_try_write(MSR_IA32_PMC0 + i, 0);
	}
}

/* The general-purpose counters, possibly with gaps, that can be read. */
static u32 those_that_answer(u32 mask)
{
	u64 value;

	for (u32 i = 0; i < 32; i++)
		if (mask & BIT(i) && (msr_try_read(MSR_IA32_PMC0 + i, &value).raised ||
				      msr_try_read(MSR_IA32_PERFEVTSEL0 + i, &value).raised))
			mask &= ~(u32)BIT(i);
	return mask;
}

void counter_init(void)
{
	struct pmu_caps *caps = counter_this_cpu();
	u64 value;

	*caps = caps_read();
	inventory_keep(caps);
	/* Use only existing counters: a test reports an enumeration of too many, but it must not
	 * break all tests. */
	while (caps->gp && (msr_try_read(MSR_IA32_PMC0 + caps->gp - 1, &value).raised ||
			    msr_try_read(MSR_IA32_PERFEVTSEL0 + caps->gp - 1, &value).raised))
		caps->gp--;
	caps->gp_mask = caps->v6.counters ? those_that_answer(caps->gp_mask) : (u32)ones(caps->gp);
	found_keep();
	if (caps->version)
		reset_learn();
	/* This must come last: recording and freezing are off by then. */
	if (caps->facilities & FAC_SETUP)
		set_up();
}

const struct pmu_caps *counter_caps(void)
{
	return counter_this_cpu();
}

const struct pmu_caps *counter_caps_of(unsigned cpu)
{
	return &processors[cpu];
}

struct pmc_mask counters_gp(void)
{
	return (struct pmc_mask){ counter_this_cpu()->gp_mask };
}

unsigned counters_gp_number(void)
{
	unsigned number = 0;

	FOR_EACH_COUNTER (c, counters_gp().bits)
		number++;
	return number;
}

unsigned counter_last(void)
{
	return 63 - (unsigned)__builtin_clzll(counters_gp().bits | 1);
}

unsigned counter_from(unsigned first, unsigned n)
{
	const u64 all = counters_gp().bits;
	unsigned c = counter_next(all, first);

	while (all && (n || c == COUNTERS_END)) {
		n -= c != COUNTERS_END;
		c = counter_next(all, c == COUNTERS_END ? 0 : c + 1);
	}
	return c;
}

struct pmc_mask counters_fixed(void)
{
	const u64 steady = counter_this_cpu()->fixed_mask & BITS(0, 3);

	return (struct pmc_mask){ steady << PMC_FIXED(0) };
}

struct pmc_mask counters_all(void)
{
	const struct pmu_caps *caps = counter_this_cpu();

	return (struct pmc_mask){ caps->gp_mask | (u64)caps->fixed_mask << PMC_FIXED(0) };
}

static struct reset_refusal refusals[CPU_MAX];

bool counter_reset(void)
{
	return counter_this_cpu()->operations->reset(&refusals[cpu_index()]);
}

void counter_quiet(void)
{
	counter_this_cpu()->operations->quiet();
}

const struct reset_refusal *counter_refusal(unsigned cpu)
{
	return &refusals[cpu];
}

unsigned counter_width(unsigned counter)
{
	return PMC_IS_FIXED(counter) ? counter_this_cpu()->fixed_width :
				       counter_this_cpu()->gp_width;
}

static void select(unsigned counter, u16 event, u64 flags, bool enable)
{
	if (PMC_IS_FIXED(counter)) {
		unsigned index = counter - PMC_FIXED(0);
		u64 field = (BITS(0, 3) | IA32_FIXED_CTR_CTRL_ADAPTIVE0) << 4 * index;
		u64 all = msr_read(MSR_IA32_FIXED_CTR_CTRL) & ~field;
		u64 control = enable ? fixed_control(index, flags) : 0;

		if (enable)
			written_note_fixed(index);
		msr_write(MSR_IA32_FIXED_CTR_CTRL, all | control);
		written_note_bits(MSR_IA32_FIXED_CTR_CTRL, field, control);
	} else {
		if (event)
			written_note_select(event);
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

void counter_set_adaptive(unsigned counter, bool on)
{
	bool fixed = PMC_IS_FIXED(counter);
	u32 msr = fixed ? MSR_IA32_FIXED_CTR_CTRL : MSR_IA32_PERFEVTSEL0 + counter;
	u64 bit = fixed ? IA32_FIXED_CTR_CTRL_ADAPTIVE0 << 4 * (counter - PMC_FIXED(0)) :
			  IA32_PERFEVTSEL_ADAPTIVE;
	u64 value = msr_read(msr);

	value = on ? value | bit : value & ~bit;
	msr_write(msr, value);
	written_note(msr, value);
}

bool counter_write(unsigned counter, u64 value)
{
	u64 width = ones(counter_width(counter));
	u64 sign_extended = (u64)(int64_t)(int32_t)(u32)value;

	value &= width;
	if (PMC_IS_FIXED(counter)) {
		msr_write(MSR_IA32_FIXED_CTR0 + (counter - PMC_FIXED(0)), value);
	} else if (counter_this_cpu()->full_width) {
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
	counter_write(counter, 0 - n);	/* up to n = 2^31 both ways of writing accept this */
}

u64 counter_read(unsigned counter)
{
	if (PMC_IS_FIXED(counter))
		return msr_read(MSR_IA32_FIXED_CTR0 + (counter - PMC_FIXED(0)));
	return msr_read(MSR_IA32_PMC0 + counter);
}

/* Notes are made before counting starts. */
void counters_enable(struct pmc_mask mask)
{
	written_note(MSR_IA32_PERF_GLOBAL_CTRL, mask.bits);
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, mask.bits);
}

void counters_disable(void)
{
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	written_note(MSR_IA32_PERF_GLOBAL_CTRL, 0);
}

u64 counters_status(void)
{
	return msr_read(MSR_IA32_PERF_GLOBAL_STATUS);
}

void counters_clear(u64 status)
{
	msr_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, status);
}
