/* SPDX-License-Identifier: MIT */
/* Drawing of interrupts, freezes and records. Pure. */
#ifndef TESTS_RANDOM_DRAW_SAMPLING_H
#define TESTS_RANDOM_DRAW_SAMPLING_H

#include "tests/random/prng.h"
#include "tests/random/trace.h"

#define DRAW_AREA_MIDDLE 4096		/* a page's end, in the memory of the DS area */
#define DRAW_BASE_MIDDLE 4096		/* ... and of the buffer */

/* Is it a cycle event, or no event? Then the place of its counter's overflow isn't known. */
bool draw_is_cycles(const struct draw_event *event);
/* An upper limit of the event's occurrences in the program at the levels of the select. */
u64 draw_total(const struct draw_env *env, const struct draw_case *c, const struct trace *trace,
	       const struct draw_event *event, u64 levels);
/* One of the general-purpose counters. */
unsigned draw_some_general(const struct draw_env *env, struct prng *p);
/* A value that overflows within that many events. */
u64 draw_near(const struct draw_env *env, struct prng *p, u64 events);

/* Add this to a case whose counters are drawn already. */
void draw_sampling(const struct draw_env *env, struct prng *p, struct draw_case *c,
		   const struct trace *trace);

/* An upper limit of the occurrences of a select's event in the program at its levels. */
u64 draw_sampling_events(const struct draw_env *env, const struct draw_case *c,
			 const struct trace *trace, u64 select);

/* refused/draw_refused.c: a write, or a read, that must raise #GP. The flags are the piece's. */
struct draw_operation draw_refused(const struct draw_env *env, struct prng *p,
				   const struct draw_case *c, u32 flags);

#endif
