/* SPDX-License-Identifier: MIT */
/*
 * Loads of remote lines: lines in caches of another core or another package, or in the memory of
 * either package. An exerciser (pmu/exerciser.h) puts a few pages of lines there; then they are
 * loaded; this is repeated.
 */
#ifndef TESTS_MEASURE_REMOTE_LINES_H
#define TESTS_MEASURE_REMOTE_LINES_H

#include "pmu/exerciser.h"
#include "tests/measure/mem_sample.h"

#define REMOTE_LINES	128	/* most of them: 8 KiB */

/* How many there are: fewer in strict runs. The least count of their event is a half of them, the
 * most of another event a quarter. */
unsigned remote_lines_number(const struct test *t);

struct remote_lines {
	enum exerciser_state state;
	bool remote;		/* of memory whose home is another package */
	const char *name;
	enum event_kind event;	/* loads from there alone; EK_NONE: there is none */
	/* Off-core responses that loads from there get, and hardly any others: of Nehalem and
	 * Westmere; of later ones. */
	u64 nehalem, later;
	u64 codes;	/* in records of load latency, Table 18-24: bit n, code n; 0: not stated */
	struct cache_workload loads;
};

#define REMOTE_LINES_DEMAND_READ	BIT(0)	/* MSR_OFFCORE_RSP_x, either layout */

/* The facilities that report where a load has found its line. */
enum remote_lines_witness { SEEN_IN_RECORDS, SEEN_BY_EVENT, SEEN_BY_OFFCORE };

/* There is an exerciser, and it answers. */
bool need_exerciser(char *reason, size_t size);

/*
 * Fill place->loads. Does such a place exist, and does the exerciser work? After a command, lines
 * that this processor had in its L1 mustn't be found there. false: the test has ended, as SKIP or
 * INCONCLUSIVE.
 */
bool remote_lines_prepare(struct test *t, struct remote_lines *place);

/* The count of an event for loads of all lines, when they are there; the least of three counts.
 * false: the test has ended. */
bool remote_lines_count(struct test *t, const struct remote_lines *place, unsigned counter,
			u16 event, u64 *value);

/*
 * Before a verdict against the facility `accused`, which disagrees with the exerciser: does another
 * facility find the lines where they should be? The lines are put there again for this. false: none
 * does, and the test is INCONCLUSIVE, because a wrong exerciser would explain it too.
 */
bool remote_lines_confirmed(struct test *t, const struct remote_lines *place,
			    enum remote_lines_witness accused);

/* Take records of these loads, like mem_sample_take(); if there are too few, the test has ended. */
unsigned remote_lines_take(struct test *t, struct test_claim claim,
			   const struct remote_lines *place, const struct mem_sample_setup *setup,
			   struct mem_sample_record records[MEM_SAMPLE_MOST]);

#endif
