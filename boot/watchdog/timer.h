/* SPDX-License-Identifier: MIT */
/*
 * Uses a watchdog that a table describes (wdat.h), and restores its earlier state at the end. Pure:
 * the caller accesses the registers.
 */
#ifndef BOOT_WATCHDOG_TIMER_H
#define BOOT_WATCHDOG_TIMER_H

#include "boot/watchdog/wdat.h"

struct watchdog_timer {
	struct wdat wdat;
	const struct wdat_io *io;
	bool counts;			/* for us */
	bool guards;			/* it counted for another program, and can do so again */
	u32 found;			/* counts that the other program had set */
	u32 reboot[WDAT_ENTRIES];	/* bits that switch its resets on or off, as found */
};

/* The registers of an ICH9's TCO timer, from PMBASE + 60H on and at RCBA + 3410H, as a table. */
void timer_of_ich9(struct wdat *wdat, u32 pmbase, u32 rcba);
/* Can its resets be switched on? Tries it, and restores the earlier setting. */
bool timer_can_reset(const struct wdat *wdat, const struct wdat_io *io);
/* Can it count that many seconds? */
bool timer_can_count(const struct wdat *wdat, u32 seconds);
/* Note its present state and change nothing; before timer_start(). */
void timer_look(struct watchdog_timer *timer);
/* Start it: it resets the machine if timer_feed() isn't called for that many seconds, or a little
 * later. */
void timer_start(struct watchdog_timer *timer, u32 seconds);
/* Restart its count. Does nothing if it isn't started. */
void timer_feed(const struct watchdog_timer *timer);
/* If it counted for another program, it continues with that program's time. Otherwise it is
 * stopped. A timer with its resets off may look as if it runs (QEMU's TCO1_CNT is 0 out of reset),
 * so its running alone isn't a reason to let it run. Its resets are switched on or off as found. */
void timer_stop(struct watchdog_timer *timer);

#endif
