/* SPDX-License-Identifier: MIT */
/*
 * Loads of lines that are somewhere else: in another core, another package, in memory of either. An
 * exerciser puts them there (pmu/exerciser.h); a few pages at a time, then they are loaded, turn
 * about.
 */
#ifndef TESTS_MEASURE_REMOTE_LINES_H
#define TESTS_MEASURE_REMOTE_LINES_H

#include "pmu/exerciser.h"
#include "tests/measure/mem_sample.h"

#define REMOTE_LINES	128	/* 8 KiB */

struct remote_lines {
	enum exerciser_state state;
	bool remote;		/* of memory whose home is another package */
	const char *name;
	enum event_kind event;	/* loads from there alone; EK_NONE: there is none */
	/* Off-core responses that loads from there get, and hardly any others: of Nehalem and
	 * Westmere; of later ones. */
	u64 nehalem, later;
	u64 codes;	/* in records of load latency, Table 18-24: bit n, code n; 0: not stated */
	struct cache_workload h;	/* the loads */
};

#define REMOTE_LINES_DEMAND_READ	BIT(0)	/* MSR_OFFCORE_RSP_x, either layout */
#define REMOTE_LINES_MANY	(REMOTE_LINES / 2)	/* counts of such loads */
#define REMOTE_LINES_FEW	(REMOTE_LINES / 4)	/* and what doesn't, no more than these */

/* What tells where a load has found its line. */
enum remote_lines_witness { SEEN_IN_RECORDS, SEEN_BY_EVENT, SEEN_BY_OFFCORE };

/* An exerciser answers. */
bool need_exerciser(char *reason, size_t size);

/*
 * Is there such a place, and does the exerciser do what it says? Lines that this processor has in
 * its L1 mustn't be found there after a command. false: the test has ended, as SKIP or
 * INCONCLUSIVE.
 */
bool remote_lines_prepare(struct test *t, struct remote_lines *place);

/* What an event counts of the loads of all lines, once they are there; the least of three. false:
 * the test has ended. */
bool remote_lines_count(struct test *t, const struct remote_lines *place, unsigned counter,
			u16 event, u64 *value);

/*
 * Before a verdict against `accused`, with which the exerciser disagrees: does another one find
 * the lines where they should be? false: none does, and the test is INCONCLUSIVE, because an
 * exerciser that hasn't done what it says explains as much. The lines are put there again for it.
 */
bool remote_lines_confirmed(struct test *t, const struct remote_lines *place,
			    enum remote_lines_witness accused);

/* Records of these loads, as mem_sample_take(); the test has ended where they are too few. */
unsigned remote_lines_take(struct test *t, struct test_claim claim,
			   const struct remote_lines *place, const struct mem_sample_setup *setup,
			   struct mem_sample_record records[MEM_SAMPLE_MOST]);

#endif
