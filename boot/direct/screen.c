/* SPDX-License-Identifier: MIT */
/*
 * The screen that a loader has left as a linear framebuffer, and the keyboard of the 8042: IBM
 * PS/2 Technical Reference, "Keyboard and Auxiliary Device Controller". The controller translates
 * to scan codes of set 1, as a BIOS leaves it. A BIOS emulates it for a keyboard on USB, by system
 * management interrupts; so it is read only as seldom as any keyboard is.
 */
#include "boot/direct/direct.h"
#include "boot/firmware.h"
#include "boot/screen/keys.h"
#include "kernel/processor/cpu.h"
#include "kernel/processor/time.h"
#include "platform/pvh.h"

#define DATA		0x60
#define STATUS		0x64
#define STATUS_FULL	BIT(0)		/* a byte can be read */
#define STATUS_MOUSE	BIT(5)		/* and it is of the auxiliary device */
#define NO_DEVICE	0xff		/* an empty bus */

#define SCAN_EXTENDED	0xe0		/* comes before the codes of some keys */
#define SCAN_RELEASED	0x80
#define POLL_US		20000u
#define BYTES_MOST	64u		/* of the controller, read at once */

static bool has_screen;		/* direct_find_screen() has found one that can be used */

void direct_find_screen(struct raster *raster)
{
	const struct start_screen *screen = &direct.info.screen;
	const u64 bytes = (u64)screen->pitch * screen->height;

	has_screen = false;
	*raster = (struct raster){ .base = NULL };
	if (!screen->bytes || screen->address > PVH_MAPPED || bytes > PVH_MAPPED - screen->address)
		return;
	*raster = (struct raster){
		.base = (u8 *)(uintptr_t)screen->address,
		.width = screen->width, .height = screen->height,
		.pitch = screen->pitch, .bytes = screen->bytes,
		.red = screen->red, .green = screen->green, .blue = screen->blue,
	};
	has_screen = raster_is_usable(raster);
	if (!has_screen)
		raster->base = NULL;
}

/* Never true: without a linear framebuffer there is no screen, and nothing else draws. */
bool firmware_screen(u32 *width, u32 *height)
{
	(void)width;
	(void)height;
	return false;
}

void firmware_draw(const void *pixels, u32 pitch, u32 y, u32 width, u32 height)
{
	(void)pixels;
	(void)pitch;
	(void)y;
	(void)width;
	(void)height;
}

void firmware_clear_screen(void)
{
}

/* Scan codes of set 1. */
static unsigned key_of(u8 scan)
{
	static const u16 keys[] = {
		[0x01] = KEY_ESCAPE, [0x10] = 'q', 'w', 'e', 'r', 't', 'y', 'u', 'i', 'o', 'p',
		[0x1c] = KEY_ENTER, [0x1e] = 'a', 's', 'd', 'f', 'g', 'h', 'j', 'k', 'l',
		[0x2c] = 'z', 'x', 'c', 'v', 'b', 'n', 'm',
		[0x47] = KEY_HOME, KEY_UP, KEY_PAGE_UP, [0x4b] = KEY_LEFT, [0x4d] = KEY_RIGHT,
		[0x4f] = KEY_END, KEY_DOWN, KEY_PAGE_DOWN,
	};

	return scan < sizeof(keys) / sizeof(keys[0]) ? keys[scan] : KEY_NONE;
}

/* Without a screen no key has a meaning. */
bool firmware_has_keys(void)
{
	return has_screen && port_read8(STATUS) != NO_DEVICE;
}

bool firmware_read_key(unsigned *key)
{
	if (!firmware_has_keys())
		return false;
	for (unsigned n = 0; n < BYTES_MOST; n++) {
		const u8 status = port_read8(STATUS);
		u8 scan;

		if (!(status & STATUS_FULL))
			return false;
		scan = port_read8(DATA);
		if (status & STATUS_MOUSE || scan == SCAN_EXTENDED || scan & SCAN_RELEASED)
			continue;
		*key = key_of(scan);
		return true;
	}
	return false;
}

void firmware_wait_for_key(unsigned seconds)
{
	unsigned key;

	if (!firmware_has_keys())
		return;
	for (unsigned n = 0; n < BYTES_MOST && firmware_read_key(&key); n++) {
	}
	for (unsigned n = 0; n < seconds * (1000000 / POLL_US); n++) {
		if (firmware_read_key(&key))
			return;
		time_stall(POLL_US);
	}
}
