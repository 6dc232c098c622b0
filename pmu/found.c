/* SPDX-License-Identifier: MIT */
/* See found.h. */
#include "pmu/found.h"

#include "kernel/machine/smp.h"
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/percpu.h"
#include "pmu/counter.h"
#include "pmu/lbr/lbr.h"

#define BANK_MAX	16u
#define LINE_SIZE	600

/* In the order of restoring: registers that enable counters come last. */
static const struct bank {
	u32 msr;
	const char *name;
	enum { ONE, PER_GP, PER_FIXED, V6_PER_GP, V6_PER_FIXED } members;
	bool is_counter;
} banks[] = {
	{ MSR_IA32_PMC0, "IA32_PMC", PER_GP, true },
	{ MSR_IA32_FIXED_CTR0, "IA32_FIXED_CTR", PER_FIXED, true },
	{ MSR_PERF_METRICS, "MSR_PERF_METRICS", ONE, true },
	{ MSR_IA32_PERFEVTSEL0, "IA32_PERFEVTSEL", PER_GP, false },
	{ MSR_IA32_PMC_GP0_CFG_B, "IA32_PMC_GPx_CFG_B.", V6_PER_GP, false },
	{ MSR_IA32_PMC_FX0_CFG_B, "IA32_PMC_FXx_CFG_B.", V6_PER_FIXED, false },
	{ MSR_IA32_PMC_GP0_CFG_C, "IA32_PMC_GPx_CFG_C.", V6_PER_GP, false },
	{ MSR_IA32_PMC_FX0_CFG_C, "IA32_PMC_FXx_CFG_C.", V6_PER_FIXED, false },
	{ MSR_IA32_PEBS_BASE, "IA32_PEBS_BASE", ONE, false },
	{ MSR_IA32_PEBS_INDEX, "IA32_PEBS_INDEX", ONE, false },
	{ MSR_IA32_DS_AREA, "IA32_DS_AREA", ONE, false },
	{ MSR_LBR_SELECT, "MSR_LBR_SELECT", ONE, false },
	{ MSR_IA32_LBR_DEPTH, "IA32_LBR_DEPTH", ONE, false },
	{ MSR_IA32_LBR_CTL, "IA32_LBR_CTL", ONE, false },
	{ MSR_IA32_TSX_FORCE_ABORT, "IA32_TSX_FORCE_ABORT", ONE, false },
	{ MSR_IA32_DEBUGCTL, "IA32_DEBUGCTL", ONE, false },
	{ MSR_PEBS_DATA_CFG, "MSR_PEBS_DATA_CFG", ONE, false },
	{ MSR_IA32_PEBS_ENABLE, "IA32_PEBS_ENABLE", ONE, false },
	{ MSR_IA32_FIXED_CTR_CTRL, "IA32_FIXED_CTR_CTRL", ONE, false },
	{ MSR_IA32_PERF_GLOBAL_CTRL, "IA32_PERF_GLOBAL_CTRL", ONE, false },
};
#define BANKS	(sizeof(banks) / sizeof(banks[0]))

/* Registers that no test writes; they describe the machine. */
static const struct {
	u32 msr;
	const char *name;
} others[] = {
	{ MSR_IA32_BIOS_SIGN_ID, "IA32_BIOS_SIGN_ID" },
	{ MSR_IA32_MISC_ENABLE, "IA32_MISC_ENABLE" },
	{ MSR_IA32_PERF_CAPABILITIES, "IA32_PERF_CAPABILITIES" },
	{ MSR_IA32_PERF_GLOBAL_STATUS, "IA32_PERF_GLOBAL_STATUS" },
};
#define OTHERS	(sizeof(others) / sizeof(others[0]))

static struct found {
	bool kept;
	u64 value[BANKS][BANK_MAX];
	u64 other[OTHERS];
	bool has_other[OTHERS];
} cpus[CPU_MAX];

/* Bit i: register i of the bank exists. */
static u32 members(const struct bank *bank)
{
	const struct pmu_caps *caps = counter_caps();
	bool version_2 = caps->version >= 2;
	u64 set;

	switch (bank->msr) {
	case MSR_IA32_DS_AREA:
		return caps->ds;
	case MSR_IA32_PEBS_ENABLE:
		return caps->pebs;
	case MSR_PEBS_DATA_CFG:
		return caps->baseline;
	case MSR_PERF_METRICS:
		return caps->metrics;
	case MSR_LBR_SELECT:
		return lbr_depth() > 0;
	case MSR_IA32_LBR_DEPTH:
	case MSR_IA32_LBR_CTL:
		return caps->arch_lbr;
	case MSR_IA32_TSX_FORCE_ABORT:
		return caps->tsx_force_abort;
	case MSR_IA32_FIXED_CTR_CTRL:
	case MSR_IA32_PERF_GLOBAL_CTRL:
		return version_2;
	case MSR_IA32_PEBS_BASE:
	case MSR_IA32_PEBS_INDEX:
		return caps->arch_pebs;
	case MSR_IA32_PMC_GP0_CFG_B:
	case MSR_IA32_PMC_FX0_CFG_B:
		set = caps->v6.reloadable;
		break;
	case MSR_IA32_PMC_GP0_CFG_C:
	case MSR_IA32_PMC_FX0_CFG_C:
		set = caps->v6.reloadable | caps->v6.pebs;
		break;
	default:
		set = counters_all().bits;
		break;
	}
	if (bank->members == PER_GP || bank->members == V6_PER_GP)
		return (u32)(set & BITS(0, BANK_MAX - 1));
	if (bank->members == PER_FIXED || bank->members == V6_PER_FIXED)
		return version_2 ? (u32)(set >> PMC_FIXED(0) & BITS(0, BANK_MAX - 1)) : 0;
	return 1;
}

