/* SPDX-License-Identifier: MIT */
/* One input of an I/O APIC, borrowed to deliver NMIs to this processor. */
#ifndef KERNEL_IOAPIC_H
#define KERNEL_IOAPIC_H

#include "spec/types.h"

/* Choose the I/O APIC by its physical address. With its page mapped. */
void ioapic_init(u64 base);
/* Does the input exist, and is it masked, so that it is free? */
bool ioapic_is_free(unsigned input);
/* Remember the input's entry and make it an edge-triggered NMI to this APIC ID, 0 to 254. */
void ioapic_take_nmi(unsigned input, u32 apic_id);
/* Put the entry back that ioapic_take_nmi() found. */
void ioapic_give(unsigned input);

#endif
