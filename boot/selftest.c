/* SPDX-License-Identifier: MIT */
/*
 * Borrows the machine and gives it back many times, with crashes of every kind. After each it
 * checks that the firmware still works: its timer ticks, a file is written and read back, and at
 * the end a key arrives.
 */
#include "boot/crash.h"
#include "boot/file.h"
#include "boot/firmware.h"
#include "boot/log.h"
#include "boot/saved_state.h"
#include "boot/selftest.h"
#include "kernel/output/console.h"
#include "kernel/output/fmt.h"
#include "kernel/interrupt/hpet.h"
#include "kernel/machine/machine.h"
#include "kernel/processor/percpu.h"
#include "kernel/memory/string.h"
#include "kernel/processor/time.h"

#define CHECK_PATH	"\\borrow.tmp"
#define TICKS_WANTED	2u
#define TICK_TIMEOUT_US	1000000u
#define POLL_US		1000u
#define KEY_TIMEOUT_US	10000000u
#define WHY_SIZE	128

enum claim { CRASHES, STATE, TICKS, FILES, KEY, CLAIMS };

static const char *const names[CLAIMS] = {
	[CRASHES] = "borrow.guard_ends_every_kind_of_crash",
	[STATE] = "borrow.owner_state_comes_back",
	[TICKS] = "borrow.firmware_ticks_after_each_cycle",
	[FILES] = "borrow.firmware_writes_files_after_each_cycle",
	[KEY] = "borrow.firmware_reads_a_key_at_the_end",
};

/* The first failure of each claim; "": none. */
static char why[CLAIMS][WHY_SIZE];

__attribute__((format(printf, 3, 4)))
static void fail(enum claim claim, unsigned cycle, const char *format, ...)
{
	char text[WHY_SIZE];
	va_list args;

	if (why[claim][0])
		return;
	va_start(args, format);
	fmt_vprint(text, sizeof text, format, args);
	va_end(args);
	fmt_print(why[claim], WHY_SIZE, "cycle %u: %s", cycle, text);
}

static void check_ticks(unsigned cycle)
{
	unsigned ticks = firmware_count_ticks(TICKS_WANTED, TICK_TIMEOUT_US);

	if (ticks < TICKS_WANTED)
		fail(TICKS, cycle, "%u ticks of %u within a second", ticks, TICKS_WANTED);
}

static void check_files(unsigned cycle)
{
	char wrote[32], got[sizeof wrote];
	size_t length = 0, want = (size_t)fmt_print(wrote, sizeof wrote, "cycle %u\n", cycle);
	firmware_status status = file_append(CHECK_PATH, wrote, want);

	if (!firmware_failed(status))
		status = file_read(CHECK_PATH, got, sizeof got, &length);
	if (!firmware_failed(status))
		status = file_delete(CHECK_PATH);
	if (firmware_failed(status))
		fail(FILES, cycle, "firmware status %#llx", (unsigned long long)status);
	else if (length != want || memcmp(wrote, got, want))
		fail(FILES, cycle, "%s reads back otherwise", CHECK_PATH);
}

/* Poll, with the TSC as timer: waiting for a key would need the firmware's timer, which may be
 * broken. */
static void check_key(unsigned cycle)
{
	u64 deadline = time_deadline(KEY_TIMEOUT_US);
	unsigned key;

	while (!firmware_read_key(&key)) {
		if (time_expired(deadline)) {
			fail(KEY, cycle, "no key within ten seconds");
			return;
		}
		time_stall(POLL_US);
	}
}

static void cycle_once(unsigned cycle, const struct saved_state *before)
{
	char text[WHY_SIZE];
	struct saved_state after;
	bool good;

	machine_borrow_cpu(CPU_BOOT);
	good = crash_all(text, sizeof text);
	machine_return_cpu();
	saved_state_read(&after);
	if (!good)
		fail(CRASHES, cycle, "%s", text);
	if (saved_state_compare(before, &after))
		fail(STATE, cycle, "%s differs", saved_state_compare(before, &after));
	check_ticks(cycle);
	check_files(cycle);
}

static int report(struct tap *tap, unsigned cycles)
{
	unsigned failed = 0;

	for (unsigned i = 0; i < CLAIMS; i++) {
		tap_point(tap, !why[i][0], names[i], NULL);
		if (!why[i][0])
			continue;
		failed++;
		tap_yaml_begin(tap);
		tap_yaml_entry(tap, "got", why[i]);
		tap_yaml_end(tap);
	}
	tap_point(tap, !failed, "borrow.n_cycles_leave_a_working_firmware", NULL);
	tap_comment(tap, "%u borrow cycles", cycles);
	tap_comment(tap, "end of PMUTest86: exit %u", failed ? 1u : 0u);
	return failed ? 1 : 0;
}

int selftest_run(unsigned cycles)
{
	struct saved_state before;
	struct tap tap;
	int status;

	saved_state_read(&before);
	memset(why, 0, sizeof why);
	log_attach(&tap);
	machine_borrow_cpu(CPU_BOOT);
	console_line("");
	tap_begin(&tap);
	tap_plan(&tap, CLAIMS + 1);
	tap_comment(&tap, "hangs with interrupts off are %s",
		    hpet_is_usable() ? "among the crashes" :
				       "left out: no HPET comparator is free");
	machine_return_cpu();
	for (unsigned i = 1; i <= cycles; i++)
		cycle_once(i, &before);
	machine_borrow_cpu(CPU_BOOT);
	tap_comment(&tap, "press a key");
	machine_return_cpu();
	check_key(cycles);
	machine_borrow_cpu(CPU_BOOT);
	status = report(&tap, cycles);
	machine_return_cpu();
	return status;
}
