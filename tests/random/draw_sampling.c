/* SPDX-License-Identifier: MIT */
/* See draw_sampling.h. */
#include "tests/random/draw_sampling.h"

#include "spec/msr.h"
#include "tests/random/adaptive/draw_adaptive.h"

#define CAPACITY_MOST	6		/* records that the buffer has room for */

bool draw_is_cycles(const struct draw_event *event)
{
	return !event || event->kind == EK_CORE_CYCLES || event->kind == EK_REF_CYCLES;
}

u64 draw_total(const struct draw_env *env, const struct draw_case *c, const struct trace *trace,
	       const struct draw_event *event, u64 levels)
{
	u64 n = 0;

	for (unsigned i = 0; event && i < trace->steps; i++)
		if (levels & (trace->step[i].user ? IA32_PERFEVTSEL_USR : IA32_PERFEVTSEL_OS))
			n += trace_count(env, c, event, &trace->step[i]).least;
	return n;
}

u64 draw_sampling_events(const struct draw_env *env, const struct draw_case *c,
			 const struct trace *trace, u64 select)
{
	return draw_total(env, c, trace, draw_event_of(env, select), select);
}

/* Draw a value that overflows after at most so many events. */
u64 draw_near(const struct draw_env *env, struct prng *p, u64 events)
{
	return 0ULL - env->period_least - prng_below(p, events + 1);
}

static u64 near_of(const struct draw_env *env, struct prng *p, const struct draw_case *c,
		   const struct trace *trace, unsigned i)
{
	return draw_near(env, p,
			 draw_total(env, c, trace, draw_event_of(env, c->select[i]),
				    c->select[i])) &
	       draw_ones(env->gp_width);
}

unsigned draw_some_general(const struct draw_env *env, struct prng *p)
{
	unsigned all = 0, i;

	FOR_EACH_COUNTER (c, env->general)
		all++;
	i = (unsigned)prng_below(p, all);
	FOR_EACH_COUNTER (c, env->general)
		if (!i--)
			return c;
	return 0;
}

static void draw_interrupting(const struct draw_env *env, struct prng *p, struct draw_case *c,
			      const struct trace *trace)
{
	FOR_EACH_COUNTER (i, env->general) {
		const struct draw_event *event = draw_event_of(env, c->select[i]);

		if (!c->select[i] || !prng_one_in(p, 2))
			continue;
		c->select[i] |= IA32_PERFEVTSEL_INT;
		/* The place of a cycle counter's overflow can't be known. */
		if (draw_is_cycles(event) || c->select[i] >> IA32_PERFEVTSEL_CMASK_SHIFT ||
		    c->select[i] & IA32_PERFEVTSEL_E)
			c->preset[i] = prng_below(p, 1000);
		else if (!prng_one_in(p, 4))
			c->preset[i] = near_of(env, p, c, trace, i);
	}
	for (unsigned i = 0; i < DRAW_FIXED; i++) {
		u64 levels = draw_fixed_field(c->fixed_control, i) & 3;

		if (!draw_has_fixed(env, i) || !prng_one_in(p, 3))
			continue;
		c->fixed_control |= BIT(3) << 4 * i;
		c->fixed_preset[i] = prng_below(p, 1000);
		/* The place of its overflow isn't known, but its value shows that it has
		 * overflowed. */
		if (i && i != FIXED_REF_TSC && !c->freeze && c->class != DRAW_ARCH &&
		    prng_one_in(p, 4))
			c->fixed_preset[i] = draw_near(env, p, trace->steps) &
					     draw_ones(env->fixed_width);
		if (!i && !prng_one_in(p, 3))
			c->fixed_preset
				[i] = draw_near(env, p,
						draw_total(env, c, trace,
							   draw_event_of(env,
									 EVENT_INST_RETIRED_ANY_P),
							   (levels & 2) << 15 | (levels & 1)
											<< 17)) &
				      draw_ones(env->fixed_width);
	}
}

static void draw_delivery(const struct draw_env *env, struct prng *p, struct draw_case *c)
{
	static const u8 lvt[] = { DRAW_LVT_FIXED, DRAW_LVT_FIXED, DRAW_LVT_FIXED, DRAW_LVT_NMI,
				  DRAW_LVT_MASKED };

	c->lvt = lvt[prng_below(p, sizeof(lvt))];
	c->freeze = env->freeze && prng_one_in(p, 2);
	c->keep_status = prng_one_in(p, 6);
	/* If LVTPC is unmasked while a status bit is 1, it may interrupt at once, again and again
	 * (Linux, about Haswell). */
	c->stay_masked = c->keep_status || prng_one_in(p, 6);
}

