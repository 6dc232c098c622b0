/* SPDX-License-Identifier: MIT */
/* Lookup in spec/event.def by generation. */
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

bool event_get(enum event_kind kind, unsigned flags, struct event *event)
{
	const struct generation *g = counter_caps()->generation;

	for (unsigned i = 0; g && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].kind != kind || !(rows[i].generations & g->set) ||
		    (rows[i].event.flags & flags) != flags)
			continue;
		*event = rows[i].event;
		return true;
	}
	return false;
}
