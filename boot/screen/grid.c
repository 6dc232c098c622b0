/* SPDX-License-Identifier: MIT */
/* See grid.h. */
#include "boot/screen/grid.h"
#include "kernel/output/fmt.h"

#define LEAST_COLUMNS	80u	/* columns that must remain with larger letters */
#define LEAST_ROWS	33u
#define TEXT_SIZE	256u
#define LINE_ROW	7u	/* the row of a glyph's pixels */

const struct grid_colours grid_colours[COLOUR_COUNT] = {
	[COLOUR_TEXT] = { 0xd0d0d0, 0x101820 },
	[COLOUR_DIM] = { 0x9098a0, 0x101820 },
	[COLOUR_BRIGHT] = { 0xffffff, 0x101820 },
	[COLOUR_TITLE] = { 0x101820, 0xd0d8e0 },
	[COLOUR_GOOD] = { 0x80f080, 0x101820 },
	[COLOUR_BAD] = { 0xffffff, 0xa00010 },
	[COLOUR_DOUBT] = { 0xf8d860, 0x101820 },
	[COLOUR_SELECTED] = { 0x000000, 0xa8d0f8 },
	[COLOUR_PASSED] = { 0x002000, 0x80e880 },
	[COLOUR_FAILED] = { 0xffffff, 0xa00010 },
	[COLOUR_NOT_TESTED] = { 0x201800, 0xf8d860 },
	[COLOUR_NOT_TRUSTWORTHY] = { 0xffffff, 0x600080 },
	/* Not the white of letters: tools/screen/screen.py distinguishes text and code by the
	 * colours. */
	[COLOUR_CODE] = { 0x000000, 0xf4f4f4 },
};

static u32 least(u32 a, u32 b)
{
	return a < b ? a : b;
}

struct grid_size grid_fit(u32 width, u32 height)
{
	u32 wide = width / (FONT_WIDTH * LEAST_COLUMNS), high = height / (FONT_HEIGHT * LEAST_ROWS);
	u32 scale = least(wide, high);

	if (!scale)
		scale = 1;
	return (struct grid_size){
		scale,
		least(width / (FONT_WIDTH * scale), GRID_COLUMNS),
		least(height / (FONT_HEIGHT * scale), GRID_ROWS),
	};
}

static void set(struct grid *grid, u32 x, u32 y, enum grid_colour colour, u8 glyph)
{
	if (x < grid->columns && y < grid->rows)
		grid->cells[y][x] = (struct grid_cell){ glyph, (u8)colour };
}

void grid_fill(struct grid *grid, u32 x, u32 y, u32 count, enum grid_colour colour, u8 glyph)
{
	for (; count && x < grid->columns; count--, x++)
		set(grid, x, y, colour, glyph);
}

void grid_clear(struct grid *grid, enum grid_colour colour)
{
	for (u32 y = 0; y < grid->rows; y++)
		grid_fill(grid, 0, y, grid->columns, colour, ' ');
}

static u8 printable(char c)
{
	return c < FONT_FIRST || c > FONT_LAST ? '?' : (u8)c;
}

u32 grid_text(struct grid *grid, u32 x, u32 y, enum grid_colour colour, const char *text)
{
	for (; *text && x < grid->columns; text++, x++)
		set(grid, x, y, colour, printable(*text));
	return x;
}

u32 grid_print(struct grid *grid, u32 x, u32 y, enum grid_colour colour, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	fmt_vprint(text, sizeof(text), format, args);
	va_end(args);
	return grid_text(grid, x, y, colour, text);
}

/* The number of characters in the next line. */
static u32 line_length(const char *text, u32 width)
{
	u32 length = 0, blank = 0;

	for (; length < width && text[length]; length++)
		if (text[length] == ' ')
			blank = length;
	if (!text[length] || text[length] == ' ' || !blank)
		return length;
	return blank;
}

u32 grid_wrap(struct grid *grid, u32 x, u32 y, u32 width, u32 skip, u32 most,
	      enum grid_colour colour, const char *text)
{
	u32 lines = 0;

	while (*text && width) {
		u32 length = line_length(text, width);

		if (lines >= skip && lines - skip < most)
			for (u32 i = 0; i < length; i++)
				set(grid, x + i, y + lines - skip, colour, printable(text[i]));
		lines++;
		text += length;
		while (*text == ' ')
			text++;
	}
	return lines;
}

/* Draw large letters without the two empty pixel rows at the top and at the bottom. */
void grid_large(struct grid *grid, font_glyph *font, u32 x, u32 y, enum grid_colour colour,
		const char *text)
{
	for (; *text; text++, x += GRID_LARGE_WIDTH) {
		const u8 *rows = font_of(font, *text);

		for (u32 j = 0; j < GRID_LARGE_HEIGHT; j++)
			for (u32 i = 0; i < GRID_LARGE_WIDTH; i++) {
				u32 upper = (u32)rows[2 * j + 2] >> (6 - 2 * i) & 3u;
				u32 lower = (u32)rows[2 * j + 3] >> (6 - 2 * i) & 3u;
				u32 quarters = (upper >> 1) | (upper & 1) << 1 | (lower >> 1) << 2 |
					       (lower & 1) << 3;

				set(grid, x + i, y + j, colour,
				    (u8)(quarters ? GRID_BLOCK | quarters : ' '));
			}
	}
}

void grid_rows(font_glyph *font, u8 glyph, u8 rows[FONT_HEIGHT])
{
	const u8 *of = font_of(font, glyph < GRID_BLOCK ? (char)glyph : '?');

	for (u32 i = 0; i < FONT_HEIGHT; i++) {
		if (glyph == GRID_LINE)
			rows[i] = i == LINE_ROW ? 0xff : 0;
		else if ((glyph & 0xf0) == GRID_BLOCK && i < FONT_HEIGHT / 2)
			rows[i] = (u8)((glyph & GRID_UPPER_LEFT ? 0xf0 : 0) |
				       (glyph & GRID_UPPER_RIGHT ? 0x0f : 0));
		else if ((glyph & 0xf0) == GRID_BLOCK)
			rows[i] = (u8)((glyph & GRID_LOWER_LEFT ? 0xf0 : 0) |
				       (glyph & GRID_LOWER_RIGHT ? 0x0f : 0));
		else
			rows[i] = of[i];
	}
}
