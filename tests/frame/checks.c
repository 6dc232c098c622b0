/* SPDX-License-Identifier: MIT */
/*
 * What a test's checks leave behind. Every check says what was wanted, what was got, and where;
 * whether a breach fails the platform or is only reported is the requirement's table row's
 * business (tests/frame/verdict.c), not the test's.
 */
#include <stdarg.h>

#include "kernel/fmt.h"
#include "tests/frame/runner.h"

/* Tests hold far fewer; what doesn't fit makes the test an ERROR, so nothing is lost unseen. */
static void remember(struct test *t, struct test_claim claim, enum seen_outcome outcome)
{
	struct test_seen *seen = t->seen;

	while (seen < t->seen + t->seen_count &&
	       !(seen->claim.line == claim.line && seen->claim.req == claim.req &&
		 seen->claim.file == claim.file))
		seen++;
	if (seen == t->seen + TEST_MAX_SEEN) {
		test_error(t, "more than %u distinct checks", TEST_MAX_SEEN);
		return;
	}
	if (seen == t->seen + t->seen_count) {
		t->seen_count++;
		*seen = (struct test_seen){ claim, outcome };
	}
	if (outcome > seen->outcome)
		seen->outcome = outcome;
}

static const char *not_judged(const struct test *t, struct test_claim claim)
{
	return verdict_unjudged(requirement_get(claim.req), t->platform, t->subject);
}

/* What can't be red must not be green either. */
static bool held(struct test *t, struct test_claim claim)
{
	if (not_judged(t, claim)) {
		t->unjudged++;
		remember(t, claim, SEEN_UNJUDGED);
	} else {
		t->checks++;
		remember(t, claim, SEEN_OK);
	}
	return true;
}

bool test_sees_exactly(const struct test *t, enum requirement_id req)
{
	return verdict_observable(requirement_get(req), t->platform) == OBS_EXACT;
}

bool test_is_strict(const struct test *t)
{
	return t->platform == PLATFORM_STRICT;
}

void test_missed(struct test *t)
{
	t->missed = !test_is_strict(t);
}

static struct test_failure *breach(struct test *t, struct test_claim claim)
{
	static struct test_failure spare;	/* for breaches that aren't kept */
	struct test_failure *f = &spare;

	if (!not_judged(t, claim)) {
		if (t->failed < TEST_MAX_FAILURES)
			f = &t->failure[t->failed];
		t->failed++;
		remember(t, claim, SEEN_FAILED);
	} else {
		t->unjudged++;
		remember(t, claim, SEEN_REPORTED);
	}
	*f = (struct test_failure){ .claim = claim };
	return f;
}

static void report_weak(struct test *t, const struct test_failure *f)
{
	const char *why = not_judged(t, f->claim);

	if (!why)
		return;
	tap_comment(t->tap, "report: %s %s: wanted %s, got %s (%s:%u); not judged here: %s",
		    requirement_get(f->claim.req)->id, f->what, f->wanted, f->got, f->claim.file,
		    f->claim.line, why);
}

#define FORMAT(text, format) do {					\
		va_list args_;						\
									\
		va_start(args_, format);				\
		fmt_vprint(text, sizeof(text), format, args_);		\
		va_end(args_);						\
	} while (0)

bool test_check_eq(struct test *t, struct test_claim claim, u64 want, u64 got,
		   const char *format, ...)
{
	struct test_failure *f;

	if (want == got)
		return held(t, claim);
	f = breach(t, claim);
	FORMAT(f->what, format);
	fmt_print(f->wanted, sizeof(f->wanted), "0x%lx (%lu)", want, want);
	fmt_print(f->got, sizeof(f->got), "0x%lx (%lu)", got, got);
	report_weak(t, f);
	return false;
}

bool test_check_range(struct test *t, struct test_claim claim, u64 low, u64 high, u64 got,
		      const char *format, ...)
{
	struct test_failure *f;

	if (low <= got && got <= high)
		return held(t, claim);
	f = breach(t, claim);
	FORMAT(f->what, format);
	fmt_print(f->wanted, sizeof(f->wanted), "0x%lx to 0x%lx (%lu to %lu)", low, high,
		  low, high);
	fmt_print(f->got, sizeof(f->got), "0x%lx (%lu)", got, got);
	report_weak(t, f);
	return false;
}

bool test_check(struct test *t, struct test_claim claim, bool holds, const char *condition,
		const char *format, ...)
{
	struct test_failure *f;

	if (holds)
		return held(t, claim);
	f = breach(t, claim);
	FORMAT(f->what, format);
	fmt_print(f->wanted, sizeof(f->wanted), "%s", condition);
	fmt_print(f->got, sizeof(f->got), "false");
	report_weak(t, f);
	return false;
}

/* The worst end counts; its reason goes with it. */
static bool end(struct test *t, enum verdict verdict)
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
	if (end(t, VERDICT_ERROR)) {
		FORMAT(what, format);
		fmt_print(t->reason, sizeof(t->reason), "%s: %s doesn't hold (%s:%u)", what,
			  condition, file, line);
	}
	return false;
}

void test_skip(struct test *t, const char *format, ...)
{
	if (end(t, VERDICT_SKIP))
		FORMAT(t->reason, format);
}

void test_inconclusive(struct test *t, const char *format, ...)
{
	if (end(t, VERDICT_INCONCLUSIVE))
		FORMAT(t->reason, format);
}

void test_error(struct test *t, const char *format, ...)
{
	if (end(t, VERDICT_ERROR))
		FORMAT(t->reason, format);
}

void test_note(struct test *t, const char *format, ...)
{
	char text[TEST_TEXT];

	FORMAT(text, format);
	tap_comment(t->tap, "%s", text);
}
