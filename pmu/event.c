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
	unsigned flags;		/* 0: the event */
} lacks[] = {
#define EVENT_NOT_ON(family, model, name, flags, source) { family, model, EVENT_##name, flags },
#include "spec/event.def"
};

/* As this model has it; false: it hasn't. */
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
