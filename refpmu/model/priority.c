/* SPDX-License-Identifier: MIT */
/*
 * Who is served first: the paragraphs on priority in "Processor Event Based Sampling (PEBS)" of
 * Nehalem, which later generations refer to. "Simultaneous" is what one retired instruction
 * causes. Everything of an instruction is served before the next one begins, in the order of the
 * counters, whatever the kind of action; an interrupt is served when it is requested.
 */
#include "refpmu/model/internal.h"

static void request_overflow(struct model *m, unsigned i)
{
	/* What fault second-late has held back comes with this one. */
	if (m->faults.held_pmi && model_has_fault(m, FAULT_SECOND_LATE)) {
		m->faults.held_pmi = false;
		model_request(m, ACTION_OVERFLOW_INT, i);
	}
	if (broken(m, FAULT_PMI_LATE) && !m->faults.held_pmi) {
		m->faults.held_pmi = true;
		return;
	}
	model_request(m, ACTION_OVERFLOW_INT, i);
	if (broken(m, FAULT_PMI_DOUBLED))
		model_request(m, ACTION_OVERFLOW_INT, i);
}

/* Has a counter below i overflowed with it that raises no interrupt? */
static bool lower_is_silent(const struct step *s, unsigned i)
{
	for (u64 left = s->wrapped & (BIT(i) - 1); left; left &= left - 1)
		if (!s->rule[__builtin_ctzll(left)]->interrupt)
			return true;
	return false;
}

/* There are no separate interrupts for counters that overflow simultaneously. */
static void overflow_interrupt(struct model *m, struct step *s, unsigned i)
{
	if (broken(m, i < FIRST_FIXED ? FAULT_GP_PMI_LOST : FAULT_FIXED_PMI_LOST))
		return;
	if (m->tx.depth && broken(m, FAULT_TX_PMI_LOST))
		return;
	if (s->interrupted && !broken(m, FAULT_PMI_PER_COUNTER))
		return;
	if (lower_is_silent(s, i) && broken(m, FAULT_LOWER_WITHOUT_INT))
		return;
	s->interrupted = true;
	request_overflow(m, i);
}

/* After the assist, and after the threshold interrupt if there was one. */
static void request_second(struct model *m, unsigned i, bool threshold)
{
	m->faults.at_counter = (u8)i;
	if (threshold && m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI &&
	    broken(m, FAULT_FREEZE_DROPS_SECOND))
		return;
	if (threshold && broken(m, FAULT_SECOND_LATE)) {
		m->faults.held_pmi = true;
		return;
	}
	m->faults.requesting_second = threshold;
	request_overflow(m, i);
	m->faults.requesting_second = false;
}

static void request_threshold(struct model *m, unsigned i)
{
	if (broken(m, FAULT_THRESHOLD_DROPPED))
		return;
	model_request(m, ACTION_THRESHOLD_INT, i);
	if (broken(m, FAULT_THRESHOLD_DOUBLED))
		model_request(m, ACTION_THRESHOLD_INT, i);
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
		request_threshold(m, i);
	if (overflow && m->latitude[LAT_HELD_STATUS])
		m->global_status |= model_global_bit(held);
	if (overflow && !(a.threshold && broken(m, FAULT_TWO_MERGED)))
		request_second(m, held, a.threshold);
	if (last) {
		m->faults.hidden_status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
		request_threshold(m, i);
	}
	/* What wrapped on this very instruction overflowed together with the others that did. */
	if (overflow && a.covered & s->wrapped)
		s->interrupted = true;
	model_disarm(m, a.covered);
	m->faults.crosses_page = false;
}

/* Has another counter than i that is enabled for PEBS wrapped on this instruction? */
static bool another_armed(struct model *m, const struct step *s, unsigned i)
{
	for (unsigned other = 0; other < FIRST_FIXED; other++)
		if (other != i && s->wrapped & BIT(other) && m->counter[other].armed)
			return true;
	return false;
}

/* "If a PEBS event would have occurred inside a transactional region, then the transactional region
 * first aborts, and then the PEBS event is processed." */
static bool leave_transaction(struct model *m, struct step *s)
{
	if (!m->tx.depth || broken(m, FAULT_TX_RECORD_COMMITS) ||
	    (m->tx.elided && broken(m, FAULT_HLE_RECORD_COMMITS)))
		return false;
	s->aborted = *s->r;
	model_tx_undo(m, TX_EVENT, 0, &s->aborted.after);
	s->r = &s->aborted;
	s->aborts = true;
	return true;
}

static void serve_assist(struct model *m, struct step *s, unsigned i)
{
	m->faults.at_counter = (u8)i;
	/* An assist on this instruction may have covered this counter already. */
	if (s->due & BIT(i) && m->counter[i].armed &&
	    !(another_armed(m, s, i) && broken(m, FAULT_NEWEST_FIRST))) {
		bool left = leave_transaction(m, s);

		if (left && broken(m, FAULT_TX_RECORD_LOST))
			model_disarm(m, BIT(i));
		else
			assist(m, s, i);
	}
}

static void serve_interrupt(struct model *m, struct step *s, unsigned i)
{
	m->faults.at_counter = (u8)i;
	if (s->interrupts & BIT(i))
		overflow_interrupt(m, s, i);
}

/* Only the first of several is served at all, or before its handler runs. */
static void break_step(struct model *m, struct step *s)
{
	if (!s->due || !s->interrupts)
		return;
	if (broken(m, FAULT_ASSIST_DROPS_INTERRUPT))
		s->interrupts = 0;
	if (broken(m, FAULT_INTERRUPT_DROPS_ASSIST))
		s->due = 0;
	/* The next event finds the counters still armed. */
	if (s->interrupts >> FIRST_FIXED && broken(m, FAULT_FIXED_FIRST))
		s->due = 0;
	if (s->interrupts >> (FIRST_FIXED + 1) && broken(m, FAULT_FIXED_12_FIRST))
		s->due = 0;
}

/* The counters in the order in which they are served: nth of them. */
static unsigned in_order(struct model *m, unsigned n)
{
	if (broken(m, FAULT_PRIORITY_REVERSED))
		return MODEL_MAX_COUNTERS - 1 - n;
	if (broken(m, FAULT_PMC0_LAST))
		return n + 1 < MODEL_MAX_COUNTERS ? n + 1 : 0;
	if (n > 0 && broken(m, FAULT_PMC1_LAST))
		return n + 1 < MODEL_MAX_COUNTERS ? n + 1 : 1;
	if ((n == 2 || n == 3) && broken(m, FAULT_PMC3_BEFORE_PMC2))
		return n ^ 1;
	return n;
}

void model_serve(struct model *m, struct step *s)
{
	break_step(m, s);
	if (s->due && s->interrupts && broken(m, FAULT_ASSISTS_FIRST))
		for (unsigned n = 0; n < MODEL_MAX_COUNTERS; n++)
			serve_assist(m, s, n);
	for (unsigned n = 0; n < MODEL_MAX_COUNTERS; n++) {
		serve_assist(m, s, in_order(m, n));
		serve_interrupt(m, s, in_order(m, n));
	}
	m->faults.at_counter = MODEL_NO_COUNTER;
}
