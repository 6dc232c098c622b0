/* SPDX-License-Identifier: MIT */
/*
 * The platform's watchdog: a hang of all processors becomes a reset, after which the next boot
 * names the test. The firmware's own (SetWatchdogTimer) is no help: its timer is ours while tests
 * run. Used only while a run has a journal; without one a reset would explain nothing. Called with
 * the machine given back: its registers may be in memory that isn't mapped while it is ours.
 */
#ifndef BOOT_WATCHDOG_H
#define BOOT_WATCHDOG_H

#include "kernel/output/tap.h"
#include "spec/types.h"

/* Look for one, with the machine given back; before watchdog_describe(). */
void watchdog_find(void);
/* Did it reset the machine before this boot? */
bool watchdog_has_reset(void);
/* Let it count: a reset when nothing feeds it for so many seconds, or a little later. 0: don't. */
void watchdog_start(unsigned seconds);
/* Begin to count anew. Nothing where it doesn't count. */
void watchdog_feed(void);
/* As it was found. */
void watchdog_stop(void);
/* A comment: which one there is, or why none is used. Borrowed. */
void watchdog_describe(struct tap *tap, unsigned seconds);

#endif
