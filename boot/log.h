/* SPDX-License-Identifier: MIT */
/* Output of the run's lines: to the console at once, and into memory until they are saved. */
#ifndef BOOT_LOG_H
#define BOOT_LOG_H

#include "boot/summary.h"
#include "kernel/output/tap.h"
#include "spec/types.h"

#define LOG_SIZE (2u << 20)

/* Take LOG_SIZE bytes for the lines; after machine_init(). false: no memory. */
bool log_init(void);
/* A TAP writer whose lines come here. Only with the machine borrowed. */
void log_attach(struct tap *tap);
/* The same writer: its lines go nowhere, or come here. */
void log_mute(struct tap *tap, bool on);
/* A line that has been said before this boot. */
void log_say_again(const char *line);
/* The lines so far, each with its line feed. */
const char *log_text(size_t *length);
/* Did the first of them have to be dropped? */
bool log_is_whole(void);
/* Drop all lines; they are kept elsewhere. */
void log_clear(void);
/* Of all lines so far. */
const struct summary *log_summary(void);

#endif
