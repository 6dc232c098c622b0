/* SPDX-License-Identifier: MIT */
/* See keys.h. */
#include "boot/screen/keys.h"
#include "kernel/output/fmt.h"

static void open_page(struct view *view, enum page page)
{
	view->page = page;
	view->selected = 0;
	view->scroll = 0;
}

static bool is_list(enum page page)
{
	return page == PAGE_END || page == PAGE_GROUPS || page == PAGE_TESTS;
}

/* Move up or down by so many lines. */
static void move(struct view *view, const struct progress *progress, bool down, u32 by)
{
	u32 *line = is_list(view->page) ? &view->selected : &view->scroll;
	u32 lines = pages_lines(progress, view);

	if (!down)
		*line -= by < *line ? by : *line;
	else if (!is_list(view->page))
		*line += by;		/* the drawing code limits it */
	else if (lines)
		*line = by < lines - *line ? *line + by : lines - 1;
}

static void open_point(struct view *view, const struct progress *progress)
{
	const struct progress_point *point = pages_point(progress, view->page, view->selected);

	if (!point)
		return;
	view->point = (u32)(point - progress->point);
	view->back = view->page;
	view->page = PAGE_POINT;
	view->scroll = 0;
}

/* The point before or after this one in the list from which it was chosen. */
static void next_point(struct view *view, const struct progress *progress, bool forward)
{
	u32 selected = view->selected + (forward ? 1u : ~0u);

	if (!forward && !view->selected)
		return;
	if (!pages_point(progress, view->back, selected))
		return;
	view->selected = selected;
	view->page = view->back;
	open_point(view, progress);
}

static enum key_action run_point(const struct progress *progress,
				 const struct progress_point *point, char *tests, size_t size)
{
	if (!point)
		return ACTION_NONE;
	progress_name(progress, point, tests, size);
	/* "@cpu1": the processor that ran it. */
	for (; *tests; tests++)
		if (*tests == '@')
			*tests = '\0';
	return ACTION_TESTS;
}

static void go_back(struct view *view)
{
	if (view->page == PAGE_POINT) {
		view->page = view->back;
		view->scroll = 0;
	} else if (view->page != PAGE_END) {
		open_page(view, PAGE_END);
	}
}

static enum key_action press_letter(struct view *view, const struct progress *progress, char letter,
				    char *tests, size_t size)
{
	switch (letter) {
	case 'a':
		if (view->page == PAGE_POINT)
			return run_point(progress,
					 view->point < progress->points ?
						 &progress->point[view->point] :
						 NULL,
					 tests, size);
		if (view->page == PAGE_TESTS)
			return run_point(progress,
					 pages_point(progress, PAGE_TESTS, view->selected), tests,
					 size);
		return ACTION_AGAIN;
	case 'g':
		open_page(view, PAGE_GROUPS);
		return ACTION_NONE;
	case 't':
		open_page(view, PAGE_TESTS);
		return ACTION_NONE;
	case 'm':
		open_page(view, PAGE_MACHINE);
		return ACTION_NONE;
	case 'q':
		open_page(view, PAGE_CODE);
		return ACTION_NONE;
	case 's':
		return ACTION_SAVE;
	case 'p':
		return ACTION_POWER_OFF;
	case 'r':
		return ACTION_RETURN;
	default:
		return ACTION_NONE;
	}
}

static enum key_action press_enter(struct view *view, const struct progress *progress, char *tests,
				   size_t size)
{
	if (view->page == PAGE_GROUPS && view->selected < progress->groups) {
		fmt_print(tests, size, "%s.*", progress->group[view->selected].name);
		return ACTION_TESTS;
	}
	if (view->page == PAGE_END || view->page == PAGE_TESTS)
		open_point(view, progress);
	return ACTION_NONE;
}

enum key_action keys_press(struct view *view, const struct progress *progress, unsigned key,
			   u32 rows, char *tests, size_t size)
{
	u32 page = rows > 4 ? rows - 4 : 1;

	view->status[0] = '\0';
	if (view->page == PAGE_RUN)
		return key == KEY_ESCAPE ? ACTION_STOP : ACTION_NONE;
	switch (key) {
	case KEY_UP:
	case KEY_DOWN:
		move(view, progress, key == KEY_DOWN, 1);
		return ACTION_NONE;
	case KEY_PAGE_UP:
	case KEY_PAGE_DOWN:
		move(view, progress, key == KEY_PAGE_DOWN, page);
		return ACTION_NONE;
	case KEY_HOME:
	case KEY_END:
		move(view, progress, key == KEY_END, 0x10000);
		return ACTION_NONE;
	case KEY_LEFT:
	case KEY_RIGHT:
		if (view->page == PAGE_POINT)
			next_point(view, progress, key == KEY_RIGHT);
		return ACTION_NONE;
	case KEY_ENTER:
		return press_enter(view, progress, tests, size);
	case KEY_ESCAPE:
		go_back(view);
		return ACTION_NONE;
	default:
		if ((key | 0x20) < 'a' || (key | 0x20) > 'z')
			return ACTION_NONE;
		return press_letter(view, progress, (char)(key | 0x20), tests, size);
	}
}
