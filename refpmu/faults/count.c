/* SPDX-License-Identifier: MIT */
/* Faults of counting: a counter doesn't count as it is programmed. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/icelake/version5.h"
#include "refpmu/faults/condition.h"
#include "refpmu/faults/record.h"
#include "refpmu/model/access.h"

/* How many of `count` occurrences are hit, if every n-th is; all of them if a parameter says how
 * often. */
static u64 every(struct model *m, u32 n, u64 count)
{
	u64 hits = (faults_of(m)->tick + count) / n;

	if (m->config.when.nth || m->config.when.from || m->config.when.every)
		return count;
	faults_of(m)->tick = (u32)((faults_of(m)->tick + count) % n);
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

static u64 break_occurrences(struct model *m, const struct model_rule *rule,
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
		return branch && !occurred && broken(m, FAULT_CONDITIONAL_COUNTS_ALL) ? 1 :
											occurred;
	case EK_NEAR_CALLS:
		if (r->indirect && occurred && faults_of(m)->at_counter == 2 &&
		    broken(m, FAULT_INDIRECT_CALLS_MISSED))
			return 0;
		return occurred - missed(m, FAULT_CALLS_MISSED, occurred);
	case EK_NEAR_RETURNS:
		return occurred - missed(m, FAULT_RETURNS_MISSED, occurred);
	case EK_NEAR_TAKEN:
		return r->branch == BRANCH_CONDITIONAL && !occurred &&
				       broken(m, FAULT_TAKEN_COUNTS_ALL) ?
			       1 :
			       occurred;
	case EK_MISPREDICTS:
		return branch && broken(m, FAULT_MISPREDICTS_EXCEED) ? 2 : occurred;
	case EK_LOADS:
		return r->stores && broken(m, FAULT_LOADS_COUNT_STORES) ? occurred + r->stores :
									  occurred;
	case EK_STORES:
		return occurred - missed(m, FAULT_STORES_MISSED, occurred);
	default:
		return occurred;
	}
}

/* An event of Table 18-1 that the model counts. */
static bool is_architectural(enum event_kind kind)
{
	return kind == EK_CORE_CYCLES || kind == EK_REF_CYCLES || kind == EK_INSTRUCTIONS ||
	       kind == EK_BRANCHES || kind == EK_MISPREDICTS;
}

/* These faults leave instructions and branches at CPL 3 alone. */
static bool not_at_cpl_3(struct model *m, enum event_kind kind)
{
	const bool other = kind == EK_LLC_REFERENCES || kind == EK_LLC_MISSES ||
			   (is_architectural(kind) && kind != EK_INSTRUCTIONS &&
			    kind != EK_BRANCHES);

	return (kind == EK_UOPS && broken(m, FAULT_UOPS_NOT_OF_USER)) ||
	       (other && faults_of(m)->at_counter < FIRST_FIXED &&
		broken(m, FAULT_ARCHITECTURAL_NOT_OF_USER));
}

/* Accesses of a string instruction before its last ones, for events of caches. */
static u64 earlier_accesses(const struct model_rule *rule, const struct model_retired *r)
{
	const unsigned i = (unsigned)rule->kind - EK_SPLIT_LOADS;

	return r->any_spilled && i && i < MODEL_SPILLED_KINDS ? r->spilled[i] : 0;
}

u64 fault_occurrences(struct model *m, const struct model_rule *rule, const struct model_retired *r,
		      u64 occurred)
{
	u64 earlier;

	if (m->config.fault == FAULT_NONE)
		return occurred;
	if (r->cpl == 3 && occurred &&
	    (not_at_cpl_3(m, rule->kind) || (rule->kind == EK_BRANCHES && r->branch == BRANCH_FAR &&
					     broken(m, FAULT_FAR_NOT_AT_CPL_3))))
		return 0;
	earlier = earlier_accesses(rule, r);
	if (earlier && earlier <= occurred && broken(m, FAULT_REP_ACCESSES_LAST_ONLY))
		return occurred - earlier;
	if (rule->cmask && !rule->invert && occurred > rule->cmask &&
	    broken(m, FAULT_CMASK_EXACTLY))
		return 0;
	if (rule->kind == EK_STORES && rule->flags & EV_INSN && r->stores > occurred && occurred &&
	    broken(m, FAULT_STORES_ONE_BY_ONE))
		return r->stores;
	return fault_unusual_instruction(m, rule, r, break_occurrences(m, rule, r, occurred));
}

/* Only counters near 0 lose a carry: those of other tests wrap. */
static u64 lose_carry(struct model *m, unsigned i, u64 add)
{
	u64 value = m->counter[i].value;

	return value >> 32 == 0 && value >> 16 != (value + add) >> 16 &&
			       broken(m, FAULT_LOADS_LOSE_A_CARRY) ?
		       add - BIT(16) :
		       add;
}

