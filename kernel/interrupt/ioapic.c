/* SPDX-License-Identifier: MIT */
/* 82093AA I/O APIC data sheet, "Register Description". Registers are reached through an index and a
 * data window. Not handled: interrupt remapping, which gives entries another meaning. */
#include "kernel/interrupt/ioapic.h"

#define INDEX		0x00
#define WINDOW		0x10
#define REG_VERSION	0x01
#define REG_ENTRY	0x10		/* two registers for each input */

#define ENTRY_NMI	(4u << 8)	/* physical destination, edge, active high, not masked */
#define ENTRY_MASKED	(1u << 16)

static u64 io_base;
static struct {
	u32 low, high;
} saved;

static volatile u32 *reg(u64 offset)
{
	return (volatile u32 *)(uintptr_t)(io_base + offset);
}

static u32 ioapic_read_reg(unsigned index)
{
	*reg(INDEX) = index;
	return *reg(WINDOW);
}

static void ioapic_write_reg(unsigned index, u32 value)
{
	*reg(INDEX) = index;
	*reg(WINDOW) = value;
}

void ioapic_init(u64 base)
{
	io_base = base;
}

bool ioapic_is_free(unsigned input)
{
	unsigned last = (ioapic_read_reg(REG_VERSION) >> 16) & 0xff;

	return input <= last && (ioapic_read_reg(REG_ENTRY + 2 * input) & ENTRY_MASKED);
}

void ioapic_take_nmi(unsigned input, u32 apic_id)
{
	saved.low = ioapic_read_reg(REG_ENTRY + 2 * input);
	saved.high = ioapic_read_reg(REG_ENTRY + 2 * input + 1);
	ioapic_write_reg(REG_ENTRY + 2 * input + 1, apic_id << 24);
	ioapic_write_reg(REG_ENTRY + 2 * input, ENTRY_NMI);
}

void ioapic_give(unsigned input)
{
	ioapic_write_reg(REG_ENTRY + 2 * input, ENTRY_MASKED);
	ioapic_write_reg(REG_ENTRY + 2 * input + 1, saved.high);
	ioapic_write_reg(REG_ENTRY + 2 * input, saved.low);
}
