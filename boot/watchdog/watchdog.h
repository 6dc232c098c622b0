/* SPDX-License-Identifier: MIT */
/*
 * The platform's watchdog: a hang of all processors ends with a reset, and the next boot names the
 * test. The firmware's own watchdog (SetWatchdogTimer) can't be used, because its timer is ours
 * while tests run. The watchdog is used only while a run has a journal; without a journal the test
 * couldn't be named. Call these functions while the firmware has the machine, because the registers
 * may be in memory that isn't mapped while the machine is borrowed.
 */
#ifndef BOOT_WATCHDOG_H
#define BOOT_WATCHDOG_H

#include "kernel/output/tap.h"
#include "spec/types.h"

/* Look for one, with the machine given back; before watchdog_describe(). */
void watchdog_find(void);
/* Did it reset the machine before this boot? */
bool watchdog_has_reset(void);
/* Start it: it resets the machine if it isn't fed for that many seconds, or a little later. 0:
 * don't start it. */
void watchdog_start(unsigned seconds);
/* Restart its count. Does nothing if it isn't started. */
void watchdog_feed(void);
/* Restore the state in which it was found. */
void watchdog_stop(void);
/* A comment: which one there is, or why none is used. Borrowed. */
void watchdog_describe(struct tap *tap, unsigned seconds);

#endif
