/* SPDX-License-Identifier: MIT */
/*
 * The main part of the oracle: opening the window, one instruction after the other, and the final
 * state.
 */
#include "tests/random/branches/branch_paths.h"
#include "tests/random/arch/oracle_arch.h"
#include "tests/random/oracle_internal.h"

void oracle_expect(struct oracle *o, enum draw_claim claim, u64 least, u64 room, u64 got,
		   const char *what, u64 number)
{
	struct draw_verdict *v = o->verdict;

	v->looked[claim] = true;
	if (got - least <= room)
		return;
	if (v->wrongs < DRAW_WRONG)
		v->wrong[v->wrongs] = (struct draw_wrong){ claim, least, least + room, got, what,
							   number };
	v->wrongs++;
}

void oracle_wrong(struct oracle *o, enum draw_claim claim, const char *what, u64 number)
{
	oracle_expect(o, claim, 0, 0, 1, what, number);
}

/* ---- one instruction after the other */

static void count(struct oracle *o, const struct trace_step *step)
{
	bool changes = step->row->flags & (ROW_TO_USER | ROW_TO_KERNEL);

	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		struct span n;
		bool here = oracle_selects_level(o, i, step->user);
		bool there = oracle_selects_level(o, i, !step->user);

		if (!oracle_exists(o, i) || !oracle_is_on(o, i))
			continue;
		n = oracle_counted(o, i, step);
		/* The manual doesn't say at which of the two levels a change of level counts. */
		if (changes && here != there)
			n.least = 0;
		else if (!here)
			continue;
		oracle_advance(o, i, n);
		o->counter[i].ran = true;
	}
}

/* Apply the consequences of the counts of an instruction, or of the write that opens the window. */
static void signal_events(struct oracle *o, unsigned step)
{
	oracle_assists(o, step);
	oracle_overflows(o);
	/* "On PMI": this instruction is still counted by all counters. */
	if (o->freezes && o->c->arch.used)
		oracle_arch_freeze(o);
	else if (o->freezes)
		o->global = 0;
}

static void step_once(struct oracle *o, unsigned i)
{
	const struct trace_step *step = &o->trace->step[i];

	oracle_deliver(o, i);
	o->wrapped = o->wrapped_by_now = o->may_wrap = o->hit = o->may_hit = 0;
	o->freezes = o->freezes_branches = false;
	if (step->row->flags & (ROW_RDMSR | ROW_RDPMC))
		oracle_read(o, step);
	if (step->row->flags & ROW_REFUSED)
		oracle_refuse(o, step);
	if (step->row->flags & ROW_WRMSR)
		oracle_write(o, step);
	else
		count(o, step);
	if (!o->vague)
		signal_events(o, i);
	oracle_branch(o, i);
}

/* Add the events of the writes that open and close the window to each counter of CPL 0 that they
 * start or stop. */
static void open_window(struct oracle *o)
{
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		const struct draw_event *event = oracle_exists(o, i) ? oracle_event_of(o, i) : NULL;
		struct span n;

		if (!event || !oracle_is_on(o, i) || !oracle_selects_level(o, i, false))
			continue;
		n = oracle_is_cycles(event) ?
			    (struct span){ 0, CYCLES_MOST } :
			    (struct span){ event->open_least,
					   event->open_most + trace_exit_adds(o->env, event) };
		oracle_advance(o, i, oracle_filtered(o, i, n, true));
	}
}

/* ---- the end */

static enum draw_claim claim_of_kind(unsigned kind)
{
	switch (kind) {
	case EK_INSTRUCTIONS:
		return DRAW_CLAIM_INSTRUCTIONS;
	case EK_BRANCHES:
		return DRAW_CLAIM_BRANCHES;
	case EK_COND_BRANCHES:
		return DRAW_CLAIM_CONDITIONAL;
	case EK_NEAR_CALLS:
		return DRAW_CLAIM_CALLS;
	case EK_NEAR_RETURNS:
		return DRAW_CLAIM_RETURNS;
	case EK_NEAR_TAKEN:
		return DRAW_CLAIM_TAKEN;
	case EK_LOADS:
		return DRAW_CLAIM_LOADS;
	case EK_STORES:
		return DRAW_CLAIM_STORES;
	case EK_LOCK_LOADS:
		return DRAW_CLAIM_LOCKS;
	case EK_SPLIT_LOADS:
	case EK_SPLIT_STORES:
		return DRAW_CLAIM_SPLITS;
	default:
		return DRAW_CLAIM_RUNS;
	}
}

static enum draw_claim claim_of_counter(const struct oracle *o, unsigned i)
{
	const struct draw_event *event = oracle_event_of(o, i);
	bool was_on = o->c->global & oracle_bit(i) &&
		      (oracle_is_fixed(i) ?
			       (draw_fixed_field(o->c->fixed_control, i - DRAW_GP) & 3) != 0 :
			       (o->c->select[i] & IA32_PERFEVTSEL_EN) != 0);

	if (o->counter[i].reloaded)
		return DRAW_CLAIM_RELOAD;
	if (o->counter[i].written)
		return DRAW_CLAIM_WRITTEN;
	if (!o->counter[i].ran && !was_on)
		return DRAW_CLAIM_OFF;
	if (!o->counter[i].ran)
		return oracle_is_fixed(i) ? DRAW_CLAIM_FIXED_LEVEL : DRAW_CLAIM_LEVEL;
	if (oracle_is_fixed(i))
		return i == DRAW_GP ? DRAW_CLAIM_FIXED : DRAW_CLAIM_RUNS;
	if (oracle_cmask(o->select[i]))
		return DRAW_CLAIM_FILTER;
	return event ? claim_of_kind(event->kind) : DRAW_CLAIM_RUNS;
}

