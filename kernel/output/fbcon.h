/* SPDX-License-Identifier: MIT */
/* Lines of text on a linear framebuffer. */
#ifndef KERNEL_FBCON_H
#define KERNEL_FBCON_H

#include "kernel/output/raster.h"

/* raster's base NULL: no screen. */
void fbcon_init(const struct raster *raster);
/* Print one line of ASCII; it is cut at the width of the screen. */
void fbcon_line(const char *text);
/* Has fbcon_init() got a screen that can show text? */
bool fbcon_is_there(void);

#endif
