/* SPDX-License-Identifier: MIT */
/* The font's bytes, as the build has taken them from its package. */
#include "kernel/output/font.h"

font_glyph font_glyphs[FONT_LAST - FONT_FIRST + 1] = {
#include "font_data.h"
};
