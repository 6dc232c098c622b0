/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/goldencove/arch_lbr.c: of architectural last branch records. */
#include "refpmu/faults/goldencove/arch_lbr.h"
#include "refpmu/faults/broken.h"
#include "spec/arch_lbr.h"

static bool is_entry(enum model_reg reg)
{
	return reg == MODEL_REG_ARCH_LBR_FROM || reg == MODEL_REG_ARCH_LBR_TO ||
	       reg == MODEL_REG_ARCH_LBR_INFO;
}

bool fault_arch_lbr_exists(struct model *m, const struct msr_ref *p, bool exists)
{
	if (p->reg == MODEL_REG_ARCH_LBR_CTL && !exists)
		return broken(m, FAULT_ARCH_LBR_UNANNOUNCED);
	if (p->reg == MODEL_REG_ARCH_LBR_INFO && exists)
		return !broken(m, FAULT_ARCH_LBR_MISSING);
	if (is_entry(p->reg) && !exists && model_has_arch_lbr(m) && p->i < MODEL_LBR_ENTRIES)
		return broken(m, FAULT_ARCH_LBR_BEYOND_DEPTH);
	return exists;
}

u64 fault_arch_lbr_bits(struct model *m, const struct msr_ref *p, u64 bits)
{
	if (p->reg == MODEL_REG_PERFEVTSEL && broken(m, FAULT_ARCH_LBR_EVENT_LOGGING))
		bits |= BIT(35);
	if (p->reg == MODEL_REG_PERFEVTSEL && bits & IA32_PERFEVTSEL_EN_LBR_LOG &&
	    broken(m, FAULT_LBR_LOG_REFUSED))
		bits &= ~IA32_PERFEVTSEL_EN_LBR_LOG;
	return bits;
}

void fault_cpuid_lbr(struct model *m, u32 regs[4])
{
	const u8 greatest = ARCH_LBR_MAX_ENTRIES / ARCH_LBR_DEPTH_UNIT - 1;

	if (broken(m, FAULT_ARCH_LBR_DEPTH_UNLISTED))
		regs[0] = (regs[0] & ~0xffu) | 1u << greatest;
}

void fault_cpuid_state(struct model *m, u32 subleaf, u32 regs[4])
{
	enum { SUPERVISOR = 1, EAX = 0, ECX = 2, LBR_COMPONENT = 15 };

	if ((subleaf != SUPERVISOR && subleaf != LBR_COMPONENT) || !model_has_arch_lbr(m) ||
	    !broken(m, FAULT_ARCH_LBR_STATE_SHORT))
		return;
	if (subleaf == SUPERVISOR)
		regs[ECX] |= (u32)BIT(LBR_COMPONENT);
	else
		regs[EAX] = ARCH_LBR_STATE_HEAD + ARCH_LBR_STATE_ENTRY * ARCH_LBR_DEPTH_UNIT;
}

u64 fault_arch_lbr_read(struct model *m, const struct msr_ref *p, u64 value)
{
	if (p->reg == MODEL_REG_ARCH_LBR_FROM && broken(m, FAULT_ARCH_LBR_TOS_ORDER))
		return m->lbr.entry[p->i].from;
	if (p->reg == MODEL_REG_ARCH_LBR_TO && broken(m, FAULT_ARCH_LBR_TOS_ORDER))
		return m->lbr.entry[p->i].to;
	if (p->reg == MODEL_REG_ARCH_LBR_FROM && !p->i && broken(m, FAULT_ARCH_LBR_READ_MOVES))
		m->lbr.tos = (u8)((m->lbr.tos + m->lbr.depth - 1) % m->lbr.depth);
	return value;
}

void fault_arch_lbr_taken(struct model *m, const struct msr_ref *p, u64 value)
{
	if (p->reg == MODEL_REG_ARCH_LBR_CTL && value & ~m->lbr.control & IA32_LBR_CTL_LBREN &&
	    broken(m, FAULT_ARCH_LBR_ON_CLEARS))
		__builtin_memset(m->lbr.entry, 0, sizeof(m->lbr.entry));
	if (p->reg == MODEL_REG_ARCH_LBR_CTL && value & ~m->lbr.control & IA32_LBR_CTL_LBREN &&
	    broken(m, FAULT_ARCH_LBR_ON_CLEARS_INFO))
		for (unsigned i = 0; i < MODEL_LBR_ENTRIES; i++)
			m->lbr.entry[i].to = m->lbr.entry[i].info = 0;
	if (p->reg == MODEL_REG_DEBUGCTL && model_has_arch_lbr(m) && !(value & IA32_DEBUGCTL_LBR) &&
	    m->lbr.control & IA32_LBR_CTL_LBREN && broken(m, FAULT_ARCH_LBR_DEBUGCTL_STOPS))
		m->lbr.control &= ~(u64)IA32_LBR_CTL_LBREN;
	if (p->reg == MODEL_REG_DEBUGCTL && model_has_arch_lbr(m) &&
	    broken(m, FAULT_ARCH_LBR_BY_DEBUGCTL))
		faults_of(m)->debugctl_written = value;
}

