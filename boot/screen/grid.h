/* SPDX-License-Identifier: MIT */
/*
 * The screen as cells, each with a glyph and a colour. Text is written to a grid, and the cells
 * that differ from those on the screen are drawn. Text outside of the grid is dropped. Pure.
 */
#ifndef BOOT_SCREEN_GRID_H
#define BOOT_SCREEN_GRID_H

#include "kernel/output/font.h"
#include "spec/types.h"

/* At most this much of a screen is used. */
#define GRID_COLUMNS	200u
#define GRID_ROWS	80u

/* Glyphs beyond ASCII: GRID_BLOCK with a bit for each quarter that is set, and a line. */
#define GRID_BLOCK	0x80u
#define GRID_UPPER_LEFT	1u
#define GRID_UPPER_RIGHT 2u
#define GRID_LOWER_LEFT	4u
#define GRID_LOWER_RIGHT 8u
#define GRID_FULL	(GRID_BLOCK | 15u)
#define GRID_LINE	0x90u

/* Large letters: cells that one takes. */
#define GRID_LARGE_WIDTH	4u
#define GRID_LARGE_HEIGHT	6u

enum grid_colour {
	COLOUR_TEXT, COLOUR_DIM, COLOUR_BRIGHT, COLOUR_TITLE, COLOUR_GOOD, COLOUR_BAD,
	COLOUR_DOUBT, COLOUR_SELECTED, COLOUR_PASSED, COLOUR_FAILED, COLOUR_NOT_TESTED,
	COLOUR_NOT_TRUSTWORTHY, COLOUR_CODE, COLOUR_COUNT
};

/* 0xRRGGBB of the letters and of their background. The difference of brightness alone makes the
 * text readable. */
struct grid_colours {
	u32 on, off;
};
extern const struct grid_colours grid_colours[COLOUR_COUNT];

struct grid_cell {
	u8 glyph, colour;
};

struct grid {
	u32 columns, rows;
	struct grid_cell cells[GRID_ROWS][GRID_COLUMNS];
};

/* How large cells are on a screen of so many pixels, and how many fit. */
struct grid_size {
	u32 scale, columns, rows;
};
struct grid_size grid_fit(u32 width, u32 height);

void grid_clear(struct grid *grid, enum grid_colour colour);
/* Text at column x of row y; bytes that aren't printable show as '?'. Returns the column after
 * it. */
u32 grid_text(struct grid *grid, u32 x, u32 y, enum grid_colour colour, const char *text);
__attribute__((format(printf, 5, 6)))
u32 grid_print(struct grid *grid, u32 x, u32 y, enum grid_colour colour, const char *format, ...);
/* Text in lines of at most width cells, broken between words where it can be, in at most most
 * rows, without its first skip lines. Returns how many lines the whole text has. */
u32 grid_wrap(struct grid *grid, u32 x, u32 y, u32 width, u32 skip, u32 most,
	      enum grid_colour colour, const char *text);
/* count cells of one glyph. */
void grid_fill(struct grid *grid, u32 x, u32 y, u32 count, enum grid_colour colour, u8 glyph);
/* Large letters, GRID_LARGE_HEIGHT rows high, made of quarters of cells. */
void grid_large(struct grid *grid, font_glyph *font, u32 x, u32 y, enum grid_colour colour,
		const char *text);

/* The rows of pixels of any glyph of a cell. */
void grid_rows(font_glyph *font, u8 glyph, u8 rows[FONT_HEIGHT]);

#endif
