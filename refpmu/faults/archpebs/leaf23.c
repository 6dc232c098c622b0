/* SPDX-License-Identifier: MIT */
/* Faults of CPUID leaf 23H, of the registers from 1900H on, and of auto counter reload. */
#include "refpmu/faults/archpebs/archpebs.h"
#include "refpmu/faults/broken.h"

#define LEAF_EXT	0x23
#define FIRST_FOUR	4
#define SHORT_COUNTER	BITS(0, 41)
#define UMASK2_OF_NONE	0xff	/* no event has it */
#define EVENT_OF_LOADS	0xd1	/* MEM_LOAD_RETIRED */

/* Only the counters that the package's P-core has too. */
static void counters_of_both(struct model *m, u32 regs[4])
{
	const enum generation_id own = m->config.generation;
	u32 other[4];

	m->config.generation = (enum generation_id)m->package;
	model_ext_leaf(m, EXT_COUNTERS, other);
	m->config.generation = own;
	regs[EXT_EAX] &= other[EXT_EAX];
	regs[EXT_EBX] &= other[EXT_EBX];
}

/* The first number that doesn't fit in 5 bits. */
#define LONGER_SUBLEAF	32u

void fault_cpuid_ext(struct model *m, u32 leaf, u32 subleaf, u32 regs[4])
{
	if (!model_has_ext(m))
		return;
	if (leaf != LEAF_EXT) {
		if (broken(m, FAULT_EXT_UNANNOUNCED))
			regs[EXT_EAX] = 0;
		return;
	}
	if (subleaf == EXT_COUNTERS && m->config.generation != (enum generation_id)m->package &&
	    broken(m, FAULT_EXT_OF_BOTH_TYPES))
		counters_of_both(m, regs);
	if (subleaf >= EXT_SUBLEAVES && broken(m, FAULT_EXT_ABSENT_SUBLEAF))
		model_ext_leaf(m, EXT_FEATURES, regs);
	if (subleaf >= LONGER_SUBLEAF && broken(m, FAULT_EXT_SUBLEAF_MODULO))
		model_ext_leaf(m, subleaf % LONGER_SUBLEAF, regs);
	if (subleaf == EXT_FEATURES && broken(m, FAULT_EXT_PEBS_HALF))
		regs[EXT_EAX] &= ~(u32)BIT(EXT_PEBS);
	if (subleaf == EXT_FEATURES && broken(m, FAULT_EXT_SLOTS_OF_ANOTHER))
		regs[EXT_ECX] = (u32)model_slots(m) + 2;
	if (subleaf == EXT_COUNTERS && broken(m, FAULT_EXT_GP_SHORT))
		regs[EXT_EAX] >>= 1;
	/* A hole is a 0 with a 1 above it. */
	if (subleaf == EXT_COUNTERS && regs[EXT_EBX] & (regs[EXT_EBX] + 1) &&
	    broken(m, FAULT_EXT_HOLE_FILLED))
		regs[EXT_EBX] = (u32)(BIT(32 - (unsigned)__builtin_clz(regs[EXT_EBX])) - 1);
	if (subleaf == EXT_EVENTS && broken(m, FAULT_EXT_EVENTS_ABSENT))
		regs[EXT_EAX] ^= (u32)(BIT(MODEL_ARCHITECTURAL_EVENTS) - 1);
}

u64 fault_umask2(struct model *m, unsigned n, u64 umask2)
{
	const u8 event = (u8)m->perfevtsel[n];

	if (umask2 && broken(m, FAULT_UMASK2_COUNTS_NOTHING))
		return UMASK2_OF_NONE;
	if (umask2 && event == EVENT_OF_LOADS && broken(m, FAULT_UMASK2_OF_LOADS_COUNTS_NOTHING))
		return UMASK2_OF_NONE;
	if (umask2 && n >= FIRST_FOUR && broken(m, FAULT_UMASK2_LOWER_COUNTERS))
		return 0;
	if (umask2 && m->perfevtsel[n] & IA32_PERFEVTSEL_CMASK &&
	    broken(m, FAULT_UMASK2_WITHOUT_CMASK))
		return 0;
	if (umask2 && model_pebs_enabled(m, n) && broken(m, FAULT_UMASK2_RECORDS_ANY))
		return 0;
	return umask2 && broken(m, FAULT_UMASK2_IGNORED) ? 0 : umask2;
}

