/* SPDX-License-Identifier: MIT */
/* See exits.h. */
#include "refpmu/hv/apic.h"
#include "refpmu/hv/code_page.h"
#include "refpmu/hv/deliver.h"
#include "refpmu/engine/engine.h"
#include "refpmu/engine/dbt/engine_block.h"
#include "refpmu/vmm/exits.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/guest_tsc.h"
#include "refpmu/hv/host.h"
#include "refpmu/engine/native_pages.h"
#include "refpmu/hv/panic.h"
#include "refpmu/engine/retire.h"
#include "refpmu/engine/siblings.h"
#include "refpmu/hv/svm.h"
#include "refpmu/engine/transaction.h"
#include "spec/msr.h"

#define STEP_MISC1	(INTERCEPT_INTR | INTERCEPT_NMI | INTERCEPT_SWINT)

/* Length of an instruction with an exit of its own when it can't be read: without prefixes. */
#define USUAL_LENGTH	2
#define VMMCALL_LENGTH	3
#define HLT_LENGTH	1
#define OPCODE_STI	0xfb

u64 exits_vmrun_unless(struct cpu *cpu, const u32 *epoch)
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
	exit_control_note(cpu, &entered);
	svm_run((u64)cpu->vmcb, cpu->gpr);
	code_page_leave(cpu);
	code = (u32)cpu->vmcb->control.exit_code;	/* see EXIT_INVALID */
	if (code == EXIT_INVALID)
		exit_control_invalid(cpu, &entered);
	cpu->vmcb->control.tlb_control = 0;
	cpu->gpr[REG_RAX] = save->rax;
	cpu->gpr[REG_RSP] = save->rsp;
	return code;
}

/* A store to code is run again, unless it is in a shadow that only single steps keep. */
u64 exits_vmrun(struct cpu *cpu)
{
	u64 code;

	do
		code = exits_vmrun_unless(cpu, NULL);
	while (code == EXIT_NPF && code_page_fault(cpu) &&
	       (cpu->stepping || !(cpu->vmcb->control.int_state & INT_STATE_SHADOW)));
	return code;
}

void exits_set_intercepts(struct cpu *cpu, bool step)
{
	struct vmcb_control *control = &cpu->vmcb->control;

	cpu->stepping = step || cpu->looking || model_watching(&cpu->model);
	if (cpu->stepping) {
		control->intercept_exceptions = ~(u32)BIT(VECTOR_NMI);
		control->intercept_misc1 |= (u32)STEP_MISC1;
		control->intercept_cr_write = 0;
	} else {
		/* See exit_of() and exits_exception(). */
		control->intercept_exceptions = (u32)(BIT(VECTOR_GP) | BIT(VECTOR_DB));
		/* XEND and XTEST. */
		if (model_has_tx(&cpu->model))
			control->intercept_exceptions |= (u32)BIT(VECTOR_UD);
		control->intercept_misc1 &= ~(u32)STEP_MISC1;
		control->intercept_cr_write = (u16)(INTERCEPT_CR0 | INTERCEPT_CR4);
		/* It may be called, also out of a HLT. */
		if (hypervisor.several)
			control->intercept_misc1 |= (u32)(INTERCEPT_NMI | INTERCEPT_HLT);
	}
}

void exits_complete(struct cpu *cpu, struct model_retired *retired,
		    const struct instruction *insn, bool was_watching, enum shadow shadow)
{
	bool trap = cpu->vmcb->save.rflags & RFLAGS_TF;

	cpu_skip(cpu, insn->length);
	cpu->shadow = shadow;
	retire_end(cpu, retired, insn, was_watching);
	/* A WRMSR may have begun or ended the watching. */
	exits_set_intercepts(cpu, false);
	if (trap && shadow != SHADOW_MOV_SS)
		deliver_single_step(cpu);
}

bool exits_acknowledge(struct cpu *cpu, struct taken *taken, bool interrupts, bool wait)
{
	if (wait)
		svm_wait(taken, interrupts);
	else
		svm_window(taken, interrupts);
	if (!taken->nmi || !cpu->called)
		return false;
	cpu->called = false;
	taken->nmi = 0;
	svm_unblock_nmi();
	return true;
}

