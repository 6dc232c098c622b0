/* SPDX-License-Identifier: MIT */
/*
 * Counting: SDM "Architectural Performance Monitoring Version 1 Facilities" (event select, USR,
 * OS, EN, INV, CMASK), "Version 2 Facilities" (fixed counters, global control and status), and
 * "Overflow": a counter that goes past its highest value shows it in IA32_PERF_GLOBAL_STATUS.
 */
#include "tests/random/oracle.h"

#include "spec/msr.h"

/* Sizes that no window of cycles, and of the instructions of an interrupt's handler, reaches. */
#define CYCLES_MOST	(1ULL << 32)
/* "With a CMASK that no cycle can reach": events of one cycle are far fewer. */
#define CMASK_NEVER	0x40

static const u64 implemented_status = BITS(0, 31) | BITS(32, 34);

/*
 * A counter holds something from least to least + room. `wrapped` is whether it certainly went
 * past its highest value since its bit was last cleared; `may` whether it can have.
 */
struct counter {
	u64 least, room;
	bool written, ran;		/* while it counted; at all, at a level that it selects */
	bool stepped;			/* events of its kind happened while it was on */
	bool cut;			/* least + room has passed the end, least hasn't */
};

struct oracle {
	const struct draw_env *env;
	const struct draw_case *c;
	const struct trace *trace;
	const struct draw_observation *seen;
	struct draw_verdict *verdict;
	u64 select[DRAW_GP], fixed_control, global;
	struct counter counter[DRAW_COUNTERS];
	u64 must, may;			/* status bits that are set; that may be as well */
};

static u64 ones(unsigned bits)
{
	return bits < 64 ? BIT(bits) - 1 : ~0ULL;
}

static bool is_fixed(unsigned i)
{
	return i >= DRAW_GP;
}

static u64 width_mask(const struct oracle *o, unsigned i)
{
	return ones(is_fixed(i) ? o->env->fixed_width : o->env->gp_width);
}

static bool exists(const struct oracle *o, unsigned i)
{
	return is_fixed(i) ? i - DRAW_GP < o->env->fixed : i < o->env->gp;
}

static void expect(struct oracle *o, enum draw_claim claim, u64 least, u64 room, u64 got,
		   const char *what, u64 number)
{
	struct draw_verdict *v = o->verdict;

	v->claims |= BIT(claim);
	if (got - least <= room)
		return;
	if (v->wrongs < DRAW_WRONG)
		v->wrong[v->wrongs] = (struct draw_wrong){ claim, least, least + room, got, what,
							   number };
	v->wrongs++;
}

/* ---- what a counter counts of one instruction */

static const struct draw_event fixed_event[DRAW_FIXED] = {
	{ .kind = EK_INSTRUCTIONS }, { .kind = EK_CORE_CYCLES }, { .kind = EK_REF_CYCLES },
};

static const struct draw_event *event_of(const struct oracle *o, unsigned i)
{
	if (!is_fixed(i))
		return draw_event_of(o->env, o->select[i]);
	/* What opening and closing add to the instructions of any counter. */
	for (unsigned e = 0; i == DRAW_GP && e < o->env->events; e++)
		if (o->env->event[e].kind == EK_INSTRUCTIONS)
			return &o->env->event[e];
	return &fixed_event[i - DRAW_GP];
}

static bool selects_level(const struct oracle *o, unsigned i, bool user)
{
	u64 field;

	if (is_fixed(i)) {
		field = draw_fixed_field(o->fixed_control, i - DRAW_GP);
		return field & (user ? BIT(1) : BIT(0));
	}
	return o->select[i] & (user ? IA32_PERFEVTSEL_USR : IA32_PERFEVTSEL_OS);
}

/* "Both its own enable and its bit of IA32_PERF_GLOBAL_CTRL". */
static bool is_on(const struct oracle *o, unsigned i)
{
	if (!(o->global & BIT(draw_status_bit(i))))
		return false;
	if (is_fixed(i))
		return draw_fixed_field(o->fixed_control, i - DRAW_GP) & 3;
	return o->select[i] & IA32_PERFEVTSEL_EN;
}

static unsigned cmask_of(u64 select)
{
	return (unsigned)(select >> IA32_PERFEVTSEL_CMASK_SHIFT & 0xff);
}

/* CMASK, INV and E: cycles are no property of a program, so what they leave is a range. */
static struct span filtered(const struct oracle *o, unsigned i, struct span n)
{
	u64 select = is_fixed(i) ? 0 : o->select[i];
	unsigned cmask = cmask_of(select);

