/* SPDX-License-Identifier: MIT */
/*
 * What a run comes to: the worst that its tests said of each requirement. A requirement counts
 * because a check of it was executed where it is judged, not because a test names it. Pure.
 */
#ifndef TESTS_FRAME_TALLY_H
#define TESTS_FRAME_TALLY_H

#include "tests/frame/verdict.h"

struct tally {
	enum verdict of[REQ_COUNT];	/* NONE: no test that ran is about it */
};

/* A test ended like this, as far as this requirement goes. */
void tally_add(struct tally *tally, enum requirement_id id, enum verdict verdict);

/* PASS, FAIL or KNOWN: does the run say whether the requirement holds? */
bool tally_decides(const struct tally *tally, enum requirement_id id);
unsigned tally_decided(const struct tally *tally);

#endif
