/* SPDX-License-Identifier: MIT */
/*
 * Interrupts: SDM "Local Vector Table", "Freezing LBR and Performance Counters on PMI",
 * "Performance Counter Prioritization" ("hardware will not generate separate interrupts for each
 * counter that simultaneously overflows"). The manual doesn't say how late an interrupt is. So each
 * interrupt is accepted at the instruction where it was seen, and the state that the handler finds
 * there is judged.
 */
#include "tests/random/arch/oracle_arch.h"
#include "tests/random/oracle_internal.h"

#define LVT_MASK_BIT	BIT(16)
#define MANY		64		/* more interrupts than are drawn */

/* An interrupt is requested. If LVTPC is masked, the manual doesn't say whether the interrupt is
 * held. */
void oracle_request(struct oracle *o, enum draw_claim cause)
{
	o->most++;
	if (!o->masked && !o->least) {
		o->least = 1;
		o->cause = cause;
	}
	if (o->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI)
		o->freezes = true;
	if (o->debugctl & IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI)
		o->freezes_branches = true;
}

/* Counters without PEBS that wrapped on this instruction make one request together. */
void oracle_overflows(struct oracle *o)
{
	bool requested = false;

	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		if (!(o->wrapped & oracle_bit(i)) || oracle_records(o, i) ||
		    !oracle_has_interrupt(o, i))
			continue;
		if (!requested)
			oracle_request(o, oracle_is_fixed(i) ? DRAW_CLAIM_PMI_FIXED :
							       DRAW_CLAIM_PMI_GP);
		requested = true;
	}
}

/* Unless frozen, counters also count the handler's instructions up to its stop. If a counter may
 * overflow there, the handler's view isn't known: that overflow may freeze as well. */
void oracle_count_handler(struct oracle *o, u64 counters)
{
	o->handler = true;
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		const struct draw_event *event = oracle_exists(o, i) ? oracle_event_of(o, i) : NULL;

		if (!(counters & oracle_bit(i)) || !event || !oracle_is_on(o, i) ||
		    !oracle_selects_level(o, i, false))
			continue;
		oracle_advance(o, i,
			       oracle_filtered(o, i,
					       (struct span){ 0, oracle_is_cycles(event) ?
									 CYCLES_MOST :
									 HANDLER_MOST },
					       true));
		if (o->c->arch.used && !(oracle_arch_pending(o) & oracle_bit(i)))
			continue;
		/* The handler's loads may start an assist, which reloads the counter. */
		if (!o->env->adaptive.baseline &&
		    (o->armed & oracle_bit(i) || oracle_records(o, i))) {
			o->vague = true;
			o->counter[i].lost = o->counter[i].lost || o->c->arch.used;
		}
	}
	o->handler = false;
}

/* With an erratum an interrupt may come a second time. The state that the handler then finds isn't
 * known. */
static bool comes_again(const struct oracle *o)
{
	return !o->most && o->interrupt && o->env->errata & BIT(ERRATUM_PMI_AGAIN);
}

