/* SPDX-License-Identifier: MIT */
/* See vmrun.h. APM volume 2, "VMRUN Instruction", "#VMEXIT". */
#include "refpmu/hv/apic.h"
#include "refpmu/hv/code_page.h"
#include "refpmu/hv/deliver.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/guest_tsc.h"
#include "refpmu/hv/host.h"
#include "refpmu/hv/panic.h"
#include "refpmu/hv/vmrun.h"
#include "spec/msr.h"

#define STEP_MISC1	(INTERCEPT_INTR | INTERCEPT_NMI | INTERCEPT_SWINT)
#define VMRUN_BYTES	3

/* State on which a VMRUN depends, for the message when it fails. */
struct entered {
	u64 cr0, cr4, efer;
	u32 injected;
};

static void note_entered(const struct cpu *cpu, struct entered *entered)
{
	const struct vmcb_save *save = &cpu->vmcb->save;
	unsigned both = SEG_L | SEG_DB;

	*entered = (struct entered){
		.cr0 = save->cr0, .cr4 = save->cr4, .efer = save->efer,
		.injected = cpu->vmcb->control.event_injection,
	};
	if (cpu_long_mode(cpu) && (save->cs.attributes & both) == both)
		panic("the guest loaded a code segment with L and D, which a processor refuses "
		      "(CS, its attributes, RIP)",
		      3, save->cs.selector, save->cs.attributes, save->rip, 0);
}

static void report_refused(const struct cpu *cpu, const struct entered *entered)
{
	/* If VMRUN refuses a state, it reports that with the host's RIP. */
	if (cpu->vmcb->save.rip - (u64)svm_entry <= VMRUN_BYTES)
		panic("VMRUN refused the guest's state (CR0, CR4, EFER, event to inject)", 4,
		      entered->cr0, entered->cr4, entered->efer, entered->injected);
}

u64 vmrun_unless(struct cpu *cpu, const u32 *epoch)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	struct entered entered;
	u32 code;

	host_match_control_registers(cpu);
	save->rax = cpu->gpr[REG_RAX];
	save->rsp = cpu->gpr[REG_RSP];
	if (!code_page_enter(cpu, epoch))
		return EXIT_NOT_RUN;
	guest_tsc_intercept(cpu);
	note_entered(cpu, &entered);
	svm_run((u64)cpu->vmcb, cpu->gpr);
	code_page_leave(cpu);
	guest_memory_forget(cpu);
	code = (u32)cpu->vmcb->control.exit_code;	/* see EXIT_INVALID */
	if (code == EXIT_INVALID)
		report_refused(cpu, &entered);
	cpu->vmcb->control.tlb_control = 0;
	cpu->gpr[REG_RAX] = save->rax;
	cpu->gpr[REG_RSP] = save->rsp;
	return code;
}

/* A store to code runs again, unless it is in a shadow that only single steps keep. */
u64 vmrun(struct cpu *cpu)
{
	u64 code;

	do
		code = vmrun_unless(cpu, NULL);
	while (code == EXIT_NPF && code_page_fault(cpu) &&
	       (cpu->stepping || !(cpu->vmcb->control.int_state & INT_STATE_SHADOW)));
	return code;
}

static void intercept_steps(struct vmcb_control *control)
{
	control->intercept_exceptions = ~(u32)BIT(VECTOR_NMI);
	control->intercept_misc1 |= (u32)STEP_MISC1;
	control->intercept_cr_write = 0;
	control->intercept_dr_write = 0;
}

static void intercept_little(struct cpu *cpu)
{
	struct vmcb_control *control = &cpu->vmcb->control;
	bool breakpoints = cpu->vmcb->save.dr7 & DR7_ENABLED;

	/* See engine/exits.c: exit_of() and exits_exception(). A guest that steps itself
	 * has no breakpoints: its #DB need no exit. */
	control->intercept_exceptions = (u32)BIT(VECTOR_GP);
	if (breakpoints)
		control->intercept_exceptions |= (u32)BIT(VECTOR_DB);
	control->intercept_dr_write = breakpoints ? 0 : INTERCEPT_DR7;
	/* XEND and XTEST. */
	if (model_has_tx(&cpu->model))
		control->intercept_exceptions |= (u32)BIT(VECTOR_UD);
	control->intercept_misc1 &= ~(u32)STEP_MISC1;
	control->intercept_cr_write = (u16)(INTERCEPT_CR0 | INTERCEPT_CR4);
	/* It may be called, also out of a HLT. */
	if (hypervisor.several)
		control->intercept_misc1 |= (u32)(INTERCEPT_NMI | INTERCEPT_HLT);
}

