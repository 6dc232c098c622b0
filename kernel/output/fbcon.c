/* SPDX-License-Identifier: MIT */
/*
 * Text on a framebuffer. Nothing is ever read from it (uncached reads of video memory are slow):
 * after the last row text continues at the top, with an empty row as the mark of where it is.
 */
#include "kernel/output/fbcon.h"
#include "kernel/output/font.h"

#define CELL_WIDTH	(FONT_WIDTH + 1)
#define CELL_HEIGHT	(FONT_HEIGHT + 3)
#define PIXEL_ON	0xffffffffu	/* white and black whatever the order of colours */
#define PIXEL_OFF	0x00000000u
#define WIDE_SCREEN	1280u		/* each such width makes pixels larger by one */

static struct {
	u32 *pixels;
	u32 stride, columns, rows, row, scale;
} screen;

void fbcon_init(u32 *pixels, u32 width, u32 height, u32 stride)
{
	screen.pixels = pixels;
	screen.stride = stride;
	screen.scale = 1 + width / WIDE_SCREEN;
	screen.columns = width / (CELL_WIDTH * screen.scale);
	screen.rows = height / (CELL_HEIGHT * screen.scale);
	screen.row = 0;
}

/* One line of pixels of the text's row: y is 0 to CELL_HEIGHT - 1. */
static void draw_scan(u32 *pixel, const char *text, unsigned y)
{
	bool ended = false;

	for (u32 column = 0; column < screen.columns; column++) {
		u8 bits = 0;

		ended = ended || !text[column];
		if (!ended && y < FONT_HEIGHT)
			bits = font_row(text[column], y);
		for (unsigned x = 0; x < CELL_WIDTH; x++)
			for (u32 i = 0; i < screen.scale; i++)
				*pixel++ = bits & BIT(x) ? PIXEL_ON : PIXEL_OFF;
	}
}

static void draw_row(u32 row, const char *text)
{
	u32 *line = screen.pixels + (u64)row * CELL_HEIGHT * screen.scale * screen.stride;

	for (unsigned y = 0; y < CELL_HEIGHT; y++)
		for (u32 i = 0; i < screen.scale; i++, line += screen.stride)
			draw_scan(line, text, y);
}

bool fbcon_is_there(void)
{
	return screen.pixels && screen.rows >= 2;
}

void fbcon_line(const char *text)
{
	if (!fbcon_is_there())
		return;
	draw_row(screen.row, text);
	screen.row = (screen.row + 1) % screen.rows;
	draw_row(screen.row, "");
}
