/* SPDX-License-Identifier: MIT */
/* See pages.h. Each page has a title at the top and the keys at the bottom. */
#include "boot/screen/pages.h"
#include "boot/screen/code.h"
#include "kernel/output/fmt.h"
#include "pmu/record.h"

#define VALUE_COLUMN	13u	/* column of the value in "Label        value" */
#define LARGE_ROWS	(GRID_LARGE_HEIGHT + 2)	/* large letters and their frame */
#define TEXT_SIZE	640u	/* a record's bytes in hexadecimal, and some words */
#define RECORD_COLUMNS	39u	/* "name                0x0123456789abcdef " */
#define RECORD_VALUE	20u
#define LEAST_BESIDE	20u	/* columns for a text next to a code */
#define FAILURE_ROWS	3u	/* of a failure: name, sentence, evidence */

/* Draws a list that may be longer than its area: all lines are numbered from 0, visible or not. */
struct pen {
	struct grid *grid;
	u32 top, bottom;	/* the rows of the area, without bottom */
	u32 line, scroll;
};

static bool pen_row(const struct pen *pen, u32 *row)
{
	*row = pen->top + pen->line - pen->scroll;
	return pen->line >= pen->scroll && *row < pen->bottom;
}

static const char *const verdict_names[PROGRESS_VERDICTS] = {
	[PROGRESS_PASS] = "passed", [PROGRESS_SKIP] = "skipped",
	[PROGRESS_INCONCLUSIVE] = "inconclusive", [PROGRESS_KNOWN] = "known",
	[PROGRESS_FAIL] = "FAILED", [PROGRESS_ERROR] = "ERROR",
};

static enum grid_colour verdict_colour(u32 verdict)
{
	switch (verdict) {
	case PROGRESS_PASS:
		return COLOUR_GOOD;
	case PROGRESS_KNOWN:
	case PROGRESS_INCONCLUSIVE:
		return COLOUR_DOUBT;
	case PROGRESS_FAIL:
	case PROGRESS_ERROR:
		return COLOUR_BAD;
	default:
		return COLOUR_DIM;
	}
}

static void draw_title(struct grid *grid, const struct progress *progress, const char *version)
{
	char text[64];
	const struct soak *soak = &progress->soak;
	u32 length = 0;

	grid_fill(grid, 0, 0, grid->columns, COLOUR_TITLE, ' ');
	grid_print(grid, 1, 0, COLOUR_TITLE, "PMUTest86 %s", version);
	if (soak->batches > 1)
		length = (u32)fmt_print(text, sizeof(text), "batch %u of %u ", soak->batch + 1,
					soak->batches);
	if (soak->runs > 1)
		length += (u32)fmt_print(text + length, sizeof(text) - length, "run %u of %u ",
					 soak->run, soak->runs);
	else if (!soak->runs)
		length += (u32)fmt_print(text + length, sizeof(text) - length, "run %u ",
					 soak->run);
	if (length && length < grid->columns)
		grid_text(grid, grid->columns - length, 0, COLOUR_TITLE, text);
}

static void draw_keys(struct grid *grid, const struct view *view, const char *keys)
{
	u32 row = grid->rows - 1;

	grid_fill(grid, 0, row, grid->columns, COLOUR_TITLE, ' ');
	grid_text(grid, 1, row, COLOUR_TITLE, view->keys ? keys : "");
	if (view->status[0] && row > 1) {
		grid_fill(grid, 0, row - 1, grid->columns, COLOUR_TEXT, ' ');
		grid_text(grid, 1, row - 1, COLOUR_BRIGHT, view->status);
	}
}

static void draw_label(struct grid *grid, u32 row, const char *label, const char *value)
{
	grid_text(grid, 1, row, COLOUR_DIM, label);
	if (value)
		grid_text(grid, VALUE_COLUMN, row, COLOUR_TEXT, value);
}

/* Find "PEBS_FMT=2" in the line of the capabilities. */
static const char *record_format(const struct progress *progress)
{
	static const char key[] = "PEBS_FMT=";

	for (u32 i = 0; i < progress->facts; i++)
		for (const char *at = progress->store + progress->fact[i]; *at; at++) {
			u32 n = 0;

			while (key[n] && at[n] == key[n])
				n++;
			if (!key[n])
				return at + n;
		}
	return NULL;
}

