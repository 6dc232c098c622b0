/* SPDX-License-Identifier: MIT */
/* See raster.h. A line of pixels is written from left to right, which is fast with
 * write-combining. */
#include "kernel/output/raster.h"

void raster_limit(struct raster *r, u64 bytes)
{
	if (bytes && bytes < (u64)r->pitch * r->height)
		r->height = (u32)(bytes / r->pitch);
}

bool raster_is_usable(const struct raster *r)
{
	return r->base && r->width && r->height && r->width <= RASTER_MAX_SIDE &&
	       r->height <= RASTER_MAX_SIDE && r->bytes >= 2 && r->bytes <= 4 &&
	       r->pitch / r->bytes >= r->width && (r->red | r->green | r->blue);
}

u32 raster_bytes(u32 red, u32 green, u32 blue, u32 reserved)
{
	u32 all = red | green | blue | reserved, bytes = 0;

	for (; all; all >>= 8)
		bytes++;
	return bytes;
}

/* The upper bits of an 8-bit component, at the position of the mask. */
static u32 component(u32 value, u32 mask)
{
	u32 shift = 0, width = 0;

	if (!mask)
		return 0;
	while (!(mask >> shift & 1))
		shift++;
	while (shift + width < 32 && (mask >> (shift + width) & 1))
		width++;
	value = width < 8 ? value >> (8 - width) : value << (width - 8);
	return value << shift & mask;
}

u32 raster_pixel(const struct raster *r, u32 colour)
{
	return component(colour >> 16 & 0xff, r->red) | component(colour >> 8 & 0xff, r->green) |
	       component(colour & 0xff, r->blue);
}

/* Returns the address after the pixels. */
static u8 *put(u8 *at, u32 pixel, u32 bytes, u32 count)
{
	for (; count; count--) {
		if (bytes == 4) {
			__builtin_memcpy(at, &pixel, sizeof(pixel));
		} else {
			at[0] = (u8)pixel;
			at[1] = (u8)(pixel >> 8);
			if (bytes == 3)
				at[2] = (u8)(pixel >> 16);
		}
		at += bytes;
	}
	return at;
}

static u32 at_most(u32 wanted, u32 most)
{
	return wanted < most ? wanted : most;
}

void raster_fill(const struct raster *r, u32 x, u32 y, u32 width, u32 height, u32 pixel)
{
	if (x >= r->width || y >= r->height)
		return;
	width = at_most(width, r->width - x);
	height = at_most(height, r->height - y);
	for (u32 i = 0; i < height; i++)
		put(r->base + (size_t)(y + i) * r->pitch + (size_t)x * r->bytes, pixel, r->bytes,
		    width);
}

/* Draw one line of pixels of a glyph. */
static void draw_line(const struct raster *r, u32 x, u32 y, u32 scale, u8 bits, u32 on, u32 off)
{
	u8 *at = r->base + (size_t)y * r->pitch + (size_t)x * r->bytes;

	for (u32 column = 0; column < FONT_WIDTH && x < r->width; column++) {
		u32 count = at_most(scale, r->width - x);

		at = put(at, bits & 0x80u >> column ? on : off, r->bytes, count);
		x += count;
	}
}

void raster_glyph(const struct raster *r, u32 x, u32 y, u32 scale, const u8 *rows, u32 on, u32 off)
{
	if (x >= r->width)
		return;
	for (u32 row = 0; row < FONT_HEIGHT; row++)
		for (u32 i = 0; i < scale && y < r->height; i++, y++)
			draw_line(r, x, y, scale, rows[row], on, off);
}
