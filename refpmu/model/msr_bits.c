/* SPDX-License-Identifier: MIT */
/* The registers of the presented processor, and their bits, from spec/msr.def. */
#include "refpmu/model/msr.h"

#include "refpmu/model/archpebs/archpebs.h"
#include "refpmu/model/lbr.h"
#include "refpmu/model/record.h"
#include "spec/arch_lbr.h"

static const struct {
	u8 of, lo, hi, cap, access;
} fields[] = {
#define MSR_FIELD(msr, field, lo, hi, cap, access, source) { OF_##msr, lo, hi, cap, access },
#include "spec/msr.def"
};

/*
 * The bits of a field that exist on this processor, counted from the field's lowest bit. Figure
 * 18-20 has for example "OVF_PC4 (R/O), if CCNT>4", with CCNT from CPUID.0AH:EAX[15:8]. The
 * source of each field and its condition is in its row of spec/msr.def.
 */
static u64 existing_bits(const struct model *m, enum spec_cap cap)
{
	const struct generation *g = model_generation(m);
	const u64 all = ~0ULL;

	switch (cap) {
	case CAP_ALWAYS:
	case CAP_DS:
		return all;
	case CAP_V2:
		return model_core_version(m) >= 2 ? all : 0;
	case CAP_V3:
		return model_core_version(m) >= 3 ? all : 0;
	case CAP_V4:
		return model_version_4(m) ? all : 0;
	case CAP_GP_MASK:
		return model_gp_mask(m);
	case CAP_FIXED_MASK:
		return model_fixed_mask(m);
	case CAP_FIXED0:
		return model_has_counter(m, FIRST_FIXED + 0) ? all : 0;
	case CAP_FIXED1:
		return model_has_counter(m, FIRST_FIXED + 1) ? all : 0;
	case CAP_FIXED2:
		return model_has_counter(m, FIRST_FIXED + 2) ? all : 0;
	case CAP_FIXED3:
		return model_has_counter(m, SLOTS_COUNTER) ? all : 0;
	case CAP_ANYTHREAD:
		return model_has_anythread(m) ? all : 0;
	case CAP_FIXED0_ANYTHREAD:
		return model_has_counter(m, FIRST_FIXED + 0) && model_has_anythread(m) ? all : 0;
	case CAP_FIXED1_ANYTHREAD:
		return model_has_counter(m, FIRST_FIXED + 1) && model_has_anythread(m) ? all : 0;
	case CAP_FIXED2_ANYTHREAD:
		return model_has_counter(m, FIRST_FIXED + 2) && model_has_anythread(m) ? all : 0;
	case CAP_PEBS_MASK:
		return model_pebs_counters(m);
	case CAP_LL_MASK:
		return g->facilities & FAC_LL_UNARMED ? 0 : g->ll_mask & model_pebs_counters(m);
	case CAP_LL:
		return g->facilities & FAC_LOAD_LATENCY ? all : 0;
	case CAP_PRECISE_STORE:
		return g->facilities & FAC_PRECISE_STORE ? all : 0;
	case CAP_SMM_FREEZE:
		return model_capabilities(m) & IA32_PERF_CAPABILITIES_SMM_FREEZE ? all : 0;
	case CAP_RTM:
	case CAP_RTM_PMC2:
		return model_has_tx(m) || (m->facts & FACT_IN_TX_OPEN && g->facilities & FAC_TSX) ?
			       all :
			       0;
	case CAP_FW_WRITE:
		return model_capabilities(m) & IA32_PERF_CAPABILITIES_FW_WRITE ? all : 0;
	case CAP_OFFCORE:
		return g->facilities & FAC_OFFCORE ? all : 0;
	case CAP_OFFCORE_2:
		return g->facilities & FAC_OFFCORE_2 ? all : 0;
	case CAP_OFFCORE_NHM:
		return g->facilities & FAC_OFFCORE_SNB ? 0 : all;
	case CAP_OFFCORE_SNB:
		return g->facilities & FAC_OFFCORE_SNB ? all : 0;
	case CAP_UNCORE:
		return g->facilities & FAC_UNCORE ? all : 0;
	case CAP_UNCORE_CLIENT:
		return g->facilities & FAC_UNCORE_CLIENT ? all : 0;
	case CAP_FRONTEND:
		return g->facilities & FAC_FRONTEND ? all : 0;
	case CAP_FRONTEND_MS:
		return g->facilities & FAC_FRONTEND_MS ? all : 0;
	case CAP_LBR:
		return g->facilities & FAC_LBR ? all : 0;
	case CAP_LBR_CALL_STACK:
		return g->facilities & FAC_LBR_CALL_STACK ? all : 0;
	case CAP_LBR_INFO:
		return model_lbr_has_info(m) ? all : 0;
	case CAP_LBR_TOS_MASK:
		return model_lbr_entries(m) ? model_lbr_entries(m) - 1 : 0;
	case CAP_TSX_FORCE_ABORT:
		return model_has_force_abort(m) ? all : 0;
	case CAP_BASELINE:
		return model_has_baseline(m) ? all : 0;
	case CAP_BASELINE_FIXED0:
	case CAP_BASELINE_FIXED1:
	case CAP_BASELINE_FIXED2:
	case CAP_BASELINE_FIXED3:
	case CAP_BASELINE_FIXED4:
	case CAP_BASELINE_FIXED5:
	case CAP_BASELINE_FIXED6:
		return model_has_baseline(m) && model_has_counter(m, FIRST_FIXED + cap -
									     CAP_BASELINE_FIXED0) ?
			       all :
			       0;
	case CAP_BASELINE_FIXED_MASK:
		return model_has_baseline(m) ? model_fixed_mask(m) : 0;
	case CAP_PERF_METRICS:
		return model_has_metrics(m) ? all : 0;
	case CAP_METRICS_LEVEL_2:
		return model_has_metrics(m) && g->facilities & FAC_METRICS_LEVEL_2 ? all : 0;
	case CAP_METRICS_CLEAR:
		return model_has_metrics(m) && model_capabilities(m) &
						       IA32_PERF_CAPABILITIES_RDPMC_METRICS_CLEAR ?
			       all :
			       0;
	case CAP_ARCH_LBR:
		return model_has_arch_lbr(m) ? all : 0;
	case CAP_ARCH_LBR_CPL:
		return model_arch_lbr_filters_cpl(m) ? all : 0;
	case CAP_ARCH_LBR_BRANCH:
		return model_arch_lbr_filters_branches(m) ? all : 0;
	case CAP_ARCH_LBR_CALL_STACK:
		return model_arch_lbr_has_call_stack(m) ? all : 0;
	case CAP_ARCH_LBR_LOG:
		return model_lbr_logging(m) ? all : 0;
	case CAP_SGX:
		return model_told_or(m, LAT_SGX, false) ? all : 0;
	case CAP_PT:
		return model_told_or(m, LAT_PT, false) ? all : 0;
	case CAP_LBR_CORE2:
		return 0;
	case CAP_V6:
		return model_core_version(m) >= 6 && model_version_4(m) ? all : 0;
	case CAP_FIXED4:
		return model_has_counter(m, FIRST_FIXED + 4) ? all : 0;
	case CAP_FIXED5:
		return model_has_counter(m, FIRST_FIXED + 5) ? all : 0;
	case CAP_FIXED6:
		return model_has_counter(m, FIRST_FIXED + 6) ? all : 0;
	case CAP_UMASK2:
		return model_has_umask2(m) ? all : 0;
	case CAP_EQ:
		return model_has_eq(m) ? all : 0;
	case CAP_RDPMC_USER_DISABLE:
		return model_has_rdpmc_user_disable(m) ? all : 0;
	case CAP_FIXED0_RDPMC_USER_DISABLE:
	case CAP_FIXED1_RDPMC_USER_DISABLE:
	case CAP_FIXED2_RDPMC_USER_DISABLE:
	case CAP_FIXED3_RDPMC_USER_DISABLE:
	case CAP_FIXED4_RDPMC_USER_DISABLE:
	case CAP_FIXED5_RDPMC_USER_DISABLE:
	case CAP_FIXED6_RDPMC_USER_DISABLE:
		return model_has_rdpmc_user_disable(m) &&
				       model_has_counter(m, FIRST_FIXED + cap -
								    CAP_FIXED0_RDPMC_USER_DISABLE) ?
			       all :
			       0;
	case CAP_RELOAD:
		return model_reloadable(m) ? all : 0;
	case CAP_CAUSE_GP:
		return model_reload_causes(m) & BITS(0, FIRST_FIXED - 1);
	case CAP_CAUSE_FIXED:
		return model_reload_causes(m) >> FIRST_FIXED;
	case CAP_RELOAD_METRICS:
		return model_reloadable(m) && model_has_metrics(m) ? all : 0;
	case CAP_ARCH_PEBS:
		return model_has_arch_pebs(m) ? all : 0;
	case CAP_CFG_C:
		return model_reloadable(m) || model_has_arch_pebs(m) ? all : 0;
	case CAP_CFG_C_BY_LEAF:
	case CAP_CFG_C_PEBS:
		return model_has_arch_pebs(m) ? all : 0;
	case CAP_SNAPSHOT:
		return model_has_baseline(m) && model_pebs_format(m) == PEBS_FORMAT_SNAPSHOT ? all :
											       0;
	}
	return 0;
}

