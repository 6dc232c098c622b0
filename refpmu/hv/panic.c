/* SPDX-License-Identifier: MIT */
/* See panic.h. COM1 is a 16550 at its usual port; the wait for it is bounded. */
#include "refpmu/hv/cpu.h"
#include "refpmu/hv/panic.h"

#define COM1		0x3f8
#define COM1_STATUS	(COM1 + 5)
#define STATUS_EMPTY	0x20
#define RESET_CONTROL	0xcf9		/* of the chip set: 6 is a hard reset */

static u8 port_in(u16 port)
{
	u8 value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static void port_out(u16 port, u8 value)
{
	__asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

static void panic_put(char c)
{
	for (unsigned i = 0; i < 100000 && !(port_in(COM1_STATUS) & STATUS_EMPTY); i++)
		;
	port_out(COM1, (u8)c);
}

static void put_text(const char *text)
{
	while (*text)
		panic_put(*text++);
}

static void put_hex(u64 value)
{
	for (unsigned shift = 64; shift; shift -= 4)
		panic_put("0123456789abcdef"[value >> (shift - 4) & 15]);
}

void panic(const char *what, unsigned values, u64 a, u64 b, u64 c, u64 d)
{
	const u64 value[4] = { a, b, c, d };

	put_text("\r\nrefpmu: ");
	put_text(what);
	for (unsigned i = 0; i < values; i++) {
		panic_put(' ');
		put_hex(value[i]);
	}
	put_text("\r\n");
	for (;;) {
		port_out(RESET_CONTROL, 6);
		__asm__ volatile("cli; hlt");
	}
}

void host_exception(u64 vector, u64 first, u64 second, u64 cr2)
{
	/* Addresses are relative to the image, so that they can be found in refpmu.so. */
	panic("exception in the hypervisor (vector, two words of its frame, CR2)", 4, vector,
	      first - hypervisor.base, second - hypervisor.base, cr2);
}
