/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a run's results: its folder and its journal, and a run that an earlier boot
 * couldn't finish. Called with the machine given back unless said otherwise; without results in the
 * configuration each does nothing.
 */
#ifndef BOOT_RESULTS_KEEP_H
#define BOOT_RESULTS_KEEP_H

#include "kernel/output/tap.h"
#include "tests/frame/suite.h"

/* Look for an unfinished run of this machine. true: it is of this program and configuration, and is
 * to be continued. One that isn't is ended: its results are what it had said. */
bool keep_find(const struct suite_config *config, unsigned batch, int exit_status);
/* Before that, to know which processors to take: the batch of such a run, and what those before it
 * came to. 0: there is none. */
unsigned keep_find_batch(const struct suite_config *config, int *exit_status);
/* Borrowed, after suite_begin(): say again what the run had said, and which test didn't end.
 * false: nothing is to be run any more, because boots came in vain. */
bool keep_replay(struct suite *suite, struct tap *tap);

/* The run's folder and journal, new or that of the run to be continued; and with a journal, the
 * watchdog. */
void keep_open(struct suite *suite, const char *cpu, unsigned watchdog_seconds);
/* Before a test: its name is in the journal then. Nothing without one. */
void keep_before_test(void);
bool keep_is_journaled(void);
/* What it took to give the machine back for that and to take it again, in ticks of the TSC. */
void keep_count_visit(u64 ticks);
/* Between groups. */
void keep_save(void);
/* Everything has been said: write all files. */
void keep_end(void);
/* Once more, because a key asks for it. text: where they are, or why they aren't. */
void keep_again(char *text, size_t size);
/* The run in a few lines, as the UEFI variable has it; length characters, size at most. */
size_t keep_short_result(char *text, size_t size);
/* Borrowed, at the end: what the journal took. */
void keep_describe(struct tap *tap);
/* Borrowed: say what there is to say of the results, if anything. */
void keep_say(struct tap *tap);

#endif
