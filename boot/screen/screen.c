/* SPDX-License-Identifier: MIT */
/* The only part of the screen that isn't pure: its present contents, the framebuffer, the
 * keyboard. */
#include "boot/screen/screen.h"
#include "boot/firmware.h"
#include "kernel/memory/arena.h"
#include "kernel/output/console.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/time.h"
#include "version.h"

#define DRAW_US		50000u	/* least time between two updates during a run */
#define POLL_US		20000u
#define VISIT_US	250000u	/* between two reads of the keys while tests run */

/* The framebuffer; or memory for one row of cells, which the firmware copies to the screen. */
static struct raster raster;
static bool by_firmware;	/* true: the firmware draws */
static struct grid_size size;
static struct grid wanted, shown;
static struct progress progress;
static struct view view;
static bool is_open, stopped;
static u64 next_picture, next_visit;	/* TSC of the next update */
static struct {
	u32 on, off;
} pixels[COLOUR_COUNT];

static bool differs(const struct grid_cell *a, const struct grid_cell *b)
{
	return a->glyph != b->glyph || a->colour != b->colour;
}

static void draw_cell(struct grid_cell cell, u32 x, u32 row_of_pixels)
{
	u8 rows[FONT_HEIGHT];

	grid_rows(font_glyphs, cell.glyph, rows);
	raster_glyph(&raster, x * FONT_WIDTH * size.scale, row_of_pixels, size.scale, rows,
		     pixels[cell.colour].on, pixels[cell.colour].off);
}

/* Cells that haven't changed aren't drawn: this avoids flicker and saves time. */
static void draw_cells(u32 y)
{
	for (u32 x = 0; x < wanted.columns; x++) {
		struct grid_cell cell = wanted.cells[y][x];

		if (!differs(&cell, &shown.cells[y][x]))
			continue;
		draw_cell(cell, x, y * FONT_HEIGHT * size.scale);
		shown.cells[y][x] = cell;
	}
}

/* The firmware draws: copy a row of cells if one of them has changed. */
static void draw_row(u32 y)
{
	bool same = true;

	for (u32 x = 0; x < wanted.columns; x++)
		same &= !differs(&wanted.cells[y][x], &shown.cells[y][x]);
	if (same)
		return;
	for (u32 x = 0; x < wanted.columns; x++) {
		draw_cell(wanted.cells[y][x], x, 0);
		shown.cells[y][x] = wanted.cells[y][x];
	}
	firmware_draw(raster.base, raster.pitch, y * raster.height,
		      wanted.columns * FONT_WIDTH * size.scale, raster.height);
}

static void draw(void)
{
	pages_draw(&wanted, font_glyphs, &progress, &view, PMUTEST86_VERSION);
	for (u32 y = 0; y < wanted.rows; y++)
		if (by_firmware)
			draw_row(y);
		else
			draw_cells(y);
	/* Flush the write-combining buffers now, and not during the next test. */
	__asm__ volatile("sfence" ::: "memory");
	next_picture = time_deadline(DRAW_US);
}

/* Open a screen without a linear framebuffer, if there is one. */
static void open_graphics(void)
{
	u32 width, height;

	by_firmware = firmware_screen(&width, &height);
	if (!by_firmware)
		return;
	size = grid_fit(width, height);
	raster = (struct raster){
		.width = width, .height = FONT_HEIGHT * size.scale, .pitch = width * 4, .bytes = 4,
		.red = 0xff0000, .green = 0x00ff00, .blue = 0x0000ff,
	};
	raster.base = arena_alloc((size_t)raster.pitch * raster.height);
}

/* Pixels outside of all cells have the background colour of the text. */
static void clear_screen(void)
{
	if (by_firmware)
		firmware_clear_screen();
	else
		raster_fill(&raster, 0, 0, raster.width, raster.height, pixels[COLOUR_TEXT].off);
}

void screen_open(bool wanted_at_all, const struct machine_setup *setup, const struct soak *soak)
{
	const u32 store_size = PROGRESS_STORE + (setup->processors - 1) * PROGRESS_STORE_EACH;
	char *store;

	if (!wanted_at_all)
		return;
	raster = setup->framebuffer;
	size = grid_fit(raster.width, raster.height);
	if (!raster_is_usable(&raster))
		open_graphics();
	store = arena_alloc(store_size);
	if (!raster_is_usable(&raster) || !store)
		return;
	wanted.columns = shown.columns = size.columns;
	wanted.rows = shown.rows = size.rows;
	for (unsigned i = 0; i < COLOUR_COUNT; i++) {
		pixels[i].on = raster_pixel(&raster, grid_colours[i].on);
		pixels[i].off = raster_pixel(&raster, grid_colours[i].off);
	}
	progress_init(&progress, store, store_size);
	progress.soak = *soak;
	view.keys = firmware_has_keys();
	console_leave_screen(true);
	clear_screen();
	is_open = true;
	draw();
}

bool screen_is_open(void)
{
	return is_open;
}

void screen_line(const char *line)
{
	if (is_open)
		progress_take(&progress, line);
}

void screen_group(unsigned n, unsigned count)
{
	if (!is_open)
		return;
	progress.group_now = n;
	progress.group_count = count;
	next_picture = 0;
}

void screen_begin_test(const char *name)
{
	if (!is_open)
		return;
	progress_begin_test(&progress, name);
	progress_at(&progress, tsc_read() / time_tsc_per_us);
	/* The firmware can't be called now. */
	if (!by_firmware && time_expired(next_picture))
		draw();
}

static void take_keys(void)
{
	unsigned key;

	while (is_open && firmware_read_key(&key))
		if (keys_press(&view, &progress, key, size.rows, NULL, 0) == ACTION_STOP)
			view.stopping = true;
}

bool screen_is_due(void)
{
	return is_open && (view.keys || by_firmware) && time_expired(next_visit);
}

/* If the firmware draws, this is the time at which it can. */
void screen_poll(void)
{
	if (!is_open)
		return;
	take_keys();
	if (by_firmware && time_expired(next_picture))
		draw();
	next_visit = time_deadline(VISIT_US);
}

bool screen_is_ended(void)
{
	return view.stopping;
}

bool screen_go_on(void)
{
	take_keys();
	if (by_firmware && is_open)
		draw();
	stopped = view.stopping;
	return !stopped;
}

bool screen_has_stopped(void)
{
	return stopped;
}

void screen_end(void)
{
	if (!is_open)
		return;
	/* The firmware may have printed something in the meantime. */
	shown = (struct grid){ .columns = shown.columns, .rows = shown.rows };
	progress_begin_test(&progress, NULL);
	view = (struct view){ .page = PAGE_END, .keys = view.keys };
	draw();
}

void screen_keep_result(struct soak *soak)
{
	enum progress_result result = progress_result(&progress);

	soak->failed += result == RESULT_FAILED;
	soak->not_trustworthy += result == RESULT_NOT_TRUSTWORTHY;
	soak->not_tested += result == RESULT_NOT_TESTED;
}

enum key_action screen_ask(char *tests, size_t tests_size)
{
	enum key_action action = ACTION_NONE;
	unsigned key;

	while (action == ACTION_NONE) {
		if (!firmware_read_key(&key)) {
			firmware_stall(POLL_US);
			continue;
		}
		action = keys_press(&view, &progress, key, size.rows, tests, tests_size);
		draw();
	}
	return action;
}

void screen_set_result(const char *text)
{
	view.result = text;
}

void screen_say(const char *text)
{
	fmt_print(view.status, sizeof(view.status), "%s", text);
	if (is_open)
		draw();
}
