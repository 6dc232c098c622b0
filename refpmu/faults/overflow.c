/* SPDX-License-Identifier: MIT */
/* Faults of an overflow, and of the event that an armed counter waits for. */
#include "refpmu/faults/archpebs/archpebs.h"
#include "refpmu/faults/broken.h"
#include "refpmu/faults/goldencove/goldencove.h"
#include "refpmu/faults/icelake/version5.h"
#include "refpmu/faults/skylake/version4.h"
#include "refpmu/model/core.h"
#include "refpmu/model/internal.h"
#include "spec/x86.h"

#define EVENTS_EARLY 4u		/* of fault record-before-overflow */

/* The status bits that an overflow of counter i sets. */
static u64 status_of(struct model *m, const struct retire_ctx *s, unsigned i, u64 status)
{
	struct model *sibling = model_core_sibling(m);

	if (broken(m, FAULT_STATUS_DROPPED) ||
	    (m->global_status & IA32_PERF_GLOBAL_STATUS_OVF_UNCORE &&
	     broken(m, FAULT_CORE_HIDDEN_BESIDE_UNCORE)))
		return 0;
	if (s->wrapped != BIT(i) && broken(m, FAULT_STATUS_FIRST_ONLY))
		return 0;
	if (broken(m, FAULT_STATUS_DOUBLED)) {
		unsigned next = i + 1 == model_gp_counters(m) ? FIRST_FIXED : i + 1;

		status |= model_global_bit(model_has_counter(m, next) ? next : 0);
	}
	if (i == 0 && broken(m, FAULT_STATUS_PMC4))
		status |= BIT(4);
	if (i == FIRST_FIXED && broken(m, FAULT_STATUS_BESIDE_FIXED))
		status |= model_global_bit(FIRST_FIXED + model_fixed_counters(m));
	if (broken(m, FAULT_STATUS_LATE))
		faults_of(m)->hidden_status |= status;
	if (sibling && faults_of(m)->by_sibling && s->rule[i]->any) {
		if (broken(m, FAULT_ANYTHREAD_STATUS_LOST) ||
		    (i >= FIRST_FIXED && broken(m, FAULT_ANYTHREAD_FIXED_STATUS_LOST)))
			return 0;
		if (broken(m, FAULT_ANYTHREAD_STATUS_OF_SIBLING)) {
			sibling->global_status |= status;
			return 0;
		}
	}
	if (sibling && broken(m, FAULT_STATUS_SHARED))
		sibling->global_status |= status;
	return status;
}

/* Does this overflow raise no interrupt? again: its status bit was still set. */
static bool stays_quiet(struct model *m, const struct retire_ctx *s, unsigned i, bool again)
{
	const struct model_rule *rule = s->rule[i];

	if (m->pebs_enable && i < FIRST_FIXED &&
	    broken(m, i < 4 ? FAULT_INT_QUIET_BESIDE_PEBS : FAULT_INT_4_QUIET_BESIDE_PEBS))
		return true;
	if (m->pebs_enable && i >= FIRST_FIXED && broken(m, FAULT_FIXED_QUIET_BESIDE_PEBS))
		return true;
	if (i < FIRST_FIXED && m->perfevtsel[i] & IA32_PERFEVTSEL_PC &&
	    broken(m, FAULT_PIN_CONTROL_QUIET))
		return true;
	if (rule->kind >= EK_SPLIT_LOADS && rule->kind <= EK_OFFCORE_1 &&
	    broken(m, FAULT_MEMORY_PMI_LOST))
		return true;
	return (again && broken(m, FAULT_PMI_WAITS_FOR_STATUS)) ||
	       (s->writes && broken(m, FAULT_WRMSR_OVERFLOW_QUIET)) ||
	       (rule->os != rule->usr && broken(m, FAULT_INT_NEEDS_BOTH_LEVELS));
}

static void arm(struct model *m, unsigned i, const struct model_rule *rule,
		struct counter_overflow *overflow)
{
	if (rule->flags & EV_PS && broken(m, FAULT_PS_LATE))
		overflow->shadow++;
	if (i == 1 && overflow->due && m->active & 1 && broken(m, FAULT_PDIR_ALONE))
		overflow->due = false;
	if (i == 1 && overflow->due && m->counter[0].rule.pebs &&
	    !(model_generation(m)->facilities & FAC_PDIST) && broken(m, FAULT_PDIR_BESIDE_PEBS))
		overflow->due = false;
	if (i == 3 && broken(m, FAULT_PMC3_NEXT_BUT_ONE))
		overflow->shadow++;
	if (overflow->due ? broken(m, FAULT_PDIR_SKIDS) : broken(m, FAULT_RECORD_AT_OVERFLOW))
		overflow->due = !overflow->due;
	if (rule->flags & EV_PS && broken(m, FAULT_PS_AT_WRAP))
		overflow->due = true;
	if (overflow->pmi_deferred && rule->flags & EV_PS && broken(m, FAULT_PS_INT_QUIET))
		overflow->pmi_deferred = false;
	if (!overflow->pmi_deferred && broken(m, FAULT_PEBS_INTERRUPTS))
		overflow->interrupt = true;
	if (overflow->pmi_deferred && broken(m, FAULT_OVF_AT_WRAP)) {
		overflow->pmi_deferred = false;
		overflow->interrupt = true;
	}
	if (broken(m, FAULT_THRESHOLD_AT_ARM)) {
		overflow->status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
		model_request(m, ACTION_THRESHOLD_INT, i);
	}
}

