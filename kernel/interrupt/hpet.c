/* SPDX-License-Identifier: MIT */
/*
 * IA-PC HPET Specification, "Register Model". If the comparator can send messages, the NMI is a
 * message. Otherwise it goes through an input of the I/O APIC from 16 on: lower inputs belong to
 * ISA devices, and interrupts may arrive there even if the input is masked (QEMU's PIT on input 2).
 * Comparators 0 and 1 are left to the firmware: they replace PIT and RTC in legacy mode. Registers
 * are accessed with 32 bits, which every HPET supports. Not handled: periodic mode, interrupt
 * remapping.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/hpet.h"
#include "kernel/interrupt/ioapic.h"

#define REG_CAPABILITIES	0x000
#define REG_CONFIGURATION	0x010
#define REG_COUNTER		0x0f0
#define REG_TIMER		0x100	/* configuration; then comparator, then message */
#define TIMER_STRIDE		0x20

#define COUNTER_IS_64_BIT	BIT(13)	/* of the capabilities: COUNT_SIZE_CAP */
#define LAST_TIMER		BITS(8, 12)	/* NUM_TIM_CAP */
#define LAST_TIMER_SHIFT	8
#define CONFIGURATION_ENABLE	BIT(0)
#define TIMER_LEVEL		BIT(1)
#define TIMER_INTERRUPT		BIT(2)
#define TIMER_PERIODIC		BIT(3)
#define TIMER_IS_64_BIT		BIT(5)
#define TIMER_32_BIT_MODE	BIT(8)
#define TIMER_ROUTE		BITS(9, 13)
#define TIMER_ROUTE_SHIFT	9
#define TIMER_MESSAGE		BIT(14)
#define TIMER_CAN_MESSAGE	BIT(15)
#define TIMER_ROUTES_SHIFT	32	/* Tn_INT_ROUTE_CAP */

#define MESSAGE_ADDRESS		0xfee00000u	/* "Message Signalled Interrupts" of the SDM */
#define MESSAGE_APIC_ID_SHIFT	12
#define MESSAGE_NMI		(4u << 8)

#define FIRST_TIMER		2u
#define FIRST_INPUT		16u
#define LAST_INPUT		31u
#define MAX_APIC_ID		254u	/* largest id in a message and in an I/O APIC's entry */
#define FS_PER_US		1000000000ULL

static u64 base;
static bool has_ioapic;

static struct {
	bool taken, armed, message, wide;	/* wide: the counter has 64 bits */
	unsigned timer, input;
	u64 due;
	u64 configuration, timer_configuration, comparator, route, counter;
} hpet;

static u32 get32(u64 reg)
{
	return *(volatile u32 *)(uintptr_t)(base + reg);
}

static void set32(u64 reg, u32 value)
{
	*(volatile u32 *)(uintptr_t)(base + reg) = value;
}

static u64 hpet_read_reg(u64 reg)
{
	u32 before = get32(reg + 4), low = get32(reg), high = get32(reg + 4);

	if (high != before)	/* the low half of the counter has wrapped between the reads */
		low = get32(reg);
	return (u64)high << 32 | low;
}

static void hpet_write_reg(u64 reg, u64 value)
{
	set32(reg + 4, (u32)(value >> 32));
	set32(reg, (u32)value);
}

static u64 timer_reg(void)
{
	return REG_TIMER + TIMER_STRIDE * hpet.timer;
}

static u64 comparator_reg(void)
{
	return timer_reg() + 8;
}

static u64 message_reg(void)
{
	return timer_reg() + 16;
}

static bool find_input(u64 routes)
{
	for (hpet.input = LAST_INPUT; has_ioapic && hpet.input >= FIRST_INPUT; hpet.input--)
		if ((routes & BIT(hpet.input)) && ioapic_is_free(hpet.input))
			return true;
	return false;
}

/* Set hpet.timer, hpet.message and hpet.input. */
static bool find_timer(void)
{
	unsigned last = (hpet_read_reg(REG_CAPABILITIES) & LAST_TIMER) >> LAST_TIMER_SHIFT;

	for (hpet.timer = FIRST_TIMER; hpet.timer <= last; hpet.timer++) {
		u64 configuration = hpet_read_reg(timer_reg());

		if (configuration & TIMER_INTERRUPT)
			continue;
		hpet.message = configuration & TIMER_CAN_MESSAGE;
		if (hpet.message || find_input(configuration >> TIMER_ROUTES_SHIFT))
			return true;
	}
	return false;
}