static u64 draw_precise_event(const struct draw_env *env, struct prng *p, unsigned counter)
{
	for (unsigned tries = 0; tries < 16; tries++) {
		const struct draw_event *e = &env->event[prng_below(p, env->events)];

		if (e->pebs >> counter & 1 && e->counters >> counter & 1)
			return e->code;
	}
	return 0;
}

static void draw_recording(const struct draw_env *env, struct prng *p, struct draw_case *c,
			   const struct trace *trace, unsigned i)
{
	u64 code = draw_precise_event(env, p, i), events;
	const struct draw_event *event = draw_event_of(env, code);

	if (!code || !prng_one_in(p, 2))
		return;
	c->select[i] = code | (1 + prng_below(p, 3)) << 16 | IA32_PERFEVTSEL_EN;
	/* PEBS with CMASK and such is "undefined": only strict runs judge our reading of it. */
	if (env->strict && prng_one_in(p, 12))
		c->select[i] |= prng_one_in(p, 2) && env->any_thread ?
					IA32_PERFEVTSEL_ANY :
					1ULL << IA32_PERFEVTSEL_CMASK_SHIFT;
	if (prng_one_in(p, 4) && !(c->select[i] >> IA32_PERFEVTSEL_CMASK_SHIFT) && !env->int_open)
		c->select[i] |= IA32_PERFEVTSEL_INT;
	c->pebs_enable |= BIT(i);
	events = draw_total(env, c, trace, event, c->select[i]);
	c->preset[i] = draw_near(env, p, events / 2 + 1) & draw_ones(env->gp_width);
	/* Sometimes take the settings of the previous counter: then both are due on one
	 * instruction. */
	if (i && c->pebs_enable >> (i - 1) & 1 && draw_event_of(env, c->select[i - 1]) &&
	    draw_event_of(env, c->select[i - 1])->pebs >> i & 1 && prng_one_in(p, 4)) {
		c->select[i] = c->select[i - 1];
		c->preset[i] = c->preset[i - 1];
	}
	c->ds.reset[i] = prng_one_in(p, 3) ?
				 prng_below(p, 1000) :
				 draw_near(env, p, events / 2 + 1) & draw_ones(env->gp_width);
}

/* Draw the places of the area and the buffer, and the index, maximum and threshold in the
 * buffer. */
static void draw_buffer(const struct draw_env *env, struct prng *p, struct draw_case *c)
{
	int capacity = 1 + (int)prng_below(p, CAPACITY_MOST), size = (int)env->record_bytes;

	c->ds.used = 1;
	c->ds.high = (u8)(prng_one_in(p, 2) ? prng_below(p, 8) : 0);
	c->ds.area = (u16)(DRAW_AREA_MIDDLE - 8 * prng_below(p, 32));
	c->ds.base = (u16)(DRAW_BASE_MIDDLE - 8 * prng_below(p, 160));
	c->ds.index = (int16_t)(size * (int)prng_below(p, (u64)capacity + 1));
	if (prng_one_in(p, 2))
		c->ds.index = 0;
	c->ds.maximum = (int16_t)(size * capacity);
	if (env->strict && prng_one_in(p, 4))
		c->ds.maximum = (int16_t)(c->ds.maximum + 8 * (int)prng_below(p, (u64)size / 8));
	c->ds.threshold = (int16_t)(size * (int)prng_below(p, (u64)capacity + 3));
	if (env->strict && prng_one_in(p, 6))
		c->ds.threshold = (int16_t)(c->ds.threshold + 8 * (int)prng_below(p, 20));
}

void draw_sampling(const struct draw_env *env, struct prng *p, struct draw_case *c,
		   const struct trace *trace)
{
	draw_delivery(env, p, c);
	draw_interrupting(env, p, c, trace);
	if (c->class != DRAW_RECORDS || !env->pebs)
		return;
	if (env->adaptive.baseline) {
		draw_adaptive(env, p, c, trace);
	} else {
		draw_buffer(env, p, c);
		FOR_EACH_COUNTER (i, env->general & BITS(0, 3))
			draw_recording(env, p, c, trace, i);
	}
	/* Sometimes records without interrupts: then there are more records. */
	if (prng_one_in(p, 2))
		FOR_EACH_COUNTER (i, env->general)
			c->select[i] &= ~IA32_PERFEVTSEL_INT;
	if (prng_one_in(p, 2))
		c->global = draw_every_counter(env);
}
