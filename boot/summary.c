/* SPDX-License-Identifier: MIT */
/* See summary.h. */
#include "boot/summary.h"
#include "kernel/output/fmt.h"

static bool begins(const char *line, const char *with)
{
	while (*with && *line == *with) {
		line++;
		with++;
	}
	return !*with;
}

/* A point that a known erratum explains isn't included. */
static bool is_point(const char *line)
{
	if (begins(line, "Bail out!"))
		return true;
	if (!begins(line, "not ok "))
		return false;
	for (; *line; line++)
		if (begins(line, "# TODO"))
			return false;
	return true;
}

static bool is_total(const char *line)
{
	static const char *const with[] = { "# error: ", "# required: ", "# requirements decided",
					    "# decided ", "# NOT TESTED", "# end of PMUTest86" };

	for (unsigned i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		if (begins(line, with[i]))
			return true;
	return false;
}

void summary_take(struct summary *summary, const char *line)
{
	if (is_point(line)) {
		if (summary->points < SUMMARY_POINTS)
			fmt_print(summary->point[summary->points++], SUMMARY_WIDTH + 1, "%s", line);
		else
			fmt_print(summary->more, sizeof(summary->more),
				  "... and %u more that aren't ok", ++summary->left_out);
	} else if (is_total(line)) {
		/* Keep the last ones, because earlier totals matter less. */
		if (summary->totals == SUMMARY_TOTALS) {
			summary->totals--;
			for (unsigned i = 0; i < summary->totals; i++)
				fmt_print(summary->total[i], SUMMARY_WIDTH + 1, "%s",
					  summary->total[i + 1]);
		}
		fmt_print(summary->total[summary->totals++], SUMMARY_WIDTH + 1, "%s", line);
	}
}

const char *summary_line(const struct summary *summary, unsigned n)
{
	unsigned more = summary->left_out > 0;

	if (n < summary->points)
		return summary->point[n];
	n -= summary->points;
	if (n < more)
		return summary->more;
	n -= more;
	return n < summary->totals ? summary->total[n] : (const char *)0;
}
