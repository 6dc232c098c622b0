/* SPDX-License-Identifier: MIT */
/* Turns the results of a session into checks of a test: a check for each claim that was
 * examined. */
#ifndef TESTS_RANDOM_DECIDE_H
#define TESTS_RANDOM_DECIDE_H

#include "tests/random/session.h"

/* The claims that a session has examined, and how many cases were wrong. */
#define DECIDE(session, claim, ids, text)						\
	do {										\
		if ((session).looked[claim])						\
			CHECK_EQ(t, IDS(ids), 0, (session).wrong[claim],		\
				 "%u drawn cases: " text, (session).looked[claim]);	\
	} while (0)

#define REFUSED_TEXT "what must be refused"

#endif
