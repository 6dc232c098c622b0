/* SPDX-License-Identifier: MIT */
/*
 * What a test's checks leave behind. Every check says what was wanted, what was got, and where;
 * whether a breach fails the platform or is only reported is the requirement's table row's
 * business (tests/verdict.c), not the test's.
 */
#include <stdarg.h>

#include "kernel/fmt.h"
#include "tests/runner.h"

struct place {
	const char *file;
	unsigned line;
};

static struct test_failure *breach(struct test *t, enum requirement_id req, struct place place)
{
	static struct test_failure spare;	/* for breaches that aren't kept */
	struct test_failure *f = &spare;

	if (verdict_decides(requirement_get(req), t->platform)) {
		if (t->failed < TEST_MAX_FAILURES)
			f = &t->failure[t->failed];
		t->failed++;
	} else {
		t->reported++;
	}
	*f = (struct test_failure){ .req = req, .file = place.file, .line = place.line };
	return f;
}

static void report_weak(struct test *t, const struct test_failure *f)
{
	const struct requirement *r = requirement_get(f->req);

	if (verdict_decides(r, t->platform))
		return;
	tap_comment(t->tap, "report: %s %s: wanted %s, got %s (%s:%u); not judged here: %s", r->id,
		    f->what, f->wanted, f->got, f->file, f->line,
		    r->authority == AUTH_TEXT ? "not observable" : "no sentence of the manual");
}

#define FORMAT(text, format) do {					\
		va_list args_;						\
									\
		va_start(args_, format);				\
		fmt_vprint(text, sizeof(text), format, args_);		\
		va_end(args_);						\
	} while (0)

bool test_check_eq(struct test *t, enum requirement_id req, u64 want, u64 got,
		   const char *file, unsigned line, const char *format, ...)
{
	struct test_failure *f;

	if (want == got) {
		t->checks++;
		return true;
	}
	f = breach(t, req, (struct place){ file, line });
	FORMAT(f->what, format);
	fmt_print(f->wanted, sizeof(f->wanted), "0x%lx (%lu)", want, want);
	fmt_print(f->got, sizeof(f->got), "0x%lx (%lu)", got, got);
	report_weak(t, f);
	return false;
}

bool test_check_range(struct test *t, enum requirement_id req, u64 low, u64 high, u64 got,
		      const char *file, unsigned line, const char *format, ...)
{
	struct test_failure *f;

	if (low <= got && got <= high) {
		t->checks++;
		return true;
	}
	f = breach(t, req, (struct place){ file, line });
	FORMAT(f->what, format);
	fmt_print(f->wanted, sizeof(f->wanted), "0x%lx to 0x%lx (%lu to %lu)", low, high,
		  low, high);
	fmt_print(f->got, sizeof(f->got), "0x%lx (%lu)", got, got);
	report_weak(t, f);
	return false;
}

bool test_check(struct test *t, enum requirement_id req, bool held, const char *condition,
		const char *file, unsigned line, const char *format, ...)
{
	struct test_failure *f;

	if (held) {
		t->checks++;
		return true;
	}
	f = breach(t, req, (struct place){ file, line });
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

bool test_check_harness(struct test *t, bool held, const char *condition, const char *file,
			unsigned line, const char *format, ...)
{
	char what[TEST_TEXT];

	if (held) {
		t->checks++;
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
