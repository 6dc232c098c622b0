/* SPDX-License-Identifier: MIT */
/* The folder of a run's results on the volume that this program was loaded from. */
#ifndef BOOT_RESULTS_FOLDER_H
#define BOOT_RESULTS_FOLDER_H

#include "spec/types.h"

/* Make the folder \results\<YYYYMMDD-HHMMSS>-<cpu>, with a number appended if it exists already.
 * false: error says why not. Call while the firmware has the machine. */
bool results_open(const char *cpu, char *error, size_t size);
/* Continue with the folder of an earlier boot: results.tap is written again from its beginning. */
bool results_reopen(const char *folder, char *error, size_t size);
/* Append the log's new lines to results.tap; does nothing if there is no folder. While the firmware
 * has the machine. false: error says why not, only the first time. */
bool results_save(char *error, size_t size);
/* Write everything again, into a new folder if the old one doesn't exist: the stick may be another
 * one now. false: error says why not. */
bool results_save_again(const char *cpu, char *error, size_t size);
/* Append text to results.tap. false: error. */
bool results_add(const char *text, size_t length);
/* Write the files that are made from the run's lines: machine.json during the run, the others after
 * its last line. false: error says which file can't be written, or why there is none. */
bool results_write_machine(char *error, size_t size);
bool results_write_reports(char *error, size_t size);
/* The folder's path, and that of results.tap; "" if there is none. */
const char *results_folder(void);
const char *results_path(void);

#endif