/* Draw the description of the machine from this row on. Returns the row after it. */
static u32 draw_machine(struct grid *grid, const struct progress *progress, u32 row)
{
	static const char *const labels[][2] = {
		{ "Firmware", "firmware" }, { "Platform", "platform" },
		{ "Processors", "processors" }, { "Perfmon", "perfmon" },
	};
	const char *processor = progress_fact(progress, "processor"), *value, *brand = processor;
	char text[TEXT_SIZE];
	u32 x;

	/* "GenuineIntel 06_3c stepping 3, brand" */
	while (brand && *brand && !(brand[0] == ',' && brand[1] == ' '))
		brand++;
	if (brand && *brand)
		draw_label(grid, row, "Processor", brand + 2);
	else
		draw_label(grid, row, "Processor", processor);
	row++;
	if (processor && *brand) {
		fmt_print(text,
			  (size_t)(brand - processor) + 1 < sizeof(text) ?
				  (size_t)(brand - processor) + 1 :
				  sizeof(text),
			  "%s", processor);
		x = grid_text(grid, VALUE_COLUMN, row, COLOUR_TEXT, text);
		value = progress_fact(progress, "microcode");
		if (value)
			x = grid_print(grid, x, row, COLOUR_TEXT, ", microcode %s", value);
		value = progress_fact(progress, "generation");
		if (value)
			grid_print(grid, x, row, COLOUR_TEXT, ", %s", value);
	}
	row++;
	value = progress_fact(progress, "system");
	draw_label(grid, row++, "Machine", value ? value : progress_fact(progress, "board"));
	for (u32 i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		draw_label(grid, row++, labels[i][0], progress_fact(progress, labels[i][1]));
	value = progress_fact(progress, "pebs");
	if (value && value[0] == 'a' && record_format(progress)) {
		fmt_print(text, 2, "%s", record_format(progress));
		draw_label(grid, row, "PEBS", NULL);
		grid_print(grid, VALUE_COLUMN, row, COLOUR_TEXT, "record format %s, %s", text,
			   value);
	} else {
		draw_label(grid, row, "PEBS", value);
	}
	row++;
	grid_fill(grid, 0, row, grid->columns, COLOUR_DIM, GRID_LINE);
	return row + 1;
}

static void draw_counts(struct grid *grid, const struct progress *progress, u32 row)
{
	static const u8 order[] = { PROGRESS_PASS, PROGRESS_FAIL, PROGRESS_ERROR, PROGRESS_KNOWN,
				    PROGRESS_INCONCLUSIVE, PROGRESS_SKIP };
	u32 x = 1;

	for (u32 i = 0; i < sizeof(order); i++) {
		u32 n = progress->count[order[i]];

		x = grid_print(grid, x, row, n ? verdict_colour(order[i]) : COLOUR_DIM, "%s %u",
			       verdict_names[order[i]], n) +
		    2;
	}
}

static void draw_progress(struct grid *grid, const struct progress *progress, u32 row)
{
	u32 width = grid->columns > 2 ? grid->columns - 2 : 0,
	    left = progress_seconds_left(progress);
	u32 done = progress->plan ? (u32)((u64)width * progress->done / progress->plan) : 0, x;

	grid_fill(grid, 1, row, width, COLOUR_DIM, GRID_LINE);
	grid_fill(grid, 1, row, done < width ? done : width, COLOUR_GOOD, GRID_FULL);
	x = grid_print(grid, 1, row + 1, COLOUR_TEXT, "%u of %u points, group %u of %u",
		       progress->done, progress->plan, progress->group_now, progress->group_count);
	if (left >= 120)
		grid_print(grid, x, row + 1, COLOUR_TEXT, ", about %u minutes left",
			   (left + 30) / 60);
	else if (left)
		grid_print(grid, x, row + 1, COLOUR_TEXT, ", about %u s left", left);
	draw_label(grid, row + 2, "Running", progress->running);
}

/* Draw the last points that aren't ok, newest first. */
static void draw_failures(struct grid *grid, const struct progress *progress, u32 row, u32 bottom)
{
	char text[TEXT_SIZE], got[128];
	u32 x;

	for (u32 n = progress->points; n-- > 0 && row + FAILURE_ROWS <= bottom;) {
		const struct progress_point *point = &progress->point[n];

		if (!progress_is_bad(point))
			continue;
		x = grid_print(grid, 1, row, COLOUR_BAD, " %s ", verdict_names[point->verdict]);
		grid_text(grid, x + 1, row++, COLOUR_BRIGHT,
			  progress_name(progress, point, text, sizeof(text)));
		if (progress_value(progress, point, "sentence", text, sizeof(text)) ||
		    progress_value(progress, point, "message", text, sizeof(text)))
			grid_text(grid, 3, row, COLOUR_TEXT, text);
		row++;
		if (progress_value(progress, point, "wanted", text, sizeof(text)) &&
		    progress_value(progress, point, "got", got, sizeof(got)))
			grid_print(grid, 3, row, COLOUR_TEXT, "wanted %s, got %s", text, got);
		row++;
	}
}

static void draw_run(struct grid *grid, const struct progress *progress, const struct view *view)
{
	u32 row = draw_machine(grid, progress, 1);

	draw_progress(grid, progress, row);
	draw_counts(grid, progress, row + 4);
	grid_fill(grid, 0, row + 5, grid->columns, COLOUR_DIM, GRID_LINE);
	draw_failures(grid, progress, row + 6, grid->rows - 1);
	draw_keys(grid, view, view->stopping ? "The run ends after this test" : "Esc: end the run");
}

static enum grid_colour result_colour(enum progress_result result)
{
	switch (result) {
	case RESULT_PASSED:
		return COLOUR_PASSED;
	case RESULT_FAILED:
		return COLOUR_FAILED;
	case RESULT_NOT_TESTED:
		return COLOUR_NOT_TESTED;
	default:
		return COLOUR_NOT_TRUSTWORTHY;
	}
}

/* Draw the result, in large letters if there is room. Returns the row after it. */
static u32 draw_result(struct grid *grid, font_glyph *font, const struct progress *progress,
		       u32 row)
{
	enum grid_colour colour = result_colour(progress_result_of_all(progress));
	const char *text = progress_result_text(progress);
	u32 width = 0;

	while (text[width])
		width++;
	if (width * GRID_LARGE_WIDTH > grid->columns || grid->rows < 3 * LARGE_ROWS) {
		grid_fill(grid, 0, row, grid->columns, colour, ' ');
		grid_text(grid, 1, row, colour, text);
		return row + 1;
	}
	for (u32 i = 0; i < LARGE_ROWS; i++)
		grid_fill(grid, 0, row + i, grid->columns, colour, ' ');
	grid_large(grid, font, (grid->columns - width * GRID_LARGE_WIDTH) / 2, row + 1, colour,
		   text);
	return row + LARGE_ROWS;
}

/* Does the list of PAGE_END have this point? */
static bool is_worth_a_look(const struct progress_point *point)
{
	return progress_is_bad(point) || point->verdict == PROGRESS_KNOWN ||
	       point->verdict == PROGRESS_INCONCLUSIVE;
}

const struct progress_point *pages_point(const struct progress *progress, enum page page, u32 n)
{
	if (page == PAGE_TESTS)
		return n < progress->points ? &progress->point[n] : NULL;
	for (u32 i = 0; i < progress->points; i++)
		if (is_worth_a_look(&progress->point[i]) && !n--)
			return &progress->point[i];
	return NULL;
}

u32 pages_lines(const struct progress *progress, const struct view *view)
{
	u32 lines = 0;

	switch (view->page) {
	case PAGE_END:
		for (u32 i = 0; i < progress->points; i++)
			lines += is_worth_a_look(&progress->point[i]);
		return lines;
	case PAGE_GROUPS:
		return progress->groups;
	case PAGE_TESTS:
		return progress->points;
	default:
		return 0;
	}
}

/* Scroll so that the selected line is visible. */
static void follow_selection(struct view *view, u32 lines, u32 rows)
{
	if (view->selected >= lines)
		view->selected = lines ? lines - 1 : 0;
	if (view->scroll > view->selected)
		view->scroll = view->selected;
	if (rows && view->selected - view->scroll >= rows)
		view->scroll = view->selected - rows + 1;
}

static void draw_point_line(struct grid *grid, const struct progress *progress,
			    const struct progress_point *point, u32 row, bool selected)
{
	char text[PROGRESS_TEXT], req[32];
	u32 x;

	if (selected)
		grid_fill(grid, 0, row, grid->columns, COLOUR_SELECTED, ' ');
	grid_text(grid, 1, row, selected ? COLOUR_SELECTED : verdict_colour(point->verdict),
		  verdict_names[point->verdict]);
	x = grid_text(grid, 15, row, selected ? COLOUR_SELECTED : COLOUR_TEXT,
		      progress_name(progress, point, text, sizeof(text)));
	if (progress_value(progress, point, "requirement", req, sizeof(req)))
		grid_print(grid, x + 1, row, selected ? COLOUR_SELECTED : COLOUR_DIM, "%s", req);
}

static void draw_points(struct grid *grid, const struct progress *progress, struct view *view,
			u32 top, u32 bottom)
{
	struct pen pen = { grid, top, bottom, 0, 0 };
	u32 row;

	follow_selection(view, pages_lines(progress, view), bottom > top ? bottom - top : 0);
	pen.scroll = view->scroll;
	for (u32 i = 0; i < progress->points; i++) {
		if (view->page == PAGE_END && !is_worth_a_look(&progress->point[i]))
			continue;
		if (pen_row(&pen, &row))
			draw_point_line(grid, progress, &progress->point[i], row,
					pen.line == view->selected);
		pen.line++;
	}
}

/* Returns the number of rows. */
static u32 draw_soak(struct grid *grid, const struct soak *soak, u32 row)
{
	grid_print(grid, 1, row, COLOUR_BRIGHT,
		   "%u runs; of those before this one %u failed, %u weren't trustworthy, "
		   "%u tested nothing",
		   (soak->run - 1) * soak->batches + soak->batch + 1, soak->failed,
		   soak->not_trustworthy, soak->not_tested);
	return 1;
}

/* Say how many points and lines the lists of this run lack. Returns the number of rows. */
static u32 draw_lost(struct grid *grid, const struct progress *progress, u32 row)
{
	if (!progress->lost && !progress->lost_lines)
		return 0;
	grid_print(grid, 1, row, COLOUR_DOUBT,
		   "No room here for %u more points, and %u lines about points: they are in the "
		   "results",
		   progress->lost, progress->lost_lines);
	return 1;
}

static void draw_end(struct grid *grid, font_glyph *font, const struct progress *progress,
		     struct view *view)
{
	u32 row = draw_result(grid, font, progress, 1) + 1;

	if (progress->soak.run > 1 || progress->soak.batch)
		row += draw_soak(grid, &progress->soak, row);
	if (progress->not_tested[0])
		row += grid_wrap(grid, 1, row, grid->columns - 2, 0, 3, COLOUR_BRIGHT,
				 progress->not_tested);
	if (progress->bailed_out)
		row += grid_wrap(grid, 1, row, grid->columns - 2, 0, 3, COLOUR_BRIGHT,
				 progress->bail_out);
	for (u32 i = 0; i < progress->totals && row + 4 < grid->rows; i++) {
		if (progress->total[i][0] == 'N')
			continue;
		row += grid_wrap(grid, 1, row, grid->columns - 2, 0, 2,
				 progress->total[i][0] == 'e' ? COLOUR_DOUBT : COLOUR_TEXT,
				 progress->total[i]);
	}
	row += draw_lost(grid, progress, row);
	grid_fill(grid, 0, row++, grid->columns, COLOUR_DIM, GRID_LINE);
	draw_points(grid, progress, view, row, grid->rows - 1 - (view->status[0] != 0));
	if (!pages_lines(progress, view) && !progress->lost)
		grid_text(grid, 1, row, COLOUR_DIM, "No point is other than passed or skipped.");
	draw_keys(grid, view,
		  "Enter details  A again  G group  T test  M machine  S save  "
		  "Q QR code  P power off  R return");
}

/* Draw "key  value" in as many lines as needed. */
static void pen_pair(struct pen *pen, const char *key, const char *value, enum grid_colour colour)
{
	u32 width = pen->grid->columns > VALUE_COLUMN + 1 ? pen->grid->columns - VALUE_COLUMN - 1 :
							    0;
	u32 skip = pen->scroll > pen->line ? pen->scroll - pen->line : 0;
	u32 row = pen->line > pen->scroll ? pen->top + pen->line - pen->scroll : pen->top;
	u32 lines = grid_wrap(pen->grid, VALUE_COLUMN, row, width, skip,
			      row < pen->bottom ? pen->bottom - row : 0, colour, value);

	if (pen_row(pen, &row))
		grid_text(pen->grid, 1, row, COLOUR_DIM, key);
	pen->line += lines ? lines : 1;
}

/* Stop scrolling when the last line is visible. */
static void stop_at_end(struct view *view, const struct pen *pen)
{
	u32 rows = pen->bottom > pen->top ? pen->bottom - pen->top : 0;
	u32 most = pen->line > rows ? pen->line - rows : 0;

	if (view->scroll > most)
		view->scroll = most;
}

static const char *label_of(const char *key)
{
	static const char *const labels[][2] = {
		{ "source", "section" }, { "place", "source line" },
	};

	for (u32 i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		const char *a = key, *b = labels[i][0];

		while (*a && *a == *b) {
			a++;
			b++;
		}
		if (*a == *b)
			return labels[i][1];
	}
	return key;
}

static u32 hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (u32)(c - '0');
	return c >= 'a' && c <= 'f' ? (u32)(c - 'a') + 10 : 16;
}

