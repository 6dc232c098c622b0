/* SPDX-License-Identifier: MIT */
/*
 * See watchdog.h. The watchdog that ACPI describes, otherwise the TCO timer of an ICH9 ("Intel I/O
 * Controller Hub 9 Family Datasheet", "TCO Configuration"). Later chips have the same timer at
 * another place; their firmware describes it if software may use it.
 */
#include "boot/acpi.h"
#include "boot/firmware.h"
#include "boot/watchdog/timer.h"
#include "boot/watchdog/watchdog.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/cpu.h"

#define PCI_ADDRESS	0xcf8
#define PCI_DATA	0xcfc
#define PCI_LPC		(0x80000000u | 0x1fu << 11)	/* bus 0, device 31, function 0 */
#define LPC_ICH9	0x29188086u
#define LPC_PMBASE	0x40
#define LPC_RCBA	0xf0
#define PMBASE_MASK	0xff80u
#define RCBA_MASK	0xffffc000u

#define WHY_SIZE	80

static struct {
	bool is_there, has_reset;
	const char *name, *why;		/* why: the reason for not using it */
	struct watchdog_timer timer;
} watchdog = { .why = "none that ACPI describes, and no ICH9" };

static u32 read(const struct wdat_register *at)
{
	volatile void *memory = (volatile void *)(uintptr_t)at->address;
	u16 port = (u16)at->address;

	switch (at->bytes) {
	case 1:
		return at->is_port ? port_read8(port) : *(volatile u8 *)memory;
	case 2:
		return at->is_port ? port_read16(port) : *(volatile u16 *)memory;
	default:
		return at->is_port ? port_read32(port) : *(volatile u32 *)memory;
	}
}

static void write(const struct wdat_register *at, u32 value)
{
	volatile void *memory = (volatile void *)(uintptr_t)at->address;
	u16 port = (u16)at->address;

	switch (at->bytes) {
	case 1:
		at->is_port ? port_write8(port, (u8)value) :
			      (void)(*(volatile u8 *)memory = (u8)value);
		return;
	case 2:
		at->is_port ? port_write16(port, (u16)value) :
			      (void)(*(volatile u16 *)memory = (u16)value);
		return;
	default:
		at->is_port ? port_write32(port, value) : (void)(*(volatile u32 *)memory = value);
		return;
	}
}

static const struct wdat_io io = { read, write };

static u32 pci_read(u32 offset)
{
	port_write32(PCI_ADDRESS, PCI_LPC | offset);
	return port_read32(PCI_DATA);
}

/* Describe the timer of an ICH9 in the format of the ACPI table. wanted: its resets are switched on
 * for a moment, to see whether that works. */
static bool find_ich9(struct wdat *wdat, bool wanted)
{
	u32 base = pci_read(LPC_PMBASE) & PMBASE_MASK, rcba = pci_read(LPC_RCBA);

	if (pci_read(0) != LPC_ICH9 || !base || !(rcba & 1))
		return false;
	timer_of_ich9(wdat, base, rcba & RCBA_MASK);
	/* A strap of the board may fix this bit. */
	if (wanted && !timer_can_reset(wdat, &io)) {
		watchdog.why = "the board has its resets switched off (GCS.NR)";
		return false;
	}
	return true;
}

static bool can_count(const struct wdat *wdat, unsigned seconds)
{
	static char why[WHY_SIZE];

	if (timer_can_count(wdat, seconds))
		return true;
	fmt_print(why, sizeof(why), "it counts %llu ms at most, %u s are configured",
		  (unsigned long long)wdat->max * wdat->period_ms, seconds);
	watchdog.why = why;
	return false;
}

void watchdog_find(unsigned seconds)
{
	struct wdat *wdat = &watchdog.timer.wdat;
	size_t length;
	const u8 *table = acpi_watchdog(&length);
	u32 value = 0;

	watchdog.timer.io = &io;
	if (table) {
		watchdog.is_there = wdat_parse(wdat, table, length, &watchdog.why);
		watchdog.name = "described by ACPI";
	} else {
		watchdog.is_there = find_ich9(wdat, seconds);
		watchdog.name = "the TCO timer of an ICH9";
	}
	if (watchdog.is_there && !can_count(wdat, seconds))
		watchdog.is_there = false;
	if (!watchdog.is_there)
		return;
	timer_look(&watchdog.timer);
	if (wdat_do(wdat, &io, WDAT_GET_STATUS, 0, &value) && value) {
		watchdog.has_reset = true;
		wdat_do(wdat, &io, WDAT_SET_STATUS, 0, NULL);
	}
}

bool watchdog_has_reset(void)
{
	return watchdog.has_reset;
}

void watchdog_start(unsigned seconds)
{
	if (watchdog.is_there && seconds)
		timer_start(&watchdog.timer, seconds);
}

void watchdog_feed(void)
{
	timer_feed(&watchdog.timer);
}

void watchdog_stop(void)
{
	timer_stop(&watchdog.timer);
}

void watchdog_describe(struct tap *tap, unsigned seconds)
{
	if (!watchdog.is_there)
		tap_comment(tap, "watchdog: not used: %s", watchdog.why);
	else if (seconds)
		tap_comment(tap, "watchdog: %s, %u s after the last test began", watchdog.name,
			    seconds);
	else
		tap_comment(tap, "watchdog: not used: by the configuration");
}
