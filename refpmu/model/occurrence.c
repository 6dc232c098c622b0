/* SPDX-License-Identifier: MIT */
/*
 * How often an instruction is the event of a counter: Table 18-1, Intel's events by name
 * (spec/event.def). What its accesses met is access.c's, slots are icelake/metrics.c's.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/lbr.h"
#include "refpmu/model/pmu.h"

/*
 * The manual says of no branch whether it is mispredicted, so any predictor will do. This one is
 * static: of conditional branches those that lead backward are predicted taken, the others not; all
 * other branches are predicted right. Without a history the mistakes of a block follow from how
 * often it ran and how often its branch was taken (bulk.h).
 */
bool model_mispredicted(const struct model_retired *r)
{
	return r->branch == BRANCH_CONDITIONAL && r->taken != r->backward;
}

static bool taken(const struct model_retired *r)
{
	return r->branch != BRANCH_CONDITIONAL || r->taken;
}

/* Cycle events: in each of its cycles. */
static u64 occurrences(enum event_kind kind, const struct model_retired *r, bool frontend)
{
	enum model_branch b = r->branch;

	switch (kind) {
	case EK_NONE:
		return 0;
	case EK_INSTRUCTIONS:
	case EK_CORE_CYCLES:
	case EK_REF_CYCLES:
		return 1;
	case EK_BRANCHES:
		return b != BRANCH_NONE;
	case EK_COND_BRANCHES:
		return b == BRANCH_CONDITIONAL;
	case EK_NEAR_CALLS:
		return b == BRANCH_CALL;
	case EK_NEAR_RETURNS:
		return b == BRANCH_RETURN;
	case EK_NEAR_TAKEN:
		return b != BRANCH_NONE && b != BRANCH_FAR && taken(r);
	case EK_MISPREDICTS:
		return model_mispredicted(r);
	case EK_COND_TAKEN:
		return b == BRANCH_CONDITIONAL && r->taken;
	case EK_COND_NOT_TAKEN:
		return b == BRANCH_CONDITIONAL && !r->taken;
	case EK_COND_TAKEN_BACKWARD:
		return b == BRANCH_CONDITIONAL && r->taken && r->backward;
	case EK_COND_TAKEN_FORWARD:
		return b == BRANCH_CONDITIONAL && r->taken && !r->backward;
	case EK_FAR_BRANCHES:
		return b == BRANCH_FAR;
	case EK_NEAR_INDIRECT:
		return (b == BRANCH_JUMP || b == BRANCH_CALL) && r->indirect;
	case EK_FRONTEND:
		return frontend;
	case EK_UOPS:
		/* Address and data of a store are two: docs/READINGS.md, "Micro-operations". */
		return 1 + (u64)r->stores;
	case EK_LOADS:
		return r->loads;
	case EK_STORES:
		return r->stores;
	case EK_LOCK_LOADS:
		return r->locked_loads;
	default:
		return 0;
	}
}

u64 model_events_of(struct model *m, struct retire_ctx *s, const struct model_rule *rule)
{
	const enum event_kind kind = (enum event_kind)rule->kind;

	if (kind == EK_SLOTS)
		return model_slots(m);
	if (model_is_topdown(kind))
		return model_topdown(m, s->r, s->cycles, kind);
	if (kind == EK_LBR_INSERTS)
		return fault_lbr_inserts(m, s->r, model_lbr_inserts(m, s->r));
	if (kind >= EK_TX_FIRST)
		return model_tx_occurs(m, s, kind);
	if (kind >= EK_SPLIT_LOADS)
		return model_access_count(m, s, kind);
	return occurrences(kind, s->r, s->frontend);
}
