/* SPDX-License-Identifier: MIT */
/*
 * Faults: when they act (fault_when.h), and those that take their time: what a broken processor
 * does some instructions later. What they do is at the places where the correct processor does
 * something else; look for broken().
 */
#include "refpmu/faults/broken.h"
#include "refpmu/model/core.h"
#include "refpmu/model/internal.h"

/* Of the counter concerned: is its overflow to interrupt, is there another one that counts? */
static bool counter_is(const struct model *m, u32 conditions)
{
	if (m->faults.at_counter >= MODEL_MAX_COUNTERS)
		return !(conditions & (FAULT_WITH_INT | FAULT_BESIDE));
	if (conditions & FAULT_WITH_INT && !m->counter[m->faults.at_counter].rule.interrupt)
		return false;
	return !(conditions & FAULT_BESIDE) || m->active & ~BIT(m->faults.at_counter);
}

static bool is_the_case(const struct model *m, u32 conditions)
{
	if (conditions & FAULT_AT_CPL3 && m->faults.cpl != 3)
		return false;
	if (conditions & FAULT_ON_CPU1 && m->host->processor != 1)
		return false;
	return counter_is(m, conditions);
}

static bool fires_here(struct model *m)
{
	const struct fault_when *when = &m->config.when;

	if (when->one_counter && m->faults.at_counter != when->counter)
		return false;
	if (when->page_crossing && !m->faults.crosses_page)
		return false;
	if (when->conditions && !is_the_case(m, when->conditions))
		return false;
	if (!when->nth && !when->from && !when->every)
		return true;
	if (m->faults.last_sequence != m->faults.sequence) {
		m->faults.last_sequence = m->faults.sequence;
		m->faults.injection_points++;
		if (when->nth)
			m->faults.fired = m->faults.injection_points == when->nth;
		else if (when->from)
			m->faults.fired = m->faults.injection_points >= when->from;
		else
			m->faults.fired = m->faults.injection_points % when->every == 0;
	}
	return m->faults.fired;
}

bool model_fault_fires(struct model *m)
{
	bool fires = fires_here(m);

	m->faults.acted += fires;
	return fires;
}

void fault_next_sequence(struct model *m)
{
	m->faults.sequence++;
}

void fault_at_counter(struct model *m, unsigned counter)
{
	m->faults.at_counter = (u8)counter;
}

bool model_fault(struct model *m, enum fault_id fault)
{
	m->faults.sequence++;
	return broken(m, fault);
}

void fault_init(struct model *m)
{
	fault_at_counter(m, MODEL_NO_COUNTER);
	for (unsigned i = 0; i < sizeof(m->faults.previous_record); i++)
		m->faults.previous_record[i] = MODEL_NO_RECORD_BEFORE;
}

static const u8 scopes[FAULT_COUNT] = {
#define FAULT(token, name, requirements, sentence, ...) [FAULT_##token] = FAULT_SCOPE(__VA_ARGS__),
#include "refpmu/faults/fault.def"

#define RFLAGS_IF	BIT(9)
};

bool fault_reaches_core(const struct model *m, bool reaches)
{
	return reaches || scopes[m->config.fault] & REACHES_CORE;
}

bool fault_reaches_package(const struct model *m, bool reaches)
{
	return reaches || scopes[m->config.fault] & REACHES_PACKAGE;
}

bool fault_permits_bulk(const struct model *m, bool permits)
{
	return permits && m->config.fault == FAULT_NONE;
}

bool model_has_fault(const struct model *m, enum fault_id fault)
{
	return m->config.fault == fault;
}

/*
 * Handlers are entered by INT n, which retires, or by an event, after which the program goes on
 * somewhere else; they are left by IRET. The stack pointer tells the two far transfers apart.
 */
static u64 track_handlers(struct model *m, const struct model_retired *r)
{
	bool pops = r->after.gpr[REG_RSP] > r->before.gpr[REG_RSP];
	u32 inside;

	if (m->faults.next_ip && m->faults.next_ip != r->ip)
		m->faults.handlers++;
	m->faults.next_ip = r->after.rip;
	inside = m->faults.handlers;
	if (r->branch == BRANCH_FAR && !pops)
		m->faults.handlers++;
	else if (r->branch == BRANCH_FAR && m->faults.handlers)
		m->faults.handlers--;
	return inside && broken(m, FAULT_HANDLERS_UNCOUNTED) ? ~0ULL : 0;
}

static void reload_late(struct model *m)
{
	struct fault_state *f = &m->faults;

	for (unsigned i = 0; i < sizeof(f->late_reload) / sizeof(f->late_reload[0]); i++)
		if (f->late_reload[i].left && !--f->late_reload[i].left)
			model_set_counter(m, i, f->late_reload[i].value);
}

/* What one logical processor of a core misses because of the other one. */
static u64 lose_to_sibling(struct model *m)
{
	const struct model *sibling = model_core_sibling(m);
	u64 missing = 0;

	if (sibling && sibling->active && m->active && broken(m, FAULT_SIBLINGS_DISTURB) &&
	    m->faults.tick++ % 16 == 15)
		missing = ~0ULL;
	if (!broken(m, FAULT_ANYTHREAD_SIBLING_ONLY))
		return missing;
	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		if (m->counter[i].rule.any)
			missing |= BIT(i);
	}
	return missing;
}

void fault_instruction(struct model *m, const struct model_retired *r)
{
	if (m->config.fault == FAULT_NONE)
		return;
	fault_next_sequence(m);
	m->faults.cpl = r->cpl;
	m->faults.interrupts_off = !(r->after.rflags & RFLAGS_IF);
}

void fault_retired(struct model *m, const struct model_retired *r)
{
	if (m->config.fault != FAULT_NONE)
		m->faults.ip_before = r->ip;
}

u64 fault_counters(struct model *m, const struct model_retired *r, u64 counters)
{
	u64 missing;

	if (m->config.fault == FAULT_NONE)
		return counters;
	missing = track_handlers(m, r) | lose_to_sibling(m);
	reload_late(m);
	if (m->faults.stagger_left) {
		m->faults.stagger_left--;
		missing |= m->faults.staggered;
	}
	return counters & ~missing;
}
