/* SPDX-License-Identifier: MIT */
/*
 * Records the outcome of a test's checks: the expected value, the value that was read, and the
 * place in the source. The requirement's row, not the test, decides whether a breach fails the
 * platform or is only reported (tests/frame/verdict.c).
 */
#include <stdarg.h>

#include "kernel/output/fmt.h"
#include "tests/frame/runner.h"

/* Tests have far fewer checks than fit here. One check too many makes the test an ERROR, so no
 * check is lost without notice. */
static void remember(struct test *t, enum requirement_id req, const struct test_claim *claim,
		     enum seen_outcome outcome)
{
	struct test_seen *seen = t->seen;

	while (seen < t->seen + t->seen_count &&
	       !(seen->claim.place->line == claim->place->line && seen->req == req &&
		 seen->claim.place->file == claim->place->file &&
		 seen->claim.control == claim->control))
		seen++;
	if (seen == t->seen + TEST_MAX_SEEN) {
		test_error(t, "more than %u distinct checks", TEST_MAX_SEEN);
		return;
	}
	if (seen == t->seen + t->seen_count) {
		t->seen_count++;
		*seen = (struct test_seen){ req, *claim, outcome };
	}
	if (outcome > seen->outcome)
		seen->outcome = outcome;
}

static const char *not_judged(const struct test *t, enum requirement_id req)
{
	return verdict_unjudged(requirement_get(req), t->platform, t->subject);
}

/* Record a check that holds. If the requirement isn't judged here, the check can't fail, so it
 * doesn't count towards a PASS. A control doesn't count as a check either: it is no claim. */
static void held(struct test *t, enum requirement_id req, const struct test_claim *claim)
{
	if (not_judged(t, req)) {
		t->unjudged++;
		remember(t, req, claim, SEEN_UNJUDGED);
		return;
	}
	if (claim->control)
		t->controls++;
	else
		t->checks++;
	remember(t, req, claim, SEEN_OK);
}

/* Record a check that holds, for each of its requirements. Returns true. */
static bool all_held(struct test *t, const struct test_claim *claim)
{
	for (unsigned i = 0; claim->place->reqs[i]; i++)
		held(t, (enum requirement_id)(claim->place->reqs[i] - 1), claim);
	return true;
}

bool test_sees_exactly(const struct test *t, enum requirement_id req)
{
	return verdict_observable(requirement_get(req), t->platform) == OBS_EXACT;
}

bool test_sees_claim(const struct test *t, const struct test_claim *claim)
{
	for (unsigned i = 0; claim->place->reqs[i]; i++)
		if (!test_sees_exactly(t, (enum requirement_id)(claim->place->reqs[i] - 1)))
			return false;
	return true;
}

bool test_is_strict(const struct test *t)
{
	return t->platform == PLATFORM_STRICT;
}

u64 test_rounds(const struct test *t, u64 few, u64 many)
{
	return test_is_strict(t) ? few : many;
}

bool test_erratum(struct test *t, enum erratum erratum)
{
	const struct erratum_row *row = verdict_erratum(erratum);

	if (test_is_strict(t) || !verdict_has_erratum(t->subject, erratum))
		return false;
	if (!(t->errata & BIT(erratum)))
		tap_comment(t->tap, "erratum %s: not judged: %s", row->id, row->effect);
	t->errata |= BIT(erratum);
	return true;
}

void test_missed(struct test *t)
{
	t->missed = !test_is_strict(t);
}

static void report_weak(struct test *t, const struct test_failure *f, const char *why)
{
	tap_comment(t->tap, "report: %s %s: wanted %s, got %s (%s:%u); not judged here: %s",
		    requirement_get(f->req)->id, f->what, f->wanted, f->got, f->claim.place->file,
		    f->claim.place->line, why);
}

static void breach(struct test *t, const struct test_failure *f)
{
	const char *why = not_judged(t, f->req);

	if (why) {
		t->unjudged++;
		remember(t, f->req, &f->claim, SEEN_REPORTED);
		report_weak(t, f, why);
		return;
	}
	if (!t->failed)
		evidence_take(&t->evidence);
	if (t->failed < TEST_MAX_FAILURES)
		t->failure[t->failed] = *f;
	t->failed++;
	remember(t, f->req, &f->claim, SEEN_FAILED);
}

