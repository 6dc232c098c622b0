/* SPDX-License-Identifier: MIT */
/* Running one test under guard and telling its verdict. Used by tests/suite.c alone. */
#ifndef TESTS_RUNNER_H
#define TESTS_RUNNER_H

#include "kernel/tap.h"
#include "kernel/guard.h"
#include "tests/test.h"
#include "tests/verdict.h"

#define TEST_MAX_FAILURES	8
#define TEST_TEXT		192

/* A check that didn't hold. */
struct test_failure {
	enum requirement_id req;
	char what[TEST_TEXT];
	char wanted[TEST_TEXT], got[64];
	const char *file;
	unsigned line;
};

struct test {
	const struct test_case *test_case;
	struct tap *tap;
	enum platform platform;
	const struct verdict_subject *subject;

	unsigned checks;		/* that held */
	unsigned failed;		/* that didn't, and decide */
	unsigned reported;		/* that didn't, and may only be reported */
	struct test_failure failure[TEST_MAX_FAILURES];
	enum verdict ended;		/* by test_skip() and the like; NONE otherwise */
	char reason[TEST_TEXT];
	struct guard_report guard;
	u64 us;				/* how long it ran */
};

/* Run it; its verdict is final afterwards and its test point printed. */
enum verdict runner_run(struct test *t, bool verbose);

/* Prepare the processor for a group of tests: after each borrow. */
void runner_begin_group(void);

/* "PMI-01,PRIO-15", or "-" for none. Returns text. */
const char *runner_reqs(const struct test_case *c, char *text, size_t size);

/* Print the test point of a test that has ended (tests/report.c). */
void report_test(struct test *t, enum verdict verdict, const struct known_issue *known);

#endif
