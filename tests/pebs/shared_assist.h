/* SPDX-License-Identifier: MIT */
/* The effect of a record on counters other than the one for which it is made. */
#ifndef TESTS_PEBS_SHARED_ASSIST_H
#define TESTS_PEBS_SHARED_ASSIST_H

#include "tests/frame/test.h"

/*
 * Must a record reload a counter that has overflowed and still waits for its event? From format 3
 * on this is required only in strict runs (docs/READINGS.md, "One assist for several counters").
 */
bool shared_assist_covers_waiting(const struct test *t);

#define WAITING_NOT_ASKED \
	"whether a record from format 3 on is that of a counter that waits isn't stated"

#endif
