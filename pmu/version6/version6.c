/* SPDX-License-Identifier: MIT */
/* See version6.h. SDM volume 1, CPUID leaf 23H: Architectural Performance Monitoring Extended. */
#include "pmu/version6/version6.h"

#include "spec/msr.h"

#define LEAF_BASIC	0x0u
#define LEAF_FEATURES	0x7u
#define LEAF_EXTENDED	0x23u

#define PERFMON_EXT	BIT(8)		/* CPUID.(07H,1):EAX */

enum reg { EAX, EBX, ECX, EDX };
enum subleaf { SUB_FEATURES, SUB_COUNTERS, SUB_RELOAD, SUB_EVENTS, SUB_GROUPS, SUB_PEBS };

#define FIXED_FIRST	32u		/* position of fixed counter 0 */

typedef void cpuid_function(u32 leaf, u32 subleaf, u32 regs[4]);

static bool has_leaf(cpuid_function *cpuid)
{
	u32 regs[4];

	cpuid(LEAF_BASIC, 0, regs);
	if (regs[EAX] < LEAF_EXTENDED)
		return false;
	cpuid(LEAF_FEATURES, 0, regs);
	if (!regs[EAX])		/* no sub-leaf 1 */
		return false;
	cpuid(LEAF_FEATURES, 1, regs);
	return regs[EAX] & PERFMON_EXT;
}

static u64 set_of(u32 gp, u32 fixed)
{
	return gp | (u64)fixed << FIXED_FIRST;
}

/* The registers are 0 if sub-leaf 0 doesn't list this sub-leaf. */
static void read_subleaf(const struct version6 *v, enum subleaf n, cpuid_function *cpuid,
			 u32 regs[4])
{
	for (unsigned i = 0; i < 4; i++)
		regs[i] = 0;
	if (v->subleaves & BIT(n))
		cpuid(LEAF_EXTENDED, (u32)n, regs);
}

struct version6 version6_read(cpuid_function *cpuid)
{
	struct version6 v = { .leaf = has_leaf(cpuid) };
	u32 regs[4];

	if (!v.leaf)
		return v;
	cpuid(LEAF_EXTENDED, SUB_FEATURES, regs);
	v.subleaves = regs[EAX];
	v.umask2 = regs[EBX] & BIT(0);
	v.equal = regs[EBX] & BIT(1);
	v.rdpmc_user_disable = regs[EBX] & BIT(2);
	v.slots_per_cycle = regs[ECX] & 0xff;
	read_subleaf(&v, SUB_COUNTERS, cpuid, regs);
	v.counters = set_of(regs[EAX], regs[EBX]);
	read_subleaf(&v, SUB_RELOAD, cpuid, regs);
	v.reloadable = set_of(regs[EAX], regs[EBX]);
	v.causes = set_of(regs[ECX], regs[EDX]);
	read_subleaf(&v, SUB_EVENTS, cpuid, regs);
	v.events = regs[EAX];
	read_subleaf(&v, SUB_GROUPS, cpuid, regs);
	v.groups = regs[EBX];
	read_subleaf(&v, SUB_PEBS, cpuid, regs);
	v.pebs = set_of(regs[EAX], regs[ECX]);
	v.pdist = set_of(regs[EBX], regs[EDX]);
	return v;
}

bool version6_has_arch_pebs(const struct version6 *v)
{
	return v->subleaves & BIT(SUB_GROUPS) && v->subleaves & BIT(SUB_PEBS);
}

unsigned counter_next(u64 set, unsigned from)
{
	while (from < COUNTERS_END && !(set & BIT(from)))
		from++;
	return from;
}

static u32 member(u32 general, u32 fixed, unsigned counter)
{
	return counter < FIXED_FIRST ? general + V6_BANK_STRIDE * counter :
				       fixed + V6_BANK_STRIDE * (counter - FIXED_FIRST);
}

u32 version6_ctr(unsigned counter)
{
	return member(MSR_IA32_PMC_GP0_CTR, MSR_IA32_PMC_FX0_CTR, counter);
}

u32 version6_cfg_a(unsigned counter)
{
	return MSR_IA32_PMC_GP0_CFG_A + V6_BANK_STRIDE * counter;
}

u32 version6_cfg_b(unsigned counter)
{
	return member(MSR_IA32_PMC_GP0_CFG_B, MSR_IA32_PMC_FX0_CFG_B, counter);
}

u32 version6_cfg_c(unsigned counter)
{
	return member(MSR_IA32_PMC_GP0_CFG_C, MSR_IA32_PMC_FX0_CFG_C, counter);
}

bool version6_has_cfg_c(const struct version6 *v, unsigned counter)
{
	return (v->reloadable | v->pebs) & BIT(counter);
}

u64 version6_cfg_c_bits(const struct version6 *v, unsigned counter)
{
	u64 bits = IA32_PMC_GP0_CFG_C_RELOAD;

	if (!version6_has_cfg_c(v, counter))
		return 0;
	if (v->pebs & BIT(counter))
		bits |= (u64)v->groups << 32 | IA32_PMC_GP0_CFG_C_PEBS_EN;
	return bits;
}
