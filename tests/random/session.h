/* SPDX-License-Identifier: MIT */
/*
 * Draws, runs and judges cases for a given time or number. If a case is wrong, it is made as small
 * as possible and printed as C code that repeats it.
 */
#ifndef TESTS_RANDOM_SESSION_H
#define TESTS_RANDOM_SESSION_H

#include "tests/frame/test.h"
#include "tests/random/oracle.h"

struct session {
	unsigned cases;
	unsigned vague;			/* whose end the manual doesn't tell */
	unsigned disturbed;		/* wrong beside an SMI or lost time, and not without */
	unsigned once;			/* wrong once, and not again, without either */
	u64 last_wrong;			/* number of a case */
	unsigned looked[DRAW_CLAIMS];	/* cases in which that was looked at */
	/* Cases in which fixed counter 1 or 2 was on, and in which it moved. */
	unsigned cycles_on[DRAW_FIXED], cycles_moved[DRAW_FIXED];
	unsigned wrong[DRAW_CLAIMS];	/* ... and not as the oracle has it */
};

/* false: the test has ended. */
bool session_run(struct test *t, enum draw_class class, struct session *session);

/* Wrong counts, reads and registers: all but interrupts, records and the status. */
unsigned session_wrong_counts(const struct session *s);

/* Drawn cases of these classes on the first processor and on cpu, at once. false: the same. */
bool session_run_two(struct test *t, unsigned cpu, const enum draw_class class[2],
		     struct session session[2]);

/*
 * Run and judge a case that was printed; its program is given by names, as in "start load_bytes.1
 * write3 stop". false: unknown name.
 */
bool session_judge(struct test *t, const struct draw_case *pasted, const char *program,
		   struct draw_verdict *verdict);

#endif