bool exits_take_interrupt(struct cpu *cpu, bool interrupts, bool wait)
{
	struct taken taken = { .vector = TAKEN_NONE };
	struct event event = { .type = EVENT_INTERRUPT };

	/* One that was called out of a HLT may be watched by now. */
	if (exits_acknowledge(cpu, &taken, interrupts, wait) && wait)
		exits_set_intercepts(cpu, false);
	if (taken.vector != TAKEN_NONE) {
		event.vector = (u8)taken.vector;
		/* A device's, unless it is the counters' own. */
		if (event.vector != (u8)*apic_register(APIC_LVTPC))
			engine_block_tables(cpu);
		deliver(cpu, &event);
		cpu->statistics.exits[KIND_INTERRUPT]++;
	}
	/* On top of the interrupt, so that its handler runs first. */
	if (taken.nmi) {
		cpu->nmis_may_be_blocked = true;
		event = (struct event){ .vector = VECTOR_NMI, .type = EVENT_NMI };
		deliver(cpu, &event);
		cpu->statistics.exits[KIND_NMI]++;
	}
	return taken.nmi || taken.vector != TAKEN_NONE;
}

void exits_halt(struct cpu *cpu)
{
	__atomic_store_n(&cpu->halted, true, __ATOMIC_SEQ_CST);
	guest_tsc_follow(cpu);
	do {
		exit_hypercall_follow(cpu);
		model_halt(&cpu->model);
		exits_set_intercepts(cpu, false);
	} while (!exits_take_interrupt(cpu, cpu->vmcb->save.rflags & RFLAGS_IF, true));
	model_seen(&cpu->model, cpu_cpl(cpu));
	cpu->halted = false;
	guest_tsc_follow(cpu);
}

static enum exit_kind kind_of(u64 code)
{
	switch (code) {
	case EXIT_CPUID:
		return KIND_CPUID;
	case EXIT_MSR:
		return KIND_MSR;
	case EXIT_RDPMC:
		return KIND_RDPMC;
	case EXIT_VMMCALL:
		return KIND_HYPERCALL;
	default:
		return KIND_OTHER;
	}
}

/*
 * QEMU raises the #GP of an RDPMC at CPL 3 before it looks at the intercept: whether there is one
 * is for exit_rdpmc() to say.
 */
static u64 exit_of(const struct instruction *insn, u64 code)
{
	return code == EXIT_GP && insn && insn->bytes[0] == 0x0f && insn->bytes[1] == 0x33 ?
		EXIT_RDPMC : code;
}

/* REX only in 64-bit code. */
static bool is_prefix(const struct cpu *cpu, u8 byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e:
	case 0x64: case 0x65: case 0x66: case 0x67:
	case 0xf0: case 0xf2: case 0xf3:
		return true;
	default:
		return cpu_64bit_code(cpu) && (byte & 0xf0) == 0x40;
	}
}

static u8 usual_length(u64 code)
{
	switch (code) {
	case EXIT_VMMCALL:
		return VMMCALL_LENGTH;
	case EXIT_HLT:
		return HLT_LENGTH;
	default:
		return USUAL_LENGTH;
	}
}

