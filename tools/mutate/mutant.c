/* SPDX-License-Identifier: MIT */
/* See mutant.h. COM1 is a 16550 at its usual port; waiting for it is bounded. */
#include "refpmu/model/mutant.h"

#define COM1		0x3f8
#define COM1_STATUS	(COM1 + 5)
#define STATUS_EMPTY	0x20

/*
 * A run of some tests has its places reached less often. One that is reached more often is in a
 * loop without an end, which ends when the mutant is gone.
 */
#define MOST_ACTS	20000000

u32 mutant_number;
u8 mutant_reached[MUTANT_PLACES];
static u32 acts;
static bool endless;

static void put(char c)
{
	u8 status = 0;

	for (unsigned i = 0; i < 100000 && !(status & STATUS_EMPTY); i++)
		__asm__ volatile("inb %1, %0" : "=a"(status) : "Nd"((u16)COM1_STATUS));
	__asm__ volatile("outb %0, %1" ::"a"(c), "Nd"((u16)COM1));
}

static void put_text(const char *text)
{
	while (*text)
		put(*text++);
}

/* Four places a digit. */
static void tell(void)
{
	put_text("\r\nmutation: reached ");
	for (u32 i = 0; i < MUTANT_PLACES; i += 4) {
		u32 digit = 0;

		for (u32 n = 0; n < 4 && i + n < MUTANT_PLACES; n++)
			digit |= (u32)mutant_reached[i + n] << n;
		put("0123456789abcdef"[digit]);
	}
	put_text(endless ? " endless\r\n" : "\r\n");
}

__attribute__((cold, noinline)) bool mutant_acts(void)
{
	if (++acts < MOST_ACTS)
		return true;
	endless = true;
	mutant_number = 0;
	return false;
}

void mutant_begin(u32 number, unsigned processor)
{
	if (processor)
		return;
	if (MUTANT_TELLS || endless)
		tell();
	for (u32 i = 0; i < MUTANT_PLACES; i++)
		mutant_reached[i] = 0;
	mutant_number = number;
	acts = 0;
	endless = false;
}