void oracle_expect_ovf_buf(struct oracle *o, u64 status, const char *what)
{
	const u64 ovf_buf = IA32_PERF_GLOBAL_STATUS_OVF_BUF;

	oracle_arch_status(o, status, what);
	if (!o->c->ds.used)
		return;
	if (o->must & ~o->may & ovf_buf)
		oracle_expect(o, DRAW_CLAIM_OVF_BUF, ovf_buf, 0, status & ovf_buf, what, status);
	else if (!(o->may & ovf_buf))
		oracle_expect(o, DRAW_CLAIM_NO_OVF_BUF, 0, 0, status & ovf_buf, what, status);
}

/* If a cycle counter's value shows that it has passed its end, its interrupt must have come. */
static void judge_passed(struct oracle *o)
{
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		if (!oracle_exists(o, i) || !oracle_has_wrapped(o, i, o->seen->value[i]))
			continue;
		o->must |= oracle_bit(i);
		if (oracle_has_interrupt(o, i) && !o->masked && !o->seen->interrupts)
			oracle_wrong(o, oracle_is_fixed(i) ? DRAW_CLAIM_PMI_FIXED :
							     DRAW_CLAIM_PMI_GP,
				     "the interrupt of counter %lu is missing", i);
	}
}

/* Counters that wrapped must have their status bit set, and others must not. OvfBuf is checked too
 * if there is a DS area. */
static void judge_status(struct oracle *o)
{
	u64 looked_at = STATUS_COUNTERS, wrong;

	wrong = o->must & ~o->seen->status & looked_at;
	oracle_expect(o, DRAW_CLAIM_OVERFLOW_FIXED, 0, 0, wrong >> 32,
		      "bits of fixed counters that are missing (status %#lx)", o->seen->status);
	oracle_expect(o, DRAW_CLAIM_OVERFLOW, 0, 0, wrong,
		      "bits of IA32_PERF_GLOBAL_STATUS that are missing (status %#lx)",
		      o->seen->status);
	wrong = o->seen->status & ~o->must & ~oracle_untold(o) & looked_at;
	oracle_expect(o, DRAW_CLAIM_NO_OVERFLOW, 0, 0, wrong,
		      "bits of IA32_PERF_GLOBAL_STATUS too many (status %#lx)", o->seen->status);
	oracle_expect_ovf_buf(o, o->seen->status, "OvfBuf at the end (status %#lx)");
}

u64 oracle_debugctl(const struct oracle *o, u64 value)
{
	return o->env->branches.architectural ? value & ~IA32_DEBUGCTL_LBR : value;
}

static void judge_end(struct oracle *o)
{
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (oracle_exists(o, i))
			oracle_expect_counter(o, claim_of_counter(o, i), i, o->seen->value[i],
					      "counter %lu at the end");
	oracle_end_refused(o);
	judge_passed(o);
	judge_status(o);
	if (o->c->freeze || o->c->branches.freeze)
		oracle_expect(o, DRAW_CLAIM_FREEZE_KEPT, oracle_debugctl(o, o->debugctl), 0,
			      oracle_debugctl(o, o->seen->debugctl),
			      "IA32_DEBUGCTL at the end (%#lx)", MSR_IA32_DEBUGCTL);
	oracle_end_records(o);
}

/* Note the cycle counters that should have moved, and those that have. */
static void note_cycles(struct oracle *o)
{
	for (unsigned i = DRAW_GP + 1; i < DRAW_COUNTERS; i++) {
		if (!oracle_exists(o, i) || !o->counter[i].ran)
			continue;
		o->verdict->cycles_on |= 1u << (i - DRAW_GP);
		if (o->seen->value[i] != o->c->fixed_preset[i - DRAW_GP])
			o->verdict->cycles_moved |= 1u << (i - DRAW_GP);
	}
}

void oracle_judge(const struct draw_env *env, const struct draw_case *c, const struct trace *trace,
		  const struct draw_observation *seen, struct draw_verdict *verdict)
{
	struct branch_paths branches;
	struct oracle o = { .env = env, .c = c, .trace = trace, .seen = seen, .verdict = verdict,
			    .branches = &branches };

	*verdict = (struct draw_verdict){ .wrongs = 0 };
	o.fixed_control = c->fixed_control;
	o.global = c->global;
	o.pebs_enable = c->pebs_enable;
	o.debugctl = draw_debugctl(c);
	o.masked = c->lvt == DRAW_LVT_MASKED;
	o.index = (u64)(int64_t)c->ds.index;
	for (unsigned i = 0; i < DRAW_GP; i++)
		o.select[i] = c->select[i];
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		oracle_load(&o, i, i < DRAW_GP ? c->preset[i] : c->fixed_preset[i - DRAW_GP]);
	oracle_arch_begin(&o);
	if (env->adaptive.baseline)
		oracle_adaptive_begin(&o);
	oracle_open_branches(&o);
	open_window(&o);
	if (!o.vague)
		signal_events(&o, NO_STEP);
	oracle_branch(&o, NO_STEP);
	for (unsigned i = 0; i < trace->steps && !o.vague; i++)
		step_once(&o, i);
	if (env->adaptive.baseline)
		oracle_adaptive_end(&o);
	oracle_end_interrupts(&o);
	if (!o.vague && draw_counts(c)) {
		judge_end(&o);
		note_cycles(&o);
	}
	oracle_arch_always(&o);
	if (!o.vague)
		oracle_end_branches(&o);
	verdict->vague = o.vague;
}
