/* SPDX-License-Identifier: MIT */
/* Output of text while the machine is borrowed: serial line and framebuffer. */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include "spec/types.h"

/* Print one line; CR LF is added. Serial writes are bounded: if the UART doesn't take a character
 * in time, the rest of the line is dropped. */
void console_line(const char *text);

/* Don't draw on the framebuffer, because something else does; except lines after a "Bail out!". */
void console_leave_screen(bool taken);

/* A "Bail out!" line follows: the results of this run are invalid. */
void console_bail_out(void);
bool console_has_bailed_out(void);

#endif
