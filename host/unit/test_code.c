/* SPDX-License-Identifier: MIT */
/* QR Codes in cells. `test_code pbm TEXT` prints one as a picture, for a decoder. */
#include <stdio.h>
#include <string.h>
#include "boot/screen/code.h"
#include "host/check.h"

#define DOTS	4u	/* pixels of a module, in the picture */

static struct grid grid;

static u32 draw(u32 columns, u32 rows, const char *text)
{
	grid.columns = columns;
	grid.rows = rows;
	grid_clear(&grid, COLOUR_TEXT);
	return code_draw(&grid, 1, rows - 1, text);
}

/* One half of a cell: dark or light; 2: neither. */
static unsigned half(u32 x, u32 y)
{
	struct grid_cell cell = grid.cells[1 + y / 2][1 + x];
	unsigned halves = cell.glyph & ~GRID_BLOCK;

	if (cell.colour != COLOUR_CODE || !(cell.glyph & GRID_BLOCK))
		return 2;
	halves = y % 2 ? halves >> 2 : halves & 3;
	return halves == 3 ? 1 : halves == 0 ? 0 : 2;
}

/* Decoded from its picture by zbarimg: PMUTest86. */
static void a_known_text_has_its_code(void)
{
	static const char *const wanted[] = {
		"#######.##..#.#######",
		"#.....#.#.#.#.#.....#",
		"#.###.#.###...#.###.#",
		"#.###.#.##..#.#.###.#",
		"#.###.#.#.###.#.###.#",
		"#.....#..###..#.....#",
		"#######.#.#.#.#######",
		"........#.###........",
		".##.#.##.#....#.#####",
		".#...#..#..####.#.##.",
		".#.##.##...##.#.#####",
		"#.#..#.#.#.#.#.#...#.",
		"......#.##..##.####.#",
		"........#####...#....",
		"#######.###.#..######",
		"#.....#.....##..#....",
		"#.###.#.#.#.#.#.###..",
		"#.###.#..#....#.#..#.",
		"#.###.#.##..#..##.#.#",
		"#.....#.##....#....#.",
		"#######.....#.###..##",
	};

	CHECK_EQ(29, draw(100, 17, "PMUTest86"));
	for (u32 y = 0; y < 29; y++)
		for (u32 x = 0; x < 29; x++) {
			bool inside = x >= 4 && x < 25 && y >= 4 && y < 25;

			CHECK_EQ(inside && wanted[y - 4][x - 4] == '#', half(x, y));
		}
	CHECK_EQ(COLOUR_TEXT, grid.cells[1][0].colour);
	CHECK_EQ(COLOUR_TEXT, grid.cells[1][30].colour);
	CHECK_EQ(COLOUR_TEXT, grid.cells[16][1].colour);
}

/* Modules are three times as large if there is room. */
static void modules_are_squares_of_any_size(void)
{
	static u8 small[29][29];

	draw(100, 17, "PMUTest86");
	for (u32 y = 0; y < 29; y++)
		for (u32 x = 0; x < 29; x++)
			small[y][x] = (u8)half(x, y);
	CHECK_EQ(87, draw(100, 50, "PMUTest86"));
	for (u32 y = 0; y < 87; y++)
		for (u32 x = 0; x < 87; x++)
			CHECK_EQ(small[y / 3][x / 3], half(x, y));
}

/* On the smallest screen: as many lines as fit. */
static void a_long_text_loses_its_last_lines(void)
{
	static char text[2000];
	u32 side;

	for (unsigned i = 0; i < sizeof(text) - 1; i++)
		text[i] = i % 40 == 39 ? '\n' : (char)('a' + i % 26);
	side = draw(80, 33, text);
	CHECK(side > 50 && side <= 62, "%u", side);
	for (u32 y = 0; y < side; y++)
		for (u32 x = 0; x < side; x++)
			CHECK(half(x, y) < 2);
	/* A single line that is too long has no code. */
	memset(text, 'a', sizeof(text) - 1);
	CHECK_EQ(0, draw(80, 33, text));
}

static void no_room_is_no_code(void)
{
	CHECK_EQ(0, draw(100, 16, "PMUTest86"));
	CHECK_EQ(0, draw(29, 40, "PMUTest86"));
	CHECK_EQ(0, draw(2, 2, "PMUTest86"));
	CHECK_EQ(29, draw(30, 40, "PMUTest86"));
	CHECK_EQ(0, draw(30, 17, "a text for which version 1 is too small"));
}

static int print_picture(const char *text)
{
	u32 side = draw(GRID_COLUMNS, GRID_ROWS, text) * DOTS;

	printf("P1\n%u %u\n", side, side);
	for (u32 y = 0; y < side; y++)
		for (u32 x = 0; x < side; x++)
			printf("%u\n", half(x / DOTS, y / DOTS));
	return 0;
}

int main(int count, char **words)
{
	if (count == 3 && !strcmp(words[1], "pbm"))
		return print_picture(words[2]);
	RUN(a_known_text_has_its_code);
	RUN(modules_are_squares_of_any_size);
	RUN(a_long_text_loses_its_last_lines);
	RUN(no_room_is_no_code);
	return check_end();
}