/* A bit without a row in spec/msr.def is reserved in the figure of its register. */
u64 model_defined_bits(const struct model *m, enum fields_of of)
{
	u64 bits = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].of == of)
			bits |= BITS(fields[i].lo, fields[i].hi) & existing_bits(m, fields[i].cap)
									   << fields[i].lo;
	return bits;
}

/* The capability that a processor needs for the register: the column of spec/msr.def. */
enum {
#define MSR(name, address, cap, source) CAP_OF_##name = (cap),
#include "spec/msr.def"
};

/* Banks answer as a whole: a member that the processor doesn't have raises #GP. */
static const struct {
	u32 first, members;
	u8 reg, cap;
} registers[] = {
	{ MSR_IA32_PMC0, MODEL_MAX_GP, MODEL_REG_PMC, CAP_OF_IA32_PMC0 },
	{ MSR_IA32_A_PMC0, MODEL_MAX_GP, MODEL_REG_A_PMC, CAP_OF_IA32_A_PMC0 },
	{ MSR_IA32_PERFEVTSEL0, MODEL_MAX_GP, MODEL_REG_PERFEVTSEL, CAP_OF_IA32_PERFEVTSEL0 },
	/* One more than any processor has. */
	{ MSR_IA32_FIXED_CTR0, MODEL_MAX_FIXED + 1, MODEL_REG_FIXED_CTR, CAP_OF_IA32_FIXED_CTR0 },
	{ MSR_IA32_FIXED_CTR_CTRL, 1, MODEL_REG_FIXED_CTR_CTRL, CAP_OF_IA32_FIXED_CTR_CTRL },
	{ MSR_IA32_PERF_GLOBAL_CTRL, 1, MODEL_REG_GLOBAL_CTRL, CAP_OF_IA32_PERF_GLOBAL_CTRL },
	{ MSR_IA32_PERF_GLOBAL_STATUS, 1, MODEL_REG_GLOBAL_STATUS, CAP_OF_IA32_PERF_GLOBAL_STATUS },
	{ MSR_IA32_PERF_GLOBAL_OVF_CTRL, 1, MODEL_REG_OVF_CTRL, CAP_OF_IA32_PERF_GLOBAL_OVF_CTRL },
	{ MSR_IA32_PEBS_ENABLE, 1, MODEL_REG_PEBS_ENABLE, CAP_OF_IA32_PEBS_ENABLE },
	{ MSR_IA32_PEBS_BASE, 1, MODEL_REG_PEBS_BASE, CAP_OF_IA32_PEBS_BASE },
	{ MSR_IA32_PEBS_INDEX, 1, MODEL_REG_PEBS_INDEX, CAP_OF_IA32_PEBS_INDEX },
	{ MSR_PEBS_LD_LAT_THRESHOLD, 1, MODEL_REG_LD_LAT, CAP_OF_PEBS_LD_LAT_THRESHOLD },
	{ MSR_IA32_DS_AREA, 1, MODEL_REG_DS_AREA, CAP_OF_IA32_DS_AREA },
	{ MSR_IA32_DEBUGCTL, 1, MODEL_REG_DEBUGCTL, CAP_OF_IA32_DEBUGCTL },
	{ MSR_OFFCORE_RSP_0, 1, MODEL_REG_OFFCORE_RSP_0, CAP_OF_OFFCORE_RSP_0 },
	{ MSR_OFFCORE_RSP_1, 1, MODEL_REG_OFFCORE_RSP_1, CAP_OF_OFFCORE_RSP_1 },
	{ MSR_IA32_PERF_CAPABILITIES, 1, MODEL_REG_PERF_CAPABILITIES,
	  CAP_OF_IA32_PERF_CAPABILITIES },
	{ MSR_IA32_MISC_ENABLE, 1, MODEL_REG_MISC_ENABLE, CAP_OF_IA32_MISC_ENABLE },
	{ MSR_SMI_COUNT, 1, MODEL_REG_SMI_COUNT, CAP_OF_SMI_COUNT },
	{ MSR_IA32_PERF_GLOBAL_STATUS_SET, 1, MODEL_REG_STATUS_SET,
	  CAP_OF_IA32_PERF_GLOBAL_STATUS_SET },
	{ MSR_IA32_PERF_GLOBAL_INUSE, 1, MODEL_REG_INUSE, CAP_OF_IA32_PERF_GLOBAL_INUSE },
	{ MSR_PEBS_DATA_CFG, 1, MODEL_REG_PEBS_DATA_CFG, CAP_OF_PEBS_DATA_CFG },
	{ MSR_PERF_METRICS, 1, MODEL_REG_PERF_METRICS, CAP_OF_PERF_METRICS },
	{ MSR_PEBS_FRONTEND, 1, MODEL_REG_PEBS_FRONTEND, CAP_OF_PEBS_FRONTEND },
	{ MSR_IA32_TSX_FORCE_ABORT, 1, MODEL_REG_TSX_FORCE_ABORT, CAP_OF_IA32_TSX_FORCE_ABORT },
	{ MSR_UNC_PERF_GLOBAL_CTRL, 1, MODEL_REG_UNC_CTRL, CAP_OF_UNC_PERF_GLOBAL_CTRL },
	{ MSR_UNC_PERF_GLOBAL_STATUS, 1, MODEL_REG_UNC_STATUS, CAP_OF_UNC_PERF_GLOBAL_STATUS },
	{ MSR_LBR_CORE_FROM, MODEL_LBR_CORE2, MODEL_REG_LBR_CORE2, CAP_OF_LBR_CORE_FROM },
	{ MSR_LBR_CORE_TO, MODEL_LBR_CORE2, MODEL_REG_LBR_CORE2, CAP_OF_LBR_CORE_TO },
	{ MSR_LBR_SELECT, 1, MODEL_REG_LBR_SELECT, CAP_OF_LBR_SELECT },
	{ MSR_LASTBRANCH_TOS, 1, MODEL_REG_LBR_TOS, CAP_OF_LASTBRANCH_TOS },
	{ MSR_LASTBRANCH_0_FROM_IP, MODEL_LBR_ENTRIES, MODEL_REG_LBR_FROM,
	  CAP_OF_LASTBRANCH_0_FROM_IP },
	{ MSR_LASTBRANCH_0_TO_IP, MODEL_LBR_ENTRIES, MODEL_REG_LBR_TO, CAP_OF_LASTBRANCH_0_TO_IP },
	{ MSR_IA32_LBR_CTL, 1, MODEL_REG_ARCH_LBR_CTL, CAP_OF_IA32_LBR_CTL },
	{ MSR_IA32_LBR_DEPTH, 1, MODEL_REG_ARCH_LBR_DEPTH, CAP_OF_IA32_LBR_DEPTH },
	{ MSR_IA32_LBR_0_FROM_IP, ARCH_LBR_MAX_ENTRIES, MODEL_REG_ARCH_LBR_FROM,
	  CAP_OF_IA32_LBR_0_FROM_IP },
	{ MSR_IA32_LBR_0_TO_IP, ARCH_LBR_MAX_ENTRIES, MODEL_REG_ARCH_LBR_TO,
	  CAP_OF_IA32_LBR_0_TO_IP },
	{ MSR_IA32_LBR_0_INFO, ARCH_LBR_MAX_ENTRIES, MODEL_REG_ARCH_LBR_INFO,
	  CAP_OF_IA32_LBR_0_INFO },
	{ MSR_LBR_INFO_0, MODEL_LBR_ENTRIES, MODEL_REG_LBR_INFO, CAP_OF_LBR_INFO_0 },
	{ MSR_UNCORE_PERF_GLOBAL_CTRL, 1, MODEL_REG_UNCORE_GLOBAL_CTRL,
	  CAP_OF_UNCORE_PERF_GLOBAL_CTRL },
	{ MSR_UNCORE_PERF_GLOBAL_STATUS, 1, MODEL_REG_UNCORE_GLOBAL_STATUS,
	  CAP_OF_UNCORE_PERF_GLOBAL_STATUS },
	{ MSR_UNCORE_PERF_GLOBAL_OVF_CTRL, 1, MODEL_REG_UNCORE_OVF_CTRL,
	  CAP_OF_UNCORE_PERF_GLOBAL_OVF_CTRL },
	{ MSR_UNCORE_FIXED_CTR0, 1, MODEL_REG_UNCORE_FIXED_CTR, CAP_OF_UNCORE_FIXED_CTR0 },
	{ MSR_UNCORE_FIXED_CTR_CTRL, 1, MODEL_REG_UNCORE_FIXED_CTR_CTRL,
	  CAP_OF_UNCORE_FIXED_CTR_CTRL },
	{ MSR_UNCORE_ADDR_OPCODE_MATCH, 1, MODEL_REG_UNCORE_MATCH,
	  CAP_OF_UNCORE_ADDR_OPCODE_MATCH },
	{ MSR_UNCORE_PMC0, UNCORE_GP, MODEL_REG_UNCORE_PMC, CAP_OF_UNCORE_PMC0 },
	{ MSR_UNCORE_PERFEVTSEL0, UNCORE_GP, MODEL_REG_UNCORE_PERFEVTSEL,
	  CAP_OF_UNCORE_PERFEVTSEL0 },
};

