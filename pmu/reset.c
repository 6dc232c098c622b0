/* SPDX-License-Identifier: MIT */
/*
 * See reset.h. "Architectural Performance Monitoring Version 4": status is cleared through the same
 * address as before (IA32_PERF_GLOBAL_STATUS_RESET), and its bits 58 and 59 (LBR_Frz, CTR_Frz) stop
 * branch records and counters for as long as they are set.
 */
#include "pmu/reset.h"

#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/percpu.h"
#include "pmu/counter.h"
#include "pmu/lbr/lbr.h"
#include "pmu/written.h"

/* Bits of IA32_DEBUGCTL that change how counters behave. */
#define DEBUGCTL_DISTURBS (IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI | \
			   IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI)
#define NOTHING_DISTURBS	0ULL
#define ANYTHING_DISTURBS	(~0ULL)

/* The registers to reset. If the write is refused, the register is left alone, provided that no bit
 * of `disturbs` is set in it or that it can't be read. If each counter has one: the address is that
 * of counter 0, and stride the distance to the next counter's; fixed: that of fixed counter 0. */
static const struct item {
	u32 msr;
	const char *name;
	bool may_be_left;
	u64 disturbs;
	u32 fixed, stride;
} items[] = {
	[RESET_GLOBAL_CTRL] = { MSR_IA32_PERF_GLOBAL_CTRL, "IA32_PERF_GLOBAL_CTRL", false, 0, 0,
				0 },
	[RESET_PEBS_ENABLE] = { MSR_IA32_PEBS_ENABLE, "IA32_PEBS_ENABLE", true, ANYTHING_DISTURBS,
				0, 0 },
	[RESET_PEBS_INDEX] = { MSR_IA32_PEBS_INDEX, "IA32_PEBS_INDEX", false, 0, 0, 0 },
	[RESET_CFG_C] = { MSR_IA32_PMC_GP0_CFG_C, "IA32_PMC_GPx_CFG_C and IA32_PMC_FXx_CFG_C",
			  true, NOTHING_DISTURBS, MSR_IA32_PMC_FX0_CFG_C, V6_BANK_STRIDE },
	[RESET_CFG_B] = { MSR_IA32_PMC_GP0_CFG_B, "IA32_PMC_GPx_CFG_B and IA32_PMC_FXx_CFG_B",
			  false, 0, MSR_IA32_PMC_FX0_CFG_B, V6_BANK_STRIDE },
	[RESET_PERFEVTSEL] = { MSR_IA32_PERFEVTSEL0, "IA32_PERFEVTSEL0 and following", false, 0,
			       0, 1 },
	[RESET_PMC] = { MSR_IA32_PMC0, "IA32_PMC0 and following", false, 0, 0, 1 },
	[RESET_FIXED_CTR_CTRL] = { MSR_IA32_FIXED_CTR_CTRL, "IA32_FIXED_CTR_CTRL", false, 0, 0,
				   0 },
	[RESET_FIXED_CTR] = { MSR_IA32_FIXED_CTR0, "IA32_FIXED_CTR0 and following", true,
			      NOTHING_DISTURBS, MSR_IA32_FIXED_CTR0, 1 },
	[RESET_PERF_METRICS] = { MSR_PERF_METRICS, "MSR_PERF_METRICS", true, NOTHING_DISTURBS, 0,
				 0 },
	[RESET_STATUS] = { MSR_IA32_PERF_GLOBAL_OVF_CTRL, "IA32_PERF_GLOBAL_OVF_CTRL", false, 0, 0,
			   0 },
	[RESET_PEBS_DATA_CFG] = { MSR_PEBS_DATA_CFG, "MSR_PEBS_DATA_CFG", false, 0, 0, 0 },
	[RESET_DS_AREA] = { MSR_IA32_DS_AREA, "IA32_DS_AREA", true, NOTHING_DISTURBS, 0, 0 },
	[RESET_PEBS_BASE] = { MSR_IA32_PEBS_BASE, "IA32_PEBS_BASE", true, NOTHING_DISTURBS, 0, 0 },
	[RESET_DEBUGCTL] = { MSR_IA32_DEBUGCTL, "IA32_DEBUGCTL", true, DEBUGCTL_DISTURBS, 0, 0 },
	[RESET_LBR_SELECT] = { MSR_LBR_SELECT, "MSR_LBR_SELECT", true, NOTHING_DISTURBS, 0, 0 },
	[RESET_LBR_CTL] = { MSR_IA32_LBR_CTL, "IA32_LBR_CTL", true, NOTHING_DISTURBS, 0, 0 },
};

