/* SPDX-License-Identifier: MIT */
/* For boot/uefi/ itself. */
#ifndef BOOT_UEFI_SCREEN_H
#define BOOT_UEFI_SCREEN_H

#include "kernel/output/raster.h"

/* Find the linear framebuffer, if there is one. The firmware's console may have none. */
void uefi_find_screen(struct raster *raster);

#endif
