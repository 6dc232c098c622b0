/* SPDX-License-Identifier: MIT */
/*
 * The local APIC is the machine's own. The guest reads it directly. Its stores are executed here
 * only so that the hypervisor notices when LVTPC is unmasked. A PMI is delivered as a real
 * self-interrupt (fixed or NMI), so that IRR, TPR, IF, ISR, EOI and NMI blocking are handled by the
 * machine. SDM volume 3, "Local Vector Table".
 *
 * A SIPI's vector is replaced (processors.c).
 *
 * Not handled: an APIC moved by IA32_APIC_BASE; x2APIC mode, which QEMU's TCG has from version 9 on
 * (writes of its MSRs would have to be intercepted like the page's stores). After a PMI, a kick
 * (siblings.h) or a SIPI the low half of the interrupt command register reads as the hypervisor
 * wrote it.
 */
#include "refpmu/hv/apic.h"
#include "refpmu/engine/exits.h"
#include "refpmu/hv/processors.h"
#include "refpmu/engine/engine_cpu.h"

u32 exit_apic_lvtpc(void *ctx)
{
	(void)ctx;
	return *apic_register(APIC_LVTPC);
}

void exit_apic_deliver(void *ctx, const struct pmi_delivery *delivery)
{
	struct cpu *cpu = ctx;

	cpu->engine->pmi_raised = true;
	if (delivery->kind != PMI_DROPPED)
		cpu_trace(cpu, TRACE_PMI, (u64)delivery->kind, delivery->vector);
	if (delivery->lvtpc != *apic_register(APIC_LVTPC))
		*apic_register(APIC_LVTPC) = delivery->lvtpc;
	if (delivery->kind == PMI_FIXED)
		*apic_register(APIC_ICR_LOW) = ICR_SELF | ICR_ASSERT | delivery->vector;
	else if (delivery->kind == PMI_NMI)
		*apic_register(APIC_ICR_LOW) = ICR_SELF | ICR_ASSERT | ICR_NMI;
}

void exit_apic_write(struct cpu *cpu, u32 offset, u32 value)
{
	struct pmi_delivery delivery;

	if (offset == APIC_LVTPC)
		processors_come_late(cpu);
	if (offset == APIC_ICR_LOW)
		processors_send(cpu, value);
	else
		*apic_register(offset) = value;
	if (offset != APIC_LVTPC)
		return;
	/* Use the APIC's value: it clears reserved bits. */
	delivery = model_lvt_written(&cpu->model, *apic_register(APIC_LVTPC));
	exit_apic_deliver(cpu, &delivery);
}
