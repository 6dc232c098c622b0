/* SPDX-License-Identifier: MIT */
/*
 * The screen: any lines, any keys, framebuffers of any size and kind. Each cell has an existing
 * glyph and colour, and nothing is drawn outside of the framebuffer.
 */
#include <stdlib.h>
#include <string.h>

#include "boot/screen/keys.h"
#include "kernel/output/raster.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define STORE	4096u
#define HEAD	6u

static font_glyph font[FONT_LAST - FONT_FIRST + 1];

static void must_be_sound(const struct grid *grid)
{
	for (u32 y = 0; y < grid->rows; y++)
		for (u32 x = 0; x < grid->columns; x++) {
			struct grid_cell cell = grid->cells[y][x];

			if (cell.glyph < ' ' || cell.glyph == 0x7f || cell.glyph > GRID_LINE)
				abort();
			if (cell.colour >= COLOUR_COUNT)
				abort();
		}
}

/* Draw into memory that is exactly as large as needed. */
static void draw(const struct grid *grid, u32 scale, u32 width, u32 height, u8 kind)
{
	static const struct raster kinds[] = {
		{ .bytes = 4, .red = 0xff, .green = 0xff00, .blue = 0xff0000 },
		{ .bytes = 3, .red = 0xff0000, .green = 0xff00, .blue = 0xff },
		{ .bytes = 2, .red = 0xf800, .green = 0x07e0, .blue = 0x1f },
		{ .bytes = 4, .red = 0xffc00000, .green = 0x3ff000, .blue = 0 },
	};
	struct raster r = kinds[kind % 4];
	u8 rows[FONT_HEIGHT];

	r.width = width;
	r.height = height;
	r.pitch = width * r.bytes + kind / 4;
	r.base = malloc((size_t)r.pitch * height);
	if (raster_is_usable(&r))
		for (u32 y = 0; y < grid->rows; y++)
			for (u32 x = 0; x < grid->columns; x++) {
				grid_rows(font, grid->cells[y][x].glyph, rows);
				raster_glyph(&r, x * FONT_WIDTH * scale, y * FONT_HEIGHT * scale,
					     scale, rows, raster_pixel(&r, 0xffffff), 0);
			}
	free(r.base);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct progress progress;
	static struct grid grid;
	struct view view = { .keys = true };
	char *store = malloc(STORE), tests[24];
	struct grid_size fit;
	u32 width, height;
	char line[256];
	size_t length = 0;

	if (!store || size < HEAD) {
		free(store);
		return 0;
	}
	width = data[0] * 2u;
	height = data[1] * 2u;
	fit = grid_fit(width, height);
	grid.columns = fit.columns;
	grid.rows = fit.rows;
	progress_init(&progress, store, data[2] * 16u);
	view.page = data[3] % (PAGE_MACHINE + 1);
	for (size_t i = HEAD; i < size; i++) {
		if (data[i] != '\n' && length + 1 < sizeof(line)) {
			line[length++] = (char)data[i];
			continue;
		}
		line[length] = '\0';
		/* First the lines, then the keys. */
		if (line[0] != '!') {
			progress_take(&progress, line);
		} else {
			for (size_t k = 1; k < length; k++)
				keys_press(&view, &progress,
					   (u8)line[k] < ' ' ? KEY_UP + (u8)line[k] : (u8)line[k],
					   fit.rows, tests, sizeof(tests));
			pages_draw(&grid, font, &progress, &view, "1.0");
			must_be_sound(&grid);
		}
		length = 0;
	}
	progress_at(&progress, data[4]);
	pages_draw(&grid, font, &progress, &view, "1.0");
	must_be_sound(&grid);
	/* Drawing pixels takes most of the time, so it is done rarely. */
	if (data[5] >= 0xfc)
		draw(&grid, fit.scale, width, height, data[5]);
	free(store);
	return 0;
}
