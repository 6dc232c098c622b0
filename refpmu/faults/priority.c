/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/priority.c: the order of the counters, and their interrupts. */
#include "refpmu/faults/broken.h"
#include "refpmu/model/internal.h"

/* ---- the order ---- */

/* A lower rank is served earlier. */
static unsigned rank(enum fault_id fault, const struct service *s)
{
	unsigned i = s->counter;

	switch (fault) {
	case FAULT_PRIORITY_REVERSED:
		return MODEL_MAX_COUNTERS - i;
	case FAULT_PMC0_LAST:
		return i == 0 ? MODEL_MAX_COUNTERS : i;
	case FAULT_PMC1_LAST:
		return i == 1 ? MODEL_MAX_COUNTERS : i;
	case FAULT_PMC3_BEFORE_PMC2:
		return i == 2 || i == 3 ? i ^ 1 : i;
	case FAULT_PMC4_FIRST:
		return i >= 4 && i < FIRST_FIXED ? i : MODEL_MAX_COUNTERS + i;
	case FAULT_FIXED_ASSIST_FIRST:
		return i >= FIRST_FIXED && s->assist ? i : MODEL_MAX_COUNTERS + i;
	case FAULT_ASSISTS_FIRST:
		return s->assist ? i : MODEL_MAX_COUNTERS + i;
	default:
		return i;
	}
}

static void reorder(struct model *m, struct service_plan *plan)
{
	struct service_plan sorted = *plan;
	bool differs = false;

	for (unsigned n = 1; n < sorted.n; n++)
		for (unsigned at = n; at > 0; at--) {
			struct service late = sorted.service[at], early = sorted.service[at - 1];

			if (rank(m->config.fault, &early) <= rank(m->config.fault, &late))
				break;
			sorted.service[at] = early;
			sorted.service[at - 1] = late;
			differs = true;
		}
	if (differs && broken(m, m->config.fault))
		*plan = sorted;
}

static void drop(struct service_plan *plan, bool assist, u64 counters)
{
	unsigned kept = 0;

	for (unsigned n = 0; n < plan->n; n++)
		if (plan->service[n].assist != assist ||
		    !(counters & BIT(plan->service[n].counter)))
			plan->service[kept++] = plan->service[n];
	plan->n = kept;
}

/* If both assists and interrupts are due, only one kind is served, at all or before its handler
 * runs. */
static void drop_one_kind(struct model *m, const struct retire_ctx *s, struct service_plan *plan)
{
	if (!s->due || !s->interrupts)
		return;
	if (broken(m, FAULT_ASSIST_DROPS_INTERRUPT))
		drop(plan, false, ~0ULL);
	/* With the latter two faults the counters are still armed at the next event. */
	if (broken(m, FAULT_INTERRUPT_DROPS_ASSIST) ||
	    (s->interrupts >> FIRST_FIXED && broken(m, FAULT_FIXED_FIRST)) ||
	    (s->interrupts >> (FIRST_FIXED + 1) && broken(m, FAULT_FIXED_12_FIRST)))
		drop(plan, true, ~0ULL);
}

/* Has another counter than i that is enabled for PEBS wrapped on this instruction? */
static bool another_armed(const struct model *m, const struct retire_ctx *s, unsigned i)
{
	for (unsigned other = 0; other < FIRST_FIXED; other++)
		if (other != i && s->wrapped & BIT(other) && m->counter[other].armed)
			return true;
	return false;
}

static void newest_first(struct model *m, const struct retire_ctx *s, struct service_plan *plan)
{
	for (u64 left = s->due; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		fault_at_counter(m, i);
		if (m->counter[i].armed && another_armed(m, s, i) && broken(m, FAULT_NEWEST_FIRST))
			drop(plan, true, BIT(i));
	}
	fault_at_counter(m, MODEL_NO_COUNTER);
}

void fault_service(struct model *m, const struct retire_ctx *s, struct service_plan *plan)
{
	if (m->config.fault == FAULT_NONE)
		return;
	drop_one_kind(m, s, plan);
	newest_first(m, s, plan);
	reorder(m, plan);
}

/* A record is due: does the elision continue? */
static bool elision_goes_on(struct model *m)
{
	return broken(m, FAULT_HLE_RECORD_COMMITS) ||
	       (m->tx.n_locks > 1 && broken(m, FAULT_HLE_RECORD_COMMITS_NESTED)) ||
	       (faults_of(m)->cpl == 3 && broken(m, FAULT_HLE_RECORD_COMMITS_USER));
}

void fault_pebs_event(struct model *m, unsigned i, struct pebs_event *event)
{
	const u8 cpl = faults_of(m)->cpl;

	if ((cpl == 1 || cpl == 2) && broken(m, FAULT_RINGS_BETWEEN_NO_RECORDS))
		event->record = false;
	if (event->aborts &&
	    (broken(m, FAULT_TX_RECORD_COMMITS) ||
	     (i >= FIRST_FIXED && broken(m, FAULT_TX_RECORD_COMMITS_FIXED)) ||
	     (m->tx.depth > 1 && broken(m, FAULT_TX_RECORD_COMMITS_NESTED)) ||
	     (m->counter[i].rule.kind == EK_BRANCHES &&
	      broken(m, FAULT_TX_RECORD_COMMITS_BRANCHES)) ||
	     (m->counter[i].rule.flags & EV_PDIR && broken(m, FAULT_TX_RECORD_COMMITS_PDIR)) ||
	     (m->tx.elided && elision_goes_on(m)) ||
	     (m->counter[i].rule.flags & EV_LL && broken(m, FAULT_LL_RECORD_COMMITS))))
		event->aborts = false;
	if (event->aborts && broken(m, FAULT_TX_RECORD_LOST))
		event->record = false;
	faults_of(m)->tx_record_due = event->aborts;
}