/*
 * Is another register at this address? The registers at 391H and 392H depend on the processor:
 * IA32_PERF_GLOBAL_STATUS_SET and INUSE from version 4 on, or the uncore's (Table 35-13). After
 * the last branch records there are registers of other facilities: Linux msr-index.h.
 */
static bool is_another(const struct model *m, const struct msr_ref *p)
{
	switch (p->reg) {
	case MODEL_REG_STATUS_SET:
	case MODEL_REG_INUSE:
		return model_generation(m)->facilities & FAC_UNCORE;
	case MODEL_REG_LBR_FROM:
		return !model_has_arch_lbr(m) && p->i >= model_lbr_entries(m);
	default:
		return false;
	}
}

struct msr_ref model_msr_find(const struct model *m, u32 msr)
{
	struct msr_ref p = { .reg = MODEL_REG_NONE, .counter = MODEL_NO_COUNTER };

	if (model_v6_find(msr, &p))
		return p;
	for (size_t n = 0; n < sizeof(registers) / sizeof(registers[0]); n++) {
		p.i = msr - registers[n].first;
		if (p.i >= registers[n].members)
			continue;
		p.reg = (enum model_reg)registers[n].reg;
		if (is_another(m, &p)) {
			p.reg = MODEL_REG_NONE;
			continue;
		}
		if (p.reg == MODEL_REG_PMC || p.reg == MODEL_REG_A_PMC ||
		    p.reg == MODEL_REG_PERFEVTSEL)
			p.counter = p.i;
		else if (p.reg == MODEL_REG_FIXED_CTR)
			p.counter = FIRST_FIXED + p.i;
		break;
	}
	return p;
}

