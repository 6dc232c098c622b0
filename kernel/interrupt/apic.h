/* SPDX-License-Identifier: MIT */
/*
 * The local APIC of this processor: "Advanced Programmable Interrupt Controller". xAPIC through
 * its page, x2APIC through MSRs where the firmware left it active; the mode is never switched
 * and IA32_APIC_BASE is obeyed.
 */
#ifndef KERNEL_APIC_H
#define KERNEL_APIC_H

#include "spec/types.h"

/* LVT bits: "Local Vector Table". */
#define LVT_MASKED		BIT(16)
#define LVT_DELIVERY_FIXED	(0u << 8)
#define LVT_DELIVERY_NMI	(4u << 8)

/* Vectors of ours, all in the highest priority class, which stays open when TPR is 0xe0. */
#define VECTOR_PMI		0xf0
#define VECTOR_IPI		0xf1
#define VECTOR_TIMER		0xfd
#define VECTOR_SPURIOUS		0xff
#define APIC_FIRST_OWN_VECTOR	0xf0

/* Find its mode and address, as the owner has left them; before any other function here. page: the
 * page of an xAPIC's registers, 0 in x2APIC mode. false: the APIC is switched off. */
bool apic_find(u64 *page);
/* Called once per borrow, with the machine's mapping in place and interrupts off: remembers how
 * the owner has set up the APIC, masks its local sources and lets only our class through. */
void apic_init(void);
/* After an INIT of a borrowed processor: set the APIC up for us again; the owner's state is still
 * remembered. */
void apic_resume(void);
/* Give the APIC back as the owner had it. None of our vectors may be in IRR or ISR any more. */
void apic_release(void);
u32 apic_id(void);
/* Read any register, by its xAPIC offset ("Local APIC Register Address Map"), for reports. Works
 * also while the owner has the machine. */
u32 apic_read(u32 offset);
void apic_eoi(void);
/* LVT performance counter entry, raw. */
u32 apic_lvtpc_read(void);
void apic_lvtpc_write(u32 value);
/* Is this vector being served (ISR)? */
bool apic_isr(u8 vector);
void apic_self_ipi(u8 vector);
void apic_self_nmi(void);
/* Send a fixed interrupt to the processor with that local APIC id. */
void apic_ipi(u32 id, u8 vector);
void apic_nmi(u32 id);
/* Send an INIT: the processor stops and waits for a SIPI ("IA-32 Processor States Following
 * INIT"). */
void apic_init_ipi(u32 id);
/* Send a SIPI: the processor begins in real mode at vector * 4096. */
void apic_startup_ipi(u32 id, u8 vector);

/* Set TPR so that only vectors of our class arrive. */
void apic_open_own_class(void);
/* Set TPR so that every vector arrives. */
void apic_open_all_classes(void);
/* Which vectors below 32 are waiting: IRR[31:0]. */
u32 apic_low_irr(void);
/* The highest vector waiting or in service, 0 if there is none. */
u8 apic_highest_irr(void);
u8 apic_highest_isr(void);
/* Write EOI until only those vectors are in service that were already at the borrow. */
void apic_eoi_all(void);

/* One interrupt on VECTOR_TIMER at about that TSC value, or earlier if it is far away. */
void apic_timer_start(u64 deadline);
void apic_timer_stop(void);

#endif
