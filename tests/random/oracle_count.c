/* SPDX-License-Identifier: MIT */
/*
 * Counting: SDM "Architectural Performance Monitoring Version 1 Facilities" (event select, USR,
 * OS, EN, INV, CMASK), "Version 2 Facilities" (fixed counters, global control and status).
 */
#include "tests/random/arch/oracle_arch.h"
#include "tests/random/oracle_internal.h"

/* "With a CMASK that no cycle can reach": a cycle has far fewer events. */
#define CMASK_NEVER	0x40

bool oracle_is_fixed(unsigned i)
{
	return i >= DRAW_GP;
}

u64 oracle_width_mask(const struct oracle *o, unsigned i)
{
	return draw_ones(oracle_is_fixed(i) ? o->env->fixed_width : o->env->gp_width);
}

bool oracle_exists(const struct oracle *o, unsigned i)
{
	return oracle_is_fixed(i) ? draw_has_fixed(o->env, i - DRAW_GP) :
				    draw_has_general(o->env, i);
}

u64 oracle_those(const struct oracle *o, bool (*is)(const struct oracle *o, unsigned i))
{
	u64 counters = 0;

	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (oracle_exists(o, i) && is(o, i))
			counters |= oracle_bit(i);
	return counters;
}

/* ---- what a counter counts of one instruction */

static const struct draw_event fixed_event[DRAW_FIXED] = {
	{ .kind = EK_INSTRUCTIONS }, { .kind = EK_CORE_CYCLES }, { .kind = EK_REF_CYCLES },
	/* Slots: each cycle has some. */
	{ .kind = EK_CORE_CYCLES }, { .kind = EK_CORE_CYCLES }, { .kind = EK_CORE_CYCLES },
	{ .kind = EK_CORE_CYCLES },
};

const struct draw_event *oracle_event_of(const struct oracle *o, unsigned i)
{
	if (!oracle_is_fixed(i))
		return draw_event_of(o->env, o->select[i]);
	/* For fixed counter 0 too, opening and closing the window add instructions. */
	for (unsigned e = 0; i == DRAW_GP && e < o->env->events; e++)
		if (o->env->event[e].kind == EK_INSTRUCTIONS)
			return &o->env->event[e];
	return &fixed_event[i - DRAW_GP];
}

bool oracle_selects_level(const struct oracle *o, unsigned i, bool user)
{
	u64 field;

	if (oracle_is_fixed(i)) {
		field = draw_fixed_field(o->fixed_control, i - DRAW_GP);
		return field & (user ? BIT(1) : BIT(0));
	}
	return o->select[i] & (user ? IA32_PERFEVTSEL_USR : IA32_PERFEVTSEL_OS);
}

/* "Both its own enable and its bit of IA32_PERF_GLOBAL_CTRL". */
bool oracle_is_on(const struct oracle *o, unsigned i)
{
	if (!(o->global & BIT(draw_status_bit(i))) || o->frozen)
		return false;
	if (oracle_is_fixed(i))
		return draw_fixed_field(o->fixed_control, i - DRAW_GP) & 3;
	return o->select[i] & IA32_PERFEVTSEL_EN;
}

unsigned oracle_cmask(u64 select)
{
	return (unsigned)(select >> IA32_PERFEVTSEL_CMASK_SHIFT & 0xff);
}

/* KVM adds what it executes itself to a counter of instructions whatever these bits are (Linux,
 * kvm_pmu_trigger_event). */
static bool counts_emulated(const struct oracle *o, unsigned i)
{
	const struct draw_event *event = oracle_event_of(o, i);

	return o->env->hypervisor && !o->env->strict && event && event->kind == EK_INSTRUCTIONS;
}

/* CMASK, INV and E: a program doesn't determine its cycles, so the result is a range. */
struct span oracle_filtered(const struct oracle *o, unsigned i, struct span n, bool exits)
{
	u64 select = oracle_is_fixed(i) ? 0 : o->select[i];
	unsigned cmask = oracle_cmask(select);

	if (cmask && select & IA32_PERFEVTSEL_INV)
		return (struct span){ 0, CYCLES_MOST };
	if (cmask >= CMASK_NEVER)
		return (struct span){ 0, exits && counts_emulated(o, i) ? n.most : 0 };
	if (cmask || select & IA32_PERFEVTSEL_E)
		return (struct span){ 0, n.most };
	/* INV has no effect without CMASK. */
	return n;
}

struct span oracle_counted(const struct oracle *o, unsigned i, const struct trace_step *step)
{
	const struct draw_event *event = oracle_event_of(o, i);
	struct span n = { 0, 0 };

	if (!event)
		return n;
	return oracle_filtered(o, i, trace_count(o->env, o->c, event, step),
			       trace_exits(step->row));
}

u64 oracle_bit(unsigned i)
{
	return BIT(draw_status_bit(i));
}

bool oracle_is_cycles(const struct draw_event *event)
{
	return event->kind == EK_CORE_CYCLES || event->kind == EK_REF_CYCLES;
}

