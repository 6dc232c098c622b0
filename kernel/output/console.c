/* SPDX-License-Identifier: MIT */
/* Lines go to the serial line and to the screen. If the serial line is stuck, the rest of the line
 * is dropped after a bounded time. */
#include "kernel/output/console.h"
#include "kernel/output/fbcon.h"
#include "kernel/output/serial.h"

static bool serial_text(const char *text)
{
	for (; *text; text++)
		if (!serial_put(*text))
			return false;
	return true;
}

static volatile bool bailed_out;

void console_bail_out(void)
{
	bailed_out = true;
}

bool console_has_bailed_out(void)
{
	return bailed_out;
}

static bool screen_is_taken;

void console_leave_screen(bool taken)
{
	screen_is_taken = taken;
}

void console_line(const char *text)
{
	if (serial_text(text))
		serial_text("\r\n");
	if (!screen_is_taken || bailed_out)
		fbcon_line(text);
}
