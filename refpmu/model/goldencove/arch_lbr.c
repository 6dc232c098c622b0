/* SPDX-License-Identifier: MIT */
/*
 * Architectural last branch records: CPUID leaf 1CH, IA32_LBR_CTL, IA32_LBR_DEPTH. The entries are
 * those of lbr.c; entry 0 is the newest. The filter of IA32_LBR_CTL is kept as the MSR_LBR_SELECT
 * that filters out the same branches.
 *
 * Not handled: LER, XSAVES, SMIs and a warm reset, in which nothing branches here.
 */
#include "refpmu/model/lbr.h"
#include "spec/arch_lbr.h"

_Static_assert(MODEL_LBR_ENTRIES % ARCH_LBR_DEPTH_UNIT == 0, "the greatest depth is one");

/* Latitude lbr-missing: bits of features that CPUID.1CH doesn't enumerate. */
enum { NO_CPL_FILTER, NO_BRANCH_FILTER, NO_CALL_STACK, NO_MISPREDICT, NO_CYCLES, NO_TYPE, NO_LIP,
       NO_DEEP_C_RESET };

#define LBR_SELECT_OTHER_BRANCH LBR_SELECT_FAR_BRANCH
static const struct {
	u64 select, control;
	u8 type;
} kinds[] = {
#define ARCH_LBR_KIND(kind, low, high, filter, source) \
	{ LBR_SELECT_##kind, IA32_LBR_CTL_##filter, low },
#include "spec/arch_lbr.def"
};

/* CPUID.07H:EDX[19], "Structured Extended Feature Flags". KVM shows a guest no architectural
 * last branch records. */
bool model_has_arch_lbr(const struct model *m)
{
	return (model_generation(m)->facilities & FAC_ARCH_LBR || m->facts & FACT_ARCH_LBR) &&
	       !(m->facts & (FACT_DEBUGCTL_EMPTY | FACT_BASIC_PEBS | FACT_NO_PMU));
}

/* CPUID.1CH, "Last Branch Records Information", says of each feature whether it exists. */
static bool has(const struct model *m, unsigned what)
{
	return model_has_arch_lbr(m) && !(m->latitude[LAT_LBR_MISSING] & BIT(what));
}

/* CPUID.1CH:EBX[0]. Without it IA32_LBR_CTL[2:1] are reserved: SDM volume 1. */
bool model_arch_lbr_filters_cpl(const struct model *m)
{
	return has(m, NO_CPL_FILTER);
}

/* CPUID.1CH:EBX[1]. Without it IA32_LBR_CTL[22:16] are reserved: SDM volume 1. */
bool model_arch_lbr_filters_branches(const struct model *m)
{
	return has(m, NO_BRANCH_FILTER);
}

/* CPUID.1CH:EBX[2]. Without it IA32_LBR_CTL[3] is reserved: SDM volume 1. */
bool model_arch_lbr_has_call_stack(const struct model *m)
{
	return has(m, NO_CALL_STACK);
}

struct arch_lbr_leaf model_arch_lbr_leaf(const struct model *m)
{
	static const u8 depths[] = { 0x0b, 0x0f, 0x08 };

	return (struct arch_lbr_leaf){
		.depths = depths[m->latitude[LAT_LBR_DEPTHS]],
		/* From CPUID dumps of Alder Lake to Panther Lake: E-cores have it, P-cores
		 * don't. */
		.lip = has(m, NO_LIP) && model_is_e_core(m),
		.deep_c_reset = has(m, NO_DEEP_C_RESET),
		.cpl_filter = has(m, NO_CPL_FILTER),
		.branch_filter = has(m, NO_BRANCH_FILTER),
		.call_stack = has(m, NO_CALL_STACK),
		.mispredict = has(m, NO_MISPREDICT),
		.cycles = has(m, NO_CYCLES),
		.type = has(m, NO_TYPE),
		.logs = model_lbr_logging(m),
	};
}

/* CPUID.1CH:EAX[7:0]: bit n is a depth of 8 * (n + 1) entries. */
bool model_arch_lbr_is_depth(const struct model *m, u64 value)
{
	const u8 depths = model_arch_lbr_leaf(m).depths;

	return value && value <= MODEL_LBR_ENTRIES && value % ARCH_LBR_DEPTH_UNIT == 0 &&
	       depths & BIT(value / ARCH_LBR_DEPTH_UNIT - 1);
}

/* After RESET IA32_LBR_CTL and the entries are 0, and IA32_LBR_DEPTH is the greatest depth:
 * Intel's TDX module. */
void model_arch_lbr_reset(struct model *m)
{
	m->lbr = (__typeof__(m->lbr)){ .depth = MODEL_LBR_ENTRIES };
}

/*
 * A bit of IA32_LBR_CTL lets its branches in: [1] those at CPL 0, [2] those at CPL > 0, [22:16]
 * each its own kind (SDM volume 4, Linux). A bit of MSR_LBR_SELECT keeps them out. A filter that
 * CPUID.1CH:EBX doesn't enumerate keeps nothing out.
 */
void model_arch_lbr_control(struct model *m, u64 value)
{
	u64 select = value & IA32_LBR_CTL_CALL_STACK ? LBR_SELECT_EN_CALLSTACK : 0;

	if (has(m, NO_CPL_FILTER))
		select |= (value & IA32_LBR_CTL_OS ? 0 : LBR_SELECT_CPL_EQ_0) |
			  (value & IA32_LBR_CTL_USR ? 0 : LBR_SELECT_CPL_NEQ_0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (has(m, NO_BRANCH_FILTER) && !(value & kinds[i].control))
			select |= kinds[i].select;
	m->lbr.control = value;
	m->lbr.select = fault_arch_lbr_select(m, value, select);
}

/* Linux intel_pmu_arch_lbr_reset: a write clears all entries, even if it doesn't change the
 * depth. */
void model_arch_lbr_set_depth(struct model *m, u64 value)
{
	struct lbr_entry before[MODEL_LBR_ENTRIES];

	__builtin_memcpy(before, m->lbr.entry, sizeof(before));
	__builtin_memset(m->lbr.entry, 0, sizeof(m->lbr.entry));
	fault_arch_lbr_depth(m, value, before);
	m->lbr.tos = 0;
	m->lbr.cycles = m->cycles;
	__builtin_memset(m->lbr.logged, 0, sizeof(m->lbr.logged));
	if (model_arch_lbr_is_depth(m, value))
		m->lbr.depth = (u8)value;
}

/* BR_TYPE, IA32_LBR_x_INFO[59:56]: SDM volume 4, Linux arch_lbr_br_type_map. */
static u64 type_of(u64 kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].select == kind)
			return (u64)kinds[i].type << ARCH_LBR_BR_TYPE_SHIFT;
	return 0;
}