/* INT of a general-purpose counter, PMI of a fixed counter. */
bool oracle_has_interrupt(const struct oracle *o, unsigned i)
{
	if (oracle_is_fixed(i))
		return draw_fixed_field(o->fixed_control, i - DRAW_GP) & BIT(3);
	return o->select[i] & IA32_PERFEVTSEL_INT;
}

/* The counter's PEBS enable is set, and its event is precise; it isn't precise with CMASK, INV, E
 * or AnyThread ("Processor Event Based Sampling"). */
bool oracle_records(const struct oracle *o, unsigned i)
{
	const struct draw_event *event = oracle_event_of(o, i);

	if (o->c->arch.used)
		return oracle_arch_records(o, i);
	/* If fixed counters make records, fixed counter 0 has the precise event of instructions. */
	if (oracle_is_fixed(i))
		return i == DRAW_GP && o->env->adaptive.fixed & 1 && o->pebs_enable & oracle_bit(i);
	return o->pebs_enable >> i & 1 && event && event->pebs >> i & 1 &&
	       !(o->select[i] & (IA32_PERFEVTSEL_E | IA32_PERFEVTSEL_INV | IA32_PERFEVTSEL_ANY)) &&
	       !oracle_cmask(o->select[i]);
}

/* All cycles of the window, or all slots. */
static u64 most_cycles(const struct oracle *o, unsigned i)
{
	u64 most = (o->seen->end - o->seen->begin) * CYCLES_OF_TICK;

	return i >= DRAW_GP + FIXED_SLOTS ? most * SLOTS_OF_CYCLE : most;
}

/* A cycle counter with PMI and without a freeze: its interrupt may come at any time, or not at
 * all. */
static bool interrupts_anywhere(const struct oracle *o, unsigned i)
{
	if (o->c->freeze || o->c->branches.freeze || o->c->arch.used)
		return false;
	return (o->handler && o->env->adaptive.baseline) || i > DRAW_GP;
}

bool oracle_has_wrapped(const struct oracle *o, unsigned i, u64 got)
{
	const struct counter *k = &o->counter[i];

	if (!k->cut || k->cleared || k->lost || o->c->arch.used || o->pebs_enable & oracle_bit(i))
		return false;
	return (got & oracle_width_mask(o, i)) < k->least;
}

/* "A counter wraps to 0 after its highest value." */
void oracle_advance(struct oracle *o, unsigned i, struct span n)
{
	struct counter *k = &o->counter[i];
	u64 end = oracle_width_mask(o, i);

	if (n.least)
		o->hit |= oracle_bit(i);
	if (n.most)
		o->may_hit |= oracle_bit(i);
	if (k->lost)
		return;
	k->least += n.least;
	k->room += n.most - n.least;
	if (n.most >= CYCLES_MOST && k->room > most_cycles(o, i))
		k->room = most_cycles(o, i);
	if (k->room > end / 4)
		k->room = end / 4;
	if (k->least > end) {
		k->least -= end + 1;
		/* If the bit may have been set before and cleared since, it isn't known when the
		 * counter wrapped. */
		if (!k->cleared)
			o->must |= oracle_bit(i);
		if (!k->cut)
			o->wrapped |= oracle_bit(i);
		else
			o->wrapped_by_now |= oracle_bit(i);
		o->may_wrap |= oracle_bit(i);
		k->cut = k->cleared = false;
	}
	if (k->least + k->room > end && !k->cut) {
		o->may |= oracle_bit(i);
		o->may_wrap |= oracle_bit(i);
		k->cut = true;
		/* Nor is it known whether it interrupts or arms now. With architectural PEBS the
		 * record shows it. */
		if (oracle_has_interrupt(o, i) && interrupts_anywhere(o, i))
			o->most++;
		else if (oracle_has_interrupt(o, i))
			o->vague = true;
		else if (o->env->adaptive.baseline && o->pebs_enable & oracle_bit(i))
			oracle_loosen(o, oracle_bit(i));
		else if (oracle_records(o, i) && !o->c->arch.used)
			o->vague = true;
	}
}

/* The counter now has this value. */
void oracle_load(struct oracle *o, unsigned i, u64 value)
{
	o->counter[i].least = value & oracle_width_mask(o, i);
	o->counter[i].room = 0;
	o->counter[i].cut = o->counter[i].cleared = o->counter[i].lost = false;
}

void oracle_serve(struct oracle *o, u64 counters)
{
	o->must &= ~counters;
	o->may &= ~counters;
	if (o->env->errata & BIT(ERRATUM_STATUS_STAYS))
		o->stale |= counters;
}

u64 oracle_untold(const struct oracle *o)
{
	return o->may | (o->stale & ~o->must);
}

/* Clear the named bits and no others. A counter that may have passed its end may do so later. */
void oracle_clear_status(struct oracle *o, u64 bits)
{
	o->must &= ~bits;
	o->may &= ~bits;
	o->stale &= ~bits;
	o->frozen = o->frozen && !(bits & IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (bits & oracle_bit(i) && (o->counter[i].cut || o->counter[i].lost)) {
			o->may |= oracle_bit(i);
			o->counter[i].cleared = true;
		}
}
