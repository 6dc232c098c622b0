/* SPDX-License-Identifier: MIT */
/*
 * The local APIC. It is the machine's own: the guest reads it directly, and its stores are
 * carried out here only so that unmasking LVTPC can be seen. A PMI becomes a real interrupt to
 * itself (fixed or NMI), so that IRR, TPR, IF, ISR, EOI and NMI blocking are the machine's.
 * SDM volume 3, "Local Vector Table".
 *
 * A SIPI's vector is replaced (processors.c).
 *
 * Not handled: an APIC moved by IA32_APIC_BASE; x2APIC, which QEMU's TCG doesn't offer. After a
 * PMI, a call (siblings.h) or a SIPI the low half of the interrupt command register reads as ours.
 */
#include "refpmu/apic.h"
#include "refpmu/exits.h"
#include "refpmu/nested_paging.h"
#include "refpmu/processors.h"
#include "refpmu/retire.h"

#define NPF_WRITE	BIT(1)

static void carry_out(struct cpu *cpu, const struct pmi_delivery *delivery)
{
	cpu->pmi_raised = true;
	if (delivery->lvtpc != *apic_register(APIC_LVTPC))
		*apic_register(APIC_LVTPC) = delivery->lvtpc;
	if (delivery->kind == PMI_FIXED)
		*apic_register(APIC_ICR_LOW) = ICR_SELF | ICR_ASSERT | delivery->vector;
	else if (delivery->kind == PMI_NMI)
		*apic_register(APIC_ICR_LOW) = ICR_SELF | ICR_ASSERT | ICR_NMI;
}

void exit_apic_pmi(void *ctx)
{
	struct cpu *cpu = ctx;
	struct pmi_delivery delivery = model_lvt_deliver(&cpu->model, *apic_register(APIC_LVTPC));

	carry_out(cpu, &delivery);
}

static void write_register(struct cpu *cpu, u32 offset, u32 value)
{
	struct pmi_delivery delivery;

	if (offset == APIC_ICR_LOW)
		processors_send(cpu, value);
	else
		*apic_register(offset) = value;
	if (offset != APIC_LVTPC)
		return;
	/* As the APIC keeps it: reserved bits don't stay. */
	delivery = model_lvt_written(&cpu->model, *apic_register(APIC_LVTPC));
	carry_out(cpu, &delivery);
}

static u32 faulting_offset(struct cpu *cpu)
{
	const struct vmcb_control *control = &cpu->vmcb->control;

	if (control->exit_info_2 / PAGE_SIZE != APIC_BASE / PAGE_SIZE ||
	    !(control->exit_info_1 & NPF_WRITE))
		exits_unexpected(cpu, EXIT_NPF);
	return control->exit_info_2 % PAGE_SIZE & ~3u;
}

bool exit_apic(struct cpu *cpu)
{
	u32 offset = faulting_offset(cpu), value;
	const struct instruction *insn = decode_current(cpu);
	bool watching = model_watching(&cpu->model);
	struct model_retired retired;

	if (!insn || !insn->store32)
		return false;
	retire_begin(cpu, &retired);
	retire_accesses(cpu, &retired, insn, cpu->gpr);
	value = insn->store_register == REG_NONE ? insn->store_immediate :
		(u32)cpu->gpr[insn->store_register];
	write_register(cpu, offset, value);
	exits_complete(cpu, &retired, insn, watching, SHADOW_NONE);
	return true;
}

void exit_apic_replace(struct cpu *cpu)
{
	cpu->apic_offset = faulting_offset(cpu);
	cpu->apic_scratch[cpu->apic_offset / 4] = *apic_register(cpu->apic_offset);
	nested_paging_apic_scratch(cpu, true);
}

void exit_apic_restore(struct cpu *cpu, bool completed)
{
	nested_paging_apic_scratch(cpu, false);
	if (completed)
		write_register(cpu, cpu->apic_offset, cpu->apic_scratch[cpu->apic_offset / 4]);
}
