/* SPDX-License-Identifier: MIT */
/* Faults of counting: a counter does something else than it is programmed for. */
#include "refpmu/model/internal.h"

static bool silent(struct model *m, unsigned i, enum event_kind kind)
{
	return (kind == EK_LOCK_LOADS && broken(m, FAULT_LOCK_IGNORED)) ||
	       (kind == EK_CORE_CYCLES && i < FIRST_FIXED &&
		broken(m, FAULT_CORE_CYCLES_SILENT)) ||
	       (i == FIRST_FIXED + 2 && broken(m, FAULT_FIXED2_STOPS)) ||
	       broken(m, FAULT_INERT);
}

static bool at_every_level(struct model *m, unsigned i, const struct model_rule *rule)
{
	return broken(m, FAULT_CPL_IGNORED) ||
	       (i >= FIRST_FIXED && broken(m, FAULT_FIXED_CPL_IGNORED)) ||
	       (!rule->os && !rule->usr && i < FIRST_FIXED && broken(m, FAULT_NO_LEVEL_COUNTS));
}

/* Whose events it counts is the contrary of what AnyThread says. */
static bool is_other_any(struct model *m, unsigned i, bool any)
{
	if (i < FIRST_FIXED)
		return broken(m, any ? FAULT_ANYTHREAD_OWN_ONLY : FAULT_ANYTHREAD_ALWAYS);
	return broken(m, any ? FAULT_FIXED_ANYTHREAD_OWN_ONLY : FAULT_FIXED_ANYTHREAD_ALWAYS);
}

void model_break_rule(struct model *m, unsigned i, struct model_rule *rule)
{
	if (m->config.fault == FAULT_NONE || rule->kind == EK_NONE)
		return;
	if (silent(m, i, rule->kind))
		rule->kind = EK_NONE;
	if (!(rule->os && rule->usr) && at_every_level(m, i, rule))
		rule->os = rule->usr = true;
	if (rule->cmask && broken(m, FAULT_CMASK_IGNORED))
		rule->cmask = 0;
	if (rule->invert && broken(m, FAULT_INV_IGNORED))
		rule->invert = false;
	if (rule->invert && !rule->cmask && broken(m, FAULT_INV_WITHOUT_CMASK))
		rule->cmask = 1;
	if (rule->edge && broken(m, FAULT_EDGE_IGNORED))
		rule->edge = false;
	if (is_other_any(m, i, rule->any))
		rule->any = !rule->any;
	if (!rule->interrupt && broken(m, FAULT_INT_IGNORED))
		rule->interrupt = true;
	if (rule->in_tx && (broken(m, FAULT_TX_FILTER_IGNORED) ||
			    (rule->pebs && broken(m, FAULT_TX_FILTER_PEBS)) ||
			    (rule->in_txcp && broken(m, FAULT_TX_CHECKPOINT_DROPS_FILTER))))
		rule->in_tx = false;
	if (rule->in_tx && rule->in_txcp && broken(m, FAULT_TX_FILTER_DROPS_CHECKPOINT))
		rule->in_txcp = false;
}

/* Every n-th of count further occurrences; all of them where a parameter says how often. */
static u64 every(struct model *m, u32 n, u64 count)
{
	u64 hits = (m->faults.tick + count) / n;

	if (m->config.when.nth || m->config.when.from || m->config.when.every)
		return count;
	m->faults.tick = (u32)((m->faults.tick + count) % n);
	return hits;
}

static u64 missed(struct model *m, enum fault_id fault, u64 occurred)
{
	return occurred && broken(m, fault) ? every(m, 4, occurred) : 0;
}

static u64 most(u64 a, u64 b)
{
	return a > b ? a : b;
}

u64 model_break_occurrences(struct model *m, const struct model_rule *rule,
			    const struct model_retired *r, u64 occurred)
{
	bool branch = r->branch != BRANCH_NONE;

	switch ((enum event_kind)rule->kind) {
	case EK_INSTRUCTIONS:
		if (rule->flags & EV_PDIR)
			occurred -= missed(m, FAULT_PREC_DIST_MISSED, occurred);
		if (most(r->loads, r->stores) > 1 && broken(m, FAULT_REP_COUNTS_ITERATIONS))
			return most(r->loads, r->stores);
		return occurred;
	case EK_BRANCHES:
		if (r->branch == BRANCH_CONDITIONAL && !r->taken &&
		    broken(m, FAULT_BRANCH_TAKEN_ONLY))
			return 0;
		return occurred;
	case EK_COND_BRANCHES:
		return branch && !occurred && broken(m, FAULT_CONDITIONAL_COUNTS_ALL) ?
			1 : occurred;
	case EK_NEAR_CALLS:
		return occurred - missed(m, FAULT_CALLS_MISSED, occurred);
	case EK_NEAR_RETURNS:
		return occurred - missed(m, FAULT_RETURNS_MISSED, occurred);
	case EK_NEAR_TAKEN:
		return r->branch == BRANCH_CONDITIONAL && !occurred &&
		       broken(m, FAULT_TAKEN_COUNTS_ALL) ? 1 : occurred;
	case EK_MISPREDICTS:
		return branch && broken(m, FAULT_MISPREDICTS_EXCEED) ? 2 : occurred;
	case EK_LOADS:
		return r->stores && broken(m, FAULT_LOADS_COUNT_STORES) ?
			occurred + r->stores : occurred;
	case EK_STORES:
		return occurred - missed(m, FAULT_STORES_MISSED, occurred);
	default:
		return occurred;
	}
}

u64 model_break_increment(struct model *m, unsigned i, const struct model_rule *rule, u64 add)
{
	if (!add)
		return 0;
	if (i == FIRST_FIXED && broken(m, FAULT_FIXED_TWIN_OFF))
		return add + every(m, 4, add);
	if (i == FIRST_FIXED + 1 && broken(m, FAULT_FIXED1_HALF))
		return every(m, 2, add);
	if (rule->kind == EK_INSTRUCTIONS && broken(m, FAULT_INSTRUCTIONS_MISSED))
		return add - every(m, 4, add);
	if ((i == 3 && broken(m, FAULT_PMC3_COUNTS_TWICE)) ||
	    (rule->any && broken(m, FAULT_ANYTHREAD_DOUBLES)))
		return 2 * add;
	return add;
}