	if (cmask && select & IA32_PERFEVTSEL_INV)
		return (struct span){ 0, CYCLES_MOST };
	if (cmask >= CMASK_NEVER)
		return (struct span){ 0, 0 };
	if (cmask || select & IA32_PERFEVTSEL_E)
		return (struct span){ 0, n.most };
	/* INV without CMASK has no effect. */
	return n;
}

static struct span counted(const struct oracle *o, unsigned i, const struct trace_step *step)
{
	const struct draw_event *event = event_of(o, i);
	struct span n = { 0, 0 };

	if (!event)
		return n;
	return filtered(o, i, trace_count(o->env, o->c, event, step));
}

static u64 bit_of(unsigned i)
{
	return BIT(draw_status_bit(i));
}

/* "A counter wraps to 0 after its highest value." */
static void advance(struct oracle *o, unsigned i, struct span n)
{
	struct counter *k = &o->counter[i];
	u64 end = width_mask(o, i);

	k->least += n.least;
	k->room += n.most - n.least;
	if (k->room > end / 4)
		k->room = end / 4;
	if (k->least > end) {
		k->least -= end + 1;
		o->must |= bit_of(i);
		k->cut = false;
	}
	if (k->least + k->room > end) {
		o->may |= bit_of(i);
		k->cut = true;
	}
}

/* ---- writes of the PMU's own registers, by the program */

/* On or off by a write: whether that instruction counts, and what its microcode adds, isn't
 * stated. */
static void switched(struct oracle *o, unsigned i)
{
	const struct draw_event *event = event_of(o, i);
	struct span n = { 0, 0 };

	if (!event)
		return;
	n.most = event->whole + (event->kind == EK_INSTRUCTIONS);
	if (event->kind == EK_CORE_CYCLES || event->kind == EK_REF_CYCLES)
		n.most = CYCLES_MOST;
	advance(o, i, filtered(o, i, n));
}

static void set_counter(struct oracle *o, unsigned i, u64 value, bool on)
{
	struct counter *k = &o->counter[i];
	const struct draw_event *event = event_of(o, i);
	bool itself = on && selects_level(o, i, false) && event;

	k->least = value & width_mask(o, i);
	k->room = 0;
	k->cut = false;
	k->written = k->written || on;
	/* Whether the write counts itself isn't stated. */
	if (itself && event->kind == EK_INSTRUCTIONS)
		advance(o, i, filtered(o, i, (struct span){ 0, 1 }));
	if (itself && (event->kind == EK_CORE_CYCLES || event->kind == EK_REF_CYCLES))
		advance(o, i, (struct span){ 0, CYCLES_MOST });
}

static u64 sign_extended(u64 value)
{
	return (u64)(int64_t)(int32_t)(u32)value;
}

/* The counter that a register belongs to; DRAW_COUNTERS: none. */
static unsigned counter_of_msr(u32 msr)
{
	if (msr - MSR_IA32_PMC0 < DRAW_GP)
		return msr - MSR_IA32_PMC0;
	if (msr - MSR_IA32_A_PMC0 < DRAW_GP)
		return msr - MSR_IA32_A_PMC0;
	if (msr - MSR_IA32_FIXED_CTR0 < DRAW_FIXED)
		return DRAW_GP + msr - MSR_IA32_FIXED_CTR0;
	return DRAW_COUNTERS;
}

static void write_register(struct oracle *o, u32 msr, u64 value)
{
	if (msr - MSR_IA32_PERFEVTSEL0 < DRAW_GP)
		o->select[msr - MSR_IA32_PERFEVTSEL0] = value;
	else if (msr == MSR_IA32_FIXED_CTR_CTRL)
		o->fixed_control = value;
	else if (msr == MSR_IA32_PERF_GLOBAL_CTRL)
		o->global = value;
}

/* Clears the named bits and no others. A counter that may have passed its end may do so later. */
static void clear_status(struct oracle *o, u64 bits)
{
	o->must &= ~bits;
	o->may &= ~bits;
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (bits & bit_of(i) && o->counter[i].cut)
			o->may |= bit_of(i);
}

