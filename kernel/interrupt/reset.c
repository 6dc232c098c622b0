/* SPDX-License-Identifier: MIT */
/* Reset without firmware: "Reset Control Register" of the platform controller hub at I/O port
 * CF9H, the 8042's pulse of its reset line, and an exception that can't be delivered. */
#include "kernel/processor/cpu.h"
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/reset.h"
#include "kernel/processor/time.h"

#define RESET_CONTROL		0xcf9
#define RESET_SYSTEM		0x02
#define RESET_CPU		0x04
#define KEYBOARD_COMMAND	0x64
#define KEYBOARD_PULSE_RESET	0xfe

#define SETTLE_US		50000

void machine_reset(void)
{
	const struct table_register none = { 0, 0 };

	port_write8(RESET_CONTROL, RESET_SYSTEM);
	port_write8(RESET_CONTROL, RESET_SYSTEM | RESET_CPU);
	time_stall(SETTLE_US);
	port_write8(KEYBOARD_COMMAND, KEYBOARD_PULSE_RESET);
	time_stall(SETTLE_US);
	__asm__ volatile("lidt %0" ::"m"(none));
	__builtin_trap();
}
