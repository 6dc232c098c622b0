/* SPDX-License-Identifier: MIT */
/* How a watchdog is found, used and restored, with a TCO timer of an ICH9 whose time passes. */
#include "boot/watchdog/timer.h"
#include "host/check.h"

#define PMBASE		0x600u
#define RCBA		0xfed1c000u
#define RLD		0x660u
#define STS1		0x664u
#define STS2		0x666u
#define CNT		0x668u
#define TMR		0x672u
#define GCS		(RCBA + 0x3410)
#define HALT		BIT(11)
#define NO_REBOOT	BIT(5)

#define SECONDS		120u
#define COUNTS		(SECONDS * 1000 / 1200)

/* "TCO Configuration": the timer counts down once each 0.6 s. At 0 there is a timeout; the second
 * timeout is a reset, unless GCS.NR is 1. */
static struct {
	u32 left, first, second, control, timer, general;
	bool strapped;		/* GCS.NR stays 1 */
	bool reset;
	unsigned writes;
} tco;

static u32 read_tco(const struct wdat_register *at)
{
	switch (at->address) {
	case STS1:
		return tco.first;
	case STS2:
		return tco.second;
	case CNT:
		return tco.control;
	case TMR:
		return tco.timer;
	case GCS:
		return tco.general;
	default:
		return 0;
	}
}

/* A count is 0.6 s. */
static void let_pass(unsigned counts)
{
	for (; counts && !(tco.control & HALT); counts--) {
		if (tco.left && --tco.left)
			continue;
		tco.left = tco.timer & 0x3ff;
		if (tco.first & BIT(3) && !(tco.general & NO_REBOOT)) {
			tco.second |= BIT(1);
			tco.reset = true;
		}
		tco.first |= BIT(3);
	}
}

static void write_tco(const struct wdat_register *at, u32 value)
{
	tco.writes++;
	switch (at->address) {
	case RLD:
		tco.left = tco.timer & 0x3ff;
		tco.first &= ~(u32)BIT(3);
		return;
	case STS1:
		tco.first &= ~value;
		return;
	case STS2:
		tco.second &= ~value;
		return;
	case CNT:
		tco.control = value;
		return;
	case TMR:
		tco.timer = value;
		return;
	case GCS:
		tco.general = tco.strapped ? value | NO_REBOOT : value;
		let_pass(1);	/* a count may end at any time */
		return;
	default:
		CHECK(false, "a write to %#llx", (unsigned long long)at->address);
	}
}

static const struct wdat_io io = { read_tco, write_tco };

static struct watchdog_timer timer;

/* The timer's state after a reset of the machine: these CNT and GCS, and 4 counts. */
static void find(u32 control, u32 general)
{
	tco.left = tco.timer = 4;
	tco.first = tco.second = 0;
	tco.control = control;
	tco.general = general;
	tco.strapped = tco.reset = false;
	tco.writes = 0;
	timer = (struct watchdog_timer){ .io = &io };
	timer_of_ich9(&timer.wdat, PMBASE, RCBA);
}

/* Is the machine alive after a day? */
static bool survives_the_day(void)
{
	let_pass(24 * 3600 * 10 / 6);
	return !tco.reset;
}

static void run_some_tests(void)
{
	timer_look(&timer);
	timer_start(&timer, SECONDS);
	for (unsigned test = 0; test < 50; test++) {
		timer_feed(&timer);
		let_pass(COUNTS);
	}
}

static void a_hang_is_a_reset(void)
{
	find(0, NO_REBOOT);
	run_some_tests();
	CHECK(!tco.reset, "it was fed");
	let_pass(2 * COUNTS);
	CHECK(tco.reset);
	CHECK_EQ(BIT(1), tco.second);
}

/* On QEMU's q35 TCO1_CNT is 0, and GCS.NR alone prevents a reset. On other boards the timer is
 * halted. */
