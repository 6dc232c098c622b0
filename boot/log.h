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
/* Let tap write its lines to this log. Only while the machine is borrowed. */
void log_attach(struct tap *tap);
/* Drop the lines of that TAP writer, or take them again. */
void log_mute(struct tap *tap, bool on);
/* Print a line again that was printed in an earlier boot. */
void log_say_again(const char *line);
/* The lines so far, each with its line feed. */
const char *log_text(size_t *length);
/* Did the first of them have to be dropped? */
bool log_is_whole(void);
/* Drop all lines; the caller has saved them. */
void log_clear(void);
/* The summary of all lines so far. */
const struct summary *log_summary(void);

#endif