const struct event_row *fault_ext_event(struct model *m, unsigned n, const struct event_row *event)
{
	return faults_of(m)->event_stays & BIT(n) ? model_event(m, faults_of(m)->event_before[n]) :
						    event;
}

bool fault_equal(struct model *m, bool equal)
{
	return equal && !broken(m, FAULT_EQ_AT_LEAST);
}

u8 fault_equal_cmask(struct model *m, u64 equal, u8 cmask)
{
	const u8 low = cmask & 7;

	return equal && low != cmask && broken(m, FAULT_EQ_3_BITS) ? low : cmask;
}

/* Is a counter hidden that is before the one that ECX names? */
static bool is_lower_hidden(const struct model *m, u32 ecx)
{
	const u32 i = ecx & ~(u32)RDPMC_FIXED;

	for (u32 n = 0; n < (ecx & RDPMC_FIXED ? FIRST_FIXED : i); n++)
		if (m->perfevtsel[n] & IA32_PERFEVTSEL_RDPMC_USER_DISABLE)
			return true;
	for (u32 n = 0; ecx & RDPMC_FIXED && n < i; n++)
		if (m->fixed_ctr_ctrl & IA32_FIXED_CTR_CTRL_RDPMC_USER_DISABLE0 << 4 * n)
			return true;
	return false;
}

bool fault_rdpmc_hidden(struct model *m, u32 ecx, bool hidden)
{
	if (ecx == RDPMC_METRICS && broken(m, FAULT_METRICS_USER_ZERO))
		return true;
	if (hidden && faults_of(m)->cpl < 3 && broken(m, FAULT_RDPMC_HIDE_CPL_3_ALONE))
		return false;
	if (hidden && is_lower_hidden(m, ecx) && broken(m, FAULT_RDPMC_HIDE_LOWEST_ALONE))
		return false;
	return hidden && !broken(m, FAULT_RDPMC_HIDE_LEAKS);
}

u64 fault_rdpmc_user(struct model *m, u32 ecx, u64 value)
{
	return ecx == RDPMC_METRICS && value >> 32 && broken(m, FAULT_METRICS_USER_32) ?
		       value & BITS(0, 31) :
		       value;
}

/* ---- registers ---- */

bool fault_ext_exists(struct model *m, const struct msr_ref *p, bool exists)
{
	if (!model_has_ext(m))
		return exists;
	if (p->reg == MODEL_REG_CFG_B && !p->counter && !exists)
		return broken(m, FAULT_CFG_B_EVERYWHERE);
	if (p->reg == MODEL_REG_PEBS_ENABLE && !exists)
		return broken(m, FAULT_PEBS_ENABLE_STAYS);
	if (p->reg == MODEL_REG_CFG_C && p->counter >= FIRST_FIXED && exists)
		return !broken(m, FAULT_CFG_C_OF_FIXED_MISSING);
	return exists && !(p->reg == MODEL_REG_PEBS_BASE && broken(m, FAULT_PEBS_BASE_MISSING));
}

/* Registers that this leaf or that of last branch records promises. */
static bool is_promised(enum model_reg reg)
{
	switch (reg) {
	case MODEL_REG_V6_CTR:
	case MODEL_REG_V6_CFG_A:
	case MODEL_REG_CFG_B:
	case MODEL_REG_CFG_C:
	case MODEL_REG_PEBS_BASE:
	case MODEL_REG_PEBS_INDEX:
	case MODEL_REG_PEBS_ENABLE:
	case MODEL_REG_PEBS_DATA_CFG:
	case MODEL_REG_ARCH_LBR_FROM:
	case MODEL_REG_ARCH_LBR_TO:
	case MODEL_REG_ARCH_LBR_INFO:
		return true;
	default:
		return false;
	}
}

bool fault_ext_absent_answers(struct model *m, const struct msr_ref *p)
{
	return (is_promised(p->reg) && broken(m, FAULT_EXT_ABSENT_TAKE_WRITES)) ||
	       (p->reg == MODEL_REG_V6_CFG_A && broken(m, FAULT_V6_CFG_A_ABSENT_ANSWERS));
}