void hpet_init(u64 hpet_base, u64 ioapic_base)
{
	hpet.taken = false;
	base = hpet_base;
	has_ioapic = ioapic_base;
	ioapic_init(ioapic_base);
}

static void save(void)
{
	hpet.configuration = hpet_read_reg(REG_CONFIGURATION);
	hpet.timer_configuration = hpet_read_reg(timer_reg());
	hpet.comparator = hpet_read_reg(comparator_reg());
	hpet.route = hpet_read_reg(message_reg());
	hpet.counter = hpet_read_reg(REG_COUNTER);
}

void hpet_borrow(void)
{
	u64 configuration;

	if (!base || apic_id() > MAX_APIC_ID || !find_timer())
		return;
	hpet.taken = true;
	hpet.armed = false;
	save();
	configuration = hpet.timer_configuration;
	configuration &= ~(TIMER_LEVEL | TIMER_PERIODIC | TIMER_32_BIT_MODE | TIMER_ROUTE |
			   TIMER_MESSAGE);
	if (hpet.message) {
		u32 address = MESSAGE_ADDRESS | apic_id() << MESSAGE_APIC_ID_SHIFT;

		hpet_write_reg(message_reg(), (u64)address << 32 | MESSAGE_NMI);
		configuration |= TIMER_MESSAGE;
	} else {
		configuration |= (u64)hpet.input << TIMER_ROUTE_SHIFT;
		ioapic_take_nmi(hpet.input, apic_id());
	}
	hpet_write_reg(timer_reg(), configuration);
	hpet_write_reg(REG_CONFIGURATION, hpet.configuration | CONFIGURATION_ENABLE);
}

void hpet_return(void)
{
	if (!hpet.taken)
		return;
	hpet_nmi_cancel();
	if (!hpet.message)
		ioapic_give(hpet.input);
	hpet_write_reg(timer_reg(), hpet.timer_configuration);
	hpet_write_reg(message_reg(), hpet.route);
	hpet_write_reg(comparator_reg(), hpet.comparator);
	hpet_write_reg(REG_CONFIGURATION, hpet.configuration);
	/* If the counter was stopped, restore this value; it can be written only while it is
	 * stopped. */
	if (!(hpet.configuration & CONFIGURATION_ENABLE))
		hpet_write_reg(REG_COUNTER, hpet.counter);
	hpet.taken = false;
}

bool hpet_is_usable(void)
{
	return hpet.taken;
}

void hpet_nmi_at(u64 us)
{
	u64 period_fs, ticks, most;

	if (!hpet.taken)
		return;
	period_fs = hpet_read_reg(REG_CAPABILITIES) >> 32;
	if (!period_fs)
		return;
	hpet.wide = hpet_read_reg(REG_CAPABILITIES) & COUNTER_IS_64_BIT;
	most = hpet.wide && (hpet.timer_configuration & TIMER_IS_64_BIT) ? BIT(62) : BIT(31) - 1;
	ticks = us * FS_PER_US / period_fs;
	hpet.due = hpet_read_reg(REG_COUNTER) + (ticks < most ? ticks : most);
	if (!hpet.wide)
		hpet.due = (u32)hpet.due;
	hpet.armed = true;
	hpet_write_reg(comparator_reg(), hpet.due);
	hpet_write_reg(timer_reg(), hpet_read_reg(timer_reg()) | TIMER_INTERRUPT);
}

void hpet_nmi_cancel(void)
{
	if (!hpet.taken)
		return;
	hpet.armed = false;
	hpet_write_reg(timer_reg(), hpet_read_reg(timer_reg()) & ~TIMER_INTERRUPT);
}

bool hpet_nmi_is_due(void)
{
	if (!hpet.armed || !hpet_is_past(hpet_read_reg(REG_COUNTER), hpet.due, hpet.wide))
		return false;
	hpet_nmi_cancel();
	return true;
}