static enum spec_cap capability(enum model_reg reg)
{
	if (reg == MODEL_REG_V6_CTR || reg == MODEL_REG_V6_CFG_A)
		return (enum spec_cap)CAP_OF_IA32_PMC_GP0_CTR;
	if (reg == MODEL_REG_CFG_B)
		return (enum spec_cap)CAP_OF_IA32_PMC_GP0_CFG_B;
	if (reg == MODEL_REG_CFG_C)
		return (enum spec_cap)CAP_OF_IA32_PMC_GP0_CFG_C;
	for (size_t n = 0; n < sizeof(registers) / sizeof(registers[0]); n++)
		if (registers[n].reg == reg)
			return (enum spec_cap)registers[n].cap;
	return CAP_ALWAYS;
}

/*
 * Does the processor have the register? Without IA32_PERF_CAPABILITIES.FW_WRITE there is no
 * IA32_A_PMCx: "Full-Width Writes to Performance Counter Registers". PDCM and DS of CPUID.01H
 * tell of IA32_PERF_CAPABILITIES and IA32_DS_AREA. With architectural PEBS there is no
 * IA32_PEBS_ENABLE: Linux. The registers that guests don't have: profile.def.
 */
static bool exists(const struct model *m, const struct msr_ref *p)
{
	if (model_generation(m)->facilities & FAC_NETBURST)
		return p->reg == MODEL_REG_DS_AREA || p->reg == MODEL_REG_DEBUGCTL ||
		       p->reg == MODEL_REG_MISC_ENABLE;
	if (m->facts & FACT_NO_PMU)
		return p->reg == MODEL_REG_DEBUGCTL || p->reg == MODEL_REG_MISC_ENABLE ||
		       p->reg == MODEL_REG_SMI_COUNT;
	if (!existing_bits(m, capability(p->reg)))
		return false;
	switch (p->reg) {
	case MODEL_REG_STATUS_SET:
	case MODEL_REG_INUSE:
		return model_version_4(m);
	case MODEL_REG_LBR_SELECT:
	case MODEL_REG_LBR_TOS:
	case MODEL_REG_LBR_FROM:
	case MODEL_REG_LBR_TO:
	case MODEL_REG_LBR_INFO:
		return p->i < model_lbr_entries(m) && !(m->facts & FACT_DEBUGCTL_EMPTY) &&
		       !model_has_arch_lbr(m);
	case MODEL_REG_ARCH_LBR_FROM:
	case MODEL_REG_ARCH_LBR_TO:
	case MODEL_REG_ARCH_LBR_INFO:
		return p->i < model_lbr_entries(m);
	case MODEL_REG_PEBS_FRONTEND:
	case MODEL_REG_LD_LAT:
		return !(m->facts & (FACT_NO_PEBS | FACT_BASIC_PEBS));
	case MODEL_REG_UNC_CTRL:
	case MODEL_REG_UNC_STATUS:
		return !(m->facts & FACT_NO_UNCORE);
	case MODEL_REG_FIXED_CTR:
		return model_has_counter(m, p->counter);
	case MODEL_REG_A_PMC:
	case MODEL_REG_PMC:
	case MODEL_REG_PERFEVTSEL:
		return model_gp_mask(m) & BIT(p->i);
	case MODEL_REG_PERF_CAPABILITIES:
		return model_told_or(m, LAT_PDCM, true);
	case MODEL_REG_DS_AREA:
		return model_told_or(m, LAT_DS, !(m->facts & FACT_WITHOUT_PEBS));
	case MODEL_REG_PEBS_ENABLE:
		return !(m->facts & FACT_WITHOUT_PEBS) && !model_has_arch_pebs(m);
	case MODEL_REG_V6_CTR:
	case MODEL_REG_V6_CFG_A:
	case MODEL_REG_CFG_B:
	case MODEL_REG_CFG_C:
		return model_v6_exists(m, p);
	case MODEL_REG_OFFCORE_RSP_0:
	case MODEL_REG_OFFCORE_RSP_1:
		return !(m->facts & FACT_NO_OFFCORE);
	default:
		return !(model_uncore_has(p->reg) && m->facts & FACT_NO_UNCORE);
	}
}

