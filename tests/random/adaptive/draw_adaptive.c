/* SPDX-License-Identifier: MIT */
/* See draw_adaptive.h. */
#include "tests/random/adaptive/draw_adaptive.h"

#include "spec/adaptive.h"
#include "spec/msr.h"
#include "tests/random/draw_sampling.h"

#define CAPACITY_MOST	6		/* records of the largest size that fit */
#define AREA_WORDS	60		/* words, at most, from its begin to a page's end */
#define BASE_WORDS	160
#define LEVELS_SHIFT	16		/* position of USR and OS in an event select */
#define CYCLES_SHIFTS	4	/* cycles of an instruction are 1 to 8 */

static u64 draw_config(const struct draw_env *env, struct prng *p)
{
	const struct draw_adaptive *a = &env->adaptive;
	u64 config = prng_below(p, 16);		/* memory, GPR, XMM, LBR */

	if (prng_one_in(p, 6))
		return PEBS_DATA_CFG_GPR;
	if (!a->entries || prng_one_in(p, 2))
		config &= ~PEBS_DATA_CFG_LBR;
	if (config & PEBS_DATA_CFG_LBR)
		config |= prng_below(p, prng_one_in(p, 2) ? 4 : a->entries)
			  << PEBS_DATA_CFG_LBR_ENTRIES_SHIFT;
	if (prng_one_in(p, 2))
		config |= a->counters & PEBS_DATA_CFG_METRICS;
	if (prng_one_in(p, 2))
		config |= a->counters & PEBS_DATA_CFG_CNTR;
	/* The metrics aren't drawn if these bits are set and the group isn't selected
	 * (docs/READINGS.md). */
	if (config & PEBS_DATA_CFG_CNTR || !(config & PEBS_DATA_CFG_METRICS))
		config |= a->counters & (PEBS_DATA_CFG_CNTR_GP | PEBS_DATA_CFG_CNTR_FIXED) &
			  prng_next(p);
	return config;
}

/* Draw the places of the area and the buffer, and the index, maximum and threshold in the
 * buffer. */
static void draw_buffer(struct prng *p, struct draw_case *c)
{
	const int size = (int)draw_adaptive_bytes(c->ds.config);
	const int capacity = 1 + (int)prng_below(p, CAPACITY_MOST);
	const int step = prng_one_in(p, 2) ? size : ADAPTIVE_BASIC_BYTES;

	c->ds.used = 1;
	c->ds.high = (u8)(prng_one_in(p, 2) ? prng_below(p, 8) : 0);
	c->ds.area = (u16)(DRAW_AREA_MIDDLE - 8 * prng_below(p, AREA_WORDS));
	c->ds.base = (u16)(DRAW_BASE_MIDDLE - 8 * prng_below(p, BASE_WORDS));
	c->ds.maximum = (int16_t)(size * capacity);
	if (prng_one_in(p, 4))
		c->ds.maximum = (int16_t)(c->ds.maximum + 8 * (int)prng_below(p, (u64)size / 8));
	c->ds.index = (int16_t)(step * (int)prng_below(p, (u64)(c->ds.maximum / step) + 1));
	if (!prng_one_in(p, 3))
		c->ds.index = 0;
	c->ds.threshold = (int16_t)(step * (int)prng_below(p, (u64)capacity + 3));
	if (prng_one_in(p, 4))
		c->ds.threshold = (int16_t)(c->ds.threshold + 8 * (int)prng_below(p, 20));
}

/* true: the counter may get this event. Outside of strict runs it gets no precise event whose
 * records aren't certain on this counter. */
static bool may_record(const struct draw_env *env, const struct draw_event *e, unsigned counter)
{
	return e->counters >> counter & 1 &&
	       (env->strict || !(e->flags & EV_PEBS) || e->pebs >> counter & 1);
}

static u64 draw_any_event(const struct draw_env *env, struct prng *p, unsigned counter)
{
	for (unsigned tries = 0; tries < 16; tries++) {
		const struct draw_event *e = &env->event[prng_below(p, env->events)];

		/* Prefer precise events. */
		if (may_record(env, e, counter) && (e->pebs >> counter & 1 || prng_one_in(p, 8)))
			return e->code;
	}
	return 0;
}

