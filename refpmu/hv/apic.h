/* SPDX-License-Identifier: MIT */
/*
 * The registers of the local APIC that the hypervisor and its self test use; they are the
 * machine's own. SDM volume 3, "Local APIC", "Interrupt Command Register (ICR)".
 */
#ifndef REFPMU_HV_APIC_H
#define REFPMU_HV_APIC_H

#include "spec/types.h"

#define APIC_BASE	0xfee00000ULL

#define APIC_TPR	0x80
#define APIC_SVR	0xf0
#define APIC_ICR_LOW	0x300
#define APIC_ICR_HIGH	0x310
#define APIC_LVT_TIMER	0x320
#define APIC_LVTPC	0x340
#define APIC_LVT_LINT0	0x350
#define APIC_LVT_LINT1	0x360

#define ICR_VECTOR	0xffu
#define ICR_DELIVERY	(7u << 8)
#define ICR_NMI		(4u << 8)
#define ICR_INIT	(5u << 8)
#define ICR_STARTUP	(6u << 8)
#define ICR_LOGICAL	(1u << 11)
#define ICR_PENDING	(1u << 12)
#define ICR_ASSERT	(1u << 14)
#define ICR_LEVEL	(1u << 15)
#define ICR_SHORTHAND	(3u << 18)
#define ICR_SELF	(1u << 18)
#define ICR_DESTINATION_SHIFT 24
#define ICR_EVERYBODY	0xffu	/* as destination */

static inline volatile u32 *apic_register(u32 offset)
{
	return (volatile u32 *)(APIC_BASE + offset);
}

#endif
