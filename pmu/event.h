/* SPDX-License-Identifier: MIT */
/*
 * The events of spec/event.def on this processor. The code of an event depends on the generation;
 * its kind has one name on all generations.
 */
#ifndef PMU_EVENT_H
#define PMU_EVENT_H

#include "spec/event.h"

struct event {
	const char *name;	/* Intel's, dots as underscores */
	u16 code;		/* for IA32_PERFEVTSELx[15:0] */
	u16 flags;		/* EV_* */
	u32 counters, sure;	/* bit n: PMCn can count it; sure: and no source contradicts */
	unsigned min_period, period_unit;
};

/*
 * The first event of this processor that counts kind and has all of these flags. false, with *event
 * unchanged: there is none, or the processor isn't in spec/generation.def. Needs counter_init().
 */
bool event_get(enum event_kind kind, unsigned flags, struct event *event);

/*
 * The nth event of this processor, from 0 on, that makes PEBS records of all cycles if INV is set
 * and CMASK = TOTAL_CYCLES_CMASK. event->counters are the counters that support this. false: there
 * are no more.
 */
bool event_cycles(unsigned n, struct event *event);

/* The counters on which this processor counts the event of that code; all ones: no row has it. */
u32 event_counters(u16 code);

/*
 * Do Intel's event files say that other counters can't be used while this event is counted
 * (TakenAlone)? They do for load latency, precise store, precise distribution of Sandy Bridge to
 * Skylake, and FRONTEND_RETIRED.
 */
bool event_is_taken_alone(u16 code);

#endif
