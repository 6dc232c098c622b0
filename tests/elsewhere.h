/* SPDX-License-Identifier: MIT */
/*
 * Loads of lines that are somewhere else: in another core, another package, in memory of either. An
 * exerciser puts them there (pmu/exerciser.h); a few pages at a time, then they are loaded, turn
 * about.
 */
#ifndef TESTS_ELSEWHERE_H
#define TESTS_ELSEWHERE_H

#include "pmu/exerciser.h"
#include "tests/tagged.h"

#define ELSEWHERE_LINES	128	/* 8 KiB */

struct elsewhere {
	enum exerciser_state state;
	bool remote;		/* of memory whose home is another package */
	const char *name;
	struct hierarchy h;	/* the loads */
};

/* An exerciser answers. */
bool need_exerciser(char *reason, size_t size);

/*
 * Is there such a place, and does the exerciser do what it says? Lines that this processor has in
 * its L1 mustn't be found there behind a command. false: the test has ended, as SKIP or
 * INCONCLUSIVE.
 */
bool elsewhere_prepare(struct test *t, struct elsewhere *place);

/* What an event counts of the loads of all lines, once they are there; the least of three. false:
 * the test has ended. */
bool elsewhere_count(struct test *t, const struct elsewhere *place, unsigned counter, u16 event,
		     u64 *value);

/* Records of these loads, as tagged_take(); the test has ended where they are too few. */
unsigned elsewhere_take(struct test *t, struct test_claim claim, const struct elsewhere *place,
			const struct tagged_setup *setup,
			struct tagged_record records[TAGGED_MOST]);

#endif
