/* SPDX-License-Identifier: MIT */
/* The effect of a key: it changes the view, or requests an action. Pure. */
#ifndef BOOT_SCREEN_KEYS_H
#define BOOT_SCREEN_KEYS_H

#include "boot/screen/pages.h"

/* Beside printable ASCII. */
enum key {
	KEY_NONE, KEY_UP = 0x100, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_HOME, KEY_END, KEY_PAGE_UP,
	KEY_PAGE_DOWN, KEY_ENTER, KEY_ESCAPE
};

enum key_action {
	ACTION_NONE, ACTION_STOP, ACTION_AGAIN, ACTION_TESTS, ACTION_SAVE, ACTION_POWER_OFF,
	ACTION_RETURN
};

/* rows: number of rows of the screen. With ACTION_TESTS, tests is the pattern of the tests to
 * run. */
enum key_action keys_press(struct view *view, const struct progress *progress, unsigned key,
			   u32 rows, char *tests, size_t size);

#endif