/* Precise distribution at CPL 3. */
static void skid_at_cpl_3(struct model *m, unsigned i, struct counter_overflow *overflow)
{
	if (i < FIRST_FIXED && broken(m, FAULT_PDIR_SKIDS_AT_CPL_3))
		overflow->due = false;
	if (i == 0 && broken(m, FAULT_PDIST_PMC0_SKIDS_AT_CPL_3))
		overflow->due = false;
	if (i == 1 && model_generation(m)->facilities & FAC_PDIST_1 &&
	    broken(m, FAULT_PDIST_PMC1_SKIDS_AT_CPL_3))
		overflow->due = false;
	if (i == FIRST_FIXED && broken(m, FAULT_PDIST_SKIDS_AT_CPL_3)) {
		overflow->due = false;
		overflow->shadow = 1;
	}
}

void fault_overflow(struct model *m, struct retire_ctx *s, unsigned i,
		    struct counter_overflow *overflow)
{
	bool again = m->global_status & model_global_bit(i);

	if (m->config.fault == FAULT_NONE)
		return;
	faults_of(m)->two_wrapped = s->wrapped & (s->wrapped - 1);
	faults_of(m)->was_shown &= ~BIT(i);
	faults_of(m)->was_shown |= again ? BIT(i) : 0;
	overflow->status = fault_status_of_overflow(m, i, status_of(m, s, i, overflow->status));
	if (i == FIRST_FIXED + 1 && broken(m, FAULT_FIXED_WRAPS_AMISS))
		m->counter[i].value |= BIT(31);
	if (i >= FIRST_FIXED && broken(m, FAULT_CONDCHGD_STAYS))
		overflow->status |= IA32_PERF_GLOBAL_STATUS_COND_CHGD;
	fault_v5_overflow(m, i, overflow);
	fault_glc_overflow(m, i, overflow);
	fault_ext_overflow(m, i, overflow);
	if (overflow->arms && overflow->due && s->cpl)
		skid_at_cpl_3(m, i, overflow);
	if (overflow->arms && overflow->due && s->r->branch != BRANCH_NONE &&
	    broken(m, FAULT_PDIR_NOT_OF_BRANCHES))
		overflow->due = false;
	if (overflow->arms && overflow->due && s->r->branch == BRANCH_CONDITIONAL && s->r->taken &&
	    broken(m, FAULT_PDIR_NOT_OF_TAKEN))
		overflow->due = false;
	if (overflow->arms)
		arm(m, i, s->rule[i], overflow);
	else if (!overflow->interrupt)
		fault_quiet_overflow(m);
	else if (stays_quiet(m, s, i, again))
		overflow->interrupt = false;
}

void fault_disarm_all(struct model *m, enum fault_id fault)
{
	bool armed = false;

	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		armed |= m->counter[i].armed;
	if (armed && broken(m, fault))
		model_disarm(m, ~0ULL);
}

u64 fault_disarms(struct model *m, u64 counters)
{
	const u64 fixed = BITS(FIRST_FIXED, MODEL_MAX_COUNTERS - 1);

	if (counters & fixed && broken(m, FAULT_PEBS_OFF_KEEPS_FIXED))
		counters &= ~fixed;
	if (counters & faults_of(m)->exchanged && broken(m, FAULT_EXCHANGE_KEEPS_ARM))
		counters &= ~faults_of(m)->exchanged;
	faults_of(m)->exchanged = 0;
	/* The PEBS enable bit stays: only the event select was written. */
	for (unsigned i = 0; i < FIRST_FIXED; i++)
		if (counters & m->pebs_enable & BIT(i) && m->counter[i].armed &&
		    broken(m, FAULT_ARM_SURVIVES_SELECT))
			counters &= ~BIT(i);
	if (m->config.fault != FAULT_ARM_SURVIVES)
		return counters;
	for (u64 left = counters; left; left &= left - 1) {
		fault_at_counter(m, (unsigned)__builtin_ctzll(left));
		if (broken(m, FAULT_ARM_SURVIVES))
			counters &= ~(left & -left);
	}
	fault_at_counter(m, MODEL_NO_COUNTER);
	return counters;
}

bool fault_event_seen(struct model *m, const struct retire_ctx *s, bool seen)
{
	return seen && (s->r->before.rflags & RFLAGS_IF || !broken(m, FAULT_IF_HOLDS_RECORDS));
}

bool fault_meets_event(struct model *m, bool meets)
{
	return meets || broken(m, FAULT_ASSIST_AT_ANY);
}

void fault_event_counts(struct model *m, struct retire_ctx *s, unsigned i, u64 occurred)
{
	const struct model_rule *rule = s->rule[i];

	if (occurred && rule->pebs &&
	    m->counter[i].value >= model_width_mask(m, i) - EVENTS_EARLY &&
	    broken(m, FAULT_RECORD_BEFORE_OVERFLOW)) {
		m->counter[i].armed = true;
		s->due |= BIT(i);
	}
	if (occurred && rule->pebs &&
	    ((rule->flags & EV_LL && broken(m, FAULT_LL_PERIOD_IGNORED)) ||
	     (rule->flags & EV_PS && broken(m, FAULT_PS_PERIOD_IGNORED)))) {
		m->counter[i].armed = true;
		s->due |= BIT(i);
	}
}
