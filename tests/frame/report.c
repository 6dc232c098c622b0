/* SPDX-License-Identifier: MIT */
/*
 * Prints a test's point in the log, in the format of README.md, "How to read a result": the verdict
 * in the point's directive, the evidence in a YAML block.
 */
#include "kernel/machine/smp.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/percpu.h"
#include "tests/frame/runner.h"

static void failure_block(struct test *t)
{
	const struct test_failure *f = &t->failure[0];
	const struct requirement *r = requirement_get(f->req);
	unsigned kept = t->failed < TEST_MAX_FAILURES ? t->failed : TEST_MAX_FAILURES;
	char key[24], text[2 * TEST_TEXT + 160];

	tap_yaml_begin(t->tap);
	tap_yaml_entry(t->tap, "requirement", r->id);
	tap_yaml_entry(t->tap, "sentence", r->sentence);
	tap_yaml_entry(t->tap, "source", r->source);
	tap_yaml_entry(t->tap, "wanted", f->wanted);
	tap_yaml_entry(t->tap, "got", f->got);
	fmt_print(text, sizeof(text), "%s:%u", f->claim.place->file, f->claim.place->line);
	tap_yaml_entry(t->tap, "place", text);
	tap_yaml_entry(t->tap, "what", f->what);
	for (unsigned i = 1; i < kept; i++) {
		f = &t->failure[i];
		fmt_print(key, sizeof(key), "also_%u", i + 1);
		fmt_print(text, sizeof(text), "%s %s: wanted %s, got %s (%s:%u)",
			  requirement_get(f->req)->id, f->what, f->wanted, f->got,
			  f->claim.place->file, f->claim.place->line);
		tap_yaml_entry(t->tap, key, text);
	}
	evidence_print(&t->evidence, t->tap);
	fmt_print(text, sizeof(text), "%u of %u checks", t->failed, t->failed + t->checks);
	tap_yaml_entry(t->tap, "failed", text);
	tap_yaml_end(t->tap);
}

/* Print one entry for each line of text, so that the registers stay readable. */
static void register_dump(struct test *t)
{
	char text[1024], key[24];
	char *line = text;

	guard_format(&t->guard, text, sizeof(text));
	for (unsigned n = 1; *line; n++) {
		char *end = line;

		while (*end && *end != '\n')
			end++;
		fmt_print(key, sizeof(key), "state_%u", n);
		if (*end)
			*end++ = '\0';
		tap_yaml_entry(t->tap, key, line);
		line = end;
	}
}

static void error_block(struct test *t)
{
	char place[TEST_TEXT];

	tap_yaml_begin(t->tap);
	tap_yaml_entry(t->tap, "severity", "error");
	tap_yaml_entry(t->tap, "message", t->reason);
	fmt_print(place, sizeof(place), "%s:%u", t->test_case->file, t->test_case->line);
	tap_yaml_entry(t->tap, "place", place);
	if (t->guard.outcome != GUARD_DONE)
		register_dump(t);
	tap_yaml_end(t->tap);
}

void report_test(struct test *t, enum verdict verdict, const struct known_issue *known)
{
	char where[16] = "", reqs[512], name[640], directive[TEST_TEXT + 64];

	if (t->cpu != CPU_BOOT)
		fmt_print(where, sizeof(where), "@cpu%u", smp_number(t->cpu));
	fmt_print(name, sizeof(name), "%s.%s%s [%s]", t->test_case->group, t->test_case->claim,
		  where, runner_reqs(t, verdict, reqs, sizeof(reqs)));
	switch (verdict) {
	case VERDICT_PASS:
		tap_point(t->tap, true, name, NULL);
		break;
	case VERDICT_SKIP:
		fmt_print(directive, sizeof(directive), "SKIP %s", t->reason);
		tap_point(t->tap, true, name, directive);
		break;
	case VERDICT_INCONCLUSIVE:
		fmt_print(directive, sizeof(directive), "SKIP INCONCLUSIVE: %s", t->reason);
		tap_point(t->tap, true, name, directive);
		break;
	case VERDICT_KNOWN:
		fmt_print(directive, sizeof(directive), "TODO KNOWN %s: %s", known->id,
			  known->reason);
		tap_point(t->tap, false, name, directive);
		failure_block(t);
		break;
	case VERDICT_FAIL:
		tap_point(t->tap, false, name, NULL);
		failure_block(t);
		break;
	case VERDICT_NONE:
	case VERDICT_ERROR:
		tap_point(t->tap, false, name, NULL);
		error_block(t);
		break;
	}
}

void report_checks(struct test *t)
{
	static const char *const outcome[] = {
		[SEEN_UNJUDGED] = "unjudged", [SEEN_OK] = "ok", [SEEN_REPORTED] = "reported",
		[SEEN_FAILED] = "failed",
	};

	for (unsigned i = 0; i < t->seen_count; i++) {
		const struct test_seen *seen = &t->seen[i];

		tap_comment(t->tap, "%s %s %s:%u %s", seen->claim.control ? "control" : "check",
			    requirement_get(seen->req)->id, seen->claim.place->file,
			    seen->claim.place->line, outcome[seen->outcome]);
	}
}
