/* SPDX-License-Identifier: MIT */
/* The totals of a run's items, by the rules of tools/report/results.py. Pure. */
#ifndef BOOT_RESULTS_TOTALS_H
#define BOOT_RESULTS_TOTALS_H

#include "boot/results/items.h"

#define TOTALS_REQUIREMENTS 1024u
#define TOTALS_BROKEN 32u

struct totals {
	struct span title;		/* of the machine */
	bool complete;
	char problem[160];
	char not_tested[240];
	int exit;
	unsigned points, count[ITEM_VERDICTS];
	unsigned decided;
	unsigned requirements;
	struct {
		struct span id;
		enum item_verdict verdict;
	} requirement[TOTALS_REQUIREMENTS];
};

void totals_take(struct totals *totals, const char *lines, size_t length);

/* Totals that are counted line by line, without keeping the lines. */
struct totals_counted {
	int exit;
	unsigned decided, count[ITEM_VERDICTS];
	enum item_verdict last;		/* of the last point */
};
/* Count the next line. The caller sets .exit to 2 before the first one. */
void totals_count(struct totals_counted *counted, const char *line);
/* Correct totals that were taken from an incomplete log: the run had more points. */
void totals_correct(struct totals *totals, const struct totals_counted *counted);

#endif
