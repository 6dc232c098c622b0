/* SPDX-License-Identifier: MIT */
/*
 * One test from a known clean state to its verdict. The state is written, not assumed: firmware
 * leaves counters and control registers dirty, and so may the test before. Whatever ends the
 * test, the PMU is quiet afterwards.
 */
#include "tests/runner.h"

#include "kernel/fmt.h"
#include "kernel/intr.h"
#include "kernel/smp.h"
#include "kernel/time.h"
#include "pmu/counter.h"
#include "pmu/ds.h"
#include "pmu/pmi.h"
#include "tests/evidence.h"

#define DEADLINE_MS 10000
#define DISTURBED_TRIES 6

static const struct requirement *requirement_at(const struct test *t, unsigned i)
{
	return requirement_get((enum requirement_id)(t->test_case->reqs[i] - 1));
}

/* Has the test a requirement that is about this processor, or none at all? */
static bool is_about(const struct test *t)
{
	for (unsigned i = 0; i < TEST_MAX_REQS && t->test_case->reqs[i]; i++)
		if (verdict_applies(requirement_at(t, i), t->subject))
			return true;
	return !t->test_case->reqs[0];
}

const char *runner_reqs(const struct test *t, char *text, size_t size)
{
	bool all = !is_about(t);
	size_t length = 0;

	fmt_print(text, size, "-");
	for (unsigned i = 0; i < TEST_MAX_REQS && t->test_case->reqs[i] && length < size; i++) {
		const struct requirement *r = requirement_at(t, i);

		if (all || verdict_applies(r, t->subject))
			length += (size_t)fmt_print(text + length, size - length, "%s%s",
						    length ? "," : "", r->id);
	}
	return text;
}

static void call(void *arg)
{
	struct test *t = arg;

	t->test_case->run(t);
}

static bool needs_met(struct test *t)
{
	if (!is_about(t)) {
		fmt_print(t->reason, sizeof(t->reason), "a requirement of other generations: %s",
			  requirement_at(t, 0)->generations);
		t->ended = VERDICT_SKIP;
		return false;
	}
	for (unsigned i = 0; i < TEST_MAX_NEEDS && t->test_case->needs[i]; i++) {
		if (t->test_case->needs[i](t->reason, sizeof(t->reason)))
			continue;
		t->ended = VERDICT_SKIP;
		return false;
	}
	return true;
}

static const char *outcome_name(enum guard_outcome outcome)
{
	switch (outcome) {
	case GUARD_EXCEPTION:	return "an exception nobody expected";
	case GUARD_INTERRUPT:	return "an interrupt nobody asked for";
	case GUARD_DEADLINE:	return "the deadline has passed";
	case GUARD_ABORTED:	return "aborted";
	default:		return "done";
	}
}

void runner_begin_group(void)
{
	pmi_init();
	counter_reset();
	intr_window();
	pmi_strays();
}

static void run_guarded(struct test *t)
{
	u64 start = tsc_read();
	unsigned strays, lost;

	if (!counter_reset()) {
		test_error(t, "the processor refuses to clear a control register of its PMU");
		return;
	}
	pmi_strays();
	ds_use(0);
	t->guard = guard_run(call, t, t->test_case->deadline_ms ? t->test_case->deadline_ms
							       : DEADLINE_MS);
	lost = smp_settle();
	t->us = (tsc_read() - start) / time_tsc_per_us;
	if (t->guard.outcome != GUARD_DONE)
		test_error(t, "%s", outcome_name(t->guard.outcome));
	if (lost)
		test_error(t, "processor %u is lost: neither interrupts nor an NMI reach it", lost);

	/* Quiet again, and what was under way arrives now rather than in the next test. */
	counter_reset();
	pmi_close();
	intr_set_handler(VECTOR_DB, NULL);
	pmi_init();
	intr_window();
	strays = pmi_strays();
	if (strays)
		test_error(t, "%u interrupts on the PMI's vectors outside the test's windows",
			   strays);
}

/* A FAIL is KNOWN if every broken requirement is listed for this machine. */
static bool all_known(const struct test *t, struct known_issue *known)
{
	if (t->failed > TEST_MAX_FAILURES)
		return false;
	for (unsigned i = t->failed; i-- > 0;)
		if (!verdict_known(t->subject, t->failure[i].claim.req, known))
			return false;
	return true;
}

static enum verdict judge(struct test *t, struct known_issue *known)
{
	enum verdict verdict = t->ended;

	if (t->failed)
		verdict = verdict_worst(verdict,
					all_known(t, known) ? VERDICT_KNOWN : VERDICT_FAIL);
	if (verdict != VERDICT_NONE)
		return verdict;
	if (t->checks)
		return VERDICT_PASS;
	if (t->reported) {
		fmt_print(t->reason, sizeof(t->reason),
			  "only checks that may not be judged here, see the report lines");
		return VERDICT_INCONCLUSIVE;
	}
	fmt_print(t->reason, sizeof(t->reason), "the test ended without a check");
	return VERDICT_ERROR;
}

/* As before its first run. */
static void forget(struct test *t)
{
	const struct test fresh = { .test_case = t->test_case, .tap = t->tap,
				    .platform = t->platform, .subject = t->subject };

	*t = fresh;
}

/*
 * What else ran in a test makes whatever it measured worth nothing, welcome or not: once more,
 * because of that evidence alone.
 */
static void run_undisturbed(struct test *t)
{
	struct attempt attempt = { .last_gaps = EVIDENCE_FIRST };

	for (unsigned i = 0; i < DISTURBED_TRIES; i++) {
		evidence_begin(&attempt);
		forget(t);
		run_guarded(t);
		if (!evidence_disturbed(&attempt))
			return;
	}
	forget(t);
	test_inconclusive(t, "disturbed in each of %u runs", DISTURBED_TRIES);
}

enum verdict runner_run(struct test *t)
{
	struct known_issue known = { "", "" };
	enum verdict verdict;

	if (needs_met(t))
		run_undisturbed(t);
	verdict = judge(t, &known);
	report_test(t, verdict, &known);
	return verdict;
}
