/* SPDX-License-Identifier: MIT */
/* The folder of a run's results on the volume that this program was loaded from. */
#ifndef BOOT_RESULTS_FOLDER_H
#define BOOT_RESULTS_FOLDER_H

#include "spec/types.h"

/* Make \results\<YYYYMMDD-HHMMSS>-<cpu>; with a number appended if it exists already. false:
 * error says why not. With the machine given back. */
bool results_open(const char *cpu, char *error, size_t size);
/* Take up a folder of an earlier boot: results.tap is written anew. */
bool results_reopen(const char *folder, char *error, size_t size);
/* Append to results.tap there what the log holds since the last time; nothing if there is no
 * folder. With the machine given back. false: error says why not, once. */
bool results_save(char *error, size_t size);
/* Write everything once more, into a new folder where there is none: the stick may be another one
 * now. false: error says why not. */
bool results_save_again(const char *cpu, char *error, size_t size);
/* Append that to results.tap. false: it can't be done. */
bool results_add(const char *text, size_t length);
/* Write files that are made from the run's lines: machine.json while it runs, the others when its
 * lines are all there. false: error says which can't be written, or why there is none. */
bool results_write_machine(char *error, size_t size);
bool results_write_reports(char *error, size_t size);
/* The folder's path, and that of results.tap; "" if there is none. */
const char *results_folder(void);
const char *results_path(void);

#endif
