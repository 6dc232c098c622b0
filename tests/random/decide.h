/* SPDX-License-Identifier: MIT */
/* How a test says what a session has found: each claim that was looked at is a check. */
#ifndef TESTS_RANDOM_DECIDE_H
#define TESTS_RANDOM_DECIDE_H

#include "tests/random/session.h"

/* What a session has looked at, and how much of it was wrong. */
#define DECIDE(session, claim, ids, text)						\
	do {										\
		if ((session).looked[claim])						\
			CHECK_EQ(t, IDS(ids), 0, (session).wrong[claim],		\
				 "%u drawn cases: " text, (session).looked[claim]);	\
	} while (0)

#define REFUSED_TEXT "what must be refused"

#endif
