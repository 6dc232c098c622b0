/* SPDX-License-Identifier: MIT */
/*
 * A text as a QR Code (ISO/IEC 18004) in cells of the screen, for a telephone's camera. The code is
 * made by Nayuki's library (docs/THIRD-PARTY.md). Pure.
 */
#ifndef BOOT_SCREEN_CODE_H
#define BOOT_SCREEN_CODE_H

#include "boot/screen/grid.h"

/*
 * Draw it from row top to above row bottom, from column 1 on. If the text doesn't fit, only as many
 * of its lines are used as fit. Returns the number of columns, margin included; 0: there is no room
 * for a code.
 */
u32 code_draw(struct grid *grid, u32 top, u32 bottom, const char *text);

#endif