/* Read the bytes at the end of "text: HEX" as a record. false: they aren't one. */
static bool read_record(const char *text, struct pebs_record *record)
{
	u8 bytes[RECORD_ADAPTIVE_MAX_SIZE];
	const char *hex = text;
	size_t size = 0;

	for (; *text; text++)
		if (*text == ' ')
			hex = text + 1;
	for (; hex[0] && hex[1] && size < sizeof(bytes); hex += 2) {
		u32 high = hex_digit(hex[0]), low = hex_digit(hex[1]);

		if (high > 15 || low > 15)
			return false;
		bytes[size++] = (u8)(high << 4 | low);
	}
	if (!*hex && record_decode_adaptive(bytes, size, record))
		return true;
	for (u32 format = 0; format < RECORD_FORMATS && !*hex; format++)
		if (record_size((enum record_format)format) == size)
			return record_decode((enum record_format)format, bytes, size, record);
	return false;
}

/* Draw a record's fields, as many in a row as fit. */
static void pen_record(struct pen *pen, const struct pebs_record *record)
{
	u32 each = pen->grid->columns > RECORD_COLUMNS ? pen->grid->columns / RECORD_COLUMNS : 1;
	u32 n = 0, row;
	u64 value;

	for (u32 f = 0; f < RECORD_FIELDS; f++) {
		u32 x = 1 + n % each * RECORD_COLUMNS;

		if (!record_get(record, (enum record_field)f, &value))
			continue;
		if (pen_row(pen, &row)) {
			grid_text(pen->grid, x, row, COLOUR_DIM,
				  record_field_name((enum record_field)f));
			grid_print(pen->grid, x + RECORD_VALUE, row, COLOUR_TEXT, "0x%016llx",
				   (unsigned long long)value);
		}
		pen->line += ++n % each == 0;
	}
	pen->line += n % each != 0;
}

