/* SPDX-License-Identifier: MIT */
/* The bytes of the font, which the build takes from its package. */
#include "kernel/output/font.h"

font_glyph font_glyphs[FONT_LAST - FONT_FIRST + 1] = {
#include "font_data.h"
};