static u64 lose_carry_32(struct model *m, unsigned i, u64 add, enum fault_id fault)
{
	u64 value = m->counter[i].value, after = value + add;

	return value >> 32 != after >> 32 && after <= model_width_mask(m, i) && broken(m, fault) ?
		       add - BIT(32) :
		       add;
}

static u64 break_cmask(struct model *m, const struct model_rule *rule, u64 add)
{
	if (rule->edge)
		return broken(m, FAULT_EDGE_EVERY_SECOND) ? every(m, 2, add) : add;
	return rule->kind == EK_CORE_CYCLES && add > 1 && broken(m, FAULT_CMASK_CYCLES_ONCE) ? 1 :
											       add;
}

static u64 break_waits(struct model *m, const struct model_rule *rule, u64 add)
{
	if (rule->edge)
		return broken(m, FAULT_EDGE_UNDER_INV_SILENT) ? 0 : add;
	return add > 1 && broken(m, FAULT_INV_LONG_CYCLE_ONCE) ? 1 : add;
}

u64 fault_increment(struct model *m, unsigned i, const struct model_rule *rule, u64 add)
{
	if (m->config.fault == FAULT_NONE || !add)
		return add;
	if (rule->kind == EK_FRONTEND && i && broken(m, FAULT_FRONTEND_PMC0_ONLY))
		return 0;
	add = fault_v5_increment(m, i, add);
	if (i >= FIRST_FIXED)
		add = lose_carry_32(m, i, add, FAULT_FIXED_LOSES_CARRY_32);
	else if (add > 1)
		add = lose_carry_32(m, i, add, FAULT_SEVERAL_LOSE_CARRY_32);
	if (rule->kind == EK_LOADS)
		add = lose_carry(m, i, add);
	if (rule->cmask)
		add = rule->invert ? break_waits(m, rule, add) : break_cmask(m, rule, add);
	if (i == FIRST_FIXED && broken(m, FAULT_FIXED_TWIN_OFF))
		return add + every(m, 4, add);
	if ((i == FIRST_FIXED + 1 && broken(m, FAULT_FIXED1_HALF)) ||
	    (i == FIRST_FIXED + 2 && broken(m, FAULT_FIXED2_HALF)) ||
	    (i && i < FIRST_FIXED && rule->kind == EK_CORE_CYCLES &&
	     broken(m, FAULT_CORE_CYCLES_HALVED)))
		return every(m, 2, add);
	if (rule->kind == EK_INSTRUCTIONS && broken(m, FAULT_INSTRUCTIONS_MISSED))
		return add - every(m, 4, add);
	if ((i == 3 && broken(m, FAULT_PMC3_COUNTS_TWICE)) ||
	    (rule->any && broken(m, FAULT_ANYTHREAD_DOUBLES)))
		return 2 * add;
	return add;
}

bool fault_overflows(struct model *m, unsigned i, bool overflows)
{
	return overflows && (!m->counter[i].value || !broken(m, FAULT_OVERFLOW_AT_ZERO_ONLY));
}

/* The inner of two elided locks begins: an abort restores the counters only to their values here.
 */
static void checkpoint_in_lock(struct model *m)
{
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (m->counter[i].rule.in_txcp && broken(m, FAULT_HLE_CHECKPOINT_INNER))
			m->tx.counter[i] = m->counter[i].value;
}

bool fault_in_scope(struct model *m, const struct retire_ctx *s, const struct model_rule *rule,
		    bool inside)
{
	if (m->config.fault == FAULT_NONE)
		return inside;
	if (first_of(m) && inside != model_in_tx(first_of(m)) && broken(m, FAULT_TX_SECOND_FILTER))
		return !inside;
	if (s->tx == TX_ELIDES_INNER)
		checkpoint_in_lock(m);
	if (inside && m->tx.elided && m->tx.n_locks > 1 && broken(m, FAULT_HLE_FILTER_INNER))
		return false;
	if (inside && ((m->tx.elided && broken(m, FAULT_HLE_FILTER_OUTSIDE)) ||
		       (m->tx.elided && rule->pebs && broken(m, FAULT_HLE_FILTER_NO_RECORDS)) ||
		       (m->tx.depth > 1 && broken(m, FAULT_TX_FILTER_OUTERMOST))))
		return false;
	if (inside && rule->cmask && broken(m, FAULT_TX_FILTER_CMASK_NONE))
		return false;
	if (!inside && rule->pebs && s->cpl && broken(m, FAULT_TX_FILTER_USER_RECORDS))
		return true;
	if (!inside && ((rule->kind != EK_LOADS && broken(m, FAULT_TX_FILTER_LOADS_ONLY)) ||
			(rule->kind == EK_CORE_CYCLES && broken(m, FAULT_TX_FILTER_CYCLES)) ||
			(rule->cmask && broken(m, FAULT_TX_FILTER_CMASK)) ||
			(rule->invert && broken(m, FAULT_TX_FILTER_INV)) ||
			(rule->edge && broken(m, FAULT_TX_FILTER_EDGE)) ||
			(!rule->pebs && s->cpl && broken(m, FAULT_TX_FILTER_USER))))
		return true;
	return inside != broken(m, FAULT_TX_FILTER_INVERTED);
}

