/* SPDX-License-Identifier: MIT */
/* Lookup in spec/event.def by generation and model. */
#include "pmu/event.h"

#include "pmu/counter.h"

static const struct row {
	u32 generations;
	enum event_kind kind;
	struct event event;
} rows[] = {
#define EVENT_ON(gens, name, flags, counters, sure, min_period, period_unit, source) \
	{ gens, (enum event_kind)EVENT_KIND_##name, \
	  { #name, EVENT_##name, flags, counters, sure, min_period, period_unit } },
#include "spec/event.def"
};

static const struct lack {
	unsigned family, model;
	u16 code;
	unsigned flags;		/* flags that the model lacks; 0: the event */
} lacks[] = {
#define EVENT_NOT_ON(family, model, name, flags, source) { family, model, EVENT_##name, flags },
#include "spec/event.def"
};

/* Adjust the event to this model. false: the model doesn't have it. */
static bool on_this_model(struct event *event)
{
	const struct pmu_caps *caps = counter_caps();

	for (unsigned i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		if (lacks[i].family != caps->family || lacks[i].model != caps->model ||
		    lacks[i].code != event->code)
			continue;
		if (!lacks[i].flags)
			return false;
		event->flags &= (u16)~lacks[i].flags;
	}
	return true;
}

static const struct cycles_row {
	u32 generations;
	u16 code;
	u32 counters, sure;
} cycles_rows[] = {
#define EVENT_CYCLES(gens, name, counters, sure, source) { gens, EVENT_##name, counters, sure },
#include "spec/event.def"
};

bool event_get(enum event_kind kind, unsigned flags, struct event *event)
{
	const struct generation *g = counter_caps()->generation;

	for (unsigned i = 0; g && i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct event here = rows[i].event;

		if (rows[i].kind != kind || !(rows[i].generations & g->set) ||
		    !on_this_model(&here) || (here.flags & flags) != flags)
			continue;
		*event = here;
		return true;
	}
	return false;
}

/* This processor's row with this code. */
static const struct event *event_by_code(const struct generation *g, u16 code)
{
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].event.code == code && rows[i].generations & g->set)
			return &rows[i].event;
	return NULL;
}

u32 event_counters(u16 code)
{
	const struct generation *g = counter_caps()->generation;
	u32 counters = ~0u;

	for (unsigned i = 0; g && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].event.code == code && rows[i].generations & g->set)
			counters &= rows[i].event.counters;
	return counters;
}

bool event_is_taken_alone(u16 code)
{
	const struct generation *g = counter_caps()->generation;

	for (unsigned i = 0; g && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].event.code == code && rows[i].generations & g->set)
			return rows[i].kind == EK_FRONTEND ||
			       rows[i].event.flags & (EV_LL | EV_PS | EV_PDIR);
	return false;
}

bool event_cycles(unsigned n, struct event *event)
{
	const struct generation *g = counter_caps()->generation;

	for (unsigned i = 0; g && i < sizeof(cycles_rows) / sizeof(cycles_rows[0]); i++) {
		const struct event *row;

		if (!(cycles_rows[i].generations & g->set) || n--)
			continue;
		row = event_by_code(g, cycles_rows[i].code);
		if (!row)
			return false;
		*event = *row;
		event->counters = cycles_rows[i].counters;
		event->sure = cycles_rows[i].sure;
		return true;
	}
	return false;
}
