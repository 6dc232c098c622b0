/* SPDX-License-Identifier: MIT */
/* See code.h. A module is a square: one cell wide and half a cell high, or a multiple of that. */
#include "boot/screen/code.h"
#include "kernel/memory/string.h"
#include <qrcodegen.h>

#define MARGIN		4u	/* light modules around a code: "Quiet zone" */
#define VERSION_MOST	22	/* 103 modules a side, 1003 bytes */
#define SIDE_LEAST	21u	/* modules a side in version 1, */
#define SIDE_STEP	4u	/* and the increase for each further version */
#define TEXT_SIZE	1024u
#define FIRST_COLUMN	1u

/* A code in the library's format. */
struct code {
	u8 bytes[qrcodegen_BUFFER_LEN_FOR_VERSION(VERSION_MOST)];
};

/* Encode as many whole lines of the text as a code of this version holds. */
static bool encode(struct code *code, const char *text, int version_most)
{
	struct code work;
	char part[TEXT_SIZE];
	size_t length = strlen(text);

	if (length >= sizeof(part))
		length = sizeof(part) - 1;
	memcpy(part, text, length);
	for (;;) {
		part[length] = '\0';
		if (qrcodegen_encodeText(part, work.bytes, code->bytes, qrcodegen_Ecc_LOW,
					 qrcodegen_VERSION_MIN, version_most, qrcodegen_Mask_AUTO,
					 true))
			return true;
		while (length && part[length - 1] != '\n')
			length--;
		if (!length)
			return false;
		length--;
	}
}

/* Is a point of the square dark? The square has a margin; a module has `scale` units. */
static bool is_dark(const struct code *code, u32 x, u32 y, u32 scale)
{
	/* Outside of the code everything is light. */
	return qrcodegen_getModule(code->bytes, (int)(x / scale) - (int)MARGIN,
				   (int)(y / scale) - (int)MARGIN);
}

u32 code_draw(struct grid *grid, u32 top, u32 bottom, const char *text)
{
	u32 columns = grid->columns > FIRST_COLUMN ? grid->columns - FIRST_COLUMN : 0;
	u32 rows = bottom > top ? bottom - top : 0;
	u32 room = 2 * rows < columns ? 2 * rows : columns, side, scale;
	struct code code;
	int version;

	if (room < SIDE_LEAST + 2 * MARGIN)
		return 0;
	version = (int)((room - 2 * MARGIN - SIDE_LEAST) / SIDE_STEP) + 1;
	if (!encode(&code, text, version < VERSION_MOST ? version : VERSION_MOST))
		return 0;
	side = (u32)qrcodegen_getSize(code.bytes) + 2 * MARGIN;
	scale = room / side;
	for (u32 y = 0; y < side * scale; y += 2)
		for (u32 x = 0; x < side * scale; x++) {
			u8 quarters = 0;

			if (is_dark(&code, x, y, scale))
				quarters |= GRID_UPPER_LEFT | GRID_UPPER_RIGHT;
			if (is_dark(&code, x, y + 1, scale))
				quarters |= GRID_LOWER_LEFT | GRID_LOWER_RIGHT;
			grid_fill(grid, FIRST_COLUMN + x, top + y / 2, 1, COLOUR_CODE,
				  (u8)(GRID_BLOCK | quarters));
		}
	return side * scale;
}
