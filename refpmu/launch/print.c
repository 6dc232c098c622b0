/* SPDX-License-Identifier: MIT */
/* See print.h. The firmware's console isn't used: it wraps lines and adds control
 * sequences. Waiting for the UART is bounded. */
#include <stdarg.h>

#include "refpmu/launch/print.h"

#define COM1		0x3f8
#define COM1_STATUS	(COM1 + 5)
#define STATUS_EMPTY	0x20

static u8 port_in(u16 port)
{
	u8 value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static void print_put(char c)
{
	for (unsigned i = 0; i < 100000 && !(port_in(COM1_STATUS) & STATUS_EMPTY); i++)
		;
	__asm__ volatile("outb %0, %1" ::"a"(c), "Nd"((u16)COM1));
}

static void put_text(const char *text)
{
	while (*text)
		print_put(*text++);
}

static void put_number(u64 value, unsigned base)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = 0;
	do
		*--p = "0123456789abcdef"[value % base];
	while (value /= base);
	put_text(p);
}

void print(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put_text("\r\n");
	for (; *format; format++) {
		if (*format != '%') {
			print_put(*format);
			continue;
		}
		switch (*++format) {
		case 's':
			put_text(va_arg(arguments, const char *));
			break;
		case 'u':
			put_number(va_arg(arguments, u64), 10);
			break;
		default:
			put_text("0x");
			put_number(va_arg(arguments, u64), 16);
			break;
		}
	}
	put_text("\r\n");
	va_end(arguments);
}
