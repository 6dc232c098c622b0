/* SPDX-License-Identifier: MIT */
/*
 * A short result in a UEFI variable, for machines where no file can be written. A later run that
 * can write files copies it to its log and deletes it. Like firmware.h it has two implementations:
 * without UEFI there are no variables. While the firmware has the machine.
 */
#ifndef BOOT_RESULTS_VARIABLE_H
#define BOOT_RESULTS_VARIABLE_H

#include "boot/results/totals.h"

#define VARIABLE_SIZE	1024u

/* Make the text from a run's lines: the totals, and the names of points that aren't ok. Returns its
 * length. */
size_t variable_text(const struct totals *totals, const char *lines, size_t length,
		     const char *version, char *text, size_t size);
/* false: error says why it wasn't written. Nothing is written if the firmware has little room left
 * for variables. */
bool variable_save(const char *text, size_t length, char *error, size_t size);
/* The text that an earlier run has left, terminated; "": none. */
void variable_load(char *text, size_t size);
void variable_delete(void);

#endif
