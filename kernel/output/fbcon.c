/* SPDX-License-Identifier: MIT */
/* After the last row the text continues at the top; an empty row marks the end of the newest
 * text. */
#include "kernel/output/fbcon.h"

#define WHITE		0xffffffu
#define WIDE_SCREEN	1280u		/* pixels are larger by one for each such width */

static struct {
	struct raster raster;
	u32 columns, rows, row, scale;
} screen;

void fbcon_init(const struct raster *raster)
{
	screen.raster = *raster;
	screen.scale = 1 + raster->width / WIDE_SCREEN;
	screen.columns = raster->width / (FONT_WIDTH * screen.scale);
	screen.rows = raster->height / (FONT_HEIGHT * screen.scale);
	screen.row = 0;
}

static void draw_row(u32 row, const char *text)
{
	u32 on = raster_pixel(&screen.raster, WHITE), off = raster_pixel(&screen.raster, 0);

	for (u32 column = 0; column < screen.columns; column++) {
		raster_glyph(&screen.raster, column * FONT_WIDTH * screen.scale,
			     row * FONT_HEIGHT * screen.scale, screen.scale,
			     font_of(font_glyphs, *text ? *text : ' '), on, off);
		text += *text != '\0';
	}
}

bool fbcon_is_there(void)
{
	return raster_is_usable(&screen.raster) && screen.rows >= 2;
}

void fbcon_line(const char *text)
{
	if (!fbcon_is_there())
		return;
	draw_row(screen.row, text);
	screen.row = (screen.row + 1) % screen.rows;
	draw_row(screen.row, "");
}
