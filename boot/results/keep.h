/* SPDX-License-Identifier: MIT */
/*
 * Keeps the results of a run: its folder and its journal, and a run that an earlier boot couldn't
 * finish. Call these functions while the firmware has the machine, unless said otherwise. If
 * results are off in the configuration, they do nothing.
 */
#ifndef BOOT_RESULTS_KEEP_H
#define BOOT_RESULTS_KEEP_H

#include "kernel/output/tap.h"
#include "tests/frame/suite.h"

/* Look for an unfinished run of this machine. true: it is a run of this program and configuration,
 * and is to be continued. Any other unfinished run is ended with the results that it has. */
bool keep_find(const struct suite_config *config, unsigned batch, int exit_status);
/* Call this first, to know which processors to take: the batch of such a run, and the exit status
 * of the batches before it. 0: there is no such run. */
unsigned keep_find_batch(const struct suite_config *config, int *exit_status);
/* While the machine is borrowed, after suite_begin(): print the run's earlier lines again, and
 * which test didn't end. false: no test is to be run any more, because several boots were in
 * vain. */
bool keep_replay(struct suite *suite, struct tap *tap);

/* Open the run's folder and journal: new ones, or those of the run to be continued. With a journal,
 * start the watchdog. */
void keep_open(struct suite *suite, const char *cpu, unsigned watchdog_seconds);
/* Before a test: writes the test's name to the journal. Does nothing without a journal. */
void keep_before_test(void);
bool keep_is_journaled(void);
/* Add the time that it took to give the machine back for this and to take it again, in ticks of the
 * TSC. */
void keep_count_visit(u64 ticks);
/* Between groups. */
void keep_save(void);
/* The log is complete: write all files. */
void keep_end(void);
/* Write all files again, because a key asks for it. text: where they are, or why they can't be
 * written. */
void keep_again(char *text, size_t size);
/* The result in a few lines, as in the UEFI variable. Returns its length, at most size
 * characters. */
size_t keep_short_result(char *text, size_t size);
/* While the machine is borrowed, at the end: print how long the journal's writes took. */
void keep_describe(struct tap *tap);
/* While the machine is borrowed: print messages about the results, if there are any. */
void keep_say(struct tap *tap);

#endif
