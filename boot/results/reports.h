/* SPDX-License-Identifier: MIT */
/*
 * results.json and junit.xml of a finished run, made from its lines. tools/report makes the same
 * from these lines (docs/RESULTS-FORMAT.md). Pure.
 */
#ifndef BOOT_RESULTS_REPORTS_H
#define BOOT_RESULTS_REPORTS_H

#include "boot/results/text.h"
#include "boot/results/totals.h"

/* totals: made by totals_take() from the same lines. */
void reports_json(const struct totals *totals, const char *lines, size_t length,
		  const struct text_sink *sink);
void reports_junit(const struct totals *totals, const char *lines, size_t length,
		   const struct text_sink *sink);

#endif