bool fault_arch_lbr_placed(struct model *m, const struct msr_ref *p, u64 value)
{
	struct lbr_entry *entry = &m->lbr.entry[p->i % MODEL_LBR_ENTRIES];

	if (!is_entry(p->reg) || !m->lbr.tos || !broken(m, FAULT_ARCH_LBR_PUT_IN_PLACE))
		return false;
	if (p->reg == MODEL_REG_ARCH_LBR_FROM)
		entry->from = value;
	else if (p->reg == MODEL_REG_ARCH_LBR_TO)
		entry->to = value;
	else
		entry->info = value;
	return true;
}

void fault_arch_lbr_sibling(struct model *m, struct model *sibling, const struct msr_ref *p,
			    u64 value)
{
	if (p->reg != MODEL_REG_ARCH_LBR_DEPTH || value == sibling->lbr.depth ||
	    !broken(m, FAULT_ARCH_LBR_DEPTH_ONE))
		return;
	sibling->lbr.depth = (u8)value;
	sibling->lbr.tos %= sibling->lbr.depth;
}

void fault_arch_lbr_depth(struct model *m, u64 depth, const struct lbr_entry *before)
{
	bool kept = (depth == m->lbr.depth && broken(m, FAULT_ARCH_LBR_SAME_DEPTH_KEEPS)) ||
		    (m->global_status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ &&
		     broken(m, FAULT_ARCH_LBR_FROZEN_DEPTH_KEEPS));

	if (kept)
		__builtin_memcpy(m->lbr.entry, before, sizeof(m->lbr.entry));
	else if (broken(m, FAULT_ARCH_LBR_DEPTH_KEEPS_INFO))
		for (unsigned i = 0; i < MODEL_LBR_ENTRIES; i++)
			m->lbr.entry[i].info = before[i].info;
}

#define OF_JUMPS	(LBR_SELECT_NEAR_REL_JMP | LBR_SELECT_NEAR_IND_JMP)
#define OF_CALLS	(LBR_SELECT_NEAR_REL_CALL | LBR_SELECT_NEAR_IND_CALL)
#define OF_KINDS	(LBR_SELECT_JCC | OF_JUMPS | OF_CALLS | LBR_SELECT_NEAR_RET | \
			 LBR_SELECT_FAR_BRANCH)
#define OF_LEVELS	(LBR_SELECT_CPL_EQ_0 | LBR_SELECT_CPL_NEQ_0)

u64 fault_arch_lbr_select(struct model *m, u64 control, u64 select)
{
	/* MSR_LBR_SELECT[7:3], whose order differs in IA32_LBR_CTL, and their lowest bit. */
	const u64 ordered = BITS(3, 7);

	if (m->config.fault == FAULT_NONE || !model_arch_lbr_filters_branches(m))
		return select;
	if (broken(m, FAULT_ARCH_LBR_KEEPS_OUT))
		select ^= OF_KINDS;
	if ((select & OF_JUMPS) && (~select & OF_JUMPS) &&
	    broken(m, FAULT_ARCH_LBR_JUMPS_EXCHANGED))
		select ^= OF_JUMPS;
	if (broken(m, FAULT_ARCH_LBR_SELECT_ORDER))
		select = (select & ~ordered) |
			 (~(control >> IA32_LBR_CTL_NEAR_REL_JMP_SHIFT << 3) & ordered);
	if ((select & OF_LEVELS) == OF_LEVELS && broken(m, FAULT_ARCH_LBR_ANY_LEVEL))
		select &= ~OF_LEVELS;
	return select;
}

void fault_arch_lbr_entry(struct model *m, const struct lbr_branch *b, struct lbr_plan *plan)
{
	const u64 jumps = (u64)(ARCH_LBR_TYPE_NEAR_IND_JMP ^ ARCH_LBR_TYPE_NEAR_REL_JMP);
	const u64 calls = (u64)(ARCH_LBR_TYPE_NEAR_IND_CALL ^ ARCH_LBR_TYPE_NEAR_REL_CALL);

	if (!model_has_arch_lbr(m))
		return;
	if (plan->from == ~0ULL &&
	    broken(m, b->is_event ? FAULT_ARCH_LBR_FROM_OF_RETURNS : FAULT_ARCH_LBR_FROM_OF_EVENTS))
		plan->from = b->from;
	if (b->kind & OF_JUMPS && broken(m, FAULT_ARCH_LBR_TYPE_JUMPS))
		plan->info ^= jumps << ARCH_LBR_BR_TYPE_SHIFT;
	if (b->kind & OF_CALLS && broken(m, FAULT_ARCH_LBR_TYPE_CALLS))
		plan->info ^= calls << ARCH_LBR_BR_TYPE_SHIFT;
	if (b->kind == LBR_SELECT_FAR_BRANCH && broken(m, FAULT_ARCH_LBR_TYPE_FAR))
		plan->info &= ~ARCH_LBR_BR_TYPE;
	if (b->kind == LBR_SELECT_FAR_BRANCH && b->cpl > b->cpl_before && !b->is_event &&
	    broken(m, FAULT_ARCH_LBR_TYPE_TO_USER))
		plan->info = (plan->info & ~ARCH_LBR_BR_TYPE) | (u64)ARCH_LBR_TYPE_NEAR_RET
									<< ARCH_LBR_BR_TYPE_SHIFT;
	if ((b->cpl && b->cpl_before && broken(m, FAULT_ARCH_LBR_NO_TYPE_AT_CPL_3)) ||
	    (b->is_event && broken(m, FAULT_ARCH_LBR_NO_TYPE_OF_EVENTS)))
		plan->info &= ~ARCH_LBR_BR_TYPE;
}