u8 fault_level(struct model *m, u8 cpl)
{
	return (cpl == 1 || cpl == 2) && broken(m, FAULT_RINGS_BETWEEN_AS_OS) ? 0 : cpl;
}

void fault_not_selected(struct model *m, struct retire_ctx *s, unsigned i, bool scope, u64 occurred)
{
	struct model_counter *c = &m->counter[i];
	const struct model_rule *rule = s->rule[i];

	if (m->config.fault == FAULT_NONE)
		return;
	if (scope && s->cpl && s->cpl < 3 && rule->os && rule->kind == EK_CORE_CYCLES &&
	    broken(m, FAULT_CYCLES_OF_RINGS_BY_OS))
		model_set_counter(m, i, c->value + m->latitude[LAT_CYCLES_PER_INSTRUCTION]);
	if (scope && rule->invert && rule->cmask && broken(m, FAULT_INV_COUNTS_EVERY_LEVEL))
		model_set_counter(m, i, c->value + m->latitude[LAT_CYCLES_PER_INSTRUCTION]);
	if (scope && occurred && m->lbr.logs & BIT(i) && broken(m, FAULT_LBR_LOG_ANY_LEVEL))
		model_lbr_log(m, i, s->cpl, occurred);
	if (c->armed && occurred && broken(m, FAULT_ASSIST_AT_ANY_CPL))
		model_meet_event(m, s, i);
}

unsigned fault_abort_counts(struct model *m, unsigned times)
{
	if (m->tx.elided && m->tx.n_locks > 1 && broken(m, FAULT_HLE_ABORTS_NESTED))
		return 2 * times;
	return faults_of(m)->was_nested && broken(m, FAULT_TX_NESTED_ABORT_TWICE) ? 2 * times :
										    times;
}

/* ---- what the other logical processor does ---- */

u8 fault_sibling_cpl(struct model *m, u8 cpl)
{
	faults_of(m)->by_sibling = true;
	return broken(m, FAULT_ANYTHREAD_OWNER_CPL) ? faults_of(m)->cpl : cpl;
}

bool fault_watches(struct model *m, bool watches)
{
	return watches || (m->active && model_has_fault(m, FAULT_COUNTERS_OF_ALL_CORES));
}

/* Lost is a class of the other thread's events, or its events under a condition. */
static bool loses_class(struct model *m, const struct retire_ctx *s, const struct model_rule *rule)
{
	const bool access = rule->kind == EK_LOADS || rule->kind == EK_STORES ||
			    rule->kind == EK_LOCK_LOADS;

	return (rule->kind == EK_BRANCHES && broken(m, FAULT_ANYTHREAD_BRANCHES_OWN)) ||
	       (access && broken(m, FAULT_ANYTHREAD_ACCESSES_OWN)) ||
	       (model_access_matters(rule) && broken(m, FAULT_ANYTHREAD_MISSES_OWN)) ||
	       (!s->cpl && broken(m, FAULT_ANYTHREAD_NOT_OF_OS)) ||
	       (rule->edge && broken(m, FAULT_ANYTHREAD_NOT_WITH_EDGE)) ||
	       (rule->invert && broken(m, FAULT_ANYTHREAD_NOT_INVERTED));
}

bool fault_sibling_counts(struct model *m, const struct retire_ctx *s, unsigned i, bool same_core,
			  bool counts)
{
	const struct model_rule *rule = &m->counter[i].rule;

	if (counts && i < FIRST_FIXED && is_architectural(rule->kind) &&
	    broken(m, FAULT_ANYTHREAD_ARCHITECTURAL_OWN))
		return false;
	if (i < FIRST_FIXED && broken(m, FAULT_COUNTERS_OF_ALL_CORES))
		return true;
	if (counts && m->host->processor & 1 && broken(m, FAULT_ANYTHREAD_SECOND_OWN))
		return false;
	if (counts && faults_of(m)->halted && broken(m, FAULT_ANYTHREAD_DEAF_IN_HLT))
		return false;
	if (counts && rule->cmask && broken(m, FAULT_ANYTHREAD_NOT_WITH_CMASK))
		return false;
	if (counts && i < FIRST_FIXED && loses_class(m, s, rule))
		return false;
	return counts || (rule->any && !same_core &&
			  broken(m, i < FIRST_FIXED ? FAULT_ANYTHREAD_ALL_CORES :
						      FAULT_FIXED_ANYTHREAD_ALL_CORES));
}

void fault_sibling_served(struct model *m, struct retire_ctx *s)
{
	if (s->interrupts && m->host->processor & 1 && broken(m, FAULT_ANYTHREAD_SECOND_PMI_LOST))
		s->interrupts = 0;
	if (s->interrupts && broken(m, FAULT_ANYTHREAD_SIBLING_PMI_LOST))
		s->interrupts = 0;
}