/* ---- the interrupts ---- */

bool fault_pmi_covered(struct model *m, bool covered)
{
	return covered && !broken(m, FAULT_PMI_PER_COUNTER);
}

static void fault_priority_add(struct pmi_plan *plan, const struct pmi *pmi)
{
	plan->pmi[plan->n++] = *pmi;
}

/* Has a counter below i overflowed on this instruction without INT? */
static bool lower_is_silent(const struct retire_ctx *s, unsigned i)
{
	for (u64 left = s->wrapped & (BIT(i) - 1); left; left &= left - 1)
		if (!s->rule[__builtin_ctzll(left)]->interrupt)
			return true;
	return false;
}

/* Is the overflow's interrupt lost, together with those of the counters that it stands for? */
static bool overflow_is_lost(struct model *m, const struct retire_ctx *s, bool assist, unsigned i)
{
	if (broken(m, i < FIRST_FIXED ? FAULT_GP_PMI_LOST : FAULT_FIXED_PMI_LOST))
		return true;
	if (s->rule[i] && s->rule[i]->flags & EV_LL && broken(m, FAULT_LL_INT_LOST))
		return true;
	if (assist)
		return s->aborts && broken(m, FAULT_TX_RECORD_INT_LOST);
	if (s->tx_abort && broken(m, FAULT_TX_ABORT_PMI_LOST))
		return true;
	if (model_tx_is_elided(m) && broken(m, FAULT_HLE_PMI_LOST))
		return true;
	return (m->tx.depth && (broken(m, FAULT_TX_PMI_LOST) ||
				(i >= FIRST_FIXED && broken(m, FAULT_TX_PMI_LOST_FIXED)))) ||
	       (lower_is_silent(s, i) && broken(m, FAULT_LOWER_WITHOUT_INT));
}

/* Is the overflow's interrupt lost that follows the threshold's? */
static bool second_is_lost(struct model *m, unsigned i)
{
	if (broken(m, FAULT_TWO_MERGED))
		return true;
	fault_at_counter(m, i);
	if (m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI &&
	    broken(m, FAULT_FREEZE_DROPS_SECOND))
		return true;
	if (!broken(m, FAULT_SECOND_LATE))
		return false;
	faults_of(m)->held_pmi = true;
	return true;
}

static void add_overflow(struct model *m, struct pmi_plan *plan, const struct pmi *pmi)
{
	fault_at_counter(m, pmi->counter);
	if (plan->assist && faults_of(m)->interrupted & BIT(pmi->counter) &&
	    broken(m, FAULT_PEBS_INT_ONCE))
		return;
	if (plan->assist)
		faults_of(m)->interrupted |= BIT(pmi->counter);
	/* The interrupt that fault second-late has held back comes with this one. */
	if (faults_of(m)->held_pmi && model_has_fault(m, FAULT_SECOND_LATE)) {
		faults_of(m)->held_pmi = false;
		fault_priority_add(plan, pmi);
	}
	if (!faults_of(m)->held_pmi && broken(m, FAULT_PMI_LATE)) {
		faults_of(m)->held_pmi = true;
		return;
	}
	fault_priority_add(plan, pmi);
	if (broken(m, FAULT_PMI_DOUBLED))
		fault_priority_add(plan, pmi);
}

/* An overflow's interrupt that waited for the assist of another counter. */
static bool waited_for_another(struct model *m, const struct pmi_plan *plan, const struct pmi *pmi,
			       unsigned served)
{
	return plan->assist && served < MODEL_MAX_COUNTERS && pmi->counter != served &&
	       !m->counter[served].pmi_deferred && broken(m, FAULT_INT_OF_SERVED_ONLY);
}

static void add_threshold(struct model *m, const struct retire_ctx *s, struct pmi_plan *plan,
			  const struct pmi *pmi)
{
	if (broken(m, FAULT_THRESHOLD_DROPPED) ||
	    (s->interrupted && pmi->counter == 2 && broken(m, FAULT_THRESHOLD_LOST_BESIDE)) ||
	    (faults_of(m)->interrupts_off && broken(m, FAULT_THRESHOLD_LOST_WITHOUT_IF)))
		return;
	fault_priority_add(plan, pmi);
	if (broken(m, FAULT_THRESHOLD_DOUBLED))
		fault_priority_add(plan, pmi);
}

/* The threshold's interrupt comes last, and so does its status bit. */
static void exchange(struct model *m, struct pmi_plan *plan)
{
	const struct pmi threshold = plan->pmi[0];

	plan->pmi[0] = plan->pmi[1];
	plan->pmi[1] = threshold;
	faults_of(m)->hidden_status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
}

void fault_pmis(struct model *m, const struct retire_ctx *s, struct pmi_plan *plan)
{
	const unsigned served = faults_of(m)->at_counter;
	struct pmi_plan right = *plan;

	if (m->config.fault == FAULT_NONE)
		return;
	if (right.n == 2 && broken(m, FAULT_THRESHOLD_LAST))
		exchange(m, &right);
	plan->n = 0;
	for (unsigned n = 0; n < right.n; n++) {
		const struct pmi *pmi = &right.pmi[n];

		if (pmi->action == ACTION_THRESHOLD_INT)
			add_threshold(m, s, plan, pmi);
		else if (overflow_is_lost(m, s, plan->assist, pmi->counter) ||
			 waited_for_another(m, plan, pmi, served))
			plan->shared = false;
		else if (!pmi->second || !second_is_lost(m, pmi->counter))
			add_overflow(m, plan, pmi);
	}
}