static void operation_write(struct oracle *o, const struct trace_step *step)
{
	const struct draw_operation *op = &o->c->operation[step->slot];
	u64 value = (u64)op->high << 32 | op->low;
	u32 msr = step->row->flags & ROW_STOP ? MSR_IA32_PERF_GLOBAL_CTRL : op->msr;
	unsigned target = counter_of_msr(msr);
	struct oracle before = *o;
	u64 old_select = 0;

	if (step->row->flags & ROW_STOP)
		value = 0;
	if (msr - MSR_IA32_PERFEVTSEL0 < DRAW_GP)
		old_select = o->select[msr - MSR_IA32_PERFEVTSEL0];
	write_register(o, msr, value);
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		bool was = is_on(&before, i) && selects_level(&before, i, false);
		bool is = is_on(o, i) && selects_level(o, i, false);
		bool changed = !is_fixed(i) && msr == MSR_IA32_PERFEVTSEL0 + i &&
			       old_select != value;

		if (!exists(o, i) || i == target)
			continue;
		if (was && is && !changed)
			advance(o, i, counted(o, i, step));
		else if (was)
			switched(o, i);
		if (is && (!was || changed))
			switched(o, i);
		o->counter[i].ran |= was || is;
	}
	if (target < DRAW_COUNTERS)
		set_counter(o, target, msr - MSR_IA32_PMC0 < DRAW_GP ? sign_extended(value) : value,
			    is_on(o, target));
	if (msr == MSR_IA32_PERF_GLOBAL_OVF_CTRL)
		clear_status(o, value);
}

/* ---- reads by the program */

static void expect_counter(struct oracle *o, enum draw_claim claim, unsigned i, u64 got,
			   const char *what)
{
	const struct counter *k = &o->counter[i];
	u64 mask = width_mask(o, i);

	/* Modulo the counter's width; a bit above that is always wrong. */
	if (got & ~mask)
		expect(o, claim, k->least & mask, k->room, got, what, i);
	else
		expect(o, claim, k->least, k->room, k->least + ((got - k->least) & mask), what, i);
}

/* Whether the instruction that reads counts itself in what it reads isn't stated. */
static void read_counter(struct oracle *o, enum draw_claim claim, unsigned i, u64 got, bool user,
			 const char *what)
{
	struct counter now = o->counter[i];
	const struct draw_event *event = event_of(o, i);

	if (is_on(o, i) && selects_level(o, i, user) && event) {
		if (event->kind == EK_INSTRUCTIONS)
			o->counter[i].room++;
		if (event->kind == EK_CORE_CYCLES || event->kind == EK_REF_CYCLES)
			o->counter[i].room += CYCLES_MOST;
	}
	expect_counter(o, claim, i, got, what);
	o->counter[i] = now;
}

static void read_register(struct oracle *o, u32 msr, u64 got)
{
	unsigned i = counter_of_msr(msr);

	if (i < DRAW_COUNTERS)
		read_counter(o, DRAW_CLAIM_RDMSR, i, got, false, "RDMSR of counter %lu");
	else if (msr - MSR_IA32_PERFEVTSEL0 < DRAW_GP)
		expect(o, DRAW_CLAIM_REGISTER, o->select[msr - MSR_IA32_PERFEVTSEL0], 0, got,
		       "IA32_PERFEVTSEL%lu", msr - MSR_IA32_PERFEVTSEL0);
	else if (msr == MSR_IA32_FIXED_CTR_CTRL)
		expect(o, DRAW_CLAIM_REGISTER, o->fixed_control, 0, got,
		       "IA32_FIXED_CTR_CTRL (%#lx)", msr);
	else if (msr == MSR_IA32_PERF_GLOBAL_CTRL)
		expect(o, DRAW_CLAIM_REGISTER, o->global, 0, got, "IA32_PERF_GLOBAL_CTRL (%#lx)",
		       msr);
	else if (msr == MSR_IA32_PERF_GLOBAL_STATUS)
		expect(o, DRAW_CLAIM_OVERFLOW, 0, 0,
		       ((got ^ o->must) & ~o->may) & implemented_status,
		       "bits of IA32_PERF_GLOBAL_STATUS (%#lx) that are wrong in the program", msr);
}

static void operation_read(struct oracle *o, const struct trace_step *step)
{
	const struct draw_operation *op = &o->c->operation[step->slot];
	const struct draw_result *r = &o->seen->result[step->slot];
	u64 got = r->rdx << 32 | (u32)r->rax;
	unsigned i = op->msr & BIT(30) ? DRAW_GP + (op->msr & 7) : op->msr & 7;

	/* "In 64-bit mode RDMSR and RDPMC clear bits 63:32 of RAX and of RDX." */
	expect(o, DRAW_CLAIM_UPPER, 0, 0, r->rax >> 32, "RAX[63:32] after reading %#lx", op->msr);
	expect(o, DRAW_CLAIM_UPPER, 0, 0, r->rdx >> 32, "RDX[63:32] after reading %#lx", op->msr);
	if (step->row->flags & ROW_RDMSR)
		read_register(o, op->msr, got);
	else
		read_counter(o, is_fixed(i) ? DRAW_CLAIM_RDPMC_FIXED : DRAW_CLAIM_RDPMC, i, got,
			     step->user, "RDPMC of counter %lu");
}

