/* SPDX-License-Identifier: MIT */
/* The layout of the screen: makes a grid from the progress of the run and the current view.
 * Pure. */
#ifndef BOOT_SCREEN_PAGES_H
#define BOOT_SCREEN_PAGES_H

#include "boot/screen/grid.h"
#include "boot/screen/progress.h"

enum page {
	PAGE_RUN,	/* while it runs */
	PAGE_END,	/* the summary, with the points that aren't ok */
	PAGE_POINT,	/* one of them */
	PAGE_GROUPS,	/* to choose one */
	PAGE_TESTS,	/* all points, to choose one */
	PAGE_MACHINE,	/* CPUID, registers, identity */
	PAGE_CODE	/* a short result, as a QR Code and as text */
};

struct view {
	enum page page;
	u32 selected;		/* line of a list */
	u32 scroll;		/* lines above the first one that is shown */
	u32 point;		/* PAGE_POINT: which */
	enum page back;		/* where PAGE_POINT was entered from */
	bool stopping;		/* the run ends after this test */
	bool keys;		/* is there a keyboard? */
	char status[160];	/* what a key has done */
	const char *result;	/* the short result; NULL: there is none */
};

void pages_draw(struct grid *grid, font_glyph *font, const struct progress *progress,
		struct view *view, const char *version);

/* Lines of the page's list: what view->selected counts. */
u32 pages_lines(const struct progress *progress, const struct view *view);
/* The point of line n of the list of PAGE_END or PAGE_TESTS; NULL: there is none. */
const struct progress_point *pages_point(const struct progress *progress, enum page page, u32 n);

#endif
