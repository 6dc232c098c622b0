/* SPDX-License-Identifier: MIT */
/* For boot/uefi/ itself. */
#ifndef BOOT_UEFI_SCREEN_H
#define BOOT_UEFI_SCREEN_H

#include "kernel/output/raster.h"

/* The linear framebuffer that there is, if there is one. Firmware may give its console none that is
 * linear. */
void uefi_find_screen(struct raster *raster);

#endif
