/* SPDX-License-Identifier: MIT */
/*
 * Faults of refpmu/model/goldencove/event_log.c: of events in last branch records; and of the event
 * that counts inserted records.
 */
#include "refpmu/faults/broken.h"
#include "refpmu/model/archpebs/archpebs.h"
#include "refpmu/faults/goldencove/arch_lbr.h"
#include "refpmu/model/lbr.h"
#include "spec/arch_lbr.h"

#define FIELD		(ARCH_LBR_LOG_MOST)
#define FIELDS		(ARCH_LBR_PMC0_CNT | ARCH_LBR_PMC1_CNT | ARCH_LBR_PMC2_CNT | \
			 ARCH_LBR_PMC3_CNT)
#define EVEN_FIELDS	(ARCH_LBR_PMC0_CNT | ARCH_LBR_PMC2_CNT)
#define BITS_OF_FIELD	2
#define JUMPS		(LBR_SELECT_JCC | LBR_SELECT_NEAR_REL_JMP | LBR_SELECT_NEAR_IND_JMP)

/* For fault lbr-log-newest-8. */
#define KEPT	8u

u64 fault_lbr_logged(struct model *m, unsigned i, u8 cpl, u64 add)
{
	if (add && m->counter[i].value + add > model_width_mask(m, i) &&
	    broken(m, FAULT_LBR_LOG_LOST_AT_WRAP))
		return 0;
	return add && cpl && broken(m, FAULT_LBR_LOG_OS_ONLY) ? 0 : add;
}

void fault_lbr_log_retired(struct model *m, const struct model_retired *r)
{
	for (unsigned n = 0; n < MODEL_LBR_LOGGED; n++)
		if (r->stores && m->lbr.logs & ~m->active & BIT(n) &&
		    m->counter[n].rule.kind == EK_STORES && broken(m, FAULT_LBR_LOG_WHILE_OFF))
			m->lbr.own[n] += r->stores;
}

u64 fault_lbr_record_info(struct model *m, u64 info)
{
	if (info & FIELDS && model_has_arch_pebs(m) && broken(m, FAULT_ARCH_LBR_WITHOUT_EVENTS))
		return info & ~FIELDS;
	return info & FIELDS && m->lbr.logs && broken(m, FAULT_LBR_LOG_NOT_RECORDED) ?
		       info & ~FIELDS :
		       info;
}

/* Does the instruction remove an entry in call-stack mode? */
static bool removes_entry(const struct model *m, const struct model_retired *r)
{
	const u64 level = r->cpl_after ? LBR_SELECT_CPL_NEQ_0 : LBR_SELECT_CPL_EQ_0;

	return r->branch == BRANCH_RETURN && m->lbr.select & LBR_SELECT_EN_CALLSTACK &&
	       !(m->lbr.select & (level | LBR_SELECT_NEAR_RET)) && model_lbr_on(m);
}

u64 fault_lbr_inserts(struct model *m, const struct model_retired *r, u64 n)
{
	const bool taken = r->branch != BRANCH_NONE &&
			   (r->branch != BRANCH_CONDITIONAL || r->taken);

	if (m->config.fault == FAULT_NONE)
		return n;
	if (m->lbr.inserted && broken(m, FAULT_LBR_INSERTS_OF_BRANCHES))
		n -= m->lbr.inserted;
	if (removes_entry(m, r) && broken(m, FAULT_LBR_INSERTS_OF_RETURNS))
		return n + 1;
	if (n && r->cpl && broken(m, FAULT_LBR_INSERTS_OS_ONLY))
		return 0;
	if (n || !taken)
		return n;
	if (m->global_status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ &&
	    broken(m, FAULT_LBR_INSERTS_FROZEN))
		return 1;
	return broken(m,
		      model_lbr_on(m) ? FAULT_LBR_INSERTS_UNFILTERED : FAULT_LBR_INSERTS_WHILE_OFF);
}

static u64 modulo_4(const struct model *m, u64 info)
{
	for (unsigned n = 0; n < MODEL_LBR_LOGGED; n++) {
		const unsigned shift = ARCH_LBR_PMC0_CNT_SHIFT + BITS_OF_FIELD * n;

		info &= ~((u64)FIELD << shift);
		info |= ((m->lbr.logged[n] + m->lbr.own[n]) & FIELD) << shift;
	}
	return info;
}

static u64 exchanged(u64 info)
{
	return (info & ~FIELDS) | (info & EVEN_FIELDS) << BITS_OF_FIELD |
	       (info >> BITS_OF_FIELD & EVEN_FIELDS);
}

void fault_lbr_log(struct model *m, const struct lbr_branch *b, struct lbr_plan *plan)
{
	const u64 logged = plan->info & FIELDS;
	/* The entry that moves to index KEPT. */
	struct lbr_entry
		*oldest = &m->lbr.entry[(m->lbr.tos + plan->entries - (KEPT - 1)) % plan->entries];

	if (m->config.fault == FAULT_NONE || !m->lbr.logs)
		return;
	if (!plan->records) {
		plan->log_begins = b->kind && !plan->pops && broken(m, FAULT_LBR_LOG_ALL_BRANCHES);
		return;
	}
	if (oldest->info & FIELDS && broken(m, FAULT_LBR_LOG_NEWEST_8))
		oldest->info &= ~FIELDS;
	if (!logged)
		return;
	if (!(b->kind & JUMPS) && broken(m, FAULT_LBR_LOG_OF_JUMPS))
		plan->info &= ~FIELDS;
	plan->log_goes_on = !(b->kind & JUMPS) && broken(m, FAULT_LBR_LOG_SINCE_JUMPS);
	if (broken(m, FAULT_LBR_LOG_ADDS_UP))
		plan->log_goes_on = true;
	if (modulo_4(m, plan->info) != plan->info && broken(m, FAULT_LBR_LOG_WRAPS))
		plan->info = modulo_4(m, plan->info);
	if (exchanged(plan->info) != plan->info && broken(m, FAULT_LBR_LOG_NEIGHBOUR))
		plan->info = exchanged(plan->info);
	if (broken(m, FAULT_LBR_LOG_ONE_UP))
		plan->info = (plan->info & ~FIELDS) | logged << 1;
}