/* Draw a start value at most so many events before the end, so that there is soon a record. */
static u64 draw_start(const struct draw_env *env, struct prng *p, const struct trace *trace,
		      const struct draw_event *event, u64 events)
{
	if (draw_is_cycles(event))
		events = trace->steps << prng_below(p, CYCLES_SHIFTS);
	return draw_near(env, p, events / 2 + 1);
}

/* Draw a reset value. Half of the values are far from the end, so that the case goes on. */
static u64 draw_reset(const struct draw_env *env, struct prng *p, const struct trace *trace,
		      const struct draw_event *event, u64 events)
{
	switch (prng_below(p, 4)) {
	case 0:
		return prng_one_in(p, 2) ? 0 : prng_below(p, 1000);
	case 1:
		return prng_next(p) >> 1;
	default:
		return draw_start(env, p, trace, event, events);
	}
}

static void draw_gp(const struct draw_env *env, struct prng *p, struct draw_case *c,
		    const struct trace *trace, unsigned i)
{
	u64 code = draw_any_event(env, p, i), events;
	const struct draw_event *event = draw_event_of(env, code);

	if (!code || !prng_one_in(p, 3))
		return;
	c->select[i] = code | (1 + prng_below(p, 3)) << LEVELS_SHIFT | IA32_PERFEVTSEL_EN;
	if (!prng_one_in(p, 3))
		c->select[i] |= IA32_PERFEVTSEL_ADAPTIVE;
	events = draw_total(env, c, trace, event, c->select[i]);
	c->pebs_enable |= BIT(i);
	c->preset[i] = draw_start(env, p, trace, event, events) & draw_ones(env->gp_width);
	c->ds.reset[i] = draw_reset(env, p, trace, event, events) & draw_ones(env->gp_width);
	/* Sometimes take the settings of the previous counter: then both are due on one
	 * instruction. */
	if (i && c->pebs_enable >> (i - 1) & 1 && prng_one_in(p, 3) &&
	    may_record(env, draw_event_of(env, c->select[i - 1]), i)) {
		c->select[i] = c->select[i - 1];
		c->preset[i] = c->preset[i - 1];
		if (prng_one_in(p, 2))
			c->select[i] ^= IA32_PERFEVTSEL_ADAPTIVE;
	}
}

static void draw_fixed(const struct draw_env *env, struct prng *p, struct draw_case *c,
		       const struct trace *trace, unsigned i)
{
	static const struct draw_event cycles = { .kind = EK_CORE_CYCLES };
	const struct draw_event *event = i ? &cycles : draw_event_of(env, EVENT_INST_RETIRED_ANY_P);
	u64 levels = 1 + prng_below(p, 3), events;

	if (!(env->adaptive.fixed >> i & 1) || !event || !prng_one_in(p, 3))
		return;
	c->fixed_control &= ~(BITS(0, 3) << 4 * i);
	c->fixed_control |= levels << 4 * i;
	if (!prng_one_in(p, 3))
		c->fixed_control |= IA32_FIXED_CTR_CTRL_ADAPTIVE0 << 4 * i;
	/* Bit 0 (CPL 0) is like OS; bit 1 is like USR. */
	events = draw_total(env, c, trace, event,
			    (levels & 1 ? IA32_PERFEVTSEL_OS : 0) |
				    (levels & 2 ? IA32_PERFEVTSEL_USR : 0));
	c->pebs_enable |= BIT(32 + i);
	c->fixed_preset[i] = draw_start(env, p, trace, event, events) & draw_ones(env->fixed_width);
	c->ds.reset[DRAW_GP + i] = draw_reset(env, p, trace, event, events) &
				   draw_ones(env->fixed_width);
}

void draw_adaptive(const struct draw_env *env, struct prng *p, struct draw_case *c,
		   const struct trace *trace)
{
	c->ds.config = draw_config(env, p);
	/* Then each instruction takes longer. IA32_DEBUGCTL enables legacy branch records, and also
	 * freezing. */
	c->ds.recording = c->ds.config & PEBS_DATA_CFG_LBR && prng_one_in(p, 24) && !c->freeze;
	draw_buffer(p, c);
	FOR_EACH_COUNTER (i, env->general)
		draw_gp(env, p, c, trace, i);
	for (unsigned i = 0; i < DRAW_FIXED; i++)
		draw_fixed(env, p, c, trace, i);
}
