/* SPDX-License-Identifier: MIT */
/*
 * Reads the lines of a finished run, item by item, for the files that are made from them. These are
 * the program's own lines (kernel/output/tap.c), so none of them is garbled.
 * tools/report/results.py reads the same items from any log, and its output is compared with that
 * of host/unit/test_reports.c. Pure.
 */
#ifndef BOOT_RESULTS_ITEMS_H
#define BOOT_RESULTS_ITEMS_H

#include "spec/types.h"

/* A piece of the text; not terminated. */
struct span {
	const char *text;
	size_t length;
};

enum item_kind { ITEM_OTHER, ITEM_POINT, ITEM_COMMENT, ITEM_CHECK, ITEM_PLAN, ITEM_BAIL_OUT,
		 ITEM_END };
enum item_verdict { ITEM_PASS, ITEM_SKIP, ITEM_INCONCLUSIVE, ITEM_KNOWN, ITEM_FAIL, ITEM_ERROR,
		    ITEM_VERDICTS };
extern const char *const item_verdict_names[ITEM_VERDICTS];

#define ITEM_DETAILS 64u

struct item {
	enum item_kind kind;
	struct span text;	/* of a comment, without "# "; of a "Bail out!" its reason */
	unsigned number;	/* of a point, a plan's points, an end's exit status */
	/* Of a point. */
	enum item_verdict verdict;
	struct span name, requirements, reason;	/* requirements: "PMI-01,PMI-02", or "-" */
	unsigned details;
	struct {
		struct span key, value;	/* value as in the line, perhaps in quotes */
	} detail[ITEM_DETAILS];
	/* Of a check: whose requirement, and whether it failed. */
	struct span requirement;
	bool failed;
};

struct item_reader {
	const char *text;
	size_t length, at;
};
/* The next item; it points into the text. false: the text ends. */
bool item_next(struct item_reader *reader, struct item *item);

/* The next word of a comma-separated list; false: there is none. */
bool span_word(struct span *list, struct span *word);
bool span_is(struct span span, const char *text);
bool span_begins(struct span span, const char *text);
/* The span without its first `length` characters. */
struct span span_after(struct span span, size_t length);

#endif
