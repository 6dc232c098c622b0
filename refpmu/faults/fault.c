/* SPDX-License-Identifier: MIT */
/*
 * Faults: when they act (fault_when.h), and effects that come some instructions later. The other
 * effects are in the hooks, at the calls of broken().
 */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/goldencove/arch_lbr.h"
#include "refpmu/faults/icelake/version5.h"
#include "refpmu/model/core.h"
#include "refpmu/model/internal.h"
#include "spec/x86.h"

/* Conditions about the counter concerned: its overflow interrupts; another counter counts too. */
static bool counter_is(const struct model *m, u32 conditions)
{
	if (faults_of(m)->at_counter >= MODEL_MAX_COUNTERS)
		return !(conditions & (FAULT_WITH_INT | FAULT_BESIDE));
	if (conditions & FAULT_WITH_INT && !m->counter[faults_of(m)->at_counter].rule.interrupt)
		return false;
	return !(conditions & FAULT_BESIDE) || m->active & ~BIT(faults_of(m)->at_counter);
}

static bool is_the_case(const struct model *m, u32 conditions)
{
	if (conditions & FAULT_AT_CPL3 && faults_of(m)->cpl != 3)
		return false;
	if (conditions & FAULT_ON_CPU1 && m->host->processor != 1)
		return false;
	return counter_is(m, conditions);
}

static bool fires_here(struct model *m)
{
	const struct fault_when *when = &m->config.when;

	if (when->one_counter && faults_of(m)->at_counter != when->counter)
		return false;
	if (when->page_crossing && !faults_of(m)->crosses_page)
		return false;
	if (when->conditions && !is_the_case(m, when->conditions))
		return false;
	if (!when->nth && !when->from && !when->every)
		return true;
	if (faults_of(m)->last_sequence != faults_of(m)->sequence) {
		faults_of(m)->last_sequence = faults_of(m)->sequence;
		faults_of(m)->injection_points++;
		if (when->nth)
			faults_of(m)->fired = faults_of(m)->injection_points == when->nth;
		else if (when->from)
			faults_of(m)->fired = faults_of(m)->injection_points >= when->from;
		else
			faults_of(m)->fired = faults_of(m)->injection_points % when->every == 0;
	}
	return faults_of(m)->fired;
}

bool model_fault_fires(struct model *m)
{
	bool fires = fires_here(m);

	faults_of(m)->acted += fires;
	return fires;
}

void fault_next_sequence(struct model *m)
{
	faults_of(m)->sequence++;
}

void fault_at_counter(struct model *m, unsigned counter)
{
	faults_of(m)->at_counter = (u8)counter;
}

bool model_fault(struct model *m, enum fault_id fault)
{
	faults_of(m)->sequence++;
	return broken(m, fault);
}

void fault_init(struct model *m)
{
	fault_at_counter(m, MODEL_NO_COUNTER);
	for (unsigned i = 0; i < sizeof(faults_of(m)->previous_record); i++)
		faults_of(m)->previous_record[i] = MODEL_NO_RECORD_BEFORE;
}

static const u8 scopes[FAULT_COUNT] = {
#define FAULT(token, name, requirements, sentence, ...) [FAULT_##token] = FAULT_SCOPE(__VA_ARGS__),
#include "refpmu/faults/fault.def"

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

u64 model_fault_acted(const struct model *m)
{
	return faults_of(m)->acted;
}

bool model_has_fault(const struct model *m, enum fault_id fault)
{
	return m->config.fault == fault;
}

/*
 * A handler is entered by INT n, which retires, or by an event, after which the next instruction is
 * elsewhere. IRET leaves it. The change of RSP distinguishes INT n from IRET.
 */
static u64 track_handlers(struct model *m, const struct model_retired *r)
{
	bool pops = r->after.gpr[REG_RSP] > r->before.gpr[REG_RSP];
	u32 inside;

	if (faults_of(m)->next_ip && faults_of(m)->next_ip != r->ip)
		faults_of(m)->handlers++;
	faults_of(m)->next_ip = r->after.rip;
	inside = faults_of(m)->handlers;
	if (r->branch == BRANCH_FAR && !pops)
		faults_of(m)->handlers++;
	else if (r->branch == BRANCH_FAR && faults_of(m)->handlers)
		faults_of(m)->handlers--;
	return inside && broken(m, FAULT_HANDLERS_UNCOUNTED) ? ~0ULL : 0;
}

static void reload_late(struct model *m)
{
	struct fault_state *f = faults_of(m);

	for (unsigned i = 0; i < sizeof(f->late_reload) / sizeof(f->late_reload[0]); i++)
		if (f->late_reload[i].left && !--f->late_reload[i].left)
			model_set_counter(m, i, f->late_reload[i].value);
}

/* The counters of a logical processor that miss this instruction because of the other one. */
static u64 lose_to_sibling(struct model *m)
{
	const struct model *sibling = model_core_sibling(m);
	u64 missing = 0;

	if (sibling && sibling->active && m->active && broken(m, FAULT_SIBLINGS_DISTURB) &&
	    faults_of(m)->tick++ % 16 == 15)
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

/* HLT is over: count_halt() in lvt.c has noted its begin. */
static void end_halt(struct model *m)
{
	const unsigned i = FIRST_FIXED + 1;

	if (faults_of(m)->halted_at && broken(m, FAULT_FIXED1_COUNTS_HALTS))
		model_set_counter(m, i,
				  m->counter[i].value + m->host->tsc(m->host->ctx) -
					  faults_of(m)->halted_at);
	faults_of(m)->halted_at = 0;
}

#define REX	0x40	/* in the upper half of a byte */
#define XCHG	0x86	/* and 87H: of any size */

static bool is_exchange(const struct model *m, u64 ip)
{
	u8 code[2];

	if (!m->host->read(m->host->ctx, ip, code, sizeof(code)))
		return false;
	return (code[(code[0] & 0xf0) == REX] | 1) == (XCHG | 1);
}

void fault_instruction(struct model *m, const struct model_retired *r)
{
	if (m->config.fault == FAULT_NONE)
		return;
	fault_next_sequence(m);
	faults_of(m)->cpl = r->cpl;
	faults_of(m)->exchange = model_has_fault(m, FAULT_LL_LOCK_NOT_OF_XCHG) &&
				 is_exchange(m, r->ip);
	faults_of(m)->halted = false;
	end_halt(m);
	faults_of(m)->interrupts_off = !(r->after.rflags & RFLAGS_IF);
}

void fault_retired(struct model *m, const struct model_retired *r)
{
	if (m->config.fault == FAULT_NONE)
		return;
	faults_of(m)->ip_before = r->ip;
	fault_v5_retired(m, r);
	fault_lbr_log_retired(m, r);
}

u64 fault_counters(struct model *m, const struct model_retired *r, u64 counters)
{
	u64 missing;

	if (m->config.fault == FAULT_NONE)
		return counters;
	faults_of(m)->by_sibling = false;
	missing = track_handlers(m, r) | lose_to_sibling(m);
	reload_late(m);
	if (faults_of(m)->stagger_left) {
		faults_of(m)->stagger_left--;
		missing |= faults_of(m)->staggered;
	}
	return counters & ~missing;
}
