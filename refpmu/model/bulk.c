/* SPDX-License-Identifier: MIT */
/*
 * See bulk.h. This file handles only sums over the instructions of a run. The budget ends before
 * any instruction with another effect than to be counted.
 * The rules themselves, with their sources, are in counter.c, event.c and lbr.c.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/bulk.h"
#include "refpmu/model/core.h"
#include "refpmu/model/lbr.h"
#include "refpmu/model/pmu.h"

/* More than any run has, and small enough to be multiplied by an instruction's events. */
#define MOST		BIT(32)

/* Runs are always outside of transactions. */
static bool selected(const struct model_rule *rule, u8 cpl)
{
	return (cpl ? rule->usr : rule->os) && !rule->in_tx;
}

/*
 * With latitude tsc-by-reference the program is one of another project, whose timer runs at the
 * machine's speed: if the model looked at each instruction, a kernel would do nothing but take
 * timer interrupts. So accesses that no memory event of this level counts aren't watched. The
 * caches are then in the state after the last watched instruction, as after any time without a
 * watch (model_access_watch()).
 */
static bool watches_memory(const struct model *m, u8 cpl)
{
	if (!m->watch_memory || !m->latitude[LAT_TSC_BY_REFERENCE] || model_uncore_watches(m))
		return m->watch_memory;
	for (u64 left = m->active; left; left &= left - 1) {
		const struct model_rule *rule = &m->counter[__builtin_ctzll(left)].rule;

		if (model_access_matters(rule) && selected(rule, cpl))
			return true;
	}
	return false;
}

static bool busy(const struct model *m, u8 cpl)
{
	return model_in_tx(m) || m->writing || m->exited || m->n_requests ||
	       m->ref_overflow_again_in || m->watch_frontend || watches_memory(m, cpl) ||
	       model_uncore_busy(m) || model_metrics_run(m);
}

/* Does each instruction add the same number, whatever it does? */
static bool is_steady(const struct model_rule *rule)
{
	switch (rule->kind) {
	case EK_INSTRUCTIONS:
	case EK_CORE_CYCLES:
	case EK_REF_CYCLES:
	case EK_SLOTS:
		return true;
	case EK_UOPS:
		return rule->cmask > MOST_UOPS_A_CYCLE;
	default:
		return false;
	}
}

static u64 steady_increment(const struct model *m, const struct model_rule *rule)
{
	struct model_counter none = { 0 };
	bool in_each_cycle = rule->kind != EK_INSTRUCTIONS && rule->kind != EK_UOPS;

	return model_increment(&none, rule, in_each_cycle,
			       rule->kind == EK_SLOTS ? model_slots(m) : 1,
			       m->latitude[LAT_CYCLES_PER_INSTRUCTION]);
}

/* Does the event count an access of these kinds? A run has a sum of these, and of the instructions
 * with one. */
static bool counts_accesses(const struct model_rule *rule)
{
	return rule->kind == EK_LOADS || rule->kind == EK_STORES || rule->kind == EK_LOCK_LOADS;
}

/* The most that one instruction adds. */
static u64 most_per_instruction(const struct model *m, const struct model_rule *rule,
				unsigned accesses)
{
	if (is_steady(rule))
		return steady_increment(m, rule);
	if (rule->kind == EK_UOPS)
		return 1 + (u64)accesses;
	return counts_accesses(rule) && !(rule->flags & EV_INSN) ? accesses : 1;
}

/* A run has no sum of this event, so its instructions are counted one by one. */
static bool is_seen_alone(enum event_kind kind)
{
	return kind == EK_NEAR_INDIRECT || kind == EK_COND_TAKEN_BACKWARD ||
	       kind == EK_COND_TAKEN_FORWARD || kind == EK_LBR_INSERTS || model_is_topdown(kind);
}

bool model_bulk_possible(const struct model *m, u8 cpl)
{
	/* The other logical processor uses its counters too. */
	if (pmu_is_shared(m))
		return false;
	if (busy(m, cpl) || !fault_permits_bulk(m, true) || !model_core_is_quiet(m) ||
	    model_errata_miscounts(m))
		return false;
	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		const struct model_counter *c = &m->counter[i];

		if (c->armed)
			return false;
		/* In a run it isn't known between which branches an event occurred. */
		if (m->lbr.logs & BIT(i) && selected(&c->rule, cpl) && model_lbr_records(m, cpl))
			return false;
		/* In a run it isn't known which accesses share an instruction. */
		if (selected(&c->rule, cpl) &&
		    ((c->rule.cmask && !is_steady(&c->rule)) || c->rule.edge ||
		     (c->rule.flags & EV_INSN && !counts_accesses(&c->rule)) ||
		     is_seen_alone((enum event_kind)c->rule.kind)))
			return false;
	}
	return true;
}

