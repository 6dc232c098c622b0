/* SPDX-License-Identifier: MIT */
/* A font of 5 x 7 pixels for ASCII. */
#ifndef KERNEL_FONT_H
#define KERNEL_FONT_H

#include "spec/types.h"

#define FONT_WIDTH	5
#define FONT_HEIGHT	7

/* Row y, 0 to FONT_HEIGHT - 1 from the top; bit x is the pixel at column x from the left. What
 * isn't printable ASCII looks like '?'. */
u8 font_row(char c, unsigned y);

#endif
