/* SPDX-License-Identifier: MIT */
/* The results file on the volume that this program was loaded from. */
#ifndef BOOT_RESULTS_FOLDER_H
#define BOOT_RESULTS_FOLDER_H

#include "spec/types.h"

/* Make \results\<YYYYMMDD-HHMMSS>-<cpu>; with a number appended if it exists already. false:
 * error says why not. With the machine given back. */
bool results_open(const char *cpu, char *error, size_t size);
/* Append what the log holds to results.tap there and clear the log; nothing if results_open()
 * wasn't called or failed. With the machine given back. false: error says why not, once. */
bool results_save(char *error, size_t size);
/* The file's path; "" if there is none. */
const char *results_path(void);

#endif
