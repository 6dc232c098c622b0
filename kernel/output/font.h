/* SPDX-License-Identifier: MIT */
/* The font: Spleen, from the package fonts-spleen, for ASCII. tools/screen/font.py converts it to
 * C. */
#ifndef KERNEL_FONT_H
#define KERNEL_FONT_H

#include "spec/types.h"

#define FONT_WIDTH	8u
#define FONT_HEIGHT	16u
#define FONT_FIRST	' '
#define FONT_LAST	'~'

/* A glyph's rows from the top; bit 7 is the pixel at the left. */
typedef const u8 font_glyph[FONT_HEIGHT];

/* From FONT_FIRST to FONT_LAST. */
extern font_glyph font_glyphs[FONT_LAST - FONT_FIRST + 1];

/* Characters that aren't printable ASCII are shown as '?'. */
static inline const u8 *font_of(font_glyph *font, char c)
{
	return font[(c < FONT_FIRST || c > FONT_LAST ? '?' : c) - FONT_FIRST];
}

#endif