static void after_the_run_nothing_resets_the_machine(void)
{
	static const u32 found[][2] = { { 0, NO_REBOOT }, { HALT, NO_REBOOT }, { HALT, 0 } };

	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
		find(found[i][0], found[i][1]);
		run_some_tests();
		timer_stop(&timer);
		CHECK(survives_the_day(), "%zu", i);
		CHECK_EQ(HALT, tco.control, "%zu", i);
		CHECK_EQ(found[i][1], tco.general, "%zu", i);
	}
}

/* A timer that another program has started continues, with that program's time. */
static void another_ones_watchdog_goes_on(void)
{
	find(0, 0);
	tco.left = tco.timer = 500;
	run_some_tests();
	CHECK_EQ(COUNTS, tco.timer);
	timer_stop(&timer);
	CHECK_EQ(500, tco.timer);
	CHECK_EQ(0, tco.control);
	CHECK_EQ(0, tco.general);
	let_pass(999);
	CHECK(!tco.reset);
	let_pass(1);
	CHECK(tco.reset);
}

/* If a table can't tell whether the timer ran, or with which time, the timer is stopped: no
 * watchdog is better than a wrong one. */
static void what_cannot_be_put_back_is_stopped(void)
{
	static const u8 missing[] = { WDAT_GET_RUNNING, WDAT_GET_REBOOT, WDAT_GET_COUNTDOWN };

	for (size_t i = 0; i < sizeof(missing); i++) {
		find(0, 0);
		for (unsigned n = 0; n < timer.wdat.count; n++)
			if (timer.wdat.entry[n].action == missing[i])
				timer.wdat.entry[n].action = 0xff;
		run_some_tests();
		timer_stop(&timer);
		CHECK(survives_the_day(), "without action %u", missing[i]);
	}
	find(0, 0);
	tco.timer = 0x3ff;
	timer.wdat.max = 0x3fe;
	run_some_tests();
	timer_stop(&timer);
	CHECK(survives_the_day(), "more than it can be set to");
}

/* A timer that ticks harmlessly still does after timer_look() and timer_can_reset(). */
static void a_look_leaves_it_as_it_is(void)
{
	find(0, NO_REBOOT);
	timer_look(&timer);
	CHECK_EQ(0, tco.writes);
	timer_feed(&timer);
	timer_stop(&timer);
	CHECK_EQ(0, tco.writes, "it wasn't started");
	CHECK(timer_can_reset(&timer.wdat, &io));
	CHECK_EQ(NO_REBOOT, tco.general);
	CHECK(survives_the_day());
	tco.strapped = true;
	CHECK(!timer_can_reset(&timer.wdat, &io));
	CHECK_EQ(NO_REBOOT, tco.general);
	find(HALT, 0x15);
	CHECK(timer_can_reset(&timer.wdat, &io));
	CHECK_EQ(0x15, tco.general);
}

/* A count that is nearly over isn't ours: resets are switched on after the count has restarted. */
static void a_late_count_is_no_reset(void)
{
	find(0, NO_REBOOT);
	let_pass(7);
	timer_look(&timer);
	timer_start(&timer, SECONDS);
	let_pass(COUNTS);
	CHECK(!tco.reset);
}

static void what_is_too_short_is_not_used(void)
{
	find(0, NO_REBOOT);
	CHECK(timer_can_count(&timer.wdat, 600));
	CHECK(timer_can_count(&timer.wdat, 1227));
	CHECK(!timer_can_count(&timer.wdat, 1228));
	timer.wdat.max = 50;
	CHECK(!timer_can_count(&timer.wdat, SECONDS));
	CHECK(timer_can_count(&timer.wdat, 60));
}

int main(void)
{
	RUN(a_hang_is_a_reset);
	RUN(after_the_run_nothing_resets_the_machine);
	RUN(another_ones_watchdog_goes_on);
	RUN(what_cannot_be_put_back_is_stopped);
	RUN(a_look_leaves_it_as_it_is);
	RUN(a_late_count_is_no_reset);
	RUN(what_is_too_short_is_not_used);
	return check_end();
}
