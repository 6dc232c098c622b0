/* SPDX-License-Identifier: MIT */
/* Runs one test under guard and reports its verdict. Used only by tests/frame/suite.c. */
#ifndef TESTS_FRAME_RUNNER_H
#define TESTS_FRAME_RUNNER_H

#include "kernel/output/tap.h"
#include "kernel/interrupt/guard.h"
#include "tests/frame/evidence.h"
#include "tests/frame/tally.h"
#include "tests/frame/test.h"
#include "tests/frame/verdict.h"

#define TEST_MAX_FAILURES	8
#define TEST_TEXT		192
#define TEST_MAX_SEEN		128

/* A check that was executed, and its worst outcome. If its requirement isn't judged here, it
 * neither passes nor fails. */
enum seen_outcome { SEEN_UNJUDGED, SEEN_OK, SEEN_REPORTED, SEEN_FAILED };
struct test_seen {
	enum requirement_id req;	/* one of the claim's */
	struct test_claim claim;
	enum seen_outcome outcome;
};

/* A check that didn't hold. */
struct test_failure {
	enum requirement_id req;	/* one of the claim's */
	struct test_claim claim;
	char what[TEST_TEXT];
	char wanted[TEST_TEXT], got[64];
};

struct test {
	const struct test_case *test_case;
	struct tap *tap;
	enum platform platform;
	const struct verdict_subject *subject;
	unsigned cpu;			/* the processor that it runs on */
	void (*before)(void);		/* called when its needs are met; NULL: nothing */

	unsigned checks;		/* that held, and decide */
	unsigned controls;		/* that held, and would decide if they didn't */
	unsigned failed;		/* that didn't, and decide */
	unsigned unjudged;		/* that don't decide, whether they held or not */
	unsigned harness;		/* of the harness, that held */
	struct test_failure failure[TEST_MAX_FAILURES];
	struct evidence evidence;	/* of the first of them */
	struct test_seen seen[TEST_MAX_SEEN];
	unsigned seen_count;
	bool missed;			/* test_missed() */
	u64 errata;			/* that the log names: bit n is enum erratum n */
	u64 stuck;   /* overflow bits that were set before the test, though cleared */
	enum verdict ended;		/* by test_skip() and the like; NONE otherwise */
	char reason[TEST_TEXT];
	struct guard_report guard;
	unsigned ended_on;		/* the processor of guard's report */
	u64 us;				/* how long it ran */
};

/* Run a test and print its test point. Returns the final verdict. */
enum verdict runner_run(struct test *t);

/* Report the failures of the test without a verdict, and make the test INCONCLUSIVE, because the
 * platform explains them: see tests/frame/denied.h. (tests/frame/checks.c) */
void test_excuse(struct test *t, const char *reason);

/* Read the capabilities and allocate memory, on each processor. Once. guest: see struct
 * suite_config. false: no memory for a DS save area, or a processor that didn't complete this. */
bool runner_init(bool guest);

/* Prepare the first processor for a group of tests: after each borrow. */
void runner_begin_group(void);

/* The ids of the test's requirements that apply to this processor, "PMI-01,PRIO-15"; all of its
 * requirements if none applies. For a test that passed only those that it decided. "-" if it has
 * none. Returns text. */
const char *runner_reqs(const struct test *t, enum verdict verdict, char *text, size_t size);

/* Add the test's verdict on each requirement. */
void runner_tally(const struct test *t, enum verdict verdict, struct tally *tally);

/* Print the test point of a test that has ended (tests/frame/report.c). */
void report_test(struct test *t, enum verdict verdict, const struct known_issue *known);
/* A comment "check REQ-ID file:line ok|failed|reported|unjudged" for each check that was
 * executed, and "control ..." for each control. */
void report_checks(struct test *t);

#endif