static struct reset {
	u32 left;		/* bit n: item n is left alone */
	u64 status;		/* status bits that can be cleared */
	u64 select;		/* value of an event select that counts nothing */
} cpus[CPU_MAX];

static struct reset *reset_this_cpu(void)
{
	return &cpus[cpu_index()];
}

static bool exists(enum reset_item item)
{
	const struct pmu_caps *caps = counter_caps();

	switch (item) {
	case RESET_DEBUGCTL:
	case RESET_PERFEVTSEL:
	case RESET_PMC:
		return caps->version >= 1;
	case RESET_PEBS_ENABLE:
		return caps->pebs;
	case RESET_PEBS_INDEX:
	case RESET_PEBS_BASE:
		return caps->arch_pebs;
	case RESET_CFG_C:
		return caps->v6.reloadable | caps->v6.pebs;
	case RESET_CFG_B:
		return caps->v6.reloadable;
	case RESET_PEBS_DATA_CFG:
		return caps->baseline;
	case RESET_PERF_METRICS:
		return caps->metrics;
	case RESET_DS_AREA:
		return caps->ds;
	case RESET_LBR_SELECT:
		return lbr_depth() > 0;
	case RESET_LBR_CTL:
		return caps->arch_lbr;
	default:
		return caps->version >= 2;
	}
}

/* The counters that have this register; 0: it isn't a counter's register. */
static u64 members(enum reset_item item)
{
	const struct pmu_caps *caps = counter_caps();

	switch (item) {
	case RESET_PERFEVTSEL:
	case RESET_PMC:
		return caps->gp_mask;
	case RESET_FIXED_CTR:
		return (u64)caps->fixed_mask << PMC_FIXED(0);
	case RESET_CFG_C:
		return caps->v6.reloadable | caps->v6.pebs;
	case RESET_CFG_B:
		return caps->v6.reloadable;
	default:
		return 0;
	}
}

static u32 address(const struct item *item, unsigned counter)
{
	return PMC_IS_FIXED(counter) ? item->fixed + item->stride * (counter - PMC_FIXED(0)) :
				       item->msr + item->stride * counter;
}

static u64 value_of(enum reset_item item)
{
	return item == RESET_STATUS    ? reset_this_cpu()->status :
	       item == RESET_PERFEVTSEL ? reset_this_cpu()->select :
					  0;
}

/* Write consecutive registers of counters with one call. */
static bool put_members(const struct item *item, u64 set, u64 value)
{
	bool good = true;

	for (unsigned c = counter_next(set, 0), n; c < COUNTERS_END;
	     c = counter_next(set, c + n)) {
		for (n = 1; c + n != PMC_FIXED(0) && set >> c >> n & 1; n++)
			;
		good &= !msr_try_write_row(address(item, c), item->stride, n, value).raised;
	}
	return good;
}

static bool reset_put(enum reset_item item)
{
	const u64 set = members(item);

	if (items[item].stride)
		return put_members(&items[item], set, value_of(item));
	written_note(items[item].msr, value_of(item));
	return !msr_try_write(items[item].msr, value_of(item)).raised;
}

/* Bits that may be reserved although CPUID enumerates them: a guest has no uncore, and filters
 * allow only few bits. */
static const u64 optional_status[] = {
	IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_UNCORE, IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF,
	IA32_PERF_GLOBAL_OVF_CTRL_CLR_COND_CHGD, IA32_PERF_GLOBAL_OVF_CTRL_CLR_LBR_FRZ,
	IA32_PERF_GLOBAL_OVF_CTRL_CLR_CTR_FRZ, IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_PERF_METRICS,
};