void test_excuse(struct test *t, const char *reason)
{
	for (unsigned i = 0; i < t->failed && i < TEST_MAX_FAILURES; i++)
		report_weak(t, &t->failure[i], reason);
	for (unsigned i = 0; i < t->seen_count; i++)
		if (t->seen[i].outcome == SEEN_FAILED)
			t->seen[i].outcome = SEEN_REPORTED;
	t->failed = 0;
	t->ended = VERDICT_INCONCLUSIVE;
	fmt_print(t->reason, sizeof(t->reason), "%s", reason);
}

/* Record a breach for each requirement of the failed check. Returns false. */
static bool all_broken(struct test *t, struct test_failure *f)
{
	for (unsigned i = 0; f->claim.place->reqs[i]; i++) {
		f->req = (enum requirement_id)(f->claim.place->reqs[i] - 1);
		breach(t, f);
	}
	return false;
}

#define FORMAT(text, format) do {					\
		va_list args_;						\
									\
		va_start(args_, format);				\
		fmt_vprint(text, sizeof(text), format, args_);		\
		va_end(args_);						\
	} while (0)

/* Set the failure's text; for a control the text begins with "control:". */
#define WHAT(f, format) do {						\
		FORMAT((f).what, format);				\
		if ((f).claim.control)					\
			mark_control(&(f));				\
	} while (0)

static void mark_control(struct test_failure *f)
{
	char what[TEST_TEXT];

	fmt_print(what, sizeof(what), "control: %s", f->what);
	fmt_print(f->what, sizeof(f->what), "%s", what);
}

bool test_check_eq(struct test *t, struct test_claim claim, u64 want, u64 got, const char *format,
		   ...)
{
	struct test_failure f = { .claim = claim };

	if (want == got)
		return all_held(t, &claim);
	WHAT(f, format);
	fmt_print(f.wanted, sizeof(f.wanted), "0x%lx (%lu)", want, want);
	fmt_print(f.got, sizeof(f.got), "0x%lx (%lu)", got, got);
	return all_broken(t, &f);
}

bool test_check_range(struct test *t, struct test_claim claim, u64 low, u64 high, u64 got,
		      const char *format, ...)
{
	struct test_failure f = { .claim = claim };

	if (low <= got && got <= high)
		return all_held(t, &claim);
	WHAT(f, format);
	fmt_print(f.wanted, sizeof(f.wanted), "0x%lx to 0x%lx (%lu to %lu)", low, high, low, high);
	fmt_print(f.got, sizeof(f.got), "0x%lx (%lu)", got, got);
	return all_broken(t, &f);
}

bool test_check(struct test *t, struct test_claim claim, bool holds, const char *condition,
		const char *format, ...)
{
	struct test_failure f = { .claim = claim };

	if (holds)
		return all_held(t, &claim);
	WHAT(f, format);
	fmt_print(f.wanted, sizeof(f.wanted), "%s", condition);
	fmt_print(f.got, sizeof(f.got), "false");
	return all_broken(t, &f);
}

/* The worst verdict at which the test ends is kept, with its reason. true: it is this one. */
static bool checks_end(struct test *t, enum verdict verdict)
{
	if (verdict <= t->ended)
		return false;
	t->ended = verdict;
	return true;
}

bool test_check_harness(struct test *t, bool holds, const char *condition, const char *file,
			unsigned line, const char *format, ...)
{
	char what[TEST_TEXT];

	if (holds) {
		t->harness++;
		return true;
	}
	if (checks_end(t, VERDICT_ERROR)) {
		FORMAT(what, format);
		fmt_print(t->reason, sizeof(t->reason), "%s: %s doesn't hold (%s:%u)", what,
			  condition, file, line);
	}
	return false;
}

void test_skip(struct test *t, const char *format, ...)
{
	if (checks_end(t, VERDICT_SKIP))
		FORMAT(t->reason, format);
}

void test_inconclusive(struct test *t, const char *format, ...)
{
	if (checks_end(t, VERDICT_INCONCLUSIVE))
		FORMAT(t->reason, format);
}

void test_error(struct test *t, const char *format, ...)
{
	if (checks_end(t, VERDICT_ERROR))
		FORMAT(t->reason, format);
}

void test_note(struct test *t, const char *format, ...)
{
	char text[TEST_TEXT];

	FORMAT(text, format);
	tap_comment(t->tap, "%s", text);
}
