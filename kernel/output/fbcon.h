/* SPDX-License-Identifier: MIT */
/* Lines of text on a linear framebuffer. */
#ifndef KERNEL_FBCON_H
#define KERNEL_FBCON_H

#include "kernel/output/raster.h"

/* raster's base NULL: no screen. */
void fbcon_init(const struct raster *raster);
/* One line of ASCII; what is longer than the screen is wide is cut. */
void fbcon_line(const char *text);
/* Has fbcon_init() been given one that shows text? */
bool fbcon_is_there(void);

#endif
