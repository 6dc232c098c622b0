/* SPDX-License-Identifier: MIT */
/* The lines that a run prints again at its end. */
#include <stdio.h>
#include <string.h>

#include "boot/summary.h"
#include "host/check.h"

static struct summary summary;

static unsigned count(void)
{
	unsigned n = 0;

	while (summary_line(&summary, n))
		n++;
	return n;
}

static void points_that_are_not_ok_and_totals_are_kept(void)
{
	memset(&summary, 0, sizeof(summary));
	summary_take(&summary, "TAP version 14");
	summary_take(&summary, "ok 1 - count.a [CNT-01]");
	summary_take(&summary, "not ok 2 - count.b [CNT-02]");
	summary_take(&summary, "  ---");
	summary_take(&summary, "  what: \"not ok\"");
	summary_take(&summary, "not ok 3 - count.c [CNT-03] # TODO KNOWN HSD29: why");
	summary_take(&summary, "# requirements decided 1 of 2 decidable here");
	summary_take(&summary,
		     "# decided 2, skipped 0, inconclusive 0, known 1, failed 1, errors 0");
	summary_take(&summary, "# end of PMUTest86: exit 1");
	CHECK_EQ(4, count());
	CHECK_STR("not ok 2 - count.b [CNT-02]", summary_line(&summary, 0));
	CHECK_STR("# requirements decided 1 of 2 decidable here", summary_line(&summary, 1));
	CHECK_STR("# end of PMUTest86: exit 1", summary_line(&summary, 3));
}

static void the_first_points_and_the_last_totals_are_kept(void)
{
	char line[32];

	memset(&summary, 0, sizeof(summary));
	for (unsigned i = 0; i < SUMMARY_POINTS + 3; i++) {
		snprintf(line, sizeof(line), "not ok %u - a.b", i);
		summary_take(&summary, line);
	}
	for (unsigned i = 0; i < SUMMARY_TOTALS + 3; i++) {
		snprintf(line, sizeof(line), "# error: %u", i);
		summary_take(&summary, line);
	}
	CHECK_EQ(SUMMARY_POINTS + 1 + SUMMARY_TOTALS, count());
	CHECK_STR("not ok 0 - a.b", summary_line(&summary, 0));
	CHECK_STR("... and 3 more that aren't ok", summary_line(&summary, SUMMARY_POINTS));
	CHECK_STR("# error: 3", summary_line(&summary, SUMMARY_POINTS + 1));
	CHECK_STR("# error: 8", summary_line(&summary, SUMMARY_POINTS + SUMMARY_TOTALS));
}

static void long_lines_are_cut(void)
{
	char line[200] = "Bail out! ";

	memset(line + 10, 'x', sizeof(line) - 11);
	memset(&summary, 0, sizeof(summary));
	summary_take(&summary, line);
	CHECK_EQ(SUMMARY_WIDTH, strlen(summary_line(&summary, 0)));
	CHECK(!summary_line(&summary, 1));
}

static void nothing_taken_is_nothing_shown(void)
{
	memset(&summary, 0, sizeof(summary));
	CHECK_EQ(0, count());
}

int main(void)
{
	RUN(points_that_are_not_ok_and_totals_are_kept);
	RUN(the_first_points_and_the_last_totals_are_kept);
	RUN(long_lines_are_cut);
	RUN(nothing_taken_is_nothing_shown);
	return check_end();
}