/* Draw a line of a block: its key and value; for a record its fields too. */
static void pen_entry(struct pen *pen, const char *key, const char *value)
{
	struct pebs_record record;
	bool is_evidence = key[0] == 'w' || key[0] == 'g';

	pen_pair(pen, label_of(key), value, is_evidence ? COLOUR_BRIGHT : COLOUR_TEXT);
	if (key[0] == 'r' && key[1] == 'e' && key[2] == 'c' && read_record(value, &record))
		pen_record(pen, &record);
}

static void draw_point(struct grid *grid, const struct progress *progress, struct view *view)
{
	const struct progress_point *point = view->point < progress->points ?
						     &progress->point[view->point] :
						     NULL;
	struct pen pen = { grid, 2, grid->rows - 1, 0, view->scroll };
	char key[32], text[TEXT_SIZE];
	u32 x;

	if (point) {
		x = grid_print(grid, 1, 1, verdict_colour(point->verdict), " %s ",
			       verdict_names[point->verdict]);
		grid_text(grid, x + 1, 1, COLOUR_BRIGHT,
			  progress_name(progress, point, text, sizeof(text)));
		pen_pair(&pen, "point", progress_line(progress, point, 0), COLOUR_TEXT);
		for (u32 n = 1; n < point->lines; n++)
			if (progress_split(progress_line(progress, point, n), key, sizeof(key),
					   text, sizeof(text)))
				pen_entry(&pen, key, text);
		stop_at_end(view, &pen);
	}
	draw_keys(grid, view,
		  "Up, Down: scroll  Left, Right: the one before, the next  "
		  "A run this test  Esc: back");
}

