/* SPDX-License-Identifier: MIT */
/*
 * The files that are made from a run's lines. With arguments, "json FILE", "junit FILE" or "machine
 * FILE", it writes that file for a results.tap to standard output. tools/test/results.sh compares
 * it with the file that tools/report makes from the same lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/results/machine.h"
#include "boot/results/reports.h"
#include "boot/results/variable.h"
#include "host/check.h"

static const char lines[] = "TAP version 14\n"
			    "1..5\n"
			    "# processor: GenuineIntel 06_3c, \"quoted\" \\ name\n"
			    "ok 1 - selftest.first [-]\n"
			    "not ok 2 - pmi.second [PMI-01,PMI-02,PMI-03]\n"
			    "  ---\n"
			    "  requirement: PMI-01\n"
			    "  sentence: \"A \\\"must\\\": this\\nthat.\"\n"
			    "  also_2: \"PMI-03 what: wanted 1, got 2\"\n"
			    "  ...\n"
			    "ok 3 - pmi.third [PMI-01,PMI-02] # SKIP INCONCLUSIVE: noise\n"
			    "ok 4 - ds.fourth [DS-01] # SKIP no DS\n"
			    "not ok 5 - ds.fifth [DS-02] # TODO KNOWN HSD29: it is so\n"
			    "  ---\n"
			    "  requirement: DS-02\n"
			    "  ...\n"
			    "# check DS-02 tests/pebs/ds_area.c:12 failed\n"
			    "# decided 2, skipped 1, inconclusive 1, known 1, failed 1, errors 0\n"
			    "# end of PMUTest86: exit 1\n";

static struct totals totals;

static enum item_verdict of(const char *id)
{
	for (unsigned i = 0; i < totals.requirements; i++)
		if (span_is(totals.requirement[i].id, id))
			return totals.requirement[i].verdict;
	return ITEM_VERDICTS;
}

static void totals_are_those_of_the_points(void)
{
	totals_take(&totals, lines, strlen(lines));
	CHECK(totals.complete);
	CHECK_STR("", totals.problem);
	CHECK_EQ(1, totals.exit);
	CHECK_EQ(5, totals.points);
	CHECK_EQ(ITEM_FAIL, of("PMI-01"));
	CHECK_EQ(ITEM_INCONCLUSIVE, of("PMI-02"));	/* the failure says nothing about it */
	CHECK_EQ(ITEM_FAIL, of("PMI-03"));
	CHECK_EQ(ITEM_SKIP, of("DS-01"));
	CHECK_EQ(ITEM_KNOWN, of("DS-02"));
	CHECK_EQ(3, totals.decided);
}

static void count_lines(struct totals_counted *counted, const char *text)
{
	char line[200];

	*counted = (struct totals_counted){ .exit = 2 };
	for (size_t n; *text; text += n + 1) {
		n = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		totals_count(counted, line);
	}
}

/* The first half of the log was dropped: the totals are those that were counted line by line. */
static void a_log_that_is_not_whole_does_not_say_less(void)
{
	const char *tail = strstr(lines, "ok 3");
	struct totals_counted counted;
	char text[300];

	count_lines(&counted, lines);
	counted.count[ITEM_SKIP] += 15000;
	counted.decided = 7;
	totals_take(&totals, tail, strlen(tail));
	CHECK_EQ(0, totals.count[ITEM_FAIL]);
	totals_correct(&totals, &counted);
	CHECK_EQ(1, totals.exit);
	CHECK_EQ(15005, totals.points);
	variable_text(&totals, tail, strlen(tail), "1.0", text, sizeof(text));
	CHECK(strstr(text, "\nexit 1, requirements decided 7, points PASS 1 SKIP 15001 "));
	CHECK(strstr(text, " FAIL 1 ERROR 0\n"));
	CHECK(strstr(text, "\nthere was no room for the whole log: what follows is of 3 points of "
			   "15005"));
}

static void lines_are_counted_as_they_come(void)
{
	struct totals_counted counted;

	totals_take(&totals, lines, strlen(lines));
	count_lines(&counted, lines);
	for (unsigned i = 0; i < ITEM_VERDICTS; i++)
		CHECK_EQ(totals.count[i], counted.count[i], "%s", item_verdict_names[i]);
	CHECK_EQ(totals.exit, counted.exit);
	count_lines(&counted, "not ok 1 - a.b [-]\n  ---\n  severity: error\n  ...\n"
			      "# requirements decided 41 of 50 decidable here\n");
	CHECK_EQ(1, counted.count[ITEM_ERROR]);
	CHECK_EQ(0, counted.count[ITEM_FAIL]);
	CHECK_EQ(41, counted.decided);
	CHECK_EQ(2, counted.exit, "it hasn't ended");
}

/* Lines that are cut anywhere are read to their end, and the run is incomplete. */
static void cut_lines_are_an_incomplete_run(void)
{
	for (size_t length = 0; length + 4 < strlen(lines); length++) {
		char *copy = malloc(length ? length : 1);

		memcpy(copy, lines, length);
		totals_take(&totals, copy, length);
		CHECK(totals.problem[0]);
		free(copy);
	}
}

static void append(void *ctx, const char *text, size_t length)
{
	(void)ctx;
	fwrite(text, 1, length, stdout);
}

static int convert(const char *what, const char *path)
{
	const struct text_sink sink = { append, NULL };
	static char text[8 << 20];
	FILE *file = fopen(path, "rb");
	size_t length = file ? fread(text, 1, sizeof(text), file) : 0;

	if (!file)
		return 2;
	fclose(file);
	totals_take(&totals, text, length);
	if (!strcmp(what, "machine"))
		machine_json(text, length, &sink);
	else
		(strcmp(what, "json") ? reports_junit : reports_json)(&totals, text, length, &sink);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return convert(argv[1], argv[2]);
	RUN(totals_are_those_of_the_points);
	RUN(lines_are_counted_as_they_come);
	RUN(a_log_that_is_not_whole_does_not_say_less);
	RUN(cut_lines_are_an_incomplete_run);
	return check_end();
}
