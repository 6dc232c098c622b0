/* SPDX-License-Identifier: MIT */
/* Lines of text on a linear framebuffer of 32-bit pixels. */
#ifndef KERNEL_FBCON_H
#define KERNEL_FBCON_H

#include "spec/types.h"

/* pixels NULL: no screen. stride in pixels. */
void fbcon_init(u32 *pixels, u32 width, u32 height, u32 stride);
/* One line of ASCII; what is longer than the screen is wide is cut. */
void fbcon_line(const char *text);
/* Has fbcon_init() been given one that shows text? */
bool fbcon_is_there(void);

#endif