void vmrun_set_intercepts(struct cpu *cpu, bool step)
{
	struct vmcb_control *control = &cpu->vmcb->control;

	cpu->stepping = step || cpu->untrusted || model_needs_retire(&cpu->model);
	control->intercept_cr_read = 0;
	control->intercept_misc1 &= ~(u32)INTERCEPT_INVLPG;
	if (cpu->stepping)
		intercept_steps(control);
	else
		intercept_little(cpu);
}

void vmrun_intercept_user_only(struct cpu *cpu)
{
	struct vmcb_control *control = &cpu->vmcb->control;

	cpu->stepping = false;
	intercept_little(cpu);
	control->intercept_exceptions |= (u32)BIT(VECTOR_PF);
	control->intercept_cr_read = INTERCEPT_CR3;
	control->intercept_cr_write |= (u16)INTERCEPT_CR3;
	control->intercept_misc1 |= (u32)INTERCEPT_INVLPG;
}

bool vmrun_acknowledge(struct cpu *cpu, struct pending_irq *pending, bool interrupts, bool wait)
{
	if (wait)
		svm_wait(pending, interrupts);
	else
		svm_poll_interrupts(pending, interrupts);
	if (!pending->nmi || !cpu->kicked)
		return false;
	cpu->kicked = false;
	pending->nmi = 0;
	svm_unblock_nmi();
	return true;
}

bool vmrun_take_interrupt(struct cpu *cpu, bool interrupts, bool wait)
{
	struct pending_irq pending = { .vector = PENDING_IRQ_NONE };
	struct guest_event event = { .type = EVENT_INTERRUPT };

	/* A processor that was called during HLT may be observed by now. */
	if (vmrun_acknowledge(cpu, &pending, interrupts, wait) && wait)
		vmrun_set_intercepts(cpu, false);
	if (pending.vector != PENDING_IRQ_NONE) {
		event.vector = (u8)pending.vector;
		/* A device's interrupt, unless the counters use the same vector. */
		if (event.vector != (u8)*apic_register(APIC_LVTPC))
			cpu->device_interrupts++;
		deliver(cpu, &event);
		cpu->statistics.exits[KIND_INTERRUPT]++;
	}
	/* Deliver the NMI after the interrupt, so that its handler runs first. */
	if (pending.nmi) {
		cpu->nmis_may_be_blocked = true;
		event = (struct guest_event){ .vector = VECTOR_NMI, .type = EVENT_NMI };
		deliver(cpu, &event);
		cpu->statistics.exits[KIND_NMI]++;
	}
	return pending.nmi || pending.vector != PENDING_IRQ_NONE;
}

/* A board resets itself when its first processor shuts down. Another processor stays in shutdown
 * until an INIT. */
void vmrun_shutdown(struct cpu *cpu)
{
	while (!(msr_read(MSR_IA32_APIC_BASE) & IA32_APIC_BASE_BSP))
		__asm__ volatile("cli; hlt");
	panic("the guest shut down (RIP, RSP, CR2, CR3)", 4, cpu->vmcb->save.rip,
	      cpu->vmcb->save.rsp, cpu->vmcb->save.cr2, cpu->vmcb->save.cr3);
}

void vmrun_unexpected(struct cpu *cpu, u64 code)
{
	const struct vmcb_control *control = &cpu->vmcb->control;

	panic("unexpected exit (code, information 1 and 2, RIP)", 4, code, control->exit_info_1,
	      control->exit_info_2, cpu->vmcb->save.rip);
}