static u32 member(const struct bank *bank, u32 msr, unsigned i)
{
	return msr + i * (bank->members >= V6_PER_GP ? V6_BANK_STRIDE : 1);
}

#define FOR_EACH_MEMBER(i, bank) \
	for (unsigned i = counter_next(members(bank), 0); i < BANK_MAX; \
	     i = counter_next(members(bank), i + 1))

static bool is_there(u32 msr)
{
	return msr == MSR_IA32_PERF_CAPABILITIES ? counter_caps()->pdcm :
	       msr == MSR_IA32_PERF_GLOBAL_STATUS ? counter_caps()->version >= 2 :
						    true;
}

void found_keep(void)
{
	struct found *found = &cpus[cpu_index()];

	if (found->kept || !counter_caps()->intel)
		return;
	for (unsigned i = 0; i < OTHERS; i++)
		found->has_other[i] = is_there(others[i].msr) &&
				      !msr_try_read(others[i].msr, &found->other[i]).raised;
	if (!counter_caps()->version)
		return;
	for (unsigned b = 0; b < BANKS; b++)
		FOR_EACH_MEMBER(i, &banks[b])
	if (msr_try_read(member(&banks[b], banks[b].msr, i), &found->value[b][i]).raised)
		found->value[b][i] = 0;
	found->kept = true;
}

/* IA32_PMCx takes 32 bits of a value; IA32_A_PMCx all. */
static u32 address(const struct bank *bank)
{
	return bank->msr == MSR_IA32_PMC0 && counter_caps()->full_width ? MSR_IA32_A_PMC0 :
									  bank->msr;
}

void found_put_back(void)
{
	const struct found *found = &cpus[cpu_index()];

	if (!found->kept)
		return;
	for (unsigned b = 0; b < BANKS; b++)
		FOR_EACH_MEMBER(i, &banks[b])
	if (found->value[b][i] || banks[b].msr == MSR_IA32_TSX_FORCE_ABORT)
		(void)msr_try_write(member(&banks[b], address(&banks[b]), i), found->value[b][i]);
}

const char *found_differs(void)
{
	const struct found *found = &cpus[cpu_index()];
	u64 value = 0;

	for (unsigned b = 0; found->kept && b < BANKS; b++) {
		if (banks[b].is_counter)
			continue;
		FOR_EACH_MEMBER(i, &banks[b])
		if (!msr_try_read(member(&banks[b], banks[b].msr, i), &value).raised &&
		    value != found->value[b][i])
			return banks[b].name;
	}
	return NULL;
}

/* Append ", NAME = value" to a line; n: index in the bank, or BANK_MAX. Returns the new length. */
static size_t found_add(char *line, size_t length, const char *name, unsigned n, u64 value)
{
	const char *comma = length ? ", " : "";

	if (length >= LINE_SIZE)
		return length;
	if (n == BANK_MAX)
		length += (size_t)fmt_print(line + length, LINE_SIZE - length, "%s%s = %#lx", comma,
					    name, value);
	else
		length += (size_t)fmt_print(line + length, LINE_SIZE - length, "%s%s%u = %#lx",
					    comma, name, n, value);
	return length;
}

void found_describe(struct tap *tap, unsigned cpu)
{
	const struct found *found = &cpus[cpu];
	char line[LINE_SIZE];
	size_t length = 0;

	if (!found->kept)
		return;
	for (unsigned b = 0; b < BANKS; b++)
		for (unsigned i = 0; i < BANK_MAX; i++)
			if (found->value[b][i])
				length = found_add(line, length, banks[b].name,
						   banks[b].members == ONE ? BANK_MAX : i,
						   found->value[b][i]);
	tap_comment(tap, "pmu as found on processor %u: %s", smp_number(cpu),
		    length ? line : "all 0");
}

static void say(struct tap *tap, unsigned cpu, u32 msr, u64 value, const char *name, unsigned n)
{
	if (n == BANK_MAX)
		tap_comment(tap, "rdmsr of processor %u: 0x%x = 0x%lx %s", smp_number(cpu), msr,
			    value, name);
	else
		tap_comment(tap, "rdmsr of processor %u: 0x%x = 0x%lx %s%u", smp_number(cpu), msr,
			    value, name, n);
}

void found_list(struct tap *tap, unsigned cpu)
{
	const struct found *found = &cpus[cpu];

	for (unsigned i = 0; i < OTHERS; i++)
		if (found->has_other[i])
			say(tap, cpu, others[i].msr, found->other[i], others[i].name, BANK_MAX);
	for (unsigned b = 0; found->kept && b < BANKS; b++)
		FOR_EACH_MEMBER(i, &banks[b])
	say(tap, cpu, member(&banks[b], banks[b].msr, i), found->value[b][i], banks[b].name,
	    banks[b].members == ONE ? BANK_MAX : i);
}