bool exits_instruction(struct cpu *cpu, u64 code)
{
	const struct instruction *insn = decode_current(cpu);
	struct instruction unread = { .length = usual_length(code) };
	bool was_watching = model_watching(&cpu->model), done;
	bool halts = code == EXIT_HLT && !(cpu->vmcb->save.rflags & RFLAGS_TF);
	struct model_retired retired;

	code = exit_of(insn, code);
	retire_begin(cpu, &retired);
	switch (code) {
	case EXIT_CPUID:
		done = exit_cpuid(cpu);
		break;
	case EXIT_MSR:
		done = exit_msr(cpu, cpu->vmcb->control.exit_info_1 & 1);
		break;
	case EXIT_RDPMC:
		done = exit_rdpmc(cpu);
		break;
	case EXIT_VMMCALL:
		done = exit_hypercall(cpu);
		break;
	case EXIT_RDTSC:
	case EXIT_RDTSCP:
		guest_tsc_read(cpu, insn);
		done = true;
		break;
	case EXIT_HLT:
		done = true;
		break;
	case EXIT_VMRUN:
	case EXIT_VMLOAD:
	case EXIT_VMSAVE:
	case EXIT_STGI:
	case EXIT_CLGI:
	case EXIT_SKINIT:
	case EXIT_INVLPGA:
		deliver_exception(cpu, VECTOR_UD, 0);
		done = false;
		break;
	default:
		return false;
	}
	cpu->statistics.exits[kind_of(code)]++;
	if (!insn) {
		cpu->statistics.inexact[INEXACT_LEGACY_MODE]++;
		insn = &unread;
	}
	if (done)
		exits_complete(cpu, &retired, insn, was_watching, SHADOW_NONE);
	if (halts)
		exits_halt(cpu);
	return true;
}

/* A board resets itself when its first processor shuts down. Another one stays so until an INIT. */
void exits_shutdown(struct cpu *cpu)
{
	while (!(msr_read(MSR_IA32_APIC_BASE) & IA32_APIC_BASE_BSP))
		__asm__ volatile("cli; hlt");
	panic("the guest shut down (RIP, RSP, CR2, CR3)", 4, cpu->vmcb->save.rip,
	      cpu->vmcb->save.rsp, cpu->vmcb->save.cr2, cpu->vmcb->save.cr3);
}

void exits_unexpected(struct cpu *cpu, u64 code)
{
	const struct vmcb_control *control = &cpu->vmcb->control;

	panic("unexpected exit (code, information 1 and 2, RIP)", 4, code, control->exit_info_1,
	      control->exit_info_2, cpu->vmcb->save.rip);
}

/*
 * 0F 01 D8 to DF are AMD-V's but for D9, VMMCALL, which exits at every privilege level. No
 * processor of Intel's has them, and the others' #GP for a bad address or CPL 3 comes before the
 * intercept.
 */
static bool is_of_amd_v(struct cpu *cpu)
{
	u8 bytes[INSN_MAX_BYTES];
	unsigned n = guest_read_some(cpu, cpu_code_address(cpu), bytes, sizeof(bytes)), at = 0;

	while (at < n && is_prefix(cpu, bytes[at]))
		at++;
	return at + 3 <= n && bytes[at] == 0x0f && bytes[at + 1] == 0x01 &&
	       (bytes[at + 2] & 0xf8) == 0xd8;
}

/* What begins the shadow that the instruction at RIP is in: natively QEMU doesn't say. */
static bool after_mov_ss(struct cpu *cpu)
{
	u8 before;

	if (cpu->shadow == SHADOW_NONE || cpu->stepping)
		return cpu->shadow == SHADOW_MOV_SS;
	return !(cpu->vmcb->save.rflags & RFLAGS_IF) ||
	       !guest_read(cpu, cpu_code_address(cpu) - 1, &before, 1, NULL) ||
	       before != OPCODE_STI;
}

/* Instruction breakpoints are inhibited there on the processors presented, and not on AMD's: SDM
 * volume 3, "Masking Exceptions and Interrupts When Switching Stacks". */
static bool is_inhibited_breakpoint(struct cpu *cpu)
{
	const struct vmcb_save *save = &cpu->vmcb->save;
	u64 address[4];

	if (!(save->dr7 & DR7_ENABLED) || !after_mov_ss(cpu))
		return false;
	address[0] = READ_REGISTER(dr0);
	address[1] = READ_REGISTER(dr1);
	address[2] = READ_REGISTER(dr2);
	address[3] = READ_REGISTER(dr3);
	for (unsigned i = 0; i < 4; i++)
		if ((save->dr7 >> 2 * i & 3) && !(save->dr7 >> (16 + 4 * i) & 3) &&
		    address[i] == cpu_code_address(cpu))
			return true;
	return false;
}

