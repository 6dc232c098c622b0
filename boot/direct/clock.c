/* SPDX-License-Identifier: MIT */
/*
 * The TSC measured without a firmware: against ACPI's power management timer ("Power Management
 * Timer"), the 8254's second channel (Intel 8254 data sheet, "Mode 0"; ISA port 61H), or CPUID
 * ("Time Stamp Counter and Nominal Core Crystal Clock Information Leaf"). A disturbance makes a
 * round longer, so the shortest round is the best.
 */
#include "boot/direct/direct.h"
#include "boot/firmware.h"
#include "kernel/processor/cpu.h"
#include "kernel/processor/cpuid.h"
#include "kernel/processor/time.h"

#define ROUNDS		3u
#define READS_MOST	1000000u	/* reads of a clock that may be stopped */

#define TIMER_MASK	0xffffffu
#define TIMER_HZ	3579545u
#define TIMER_TICKS	10739u		/* 3 ms */

#define PIT_TICKS	3579u		/* 3 ms of 1.193182 MHz */
#define PIT_HZ		1193182u
#define PIT_CHANNEL_2	0x42
#define PIT_COMMAND	0x43
#define PIT_MODE_0	0xb0		/* channel 2, low then high byte, mode 0 */
#define SYSTEM_PORT	0x61
#define GATE_2		BIT(0)
#define SPEAKER		BIT(1)
#define OUT_2		BIT(5)

#define LEAF_TSC	0x15u
#define LEAF_HYPERVISOR	0x40000000u
#define LEAF_FREQUENCY	0x40000010u	/* kHz, as several hypervisors have it */
/* Xen's leaves begin at LEAF_HYPERVISOR; or one step later, if Xen also shows another hypervisor's
 * leaves. In Xen's leaf of time ECX is the frequency of the guest's TSC in kHz (Xen,
 * public/arch-x86/cpuid.h, "Leaf 4", subleaf 0). */
#define LEAF_XEN_STEP	0x100u
#define LEAF_XEN_TIME	3u
#define XEN_EBX		0x566e6558u	/* "XenVMMXenVMM" */
#define XEN_ECX		0x65584d4du
#define XEN_EDX		0x4d4d566eu

/* If the rate is unknown, it is assumed to be higher than most: a wait that is too long only costs
 * time. */
#define ASSUMED_PER_US	4000u

/* One round: TSC ticks in a second; 0: the timer doesn't run. */
static u64 by_timer(void)
{
	const u16 port = direct.power.timer_port;
	u32 begin, passed = 0;
	u64 start;

	if (!port)
		return 0;
	begin = port_read32(port);
	start = tsc_read();
	for (unsigned i = 0; i < READS_MOST && passed < TIMER_TICKS; i++)
		passed = (port_read32(port) - begin) & TIMER_MASK;
	return passed < TIMER_TICKS ? 0 : (tsc_read() - start) * TIMER_HZ / passed;
}

static u64 by_pit(void)
{
	u8 was = port_read8(SYSTEM_PORT);
	unsigned reads = 0;
	u64 start, ticks;

	port_write8(SYSTEM_PORT, (u8)((was & ~SPEAKER) | GATE_2));
	port_write8(PIT_COMMAND, PIT_MODE_0);
	port_write8(PIT_CHANNEL_2, PIT_TICKS & 0xff);
	port_write8(PIT_CHANNEL_2, PIT_TICKS >> 8);
	start = tsc_read();
	/* If no device answers, the bus reads as ones. */
	if (port_read8(SYSTEM_PORT) & OUT_2)
		reads = READS_MOST;
	while (reads < READS_MOST && !(port_read8(SYSTEM_PORT) & OUT_2))
		reads++;
	ticks = tsc_read() - start;
	port_write8(SYSTEM_PORT, was);
	return reads < READS_MOST ? ticks * PIT_HZ / PIT_TICKS : 0;
}

static u64 shortest(u64 (*round)(void))
{
	u64 least = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		u64 hz = round();

		if (!hz)
			return 0;
		if (!least || hz < least)
			least = hz;
	}
	return least;
}

static u64 by_xen(void)
{
	for (u32 base = LEAF_HYPERVISOR; base <= LEAF_HYPERVISOR + LEAF_XEN_STEP;
	     base += LEAF_XEN_STEP) {
		struct cpuid leaf = cpuid_read(base, 0);

		if (leaf.ebx == XEN_EBX && leaf.ecx == XEN_ECX && leaf.edx == XEN_EDX &&
		    leaf.eax >= base + LEAF_XEN_TIME)
			return (u64)cpuid_read(base + LEAF_XEN_TIME, 0).ecx * 1000;
	}
	return 0;
}

static u64 by_cpuid(void)
{
	struct cpuid leaf = cpuid_read(0, 0);

	if (leaf.eax >= LEAF_TSC) {
		leaf = cpuid_read(LEAF_TSC, 0);
		if (leaf.eax && leaf.ebx && leaf.ecx)
			return (u64)leaf.ecx * leaf.ebx / leaf.eax;
	}
	leaf = cpuid_read(LEAF_HYPERVISOR, 0);
	if (leaf.eax < LEAF_FREQUENCY || leaf.eax >= LEAF_HYPERVISOR + LEAF_XEN_STEP)
		return by_xen();
	return (u64)cpuid_read(LEAF_FREQUENCY, 0).eax * 1000;
}

void firmware_measure_tsc(void)
{
	u64 hz = shortest(by_timer);

	if (!hz)
		hz = shortest(by_pit);
	if (!hz)
		hz = by_cpuid();
	direct.tsc_assumed = hz < 1000000;
	time_tsc_per_us = direct.tsc_assumed ? ASSUMED_PER_US : hz / 1000000;
}
