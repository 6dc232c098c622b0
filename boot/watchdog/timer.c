/* SPDX-License-Identifier: MIT */
/* See timer.h. "Intel I/O Controller Hub 9 Family Datasheet", "TCO Configuration", "General Control
 * and Status". */
#include "boot/watchdog/timer.h"

#define RCBA_GCS	0x3410		/* general control and status */
#define GCS_NO_REBOOT	5		/* the bit */

/* From PMBASE on. */
#define TCO_RLD		0x60
#define TCO1_STS	0x64
#define TCO2_STS	0x66
#define TCO1_CNT	0x68
#define TCO_TMR		0x72
#define TCO_TIMEOUT	3		/* bits of TCO1_STS, TCO2_STS, TCO1_CNT */
#define TCO_SECOND_TO	1
#define TCO_HALT	11
/* The reset comes after the timer has counted down twice, with 0.6 s for each count. */
#define TCO_PERIOD_MS	1200
#define TCO_MIN		4
#define TCO_MAX		0x3ff

void timer_of_ich9(struct wdat *wdat, u32 pmbase, u32 rcba)
{
	const struct wdat_register reload = { true, 2, 0, pmbase + TCO_RLD };
	const struct wdat_register timer = { true, 2, 0, pmbase + TCO_TMR };
	const struct wdat_register control = { true, 2, TCO_HALT, pmbase + TCO1_CNT };
	const struct wdat_register first = { true, 2, TCO_TIMEOUT, pmbase + TCO1_STS };
	const struct wdat_register second = { true, 2, TCO_SECOND_TO, pmbase + TCO2_STS };
	const struct wdat_register reboot = { false, 4, GCS_NO_REBOOT, (u64)rcba + RCBA_GCS };
	const struct wdat_entry entries[] = {
		{ WDAT_RESET, WDAT_WRITE_VALUE, false, reload, 1, TCO_MAX },
		{ WDAT_GET_COUNTDOWN, WDAT_READ_COUNTDOWN, false, timer, 0, TCO_MAX },
		{ WDAT_SET_COUNTDOWN, WDAT_WRITE_COUNTDOWN, true, timer, 0, TCO_MAX },
		{ WDAT_GET_RUNNING, WDAT_READ_VALUE, false, control, 0, 1 },
		{ WDAT_SET_RUNNING, WDAT_WRITE_VALUE, true, control, 0, 1 },
		{ WDAT_SET_STOPPED, WDAT_WRITE_VALUE, true, control, 1, 1 },
		{ WDAT_GET_REBOOT, WDAT_READ_VALUE, false, reboot, 0, 1 },
		{ WDAT_SET_REBOOT, WDAT_WRITE_VALUE, true, reboot, 0, 1 },
		{ WDAT_GET_STATUS, WDAT_READ_VALUE, false, second, 1, 1 },
		/* A write of 1 clears these bits. */
		{ WDAT_SET_STATUS, WDAT_WRITE_VALUE, false, first, 1, 1 },
		{ WDAT_SET_STATUS, WDAT_WRITE_VALUE, false, second, 1, 1 },
	};

	*wdat = (struct wdat){ .period_ms = TCO_PERIOD_MS, .min = TCO_MIN, .max = TCO_MAX };
	for (; wdat->count < sizeof(entries) / sizeof(entries[0]); wdat->count++)
		wdat->entry[wdat->count] = entries[wdat->count];
}

static bool is(const struct wdat *wdat, const struct wdat_io *io, enum wdat_action action)
{
	u32 value = 0;

	return wdat_do(wdat, io, action, 0, &value) && value;
}

bool timer_can_reset(const struct wdat *wdat, const struct wdat_io *io)
{
	u32 kept[WDAT_ENTRIES] = { 0 };
	bool can;

	wdat_keep(wdat, io, WDAT_SET_REBOOT, kept);
	wdat_do(wdat, io, WDAT_SET_REBOOT, 0, NULL);
	can = is(wdat, io, WDAT_GET_REBOOT);
	wdat_put_back(wdat, io, WDAT_SET_REBOOT, kept);
	return can;
}

bool timer_can_count(const struct wdat *wdat, u32 seconds)
{
	return (u64)wdat->max * wdat->period_ms >= (u64)seconds * 1000;
}

void timer_look(struct watchdog_timer *timer)
{
	const struct wdat *wdat = &timer->wdat;

	timer->counts = false;
	timer->guards = is(wdat, timer->io, WDAT_GET_RUNNING) &&
			is(wdat, timer->io, WDAT_GET_REBOOT) &&
			wdat_do(wdat, timer->io, WDAT_GET_COUNTDOWN, 0, &timer->found) &&
			timer->found >= wdat->min && timer->found <= wdat->max;
}

/* Resets are switched on after the count has restarted: the earlier count isn't ours, and may be
 * nearly over. */
void timer_start(struct watchdog_timer *timer, u32 seconds)
{
	const struct wdat *wdat = &timer->wdat;

	wdat_keep(wdat, timer->io, WDAT_SET_REBOOT, timer->reboot);
	wdat_do(wdat, timer->io, WDAT_SET_COUNTDOWN, wdat_counts(wdat, seconds * 1000), NULL);
	wdat_do(wdat, timer->io, WDAT_RESET, 0, NULL);
	wdat_do(wdat, timer->io, WDAT_SET_REBOOT, 0, NULL);
	wdat_do(wdat, timer->io, WDAT_SET_RUNNING, 0, NULL);
	timer->counts = true;
}

void timer_feed(const struct watchdog_timer *timer)
{
	if (timer->counts)
		wdat_do(&timer->wdat, timer->io, WDAT_RESET, 0, NULL);
}

void timer_stop(struct watchdog_timer *timer)
{
	const struct wdat *wdat = &timer->wdat;

	if (!timer->counts)
		return;
	timer->counts = false;
	if (timer->guards)
		wdat_do(wdat, timer->io, WDAT_SET_COUNTDOWN, timer->found, NULL);
	else
		wdat_do(wdat, timer->io, WDAT_SET_STOPPED, 0, NULL);
	wdat_put_back(wdat, timer->io, WDAT_SET_REBOOT, timer->reboot);
	wdat_do(wdat, timer->io, WDAT_RESET, 0, NULL);
}