u64 model_bulk_budget(const struct model *m, u8 cpl, unsigned accesses)
{
	u64 budget = MOST;

	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		const struct model_counter *c = &m->counter[i];
		u64 room = model_width_mask(m, i) - c->value, ahead = model_errata_ahead(m, i);
		u64 most;

		if (!selected(&c->rule, cpl))
			continue;
		room -= room < ahead ? room : ahead;
		most = most_per_instruction(m, &c->rule, accesses);
		if (most && room / most < budget)
			budget = room / most;
	}
	/* The instruction before which the window is stolen must be retired alone. */
	if (model_may_be_stolen(m) && m->steal_in - 1 < budget)
		budget = m->steal_in - 1;
	return budget;
}

bool model_bulk_needs_taken(const struct model *m)
{
	for (u64 left = m->active; left; left &= left - 1) {
		u16 kind = m->counter[__builtin_ctzll(left)].rule.kind;

		if (kind == EK_NEAR_TAKEN || kind == EK_MISPREDICTS || kind == EK_COND_TAKEN ||
		    kind == EK_COND_NOT_TAKEN)
			return true;
	}
	return false;
}

/* The rules of occurrences() in event.c, for sums of a run. */
static u64 occurrences(const struct model *m, const struct model_rule *rule,
		       const struct model_events *e)
{
	const u64 *branches = e->branches;
	const bool insns = rule->flags & EV_INSN;

	if (is_steady(rule))
		return e->instructions * steady_increment(m, rule);
	switch (rule->kind) {
	case EK_UOPS:
		return e->instructions + e->stores;
	case EK_BRANCHES:
		return branches[BRANCH_CONDITIONAL] + branches[BRANCH_JUMP] +
		       branches[BRANCH_CALL] + branches[BRANCH_RETURN] + branches[BRANCH_FAR];
	case EK_COND_BRANCHES:
		return branches[BRANCH_CONDITIONAL];
	case EK_NEAR_CALLS:
		return branches[BRANCH_CALL];
	case EK_NEAR_RETURNS:
		return branches[BRANCH_RETURN];
	case EK_NEAR_TAKEN:
		return e->taken + branches[BRANCH_JUMP] + branches[BRANCH_CALL] +
		       branches[BRANCH_RETURN];
	case EK_MISPREDICTS:
		return e->mispredicted;
	case EK_COND_TAKEN:
		return e->taken;
	case EK_COND_NOT_TAKEN:
		return branches[BRANCH_CONDITIONAL] - e->taken;
	case EK_FAR_BRANCHES:
		return branches[BRANCH_FAR];
	case EK_LOADS:
		return insns ? e->loading : e->loads;
	case EK_STORES:
		return insns ? e->storing : e->stores;
	case EK_LOCK_LOADS:
		return insns ? e->locking : e->locked_loads;
	default:
		return 0;
	}
}

bool model_bulk_fits(const struct model *m, u8 cpl, const struct model_events *events)
{
	if (model_may_be_stolen(m) && m->steal_in - 1 < events->instructions)
		return false;
	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		const struct model_counter *c = &m->counter[i];

		if (selected(&c->rule, cpl) &&
		    occurrences(m, &c->rule, events) + model_errata_ahead(m, i) >
			    model_width_mask(m, i) - c->value)
			return false;
	}
	return true;
}

bool model_bulk_needs_branches(const struct model *m, u8 cpl)
{
	return model_lbr_records(m, cpl);
}

void model_bulk_taken(struct model *m, u8 cpl, const struct model_taken *b)
{
	const u64 before = m->cycles;

	m->cycles += b->instructions * m->latitude[LAT_CYCLES_PER_INSTRUCTION];
	model_lbr_taken(m, cpl, b);
	m->cycles = before;
}

bool model_bulk_ignores(const struct model *m, u8 cpl)
{
	if (!m->active || !model_bulk_possible(m, cpl) || model_lbr_on(m) || model_may_be_stolen(m))
		return false;
	for (u64 left = m->active; left; left &= left - 1)
		if (selected(&m->counter[__builtin_ctzll(left)].rule, cpl))
			return false;
	return true;
}

void model_bulk_ignore(struct model *m)
{
	for (u64 left = m->active; left; left &= left - 1)
		m->counter[__builtin_ctzll(left)].condition = false;
}

void model_bulk_retire(struct model *m, u8 cpl, const struct model_events *events)
{
	if (!events->instructions)
		return;
	m->cycles += events->instructions * m->latitude[LAT_CYCLES_PER_INSTRUCTION];
	/* No counter counts inserts; with one, the instructions would have been retired alone. */
	m->lbr.inserted = 0;
	if (model_may_be_stolen(m))
		m->steal_in -= (u32)events->instructions;
	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		struct model_counter *c = &m->counter[i];
		u64 add;

		if (!selected(&c->rule, cpl)) {
			c->condition = false;
			continue;
		}
		add = model_errata_increment(m, i, occurrences(m, &c->rule, events));
		c->value += add;
		if (m->lbr.logs & BIT(i))
			model_lbr_log(m, i, cpl, add);
	}
	if (m->lbr.logs)
		model_lbr_log_settle(m);
}
