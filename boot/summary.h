/* SPDX-License-Identifier: MIT */
/*
 * The lines of a run that are worth to be read again at its end: what isn't ok, and the totals. A
 * screen holds no more. Pure.
 */
#ifndef BOOT_SUMMARY_H
#define BOOT_SUMMARY_H

#define SUMMARY_POINTS	14u	/* lines of what isn't ok; the first ones */
#define SUMMARY_TOTALS	6u
#define SUMMARY_WIDTH	77u	/* with what is before them less than 80, a console's columns */

/* All zero: nothing was taken. */
struct summary {
	char point[SUMMARY_POINTS][SUMMARY_WIDTH + 1], total[SUMMARY_TOTALS][SUMMARY_WIDTH + 1];
	char more[SUMMARY_WIDTH + 1];	/* how many points there were beside */
	unsigned points, totals, left_out;
};

/* The run's next line. */
void summary_take(struct summary *summary, const char *line);
/* Line n of the summary, NULL after its last one. */
const char *summary_line(const struct summary *summary, unsigned n);

#endif
