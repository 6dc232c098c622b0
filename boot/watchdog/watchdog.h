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

/* Look for a watchdog that can count that many seconds (0: none is wanted). The watchdog stays as
 * it is. Call while the firmware has the machine, before watchdog_describe(). */
void watchdog_find(unsigned seconds);
/* Did the watchdog reset the machine before this boot? */
bool watchdog_has_reset(void);
/* Start the watchdog: it resets the machine if watchdog_feed() isn't called for that many seconds,
 * or a little later. seconds 0: don't start it. */
void watchdog_start(unsigned seconds);
/* Restart the watchdog's count. Does nothing if the watchdog isn't started. */
void watchdog_feed(void);
/* End our use of the watchdog. If another program's watchdog was counting, it counts again with
 * its own time; otherwise the watchdog is stopped. Its resets are switched on or off as before. */
void watchdog_stop(void);
/* Print a comment: which watchdog the platform has, or why none is used. Call while the machine is
 * borrowed. */
void watchdog_describe(struct tap *tap, unsigned seconds);

#endif
