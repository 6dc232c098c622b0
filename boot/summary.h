/* SPDX-License-Identifier: MIT */
/*
 * The lines that are shown again at the end of a run: points that aren't ok, and the totals, as
 * many as fit a screen. Pure.
 */
#ifndef BOOT_SUMMARY_H
#define BOOT_SUMMARY_H

#define SUMMARY_POINTS	14u	/* points that aren't ok; the first ones */
#define SUMMARY_TOTALS	6u
#define SUMMARY_WIDTH	77u	/* with what is before them less than 80, a console's columns */

/* All zero: nothing was taken. */
struct summary {
	char point[SUMMARY_POINTS][SUMMARY_WIDTH + 1], total[SUMMARY_TOTALS][SUMMARY_WIDTH + 1];
	char more[SUMMARY_WIDTH + 1];	/* how many further points there were */
	unsigned points, totals, left_out;
};

/* The run's next line. */
void summary_take(struct summary *summary, const char *line);
/* Line n of the summary, NULL after its last one. */
const char *summary_line(const struct summary *summary, unsigned n);

#endif
