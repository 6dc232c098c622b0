/* SPDX-License-Identifier: MIT */
/*
 * A comparator of the HPET that raises an NMI, by message or through the I/O APIC: a deadline that
 * also ends code which runs with interrupts off. Where there is no HPET, or no free comparator,
 * hpet_nmi_at() does nothing.
 */
#ifndef KERNEL_HPET_H
#define KERNEL_HPET_H

#include "spec/types.h"

/* Physical addresses, 0: there is none. Both pages are mapped when the machine is borrowed. */
void hpet_init(u64 hpet_base, u64 ioapic_base);
/* Take a free comparator; hpet_return() gives the HPET and the I/O APIC back as they were. */
void hpet_borrow(void);
void hpet_return(void);

/* Has the borrow found a comparator? */
bool hpet_is_usable(void);

/* Raise one NMI that many microseconds from now, or earlier if the comparator is too narrow. */
void hpet_nmi_at(u64 us);
void hpet_nmi_cancel(void);
/* Inside an NMI handler: has the time of hpet_nmi_at() passed? Returns true once. */
bool hpet_nmi_is_due(void);

/* Has the counter reached due? The time until due was less than half of the counter's range. A
 * counter of 32 bits wraps every five minutes at 14.318 MHz (IA-PC HPET Specification,
 * COUNT_SIZE_CAP). */
static inline bool hpet_is_past(u64 counter, u64 due, bool is_64_bit)
{
	u64 passed = counter - due;

	return is_64_bit ? (int64_t)passed >= 0 : (int32_t)(u32)passed >= 0;
}

#endif