bool fault_ext_unreadable(struct model *m, const struct msr_ref *p)
{
	return is_promised(p->reg) && !model_msr_exists(m, p) &&
	       broken(m, FAULT_EXT_ABSENT_TAKE_WRITES);
}

u64 fault_ext_bits(struct model *m, const struct msr_ref *p, u64 bits)
{
	switch (p->reg) {
	case MODEL_REG_PERFEVTSEL:
	case MODEL_REG_V6_CFG_A:
		if (bits & IA32_PERFEVTSEL_UMASK2 && broken(m, FAULT_UMASK2_REFUSED))
			bits &= ~IA32_PERFEVTSEL_UMASK2;
		if (bits & IA32_PERFEVTSEL_EQ && broken(m, FAULT_EQ_REFUSED))
			bits &= ~IA32_PERFEVTSEL_EQ;
		if (bits & IA32_PERFEVTSEL_RDPMC_USER_DISABLE &&
		    broken(m, FAULT_RDPMC_HIDE_REFUSED))
			bits &= ~IA32_PERFEVTSEL_RDPMC_USER_DISABLE;
		return bits;
	case MODEL_REG_PEBS_BASE:
		return broken(m, FAULT_PEBS_BASE_UNALIGNED) ? bits | BITS(4, 11) : bits;
	case MODEL_REG_CFG_C:
		return broken(m, FAULT_CFG_C_ANY_BIT) ? ~0ULL : bits;
	case MODEL_REG_CFG_B:
		return broken(m, FAULT_RELOAD_BY_PMC0) ? bits | BIT(0) : bits;
	default:
		return bits;
	}
}

u64 fault_ext_read(struct model *m, const struct msr_ref *p, u64 value)
{
	if (p->reg == MODEL_REG_V6_CTR && p->counter > FIRST_FIXED + 3 &&
	    model_has_counter(m, p->counter + 1) && broken(m, FAULT_V6_FIXED_NEXT))
		return m->counter[p->counter + 1].value;
	return value;
}

void fault_ext_wrmsr(struct model *m, const struct msr_ref *p, struct msr_write *write)
{
	const u64 low = write->value & BITS(0, 31);

	if (!write->taken)
		return;
	if (p->reg == MODEL_REG_PEBS_BASE && write->value > low && broken(m, FAULT_PEBS_BASE_32))
		write->value = low;
	if (p->reg == MODEL_REG_V6_CTR && m->active & BIT(p->counter) &&
	    broken(m, FAULT_V6_CTR_RUNNING_KEPT))
		write->taken = false;
	if (p->reg == MODEL_REG_PERFEVTSEL && p->i < MODEL_MAX_GP)
		faults_of(m)->event_stays &= ~(u32)BIT(p->i);
	if (p->reg == MODEL_REG_V6_CFG_A && (u16)write->value != (u16)m->perfevtsel[p->counter] &&
	    broken(m, FAULT_V6_CFG_A_EVENT_STAYS)) {
		faults_of(m)->event_stays |= (u32)BIT(p->counter);
		faults_of(m)->event_before[p->counter] = (u16)m->perfevtsel[p->counter];
	}
	if ((p->reg == MODEL_REG_V6_CTR && broken(m, FAULT_V6_CTR_DROPPED)) ||
	    (p->reg == MODEL_REG_V6_CFG_A && broken(m, FAULT_V6_CFG_A_DROPPED)))
		write->taken = false;
	if (p->reg == MODEL_REG_V6_CFG_A && write->value > low && broken(m, FAULT_V6_CFG_A_32_BITS))
		write->value = low;
	if (p->reg == MODEL_REG_V6_CTR && write->value & ~SHORT_COUNTER &&
	    broken(m, FAULT_V6_CTR_42_BITS))
		write->value &= SHORT_COUNTER;
	if (p->reg == MODEL_REG_V6_CTR && broken(m, FAULT_V6_CTR_EXTENDED))
		write->value = low & BIT(31) ? low | BITS(32, 63) : low;
	if (p->reg != MODEL_REG_PEBS_INDEX)
		return;
	if (write->value & BIT(58) && broken(m, FAULT_PEBS_THRESH_SHORT))
		write->value &= ~BIT(58);
	if (!(write->value & IA32_PEBS_INDEX_WR) && broken(m, FAULT_ARCH_WR_KEPT))
		write->value |= m->pebs_index & IA32_PEBS_INDEX_WR;
}