static void draw_groups(struct grid *grid, const struct progress *progress, struct view *view)
{
	struct pen pen = { grid, 2, grid->rows - 1, 0, 0 };
	u32 row;

	grid_text(grid, 1, 1, COLOUR_BRIGHT, "Run one group");
	follow_selection(view, progress->groups, grid->rows > 3 ? grid->rows - 3 : 0);
	pen.scroll = view->scroll;
	for (; pen.line < progress->groups; pen.line++) {
		const struct progress_group *group = &progress->group[pen.line];
		bool selected = pen.line == view->selected;

		if (!pen_row(&pen, &row))
			continue;
		if (selected)
			grid_fill(grid, 0, row, grid->columns, COLOUR_SELECTED, ' ');
		grid_print(grid, 1, row, selected ? COLOUR_SELECTED : COLOUR_TEXT,
			   "%s: %u points, %u failed or in error", group->name, group->points,
			   group->bad);
	}
	draw_keys(grid, view, "Enter: run this group  Esc: back");
}

static void draw_facts(struct grid *grid, const struct progress *progress, struct view *view)
{
	struct pen pen = { grid, 1, grid->rows - 1, 0, view->scroll };

	for (u32 i = 0; i < progress->facts; i++) {
		const char *text = progress->store + progress->fact[i] + 2;
		char key[VALUE_COLUMN - 1];
		u32 n = 0;

		for (; text[n] && text[n] != ':' && n + 1 < sizeof(key); n++)
			key[n] = text[n];
		key[n] = '\0';
		if (text[n] == ':' && text[n + 1] == ' ')
			pen_pair(&pen, key, text + n + 2, COLOUR_TEXT);
		else
			pen_pair(&pen, "", text, COLOUR_TEXT);
	}
	stop_at_end(view, &pen);
	draw_keys(grid, view, "Up, Down, PageUp, PageDown: scroll  Esc: back");
}

