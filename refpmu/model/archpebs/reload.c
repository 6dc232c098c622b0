/* SPDX-License-Identifier: MIT */
/*
 * The registers from 1900H on, and auto counter reload. SDM volume 4 names the registers. In Linux
 * _CTR and _CFG_A are aliases of the older counters and event selects (V6+ MSR aliasing). CFG_B is
 * a set of counters: the overflow of one of them loads this counter with its CFG_C[31:0]. If a
 * counter is in its own set, its overflow isn't visible.
 */
#include "refpmu/model/archpebs/archpebs.h"

/* The registers of a counter, in the order of their addresses. */
enum { SLOT_CTR, SLOT_CFG_A, SLOT_CFG_B, SLOT_CFG_C };
#define BANK_GP		32	/* counters that a bank has room for */
#define BANK_FIXED	16

/* Each counter has four addresses: CTR, CFG_A, CFG_B and CFG_C. General-purpose counters begin
 * at 1900H, fixed counters at 1980H: SDM volume 4, Linux MSR_IA32_PMC_V6_GP0_CTR. */
static bool find_in(u32 msr, u32 first, unsigned members, unsigned counters, unsigned at,
		    struct msr_ref *p)
{
	static const u8 regs[V6_BANK_STRIDE] = {
		[SLOT_CTR] = MODEL_REG_V6_CTR, [SLOT_CFG_A] = MODEL_REG_V6_CFG_A,
		[SLOT_CFG_B] = MODEL_REG_CFG_B, [SLOT_CFG_C] = MODEL_REG_CFG_C,
	};
	u32 offset = msr - first;

	if (msr < first || offset >= members * V6_BANK_STRIDE)
		return false;
	p->i = offset / V6_BANK_STRIDE;
	p->reg = (enum model_reg)regs[offset % V6_BANK_STRIDE];
	p->counter = p->i < counters ? at + p->i : MODEL_NO_COUNTER;
	return true;
}

bool model_v6_find(u32 msr, struct msr_ref *p)
{
	return find_in(msr, MSR_IA32_PMC_GP0_CTR, BANK_GP, MODEL_MAX_GP, 0, p) ||
	       find_in(msr, MSR_IA32_PMC_FX0_CTR, BANK_FIXED, MODEL_MAX_FIXED, FIRST_FIXED, p);
}

/* Fixed counters have no CFG_A. CFG_B exists for counters of CPUID.(23H,2):EAX and EBX, CFG_C
 * for these and for counters of CPUID.(23H,5): SDM volumes 1 and 4. */
bool model_v6_exists(const struct model *m, const struct msr_ref *p)
{
	if (p->counter == MODEL_NO_COUNTER || !model_has_counter(m, p->counter))
		return false;
	switch (p->reg) {
	case MODEL_REG_V6_CFG_A:
		return p->counter < FIRST_FIXED;
	case MODEL_REG_CFG_B:
		return model_reloadable(m) & BIT(p->counter);
	case MODEL_REG_CFG_C:
		return (model_reloadable(m) | model_arch_pebs_counters(m)) & BIT(p->counter);
	default:
		return true;
	}
}

/* Counters of CPUID.(23H,2):ECX and EDX, and [48] METRICS_CLEAR: SDM volume 4. A mail on Linux:
 * a write of bit 0 raised #GP on Panther Lake, which doesn't have that counter there. */
static u64 cfg_b_bits(const struct model *m, unsigned counter)
{
	u64 bits = model_status_bits(model_reload_causes(m));

	return counter == SLOTS_COUNTER && model_has_metrics(m) ?
		       bits | IA32_PMC_FX0_CFG_B_METRICS_CLEAR :
		       bits;
}

/* [31:0] RELOAD, [62:32] as CPUID.(23H,4):EBX has them, [63] PEBS_EN as CPUID.(23H,5) has the
 * counter. */
static u64 cfg_c_bits(const struct model *m, unsigned counter)
{
	if (!(model_arch_pebs_counters(m) & BIT(counter)))
		return IA32_PMC_GP0_CFG_C_RELOAD;
	return IA32_PMC_GP0_CFG_C_RELOAD | model_arch_pebs_groups(m) | IA32_PMC_GP0_CFG_C_PEBS_EN;
}

/* CTR takes all bits of the counter and doesn't extend bit 31, as IA32_PMCx does: Linux, V6+ MSR
 * aliasing. */
u64 model_v6_writable(const struct model *m, const struct msr_ref *p)
{
	switch (p->reg) {
	case MODEL_REG_V6_CTR:
		return model_width_mask(m, p->counter);
	case MODEL_REG_CFG_B:
		return cfg_b_bits(m, p->counter);
	default:
		return cfg_c_bits(m, p->counter);
	}
}

/* CTR is the counter, and CFG_A is its IA32_PERFEVTSELx: Linux, V6+ MSR aliasing. */
u64 model_v6_read(const struct model *m, const struct msr_ref *p)
{
	switch (p->reg) {
	case MODEL_REG_V6_CTR:
		return m->counter[p->counter].value;
	case MODEL_REG_V6_CFG_A:
		return m->perfevtsel[p->counter];
	case MODEL_REG_CFG_B:
		return m->cfg_b[p->counter];
	default:
		return m->cfg_c[p->counter];
	}
}

void model_v6_take(struct model *m, const struct msr_ref *p, u64 value)
{
	if (p->reg == MODEL_REG_CFG_B) {
		m->cfg_b[p->counter] = value;
		return;
	}
	/* A counter that is armed for one setting isn't armed for another one. */
	if ((value ^ m->cfg_c[p->counter]) & IA32_PMC_GP0_CFG_C_PEBS_EN)
		model_disarm(m, BIT(p->counter));
	m->cfg_c[p->counter] = value;
}

/* CFG_C[31:0] is the lower half of a negative count: Linux intel_pmu_enable_event_ext. No source
 * defines the bits above it: latitude reload-extends. */
u64 model_reload_value(const struct model *m, unsigned counter)
{
	u64 low = m->cfg_c[counter] & IA32_PMC_GP0_CFG_C_RELOAD;

	if (m->latitude[LAT_RELOAD_EXTENDS] && !(low & BIT(31)))
		return low;
	return low | ~IA32_PMC_GP0_CFG_C_RELOAD;
}

/* A counter in its own CFG_B reloads itself, and its overflow sets no bit of
 * IA32_PERF_GLOBAL_STATUS: Linux intel_pmu_enable_acr. */
bool model_reloads_itself(struct model *m, unsigned i)
{
	return fault_reloads_itself(m, i,
				    m->cfg_b[i] & model_global_bit(i) &&
					    model_reload_causes(m) & BIT(i));
}

/* An overflow loads each counter whose CFG_B has the overflowing counter: Linux
 * intel_pmu_enable_acr. Only counters of CPUID.(23H,2):ECX and EDX do so: SDM volume 1. */
void model_reload_by(struct model *m, u64 wrapped)
{
	u64 causes = fault_reload_causes(m, wrapped, wrapped & model_reload_causes(m));
	u64 named = model_status_bits(causes);

	if (!causes)
		return;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (fault_reloads(m, i, causes, m->cfg_b[i] & named))
			model_preset_counter(m, i,
					     fault_reload_value(m, i, model_reload_value(m, i)));
}