/* It doesn't break, and DR6 doesn't say that it did. */
static void pass_breakpoint(struct cpu *cpu)
{
	struct vmcb_save *save = &cpu->vmcb->save;

	save->dr6 &= ~DR6_B;
	save->rflags |= RFLAGS_RF;
	cpu->shadow = SHADOW_MOV_SS;
}

void exits_exception(struct cpu *cpu, u64 code)
{
	u8 vector = (u8)(code - EXIT_EXCEPTION);

	if (code == EXIT_DB && is_inhibited_breakpoint(cpu))
		pass_breakpoint(cpu);
	else if (code == EXIT_GP && !(cpu->vmcb->control.exit_int_info & EVENT_VALID) &&
	    is_of_amd_v(cpu))
		deliver_exception(cpu, VECTOR_UD, 0);
	else
		deliver_met(cpu, vector);
}

/* Something happened while it wasn't looking. */
static bool must_be_seen(struct cpu *cpu)
{
	exit_hypercall_follow(cpu);
	return model_watching(&cpu->model);
}

/* An NMI, for the guest or for us, which must not end the shadow behind an STI. */
static void called_or_interrupted(struct cpu *cpu)
{
	if (!exits_take_interrupt(cpu, false, false) && cpu->shadow != SHADOW_NONE &&
	    !model_watching(&cpu->model))
		engine_step(cpu);
}

/* XEND and XTEST are somebody else's to QEMU. */
static void undefined(struct cpu *cpu)
{
	if (!model_has_tx(&cpu->model) || !transaction_instruction(cpu, decode_current(cpu)))
		deliver_exception(cpu, VECTOR_UD, 0);
}

/* A store to code in a shadow, code that isn't for native running, or the local APIC. */
static void nested_page_fault(struct cpu *cpu)
{
	if (cpu->shadow != SHADOW_NONE && code_page_fault(cpu)) {
		engine_step(cpu);
		return;
	}
	if (model_has_tx(&cpu->model) && native_pages_fetch(cpu)) {
		if (!native_pages_allow(cpu))
			engine_look(cpu);
		return;
	}
	cpu->statistics.exits[KIND_APIC]++;
	if (!exit_store(cpu))
		engine_step(cpu);
}

void exits_run(struct cpu *cpu)
{
	for (;;) {
		u64 code, rip;

		if (model_watching(&cpu->model)) {
			engine_run(cpu);
			continue;
		}
		siblings_unseen(cpu);
		if (hypervisor.several && must_be_seen(cpu)) {
			siblings_seen(cpu);
			continue;
		}
		code = model_has_tx(&cpu->model) ? native_pages_vmrun(cpu) : exits_vmrun(cpu);
		rip = cpu->vmcb->save.rip;
		/* Whoever waits for it may go on then. */
		model_seen(&cpu->model, cpu_cpl(cpu));
		siblings_seen(cpu);
		exit_hypercall_follow(cpu);
		/* QEMU reports a shadow at #VMEXIT and doesn't restore it at VMRUN. */
		cpu->shadow = cpu->vmcb->control.int_state & INT_STATE_SHADOW ? SHADOW_STI :
			SHADOW_NONE;
		if (exits_instruction(cpu, code)) {
			if (!model_watching(&cpu->model))
				engine_again(cpu, rip);
			continue;
		}
		if (code == EXIT_NMI) {
			called_or_interrupted(cpu);
			continue;
		}
		if (code == EXIT_GP || code == EXIT_DB) {
			exits_exception(cpu, code);
			if (cpu->shadow != SHADOW_NONE)
				engine_step(cpu);
			continue;
		}
		if (exit_control(cpu, code))
			continue;
		if (code == EXIT_UD) {
			undefined(cpu);
			continue;
		}
		if (code == EXIT_SHUTDOWN)
			exits_shutdown(cpu);
		if (code != EXIT_NPF)
			exits_unexpected(cpu, code);
		nested_page_fault(cpu);
	}
}