/* Draw a code for each line of text: next to the text if there is room, else in its place. */
static void draw_code(struct grid *grid, struct view *view)
{
	const char *text = view->result ? view->result : "";
	u32 x = code_draw(grid, 2, grid->rows - 1, text) + 2, row = 2;
	char line[TEXT_SIZE];

	grid_text(grid, 1, 1, COLOUR_BRIGHT, "The result in short, to be photographed");
	while (*text && row + 1 < grid->rows && x + LEAST_BESIDE < grid->columns) {
		size_t n = 0;

		for (; *text && *text != '\n'; text++)
			if (n + 1 < sizeof(line))
				line[n++] = *text;
		line[n] = '\0';
		text += *text == '\n';
		row += grid_wrap(grid, x, row, grid->columns - x - 1, 0, grid->rows - 1 - row,
				 COLOUR_TEXT, line);
	}
	draw_keys(grid, view, "Esc: back");
}

static void draw_page(struct grid *grid, font_glyph *font, const struct progress *progress,
		      struct view *view, const char *version)
{
	grid_clear(grid, COLOUR_TEXT);
	if (grid->rows < 2 || grid->columns < 2)
		return;
	draw_title(grid, progress, version);
	switch (view->page) {
	case PAGE_RUN:
		draw_run(grid, progress, view);
		break;
	case PAGE_END:
		draw_end(grid, font, progress, view);
		break;
	case PAGE_POINT:
		draw_point(grid, progress, view);
		break;
	case PAGE_GROUPS:
		draw_groups(grid, progress, view);
		break;
	case PAGE_TESTS:
		grid_text(grid, 1, 1, COLOUR_BRIGHT, "Run one test");
		draw_points(grid, progress, view, 2, grid->rows - 1);
		draw_keys(grid, view, "Enter details  A run this test  Esc: back");
		break;
	case PAGE_MACHINE:
		draw_facts(grid, progress, view);
		break;
	case PAGE_CODE:
		draw_code(grid, view);
		break;
	}
}

void pages_draw(struct grid *grid, font_glyph *font, const struct progress *progress,
		struct view *view, const char *version)
{
	u32 scroll = view->scroll;

	draw_page(grid, font, progress, view, version);
	if (view->scroll < scroll)	/* limit it to the end */
		draw_page(grid, font, progress, view, version);
}
