/* SPDX-License-Identifier: MIT */
/* Where text goes while the machine is borrowed: serial line and framebuffer. */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include "spec/types.h"

/* One line; CR LF is added. Serial writes are bounded: a line that doesn't drain is given up. */
void console_line(const char *text);

/* Leave the framebuffer alone: something else draws on it. But for what follows a "Bail out!". */
void console_leave_screen(bool taken);

/* A "Bail out!" is about to be said: whatever the tests find, the run is worth nothing. */
void console_bail_out(void);
bool console_has_bailed_out(void);

#endif
