/* SPDX-License-Identifier: MIT */
/*
 * The order of assists and interrupts: the paragraphs on priority in "Processor Event Based
 * Sampling (PEBS)" of Nehalem, to which later generations refer. "Simultaneous" means: caused by
 * one retired instruction. All actions of an instruction are carried out before the next
 * instruction begins; for an interrupt this means that it is requested.
 */
#include "refpmu/model/archpebs/record.h"
#include "refpmu/model/lbr.h"

static void add_pmi(struct pmi_plan *plan, enum model_action action, unsigned counter)
{
	plan->pmi[plan->n] = (struct pmi){
		.action = (u8)action, .counter = (u8)counter, .second = plan->n > 0,
	};
	plan->n++;
}

/* One interrupt is for all counters that overflow on this instruction: docs/READINGS.md, "One
 * interrupt for counters that overflow simultaneously". */
static void request_all(struct model *m, struct retire_ctx *s, const struct pmi_plan *plan)
{
	if (plan->shared)
		s->interrupted = true;
	for (unsigned n = 0; n < plan->n; n++)
		model_request_pmi(m, &plan->pmi[n]);
}

/* "Hardware will not generate separate interrupts for each counter that simultaneously
 * overflows." */
static void serve_interrupt(struct model *m, struct retire_ctx *s, unsigned i)
{
	struct pmi_plan plan = { .shared = true };

	if (fault_pmi_covered(m, s->interrupted))
		return;
	add_pmi(&plan, ACTION_OVERFLOW_INT, i);
	fault_pmis(m, s, &plan);
	request_all(m, s, &plan);
}

/*
 * The covered counters that are "programmed with a precise (PEBS-enabled) event and
 * programmed to generate a counter overflow interrupt": their interrupts have waited for the
 * assist.
 */
static u64 deferred_pmis(const struct model *m, u64 covered)
{
	u64 deferred = 0;

	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (covered & BIT(i) && m->counter[i].pmi_deferred)
			deferred |= BIT(i);
	return deferred;
}

/*
 * "The PEBS assist is serviced before the counter overflow interrupt is serviced. If in addition
 * the PEBS interrupt threshold is met, the threshold interrupt is generated after the PEBS assist
 * completes, followed by the counter overflow interrupt (two separate interrupts are generated)."
 */
static void assist(struct model *m, struct retire_ctx *s, unsigned i)
{
	struct assist a = model_has_arch_pebs(m) ? model_arch_assist(m, s, i) :
						   model_assist(m, s, i);
	const u64 held = deferred_pmis(m, a.covered);
	struct pmi_plan plan = { .assist = true };

	if (a.threshold)
		add_pmi(&plan, ACTION_THRESHOLD_INT, i);
	if (held) {
		const unsigned first = (unsigned)__builtin_ctzll(held);

		add_pmi(&plan, ACTION_OVERFLOW_INT, first);
		/* Counters that wrapped on this very instruction share the interrupt with the
		 * others that did. */
		plan.shared = held & s->wrapped;
		if (m->latitude[LAT_HELD_STATUS])
			m->global_status |= model_global_bit(first);
	}
	fault_pmis(m, s, &plan);
	request_all(m, s, &plan);
	model_disarm(m, a.covered);
}

/* "If a PEBS event would have occurred inside a transactional region, then the transactional region
 * first aborts, and then the PEBS event is processed." */
static void serve_assist(struct model *m, struct retire_ctx *s, unsigned i)
{
	struct pebs_event event = { .aborts = model_in_tx(m), .record = true };

	/* An assist on this instruction may have covered this counter already. */
	if (!m->counter[i].armed)
		return;
	fault_pebs_event(m, i, &event);
	if (event.aborts) {
		model_lbr_retired(m, s->r);
		s->aborted = *s->r;
		model_tx_undo(m, TX_EVENT, 0, &s->aborted.after);
		s->r = &s->aborted;
		s->aborts = true;
		model_lbr_aborted(m, s->r);
	}
	if (event.record)
		assist(m, s, i);
	else
		model_disarm(m, BIT(i));
}

/*
 * "Performance counters (fixed and general-purpose) are prioritized in index order ... if
 * simultaneous overflows or PEBS assists occur, the appropriate action will be taken for the
 * highest priority performance counter. For example, if IA32_PMC1 cause an overflow interrupt and
 * IA32_PMC2 causes an PEBS assist simultaneously, then the overflow interrupt will be serviced
 * first ... General-purpose performance counters are prioritized over fixed counters."
 */
static struct service_plan in_index_order(const struct retire_ctx *s)
{
	struct service_plan plan = { .n = 0 };

	for (u64 left = s->due | s->interrupts; left; left &= left - 1) {
		u8 i = (u8)__builtin_ctzll(left);

		if (s->due & BIT(i))
			plan.service[plan.n++] = (struct service){ i, true };
		if (s->interrupts & BIT(i))
			plan.service[plan.n++] = (struct service){ i, false };
	}
	return plan;
}

/* "The appropriate action will be taken for the highest priority performance counter": first.
 * docs/READINGS.md, "Simultaneous overflows and assists", says that the other actions follow. */
void model_serve(struct model *m, struct retire_ctx *s)
{
	struct service_plan plan = in_index_order(s);

	fault_service(m, s, &plan);
	for (unsigned n = 0; n < plan.n; n++) {
		const struct service *next = &plan.service[n];

		fault_at_counter(m, next->counter);
		if (next->assist)
			serve_assist(m, s, next->counter);
		else
			serve_interrupt(m, s, next->counter);
	}
	fault_at_counter(m, MODEL_NO_COUNTER);
}
