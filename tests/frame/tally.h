/* SPDX-License-Identifier: MIT */
/*
 * The results of a run: the worst verdict of its tests on each requirement. A requirement counts
 * only if a check of it was executed and judged; it isn't enough that a test names it. Pure.
 */
#ifndef TESTS_FRAME_TALLY_H
#define TESTS_FRAME_TALLY_H

#include "tests/frame/verdict.h"

struct tally {
	enum verdict of[REQ_COUNT];	/* NONE: no test that ran is about it */
};

/* Add a test's verdict on this requirement. */
void tally_add(struct tally *tally, enum requirement_id id, enum verdict verdict);

/* PASS, FAIL or KNOWN: does the run say whether the requirement holds? */
bool tally_decides(const struct tally *tally, enum requirement_id id);
unsigned tally_decided(const struct tally *tally);

#endif
