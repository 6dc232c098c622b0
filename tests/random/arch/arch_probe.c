/* SPDX-License-Identifier: MIT */
/* See arch_probe.h. */
#include "tests/random/arch/arch_probe.h"

#include "pmu/event.h"
#include "pmu/version6/version6.h"
#include "spec/msr.h"

#define WINDOWS		3
#define LOADS_BEFORE	3	/* loads of the program before the overflow */
#define LOADS		EVENT_MEM_UOPS_RETIRED_ALL_LOADS

/* The events that PEBS counts have separate rows for architectural events. Only the reference PMU
 * is known to record the next event for these. */
u32 arch_precise(const struct draw_env *env)
{
	u32 precise = 0;

	for (unsigned i = 0; i < env->events; i++) {
		const struct draw_event *e = &env->event[i];
		struct event row;

		if (e->flags & EV_PEBS ||
		    (env->strict && event_get(e->kind, EV_PEBS, &row) && row.code == e->code))
			precise |= 1u << i;
	}
	return precise;
}

static u64 loads_of(const struct draw_env *env, const struct draw_case *c,
		    const struct draw_event *e, const struct trace_step *step)
{
	return trace_count(env, c, e, step).least;
}

bool arch_probe(const struct draw_env *env, struct trace *trace, struct draw_observation *seen)
{
	static const char *const names[] = { "start", "load_bytes", "load_words", "stop" };
	const u64 plain = env->arch.pebs & ~env->arch.pdist & env->general;
	const struct draw_event *e = draw_event_of(env, LOADS);
	const unsigned counter = counter_next(plain, 0);
	struct draw_case c = { .class = DRAW_ARCH };
	unsigned due = 0;
	u64 counted = 0;

	if (!plain || !e || !(e->counters >> counter & 1))
		return false;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		c.piece[c.pieces++] = (u16)piece_find(names[i], 0);
	if (!trace_make(env, &c, trace))
		return false;
	for (; counted < LOADS_BEFORE; due++)
		counted += loads_of(env, &c, e, &trace->step[due]);
	while (!loads_of(env, &c, e, &trace->step[due]))
		due++;
	c.global = BIT(counter);
	c.select[counter] = e->code | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN;
	c.preset[counter] = (0 - counted - e->open_most) & draw_ones(env->gp_width);
	c.arch = (struct draw_arch){ .used = 1, .threshold = (u32)DRAW_ARCH_NEVER };
	c.arch.config[counter] = IA32_PMC_GP0_CFG_C_PEBS_EN | BIT(31);
	for (unsigned i = 0; i < WINDOWS; i++) {
		u64 ip = 0;

		machine_run(&c, trace, seen);
		if (!seen->records || !record_get(&seen->record[0], RECORD_eventing_ip, &ip) ||
		    ip != trace->step[due].ip)
			return false;
	}
	return true;
}
