/* SPDX-License-Identifier: MIT */
/*
 * A short result in a variable of the firmware's, where no file can be written; deleted when a
 * later run has said it in a file. As firmware.h, with two implementations: without UEFI there are
 * no variables. With the machine given back.
 */
#ifndef BOOT_RESULTS_VARIABLE_H
#define BOOT_RESULTS_VARIABLE_H

#include "boot/results/totals.h"

#define VARIABLE_SIZE	1024u

/* Make the text of a run's lines: what it came to, and the names of what isn't ok. Returns its
 * length. */
size_t variable_text(const struct totals *totals, const char *lines, size_t length,
		     const char *version, char *text, size_t size);
/* false: error says why it isn't there. Nothing is written where the firmware has little room left
 * for variables. */
bool variable_save(const char *text, size_t length, char *error, size_t size);
/* What an earlier run has left, terminated; "": nothing. */
void variable_load(char *text, size_t size);
void variable_delete(void);

#endif