/* Status bits that can be cleared: one for each counter, and those that have a row here. */
static u64 announced_status(void)
{
	const struct pmu_caps *caps = counter_caps();
	u64 mask = counters_all().bits | IA32_PERF_GLOBAL_OVF_CTRL_CLR_COND_CHGD;

	if (caps->version >= 3)
		mask |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_UNCORE;
	if (caps->version >= 4)
		mask |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_LBR_FRZ |
			IA32_PERF_GLOBAL_OVF_CTRL_CLR_CTR_FRZ;
	if (caps->metrics)
		mask |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_PERF_METRICS;
	if (caps->ds)
		mask |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF;
	if (caps->arch_pebs)
		mask |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_ARCH_PEBS_THRESHOLD;
	return mask;
}

u64 reset_clearable_status(void)
{
	return reset_this_cpu()->status;
}

static void drop_refused(struct reset *reset, u64 bit)
{
	if ((reset->status & bit) && msr_try_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, bit).raised)
		reset->status &= ~bit;
}

static void learn_status(void)
{
	struct reset *reset = reset_this_cpu();

	reset->status = announced_status();
	if (reset_put(RESET_STATUS))
		return;
	for (unsigned i = 0; i < sizeof(optional_status) / sizeof(optional_status[0]); i++)
		drop_refused(reset, optional_status[i]);
	/* A broken processor may enumerate counters that it doesn't have: tests report this, so
	 * they must be able to run. */
	FOR_EACH_COUNTER (c, counters_all().bits)
		drop_refused(reset, BIT(c));
}

/* A hypervisor that takes the events of a list alone refuses 0 too (Xen core2_vpmu_do_wrmsr with
 * vpmu=ipc or vpmu=arch): instructions at no level, then. */
static void learn_select(void)
{
	if (!counter_caps()->hypervisor || reset_put(RESET_PERFEVTSEL))
		return;
	reset_this_cpu()->select = EVENT_INST_RETIRED_ANY_P;
	if (!reset_put(RESET_PERFEVTSEL))
		reset_this_cpu()->select = 0;
}

void reset_learn(void)
{
	struct reset *reset = reset_this_cpu();
	u64 value;

	*reset = (struct reset){ 0 };
	for (unsigned i = 0; i < RESET_ITEMS; i++) {
		enum reset_item item = (enum reset_item)i;

		if (!exists(item))
			continue;
		if (item == RESET_STATUS)
			learn_status();
		if (item == RESET_PERFEVTSEL)
			learn_select();
		value = 0;
		if (items[i].may_be_left && !reset_put(item) &&
		    (msr_try_read(items[i].msr, &value).raised || !(value & items[i].disturbs)))
			reset->left |= (u32)BIT(i);
	}
}

static void describe(enum reset_item item, struct reset_refusal *refusal)
{
	const u64 set = members(item);

	*refusal = (struct reset_refusal){ items[item].name,
					   set ? address(&items[item], counter_next(set, 0)) :
						 items[item].msr,
					   value_of(item) };
}

bool reset_all(struct reset_refusal *refusal)
{
	bool good = true;

	for (unsigned i = 0; i < RESET_ITEMS; i++) {
		enum reset_item item = (enum reset_item)i;

		if (!exists(item) || reset_this_cpu()->left & BIT(i) || reset_put(item))
			continue;
		if (good)
			describe(item, refusal);
		good = false;
	}
	return good;
}

void reset_quiet(void)
{
	static const enum reset_item quiets[] = {
		RESET_GLOBAL_CTRL, RESET_PEBS_ENABLE, RESET_STATUS, RESET_DS_AREA, RESET_DEBUGCTL,
		RESET_LBR_CTL,
	};
	struct reset_refusal refusal;

	if (!exists(RESET_GLOBAL_CTRL)) {
		(void)reset_all(&refusal);
		return;
	}
	for (unsigned i = 0; i < sizeof(quiets) / sizeof(quiets[0]); i++)
		if (exists(quiets[i]) && !(reset_this_cpu()->left & BIT(quiets[i])))
			(void)reset_put(quiets[i]);
}

bool reset_leaves_alone(enum reset_item item, struct reset_refusal *refusal)
{
	describe(item, refusal);
	return reset_this_cpu()->left & BIT(item);
}

const char *reset_format(const struct reset_refusal *refusal, char *text, size_t size)
{
	fmt_print(text, size, "WRMSR of %#lx to %s (%#x) is refused", refusal->value, refusal->name,
		  refusal->msr);
	return text;
}
