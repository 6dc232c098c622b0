/* SPDX-License-Identifier: MIT */
/* Glyphs on framebuffers of every kind: the right pixels are set, and no others. */
#include "host/check.h"

#include "kernel/output/raster.h"

#define WIDTH	40u
#define HEIGHT	36u
#define GUARD	64u		/* bytes around the framebuffer, and between its lines */
#define UNTOUCHED 0xa5

struct kind {
	const char *name;
	u32 bytes, red, green, blue, white, orange;	/* 0xff8000 */
};

static const struct kind kinds[] = {
	{ "RGB", 4, 0xff, 0xff00, 0xff0000, 0xffffff, 0x0080ff },
	{ "BGR", 4, 0xff0000, 0xff00, 0xff, 0xffffff, 0xff8000 },
	{ "5-6-5", 2, 0xf800, 0x07e0, 0x001f, 0xffff, 0xfc00 },
	{ "5-5-5", 2, 0x7c00, 0x03e0, 0x001f, 0x7fff, 0x7e00 },
	{ "24 bits", 3, 0xff0000, 0xff00, 0xff, 0xffffff, 0xff8000 },
	{ "10-10-10", 4, 0x3ff00000, 0xffc00, 0x3ff, 0x3fcff3fc, 0x3fc80000 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static u8 memory[GUARD + HEIGHT * (WIDTH * 4 + GUARD) + GUARD];

static struct raster raster_of(const struct kind *kind)
{
	memset(memory, UNTOUCHED, sizeof(memory));
	return (struct raster){
		.base = memory + GUARD, .width = WIDTH, .height = HEIGHT,
		.pitch = WIDTH * kind->bytes + GUARD, .bytes = kind->bytes,
		.red = kind->red, .green = kind->green, .blue = kind->blue,
	};
}

static u32 pixel_at(const struct raster *r, u32 x, u32 y)
{
	u32 value = 0;

	memcpy(&value, r->base + (size_t)y * r->pitch + (size_t)x * r->bytes, r->bytes);
	return value;
}

/* Bytes that aren't pixels are unchanged. */
static bool guards_hold(const struct raster *r)
{
	for (size_t i = 0; i < sizeof(memory); i++) {
		size_t at = i - GUARD;
		bool inside = i >= GUARD && at / r->pitch < r->height &&
			      at % r->pitch < (size_t)r->width * r->bytes;

		if (!inside && memory[i] != UNTOUCHED)
			return false;
	}
	return true;
}

static void colours_become_pixels(void)
{
	for (size_t k = 0; k < KINDS; k++) {
		struct raster r = raster_of(&kinds[k]);
		u32 colours = kinds[k].red | kinds[k].green | kinds[k].blue;
		u32 reserved = ~colours & (u32)BITS(0, 8 * kinds[k].bytes - 1);

		CHECK(raster_is_usable(&r), "%s", kinds[k].name);
		CHECK_EQ(kinds[k].bytes,
			 raster_bytes(kinds[k].red, kinds[k].green, kinds[k].blue, reserved),
			 "%s",
			 kinds[k].name);
		CHECK_EQ(kinds[k].white, raster_pixel(&r, 0xffffff), "%s", kinds[k].name);
		CHECK_EQ(kinds[k].orange, raster_pixel(&r, 0xff8000), "%s", kinds[k].name);
		CHECK_EQ(0, raster_pixel(&r, 0), "%s", kinds[k].name);
	}
}

static void a_glyph_is_its_rows(void)
{
	u8 rows[FONT_HEIGHT];

	for (u32 i = 0; i < FONT_HEIGHT; i++)
		rows[i] = (u8)(0x81 ^ (i * 37));
	for (size_t k = 0; k < KINDS; k++)
		for (u32 scale = 1; scale <= 2; scale++) {
			struct raster r = raster_of(&kinds[k]);
			u32 wrong = 0;

			raster_glyph(&r, 3, 2, scale, rows, kinds[k].white, 0);
			for (u32 y = 0; y < FONT_HEIGHT * scale; y++)
				for (u32 x = 0; x < FONT_WIDTH * scale; x++) {
					bool on = rows[y / scale] & 0x80 >> x / scale;

					wrong += pixel_at(&r, 3 + x, 2 + y) !=
						 (on ? kinds[k].white : 0);
				}
			CHECK_EQ(0, wrong, "%s, scale %u", kinds[k].name, scale);
			CHECK(guards_hold(&r), "%s, scale %u", kinds[k].name, scale);
			CHECK_EQ(UNTOUCHED, r.base[2 * r.pitch + 3 * r.bytes - 1]);
		}
}

static void nothing_is_drawn_outside(void)
{
	static const u32 places[] = { 0, WIDTH - 9, WIDTH - 1, WIDTH, 1000, 0xfffffff0 };
	u8 rows[FONT_HEIGHT];

	memset(rows, 0xff, sizeof(rows));
	for (size_t k = 0; k < KINDS; k++)
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
			for (size_t j = 0; j < sizeof(places) / sizeof(places[0]); j++) {
				struct raster r = raster_of(&kinds[k]);

				raster_glyph(&r, places[i], places[j], 3, rows, 0x12345678, 0);
				raster_fill(&r, places[i], places[j], 30, 30, 0x87654321);
				CHECK(guards_hold(&r), "%s at %u, %u", kinds[k].name, places[i],
				      places[j]);
			}
}

static void a_framebuffer_that_makes_no_sense_is_not_used(void)
{
	struct raster good = raster_of(&kinds[0]), bad;

	CHECK(raster_is_usable(&good));
	bad = good, bad.base = NULL;
	CHECK(!raster_is_usable(&bad));
	bad = good, bad.width = 0;
	CHECK(!raster_is_usable(&bad));
	bad = good, bad.height = 0;
	CHECK(!raster_is_usable(&bad));
	bad = good, bad.pitch = WIDTH * 4 - 1;
	CHECK(!raster_is_usable(&bad), "lines that overlap");
	bad = good, bad.bytes = 1;
	CHECK(!raster_is_usable(&bad));
	bad = good, bad.bytes = 8;
	CHECK(!raster_is_usable(&bad));
	bad = good, bad.red = bad.green = bad.blue = 0;
	CHECK(!raster_is_usable(&bad), "no bit of any colour");
	bad = good, bad.width = RASTER_MAX_SIDE + 1, bad.pitch = 4 * bad.width;
	CHECK(!raster_is_usable(&bad));
}

/* Firmware may report an aperture that is too small for its mode. */
static void lines_beyond_the_aperture_are_left_out(void)
{
	struct raster good = raster_of(&kinds[0]), cut = good;

	raster_limit(&cut, 0);
	CHECK_EQ(good.height, cut.height);
	raster_limit(&cut, (u64)good.pitch * good.height);
	CHECK_EQ(good.height, cut.height);
	raster_limit(&cut, (u64)good.pitch * good.height - 1);
	CHECK_EQ(good.height - 1, cut.height);
	CHECK(raster_is_usable(&cut));
	raster_limit(&cut, good.pitch - 1);
	CHECK(!raster_is_usable(&cut));
	cut = (struct raster){ .pitch = 0x40000, .height = 0x10000 };
	raster_limit(&cut, BIT(33));
	CHECK_EQ(0x8000, cut.height, "more than 4 GiB");
	cut = (struct raster){ .height = 5 };
	raster_limit(&cut, 1);
	CHECK_EQ(5, cut.height, "no pitch");
}

int main(void)
{
	RUN(lines_beyond_the_aperture_are_left_out);
	RUN(colours_become_pixels);
	RUN(a_glyph_is_its_rows);
	RUN(nothing_is_drawn_outside);
	RUN(a_framebuffer_that_makes_no_sense_is_not_used);
	return check_end();
}