u64 fault_ext_clears(struct model *m, u64 bits)
{
	if (bits & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD &&
	    m->pebs_index & IA32_PEBS_INDEX_WR && broken(m, FAULT_ARCH_THRESHOLD_STAYS))
		bits &= ~IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD;
	return bits;
}

/* ---- auto counter reload ---- */

bool fault_reloads_itself(struct model *m, unsigned i, bool itself)
{
	if (m->cfg_b[i] && broken(m, FAULT_RELOAD_HIDES_ANY))
		return true;
	if (itself && m->cfg_b[i] != model_global_bit(i) &&
	    broken(m, FAULT_RELOAD_SHOWS_WITH_OTHERS))
		return false;
	if (itself && m->counter[i].rule.interrupt && broken(m, FAULT_RELOAD_SHOWS_WITH_INT))
		return false;
	return itself && !broken(m, FAULT_RELOAD_SHOWS);
}

/* The counters among these that make records. */
static u64 recording(const struct model *m, u64 counters)
{
	u64 all = 0;

	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (counters & BIT(i) && m->cfg_c[i] & IA32_PMC_GP0_CFG_C_PEBS_EN)
			all |= BIT(i);
	return all;
}

/* Do these counters, one of which interrupts, freeze the counters? */
static bool freezes(const struct model *m, u64 wrapped)
{
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (wrapped & BIT(i) && m->counter[i].rule.interrupt)
			return m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
	return false;
}

u64 fault_reload_causes(struct model *m, u64 wrapped, u64 causes)
{
	if (causes && broken(m, FAULT_RELOAD_NEVER))
		return 0;
	if (causes && freezes(m, wrapped) && broken(m, FAULT_RELOAD_NOT_WITH_FREEZE))
		return 0;
	if (causes & ~BITS(0, FIRST_FIXED - 1) && broken(m, FAULT_RELOAD_NOT_BY_FIXED))
		causes &= BITS(0, FIRST_FIXED - 1);
	if (recording(m, causes) && broken(m, FAULT_RELOAD_NOT_BY_PEBS))
		causes &= ~recording(m, causes);
	if (wrapped & BIT(FIRST_FIXED + 2) && broken(m, FAULT_RELOAD_BY_FIXED_2))
		causes |= model_reload_causes(m);
	return wrapped & BIT(0) && broken(m, FAULT_RELOAD_BY_PMC0) ? causes | BIT(0) : causes;
}

/* Is there a counter below i that these causes reload, and that isn't a cause itself? */
static bool is_lower_reloaded(const struct model *m, unsigned i, u64 causes)
{
	while (i--)
		if (!(causes & BIT(i)) && m->cfg_b[i] & model_status_bits(causes))
			return true;
	return false;
}

bool fault_reloads(struct model *m, unsigned i, u64 causes, bool reloads)
{
	if (reloads != !!(faults_of(m)->cfg_b_latched[i] & model_status_bits(causes)) &&
	    broken(m, FAULT_RELOAD_LATCHED))
		return !reloads;
	if (reloads && !(causes & BIT(i)) && is_lower_reloaded(m, i, causes) &&
	    broken(m, FAULT_RELOAD_LOWEST_ALONE))
		return false;
	if (reloads && causes & BIT(i) && !(m->cfg_b[i] & model_global_bit(i)) &&
	    broken(m, FAULT_RELOAD_NOT_BESIDE_WRAP))
		return false;
	if (reloads && recording(m, BIT(i)) && broken(m, FAULT_RELOAD_NOT_OF_PEBS))
		return false;
	if (!reloads && m->cfg_b[i] && broken(m, FAULT_RELOAD_BY_ANY_CAUSE))
		return true;
	if (!reloads && m->cfg_b[i] && is_lower_reloaded(m, MODEL_MAX_COUNTERS, causes) &&
	    broken(m, FAULT_RELOAD_ONE_SET))
		return true;
	return reloads || (model_reloadable(m) & ~causes & BIT(i) && !m->cfg_b[i] &&
			   broken(m, FAULT_RELOAD_UNNAMED));
}

u64 fault_reload_value(struct model *m, unsigned i, u64 value)
{
	(void)i;
	return broken(m, FAULT_RELOAD_ZERO) ? 0 : value;
}
