/* SPDX-License-Identifier: MIT */
/*
 * See watchdog.h. The watchdog that ACPI describes, otherwise the TCO timer of an ICH9 ("Intel I/O
 * Controller Hub 9 Family Datasheet", "TCO Configuration", "General Control and Status"). Later
 * chips have the same timer at another place; their firmware describes it if software may use it.
 */
#include "boot/acpi.h"
#include "boot/firmware.h"
#include "boot/watchdog/watchdog.h"
#include "boot/watchdog/wdat.h"
#include "kernel/processor/cpu.h"

#define PCI_ADDRESS	0xcf8
#define PCI_DATA	0xcfc
#define PCI_LPC		(0x80000000u | 0x1fu << 11)	/* bus 0, device 31, function 0 */
#define LPC_ICH9	0x29188086u
#define LPC_PMBASE	0x40
#define LPC_RCBA	0xf0
#define PMBASE_MASK	0xff80u
#define RCBA_MASK	0xffffc000u
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
/* A reset comes when it has counted down twice, at 0.6 s each count. */
#define TCO_PERIOD_MS	1200
#define TCO_MIN		4
#define TCO_MAX		0x3ff

static struct {
	bool is_there, counts, was_running, has_reset;
	const char *name, *why;		/* why: it isn't used */
	struct wdat wdat;
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

/* The timer of an ICH9 in the words of the table. */
static bool find_ich9(struct wdat *wdat)
{
	u32 base = pci_read(LPC_PMBASE) & PMBASE_MASK, rcba = pci_read(LPC_RCBA);
	const struct wdat_register reload = { true, 2, 0, base + TCO_RLD };
	const struct wdat_register timer = { true, 2, 0, base + TCO_TMR };
	const struct wdat_register control = { true, 2, TCO_HALT, base + TCO1_CNT };
	const struct wdat_register first = { true, 2, TCO_TIMEOUT, base + TCO1_STS };
	const struct wdat_register second = { true, 2, TCO_SECOND_TO, base + TCO2_STS };
	const struct wdat_register reboot = { false, 4, GCS_NO_REBOOT,
					      (rcba & RCBA_MASK) + RCBA_GCS };

	if (pci_read(0) != LPC_ICH9 || !base || !(rcba & 1))
		return false;
	*wdat = (struct wdat){
		TCO_PERIOD_MS, TCO_MIN, TCO_MAX, 9,
			       { { WDAT_RESET, WDAT_WRITE_VALUE, false, reload, 1, TCO_MAX },
		  { WDAT_SET_COUNTDOWN, WDAT_WRITE_COUNTDOWN, true, timer, 0, TCO_MAX },
				 { WDAT_GET_RUNNING, WDAT_READ_VALUE, false, control, 0, 1 },
				 { WDAT_SET_RUNNING, WDAT_WRITE_VALUE, true, control, 0, 1 },
				 { WDAT_SET_STOPPED, WDAT_WRITE_VALUE, true, control, 1, 1 },
				 { WDAT_SET_REBOOT, WDAT_WRITE_VALUE, true, reboot, 0, 1 },
				 { WDAT_GET_STATUS, WDAT_READ_VALUE, false, second, 1, 1 },
			 /* Written as 1, these bits become 0. */
				 { WDAT_SET_STATUS, WDAT_WRITE_VALUE, false, first, 1, 1 },
		  { WDAT_SET_STATUS, WDAT_WRITE_VALUE, false, second, 1, 1 } }
	};
	/* A strap of the board may hold this bit. */
	wdat_do(wdat, &io, WDAT_SET_REBOOT, 0, NULL);
	if (read(&reboot) & BIT(GCS_NO_REBOOT)) {
		watchdog.why = "the board has its resets switched off (GCS.NR)";
		return false;
	}
	return true;
}

void watchdog_find(void)
{
	size_t length;
	const u8 *table = acpi_watchdog(&length);
	u32 value = 0;

	if (table) {
		watchdog.is_there = wdat_parse(&watchdog.wdat, table, length, &watchdog.why);
		watchdog.name = "described by ACPI";
	} else {
		watchdog.is_there = find_ich9(&watchdog.wdat);
		watchdog.name = "the TCO timer of an ICH9";
	}
	if (!watchdog.is_there)
		return;
	if (wdat_do(&watchdog.wdat, &io, WDAT_GET_RUNNING, 0, &value))
		watchdog.was_running = value;
	if (wdat_do(&watchdog.wdat, &io, WDAT_GET_STATUS, 0, &value) && value) {
		watchdog.has_reset = true;
		wdat_do(&watchdog.wdat, &io, WDAT_SET_STATUS, 0, NULL);
	}
}

bool watchdog_has_reset(void)
{
	return watchdog.has_reset;
}

void watchdog_start(unsigned seconds)
{
	if (!watchdog.is_there || !seconds)
		return;
	wdat_do(&watchdog.wdat, &io, WDAT_SET_COUNTDOWN,
		wdat_counts(&watchdog.wdat, seconds * 1000), NULL);
	wdat_do(&watchdog.wdat, &io, WDAT_SET_REBOOT, 0, NULL);
	wdat_do(&watchdog.wdat, &io, WDAT_RESET, 0, NULL);
	wdat_do(&watchdog.wdat, &io, WDAT_SET_RUNNING, 0, NULL);
	watchdog.counts = true;
}

void watchdog_feed(void)
{
	if (watchdog.counts)
		wdat_do(&watchdog.wdat, &io, WDAT_RESET, 0, NULL);
}

void watchdog_stop(void)
{
	if (!watchdog.counts)
		return;
	watchdog.counts = false;
	wdat_do(&watchdog.wdat, &io, WDAT_RESET, 0, NULL);
	if (!watchdog.was_running)
		wdat_do(&watchdog.wdat, &io, WDAT_SET_STOPPED, 0, NULL);
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