/* ---- one instruction after the other */

static bool selects_step(const struct oracle *o, unsigned i, const struct trace_step *step)
{
	return selects_level(o, i, step->user);
}

static void step_once(struct oracle *o, const struct trace_step *step)
{
	bool changes = step->row->flags & (ROW_TO_USER | ROW_TO_KERNEL);

	if (step->row->flags & (ROW_RDMSR | ROW_RDPMC))
		operation_read(o, step);
	if (step->row->flags & ROW_WRMSR) {
		operation_write(o, step);
		return;
	}
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		struct span n;
		bool here = selects_step(o, i, step), there = selects_level(o, i, !step->user);

		if (!exists(o, i) || !is_on(o, i))
			continue;
		n = counted(o, i, step);
		/* At which of its two levels a change of level counts isn't stated. */
		if (changes && here != there)
			n.least = 0;
		else if (!here)
			continue;
		advance(o, i, n);
		o->counter[i].ran = true;
	}
}

/* What the writes that open and close the window add to a counter of CPL 0 that they switch. */
static void open_window(struct oracle *o)
{
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		const struct draw_event *event = exists(o, i) ? event_of(o, i) : NULL;

		if (!event || !is_on(o, i) || !selects_level(o, i, false))
			continue;
		advance(o, i, filtered(o, i, (struct span){ event->open_least, event->open_most }));
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
	const struct draw_event *event = event_of(o, i);
	bool was_on = o->c->global & bit_of(i) &&
		      (is_fixed(i) ? (draw_fixed_field(o->c->fixed_control, i - DRAW_GP) & 3) != 0 :
				     (o->c->select[i] & IA32_PERFEVTSEL_EN) != 0);

	if (o->counter[i].written)
		return DRAW_CLAIM_WRITTEN;
	if (!o->counter[i].ran && !was_on)
		return DRAW_CLAIM_OFF;
	if (!o->counter[i].ran)
		return is_fixed(i) ? DRAW_CLAIM_FIXED_LEVEL : DRAW_CLAIM_LEVEL;
	if (is_fixed(i))
		return i == DRAW_GP ? DRAW_CLAIM_FIXED : DRAW_CLAIM_RUNS;
	if (cmask_of(o->select[i]))
		return DRAW_CLAIM_FILTER;
	return event ? claim_of_kind(event->kind) : DRAW_CLAIM_RUNS;
}

static void judge_end(struct oracle *o)
{
	u64 wrong;

	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (exists(o, i))
			expect_counter(o, claim_of_counter(o, i), i, o->seen->value[i],
				       "counter %lu at the end");
	/* Counters that wrapped show it, those that haven't don't. */
	wrong = o->must & ~o->seen->status & implemented_status;
	expect(o, DRAW_CLAIM_OVERFLOW, 0, 0, wrong,
	       "bits of IA32_PERF_GLOBAL_STATUS that are missing (status %#lx)", o->seen->status);
	wrong = o->seen->status & ~o->must & ~o->may & implemented_status;
	expect(o, DRAW_CLAIM_NO_OVERFLOW, 0, 0, wrong,
	       "bits of IA32_PERF_GLOBAL_STATUS too many (status %#lx)", o->seen->status);
}

void oracle_judge(const struct draw_env *env, const struct draw_case *c, const struct trace *trace,
		  const struct draw_observation *seen, struct draw_verdict *verdict)
{
	struct oracle o = { .env = env, .c = c, .trace = trace, .seen = seen, .verdict = verdict };

	*verdict = (struct draw_verdict){ .wrongs = 0 };
	o.fixed_control = c->fixed_control;
	o.global = c->global;
	for (unsigned i = 0; i < DRAW_GP; i++) {
		o.select[i] = c->select[i];
		o.counter[i].least = c->preset[i] & ones(env->gp_width);
	}
	for (unsigned i = 0; i < DRAW_FIXED; i++)
		o.counter[DRAW_GP + i].least = c->fixed_preset[i] & ones(env->fixed_width);
	open_window(&o);
	for (unsigned i = 0; i < trace->steps; i++)
		step_once(&o, &trace->step[i]);
	judge_end(&o);
}