static void judge_interrupt(struct oracle *o, const struct draw_interrupt *seen)
{
	u64 looked_at = STATUS_COUNTERS, wrong;
	bool nmi = o->c->lvt == DRAW_LVT_NMI, known = !o->more && !comes_again(o);

	if (o->c->ds.used)
		looked_at |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	if (!o->most && known)
		oracle_wrong(o, DRAW_CLAIM_PMI_NONE, "interrupt %lu has no cause", o->interrupt);
	if (o->c->lvt == DRAW_LVT_MASKED)
		oracle_wrong(o, DRAW_CLAIM_PMI_MASK, "interrupt %lu comes though LVTPC is masked",
			     o->interrupt);
	oracle_expect(o, DRAW_CLAIM_PMI_MODE, nmi ? o->env->nmi_vector : o->env->pmi_vector, 0,
		      seen->vector, "vector of interrupt %lu", o->interrupt);
	oracle_expect(o, DRAW_CLAIM_PMI_MASK, LVT_MASK_BIT, 0, seen->lvtpc & LVT_MASK_BIT,
		      "mask of LVTPC at interrupt %lu", o->interrupt);
	if (o->global) {
		o->hit = o->may_hit = o->wrapped = 0;
		oracle_count_handler(o, ~0ULL);
	}
	if (o->global && o->env->adaptive.baseline && o->c->ds.used)
		oracle_adaptive_handler(o);
	oracle_arch_interrupt(o, seen);
	if (o->c->freeze && !o->vague)
		oracle_expect(o, DRAW_CLAIM_FREEZE, o->global, 0, seen->global,
			      "IA32_PERF_GLOBAL_CTRL at interrupt %lu", o->interrupt);
	if (o->c->freeze || o->c->branches.freeze)
		oracle_expect(o, DRAW_CLAIM_FREEZE_KEPT, oracle_debugctl(o, o->debugctl), 0,
			      oracle_debugctl(o, seen->debugctl), "IA32_DEBUGCTL at interrupt %lu",
			      o->interrupt);
	wrong = (seen->status ^ o->must) & ~oracle_untold(o) & looked_at;
	if (known && !o->vague)
		oracle_expect(o, DRAW_CLAIM_PMI_STATUS, 0, 0, wrong,
			      "bits of the status that are wrong at interrupt %lu", o->interrupt);
	if (known && !o->vague)
		oracle_arch_status(o, seen->status,
				   "bits 54 and 62 of the status %#lx at an "
				   "interrupt");
}

static void take(struct oracle *o, const struct draw_interrupt *seen, unsigned step)
{
	judge_interrupt(o, seen);
	oracle_interrupt_branches(o, step);
	o->interrupt++;
	if (o->most)
		o->most--;
	o->least = 0;
	/* The handler stops the counters, clears the status and unmasks LVTPC. */
	o->global = 0;
	if (!o->c->keep_status)
		oracle_clear_status(o, seen->status);
	else if (!o->c->stay_masked)
		o->more = true;		/* LVTPC unmasked before the status is cleared */
	o->masked = o->c->stay_masked;
}

/* Deliver the interrupts that were seen before this instruction. */
void oracle_deliver(struct oracle *o, unsigned step)
{
	while (o->interrupt < o->seen->interrupts && o->interrupt < DRAW_INTERRUPTS_SEEN &&
	       !o->vague) {
		const struct draw_interrupt *seen = &o->seen->interrupt[o->interrupt];
		int at = trace_find(o->trace, seen->rip);

		/* The interrupt came during the return from CPL 3, whose addresses aren't known
		 * here: its position isn't known. */
		if (at < 0 && step < o->trace->steps && !o->trace->step[step].ip) {
			o->vague = true;
			return;
		}
		if ((unsigned)at != step && !(at < 0 && step == o->trace->steps))
			return;
		if (step && o->c->lvt == DRAW_LVT_FIXED && step < o->trace->steps &&
		    !o->trace->step[step - 1].if_set) {
			o->interrupt++;
			oracle_wrong(o, DRAW_CLAIM_PMI_MODE,
				     "interrupt %lu comes while RFLAGS.IF is clear",
				     o->interrupt - 1);
			o->vague = true;
			return;
		}
		take(o, seen, step);
	}
}

static void look_at_interrupts(struct draw_verdict *v)
{
	v->looked[DRAW_CLAIM_PMI_GP] = true;
	v->looked[DRAW_CLAIM_PMI_FIXED] = true;
	v->looked[DRAW_CLAIM_PMI_NONE] = true;
}

void oracle_end_interrupts(struct oracle *o)
{
	oracle_deliver(o, o->trace->steps);
	if (o->vague)
		return;
	if (o->least)
		oracle_wrong(o, o->cause, "an interrupt is missing, after %lu",
			     o->seen->interrupts);
	else if (o->seen->interrupts)
		look_at_interrupts(o->verdict);
	if (o->seen->interrupts > o->interrupt && !o->more && o->interrupt < DRAW_INTERRUPTS_SEEN)
		oracle_wrong(o, DRAW_CLAIM_PMI_NONE, "interrupts too many: %lu",
			     o->seen->interrupts - o->interrupt);
}