/*
 * "In cases where the CPL transitions from a value that is filtered out to a value that is
 * enabled for LBR recording, the FROM_IP address for the recorded CPL transition branch or event
 * will be 0FFFFFFFFFFFFFFFFH."
 *
 * IA32_LBR_x_INFO[63:56] and [15:0]: SDM volume 4. CYC_CNT has the core cycles since the previous
 * entry, at most FFFFH: Linux get_lbr_cycles.
 */
void model_arch_lbr_fill(const struct model *m, const struct lbr_branch *b, struct lbr_plan *plan)
{
	u64 before = b->cpl_before ? LBR_SELECT_CPL_NEQ_0 : LBR_SELECT_CPL_EQ_0;
	u64 cycles = m->cycles - m->lbr.cycles;

	if (!b->cpl_before != !b->cpl && m->lbr.select & before)
		plan->from = ~0ULL;
	plan->info = (b->mispredicted && has(m, NO_MISPREDICT) ? ARCH_LBR_MISPRED : 0) |
		     (b->in_tx ? ARCH_LBR_IN_TSX : 0) | (b->abort ? ARCH_LBR_TSX_ABORT : 0) |
		     (has(m, NO_TYPE) ? type_of(b->kind) : 0) | model_lbr_log_info(m);
	if (has(m, NO_CYCLES))
		plan->info |= ARCH_LBR_CYC_CNT_VALID |
			      (cycles < ARCH_LBR_CYC_CNT ? cycles : ARCH_LBR_CYC_CNT);
}