bool model_msr_exists(struct model *m, const struct msr_ref *p)
{
	return fault_msr_exists(m, p, exists(m, p));
}

/* The address below the flags must be canonical (WRMSR, "Protected Mode Exceptions"). Flags of
 * each format: spec/lbr.def. */
static u64 lbr_address_bits(const struct model *m, const struct msr_ref *p, u64 value)
{
	u64 flags = model_lbr_flags(m, p->reg);
	u64 address = value & BIT(47) ? value | flags : value & ~flags;

	return address_is_canonical(address) ? ~0ULL : BITS(0, 46) | flags;
}

/* Bits of IA32_PERF_GLOBAL_STATUS_RESET, in addition to those of version 3. */
#define OF_VERSION_4	(IA32_PERF_GLOBAL_STATUS_LBR_FRZ | IA32_PERF_GLOBAL_STATUS_CTR_FRZ)

/*
 * The bits that may be 1; the others are reserved, and WRMSR raises #GP. Counters written in full
 * width: "Full-Width Writes to Performance Counter Registers". IN_TXCP is a bit of
 * IA32_PERFEVTSEL2 alone: "Performance Monitoring and Intel TSX". IA32_DS_AREA takes canonical
 * addresses: KVM.
 */
static u64 writable(const struct model *m, const struct msr_ref *p, u64 value)
{
	u64 bits;

	switch (p->reg) {
	case MODEL_REG_FIXED_CTR:
		if (m->facts & FACT_FIXED_ANY_WIDTH)
			return ~0ULL;
		return model_width_mask(m, p->counter);
	case MODEL_REG_A_PMC:
		return model_width_mask(m, p->counter);
	case MODEL_REG_V6_CTR:
	case MODEL_REG_CFG_B:
	case MODEL_REG_CFG_C:
		return model_v6_writable(m, p);
	case MODEL_REG_PEBS_BASE:
		return model_defined_bits(m, OF_IA32_PEBS_BASE);
	case MODEL_REG_PEBS_INDEX:
		return model_defined_bits(m, OF_IA32_PEBS_INDEX);
	case MODEL_REG_V6_CFG_A:
	case MODEL_REG_PERFEVTSEL:
		bits = model_defined_bits(m, OF_IA32_PERFEVTSEL);
		if (!(model_lbr_logging(m) & BIT(p->i)))
			bits &= ~IA32_PERFEVTSEL_EN_LBR_LOG;
		return p->i == 2 ? bits : bits & ~IA32_PERFEVTSEL_IN_TXCP;
	case MODEL_REG_FIXED_CTR_CTRL:
		return model_defined_bits(m, OF_IA32_FIXED_CTR_CTRL);
	case MODEL_REG_GLOBAL_CTRL:
		return model_defined_bits(m, OF_IA32_PERF_GLOBAL_CTRL);
	case MODEL_REG_OVF_CTRL:
		bits = model_defined_bits(m, OF_IA32_PERF_GLOBAL_OVF_CTRL);
		if (m->facts & FACT_OVF_CTRL_PASSED)
			return model_core_version(m) >= 4 ? bits | OF_VERSION_4 : bits;
		return m->facts & FACT_NO_UNCORE ?
			       bits & ~IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_UNCORE :
			       bits;
	case MODEL_REG_STATUS_SET:
		bits = model_defined_bits(m, OF_IA32_PERF_GLOBAL_STATUS_SET);
		return m->facts & FACT_NO_UNCORE ?
			       bits & ~IA32_PERF_GLOBAL_STATUS_SET_SET_OVF_UNCORE :
			       bits;
	case MODEL_REG_PEBS_FRONTEND:
		return model_defined_bits(m, OF_PEBS_FRONTEND);
	case MODEL_REG_PEBS_DATA_CFG:
		bits = model_defined_bits(m, OF_PEBS_DATA_CFG);
		return m->latitude[LAT_SNAPSHOT_ABSENT] ? bits : bits & ~model_snapshot_absent(m);
	case MODEL_REG_PERF_METRICS:
		return model_defined_bits(m, OF_PERF_METRICS);
	case MODEL_REG_TSX_FORCE_ABORT:
		return model_defined_bits(m, OF_IA32_TSX_FORCE_ABORT);
	case MODEL_REG_UNC_CTRL:
		return model_defined_bits(m, OF_UNC_PERF_GLOBAL_CTRL);
	case MODEL_REG_LBR_SELECT:
		return model_defined_bits(m, OF_LBR_SELECT);
	case MODEL_REG_LBR_TOS:
		return model_defined_bits(m, OF_LASTBRANCH_TOS);
	case MODEL_REG_LBR_FROM:
		return lbr_address_bits(m, p, value);
	case MODEL_REG_ARCH_LBR_CTL:
		return model_defined_bits(m, OF_IA32_LBR_CTL);
	case MODEL_REG_LBR_TO:
	case MODEL_REG_ARCH_LBR_FROM:
	case MODEL_REG_ARCH_LBR_TO:
		return address_is_canonical(value) ? ~0ULL : BITS(0, 46);
	case MODEL_REG_PEBS_ENABLE:
		return model_defined_bits(m, OF_IA32_PEBS_ENABLE);
	case MODEL_REG_LD_LAT:
		return model_defined_bits(m, OF_PEBS_LD_LAT_THRESHOLD);
	case MODEL_REG_DS_AREA:
		return address_is_canonical(value) ? ~0ULL : BITS(0, 46);
	case MODEL_REG_DEBUGCTL:
		if (m->facts & FACT_DEBUGCTL_EMPTY)
			return IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_BTF;
		return model_defined_bits(m, OF_IA32_DEBUGCTL);
	case MODEL_REG_OFFCORE_RSP_0:
	case MODEL_REG_OFFCORE_RSP_1:
		return model_defined_bits(m, OF_OFFCORE_RSP);
	case MODEL_REG_UNCORE_GLOBAL_CTRL:
		return model_defined_bits(m, OF_UNCORE_PERF_GLOBAL_CTRL);
	case MODEL_REG_UNCORE_OVF_CTRL:
		return model_defined_bits(m, OF_UNCORE_PERF_GLOBAL_OVF_CTRL);
	case MODEL_REG_UNCORE_FIXED_CTR:
		return model_defined_bits(m, OF_UNCORE_FIXED_CTR);
	case MODEL_REG_UNCORE_FIXED_CTR_CTRL:
		return model_defined_bits(m, OF_UNCORE_FIXED_CTR_CTRL);
	case MODEL_REG_UNCORE_MATCH:
		return model_defined_bits(m, OF_UNCORE_ADDR_OPCODE_MATCH);
	case MODEL_REG_UNCORE_PMC:
		return model_defined_bits(m, OF_UNCORE_PMC);
	case MODEL_REG_UNCORE_PERFEVTSEL:
		return model_defined_bits(m, OF_UNCORE_PERFEVTSEL);
	default:
		return ~0ULL;
	}
}

u64 model_msr_writable(struct model *m, const struct msr_ref *p, u64 value)
{
	return fault_msr_bits(m, p, writable(m, p, value));
}
