/* SPDX-License-Identifier: MIT */
/*
 * Draws glyphs on a linear framebuffer of any pixel format: UEFI Specification, "Graphics Output
 * Protocol", EFI_PIXEL_BITMASK. The framebuffer is never read, because uncached reads of video
 * memory are slow. Nothing is written outside of it. Pure.
 */
#ifndef KERNEL_RASTER_H
#define KERNEL_RASTER_H

#include "kernel/output/font.h"
#include "spec/types.h"

struct raster {
	u8 *base;			/* NULL: none */
	u32 width, height;		/* pixels */
	u32 pitch;			/* bytes from one line of pixels to the next */
	u32 bytes;			/* of a pixel: 2, 3 or 4 */
	u32 red, green, blue;		/* its bits */
};

#define RASTER_MAX_SIDE	65536u

/* Reduce the height to the lines of pixels that fit into that many bytes. 0: the size isn't known,
 * and the height stays. */
void raster_limit(struct raster *raster, u64 bytes);
/* Can it be drawn on? */
bool raster_is_usable(const struct raster *raster);
/* Bytes of a pixel that has these bits and reserved ones. */
u32 raster_bytes(u32 red, u32 green, u32 blue, u32 reserved);
/* The pixel of a colour 0xRRGGBB. */
u32 raster_pixel(const struct raster *raster, u32 colour);

/* A glyph with its upper left corner at x, y, each of its pixels scale x scale. What lies outside
 * isn't drawn. */
void raster_glyph(const struct raster *raster, u32 x, u32 y, u32 scale, const u8 *rows, u32 on,
		  u32 off);
/* A rectangle of one pixel's value. */
void raster_fill(const struct raster *raster, u32 x, u32 y, u32 width, u32 height, u32 pixel);

#endif
