/* SPDX-License-Identifier: MIT */
/* Output of the run's lines: to the console at once, and into memory until they are saved. */
#ifndef BOOT_LOG_H
#define BOOT_LOG_H

#include "boot/results/totals.h"
#include "boot/summary.h"
#include "kernel/output/tap.h"
#include "spec/types.h"

#define LOG_SIZE	(2u << 20)
#define LOG_SIZE_EACH	(128u << 10)	/* in addition, for each further processor */

/* Take memory for the lines; after machine_init(). false: there is none. */
bool log_init(unsigned processors);
/* Let tap write its lines to this log. Only while the machine is borrowed. */
void log_attach(struct tap *tap);
/* Drop the lines of that TAP writer, or take them again. */
void log_mute(struct tap *tap, bool on);
/* Print a line again that was printed in an earlier boot. */
void log_say_again(const char *line);
/* The lines so far, each with its line feed. */
const char *log_text(size_t *length);
/* Does the log have all lines? false: the first lines were dropped, or the last ones found no
 * room. */
bool log_is_whole(void);
bool log_is_half_full(void);
/* Drop all lines; the caller has saved them. */
void log_clear(void);
/* Totals and summary of all lines so far, including lines that the log no longer has. */
const struct totals_counted *log_counted(void);
const struct summary *log_summary(void);

#endif
