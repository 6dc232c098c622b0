/* SPDX-License-Identifier: MIT */
/*
 * Who is served first: the paragraphs on priority in "Processor Event Based Sampling (PEBS)" of
 * Nehalem, which later generations refer to. "Simultaneous" is what one retired instruction
 * causes. Everything of an instruction is served before the next one begins, in the order of the
 * counters, whatever the kind of action; an interrupt is served when it is requested.
 */
#include "refpmu/model_internal.h"

/* There are no separate interrupts for counters that overflow simultaneously. */
static void overflow_interrupt(struct model *m, struct step *s, unsigned i)
{
	bool lost = broken(m, i < FIRST_FIXED ? FAULT_GP_PMI_LOST : FAULT_FIXED_PMI_LOST);

	if (lost || (s->interrupted && !broken(m, FAULT_PMI_PER_COUNTER)))
		return;
	s->interrupted = true;
	model_request(m, ACTION_OVERFLOW_INT, i);
}

/* The first of the covered counters whose overflow interrupt waited for the assist. */
static unsigned first_held(const struct model *m, u64 covered)
{
	unsigned i = 0;

	while (i < MODEL_MAX_COUNTERS && !(covered & BIT(i) && m->counter[i].held))
		i++;
	return i;
}

/* Assist, then threshold interrupt, then overflow interrupt: two separate interrupts. */
static void assist(struct model *m, struct step *s, unsigned i)
{
	struct assist a = model_assist(m, s, i);
	unsigned held = first_held(m, a.covered);
	bool overflow = held < MODEL_MAX_COUNTERS && !broken(m, FAULT_GP_PMI_LOST);
	bool last = overflow && a.threshold && broken(m, FAULT_THRESHOLD_LAST);

	if (a.threshold && !last)
		model_request(m, ACTION_THRESHOLD_INT, i);
	if (overflow && !(a.threshold && broken(m, FAULT_TWO_MERGED)))
		model_request(m, ACTION_OVERFLOW_INT, held);
	if (last) {
		m->hidden_status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
		model_request(m, ACTION_THRESHOLD_INT, i);
	}
	/* What wrapped on this very instruction overflowed together with the others that did. */
	if (overflow && a.covered & s->wrapped)
		s->interrupted = true;
	model_disarm(m, a.covered);
}

static void serve(struct model *m, struct step *s, unsigned i)
{
	/* An assist on this instruction may have covered this counter already. */
	if (s->due & BIT(i) && m->counter[i].armed)
		assist(m, s, i);
	if (s->interrupts & BIT(i))
		overflow_interrupt(m, s, i);
}

/* Only the first of several is served at all. */
static void break_step(const struct model *m, struct step *s)
{
	if (broken(m, FAULT_ASSIST_DROPS_INTERRUPT) && s->due)
		s->interrupts = 0;
	if (broken(m, FAULT_INTERRUPT_DROPS_ASSIST) && s->interrupts)
		s->due = 0;
}

void model_serve(struct model *m, struct step *s)
{
	bool reversed = broken(m, FAULT_PRIORITY_REVERSED);

	break_step(m, s);
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		serve(m, s, reversed ? MODEL_MAX_COUNTERS - 1 - i : i);
}
