/* SPDX-License-Identifier: MIT */
/*
 * See step.h: the trap flag, set only while the guest runs, and an intercepted
 * #DB after each instruction.
 *
 * With QEMU's TCG the trap flag doesn't always give one trap for each instruction. This file
 * handles these cases:
 *  - an instruction with a separate exit raises no trap: exits_instruction() reports it;
 *  - STI, MOV SS and POP SS swallow the trap; PAUSE, HLT and MWAIT leave none: carried out here;
 *  - a REP string traps after each iteration: reported once, when RIP has moved on;
 *  - SYSCALL and SYSRET look at the trap flag after they have loaded the flags: the mask and R11
 *    are changed for the moment;
 *  - events clear the trap flag: intercepted, and delivered in software (deliver.c);
 *  - PUSHF and SYSCALL store the flag: put right afterwards.
 * The guest's own trap flag works: it gets its #DB after each instruction.
 */
#include "refpmu/hv/deliver.h"
#include "refpmu/engine/emulate/engine_emulate.h"
#include "refpmu/engine/exits.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/processors.h"
#include "refpmu/engine/emulate/rep.h"
#include "refpmu/engine/retire.h"
#include "refpmu/engine/step.h"
#include "refpmu/hv/segment.h"
#include "refpmu/engine/transaction.h"
#include "refpmu/hv/vmrun.h"
#include "refpmu/engine/engine_cpu.h"
#include "spec/msr.h"

/* ---- instructions carried out here ---- */

static bool interrupts_open(const struct cpu *cpu)
{
	return (cpu->vmcb->save.rflags & RFLAGS_IF) && cpu->shadow == SHADOW_NONE;
}

static bool may_change_if(const struct cpu *cpu)
{
	u64 rflags = cpu->vmcb->save.rflags;

	return !(rflags & RFLAGS_VM) && cpu_cpl(cpu) <= (rflags & RFLAGS_IOPL) >> 12;
}

/* Load SS as MOV SS does without a fault. false: the processor must execute it, and raise the
 * fault. */
static bool load_ss(struct cpu *cpu, u16 selector)
{
	u8 cpl = cpu_cpl(cpu), access;
	struct vmcb_segment segment;
	u64 descriptor, linear;

	if ((selector & 3) != cpl)
		return false;
	if (!(selector & ~3u)) {
		if (!cpu_64bit_code(cpu) || cpl == 3)
			return false;
		cpu->vmcb->save.ss = (struct vmcb_segment){
			.selector = selector,
			.attributes = (u16)(cpl << SEG_DPL_SHIFT),
		};
		return true;
	}
	if (!segment_locate(cpu, selector, &linear) ||
	    !guest_read(cpu, linear, &descriptor, sizeof(descriptor), NULL))
		return false;
	segment_unpack(descriptor | (u64)SEG_ACCESSED << 40, selector, &segment);
	if (!(segment.attributes & SEG_S) || (segment.attributes & SEG_CODE) ||
	    !(segment.attributes & SEG_WRITABLE) || !(segment.attributes & SEG_P) ||
	    (segment.attributes >> SEG_DPL_SHIFT & 3) != cpl)
		return false;
	access = (u8)segment.attributes;
	if (!guest_write(cpu, linear + 5, &access, 1, NULL))
		return false;
	cpu->vmcb->save.ss = segment;
	return true;
}

static bool do_mov_ss(struct cpu *cpu, const struct instruction *insn)
{
	u16 selector;

	if (!cpu_long_mode(cpu))
		return false;
	if (insn->selector_register != REG_NONE)
		selector = (u16)cpu->gpr[insn->selector_register];
	else if (!guest_read(cpu, decode_linear(cpu, insn, &insn->access[0], cpu->gpr), &selector,
			     sizeof(selector), NULL))
		return false;
	if (!load_ss(cpu, selector))
		return false;
	if (insn->is_pop) {
		u64 rsp = cpu->gpr[REG_RSP], mask = insn->access[0].mask;

		cpu->gpr[REG_RSP] = (rsp & ~mask) | ((rsp + insn->operand_bytes) & mask);
		cpu->vmcb->save.rsp = cpu->gpr[REG_RSP];
	}
	return true;
}

/* INT n and INT3 have retired when they reach their handler. */
static bool do_int(struct cpu *cpu, const struct instruction *insn, struct model_retired *retired,
		   bool needs_retire)
{
	const struct guest_event event = {
		.vector = insn->vector, .type = EVENT_SOFTWARE, .length = insn->length,
	};

	if (!cpu_long_mode(cpu))
		return false;
	if (deliver(cpu, &event))
		retire_end(cpu, retired, insn, needs_retire);
	return true;
}

/* true: the instruction is complete, or an interrupt came before it. */
static bool emulate_insn(struct cpu *cpu, const struct instruction *insn)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	bool needs_retire = model_needs_retire(&cpu->model), trap = save->rflags & RFLAGS_TF;
	enum shadow shadow = SHADOW_NONE;
	struct model_retired retired;

	if (vmrun_take_interrupt(cpu, interrupts_open(cpu), false))
		return true;
	retire_begin(cpu, &retired);
	retire_accesses(cpu, &retired, insn, cpu->gpr);
	switch (insn->kind) {
	case INSN_STI:
		if (!may_change_if(cpu))
			return false;
		if (!(save->rflags & RFLAGS_IF))
			shadow = SHADOW_STI;
		save->rflags |= RFLAGS_IF;
		break;
	case INSN_MOV_SS:
		if (!do_mov_ss(cpu, insn))
			return false;
		shadow = SHADOW_MOV_SS;
		break;
	case INSN_INT:
		return do_int(cpu, insn, &retired, needs_retire);
	case INSN_PAUSE:
		cpu->engine->siblings.pausing = true;
		break;
	case INSN_MWAIT:
	case INSN_HLT:
		if (cpu_cpl(cpu))
			return false;
		break;
	default:
		return false;
	}
	exits_complete(cpu, &retired, insn, needs_retire, shadow);
	if (insn->kind != INSN_HLT || trap)
		return true;
	if (cpu->stepping || hypervisor.several) {
		exits_halt(cpu);
	} else {
		model_halt(&cpu->model);
		save->rip -= insn->length;	/* last tracked instruction: halt natively */
	}
	return true;
}

static bool is_emulated_here(const struct instruction *insn)
{
	switch (insn->kind) {
	case INSN_STI:
	case INSN_MOV_SS:
	case INSN_INT:
	case INSN_PAUSE:
	case INSN_MWAIT:
	case INSN_HLT:
		return true;
	default:
		return false;
	}
}

/* ---- one step by the trap flag ---- */

struct single_step {
	const struct instruction *insn;		/* NULL: unknown */
	struct model_retired *retired, local;
	u64 gpr[REG_COUNT];			/* registers before the step */
	bool needs_retire;			/* the model's value before the step */
	bool trap;				/* the guest's own trap flag before the step */
	u64 dr6;
	u64 sfmask, r11;			/* as the guest sees them */
};

static bool insn_is(const struct single_step *step, enum insn_kind kind)
{
	return step->insn && step->insn->kind == kind;
}

static void before_run(struct cpu *cpu, struct single_step *step)
{
	struct vmcb_save *save = &cpu->vmcb->save;

	step->trap = save->rflags & RFLAGS_TF;
	step->dr6 = save->dr6;
	save->dr6 &= ~DR6_BS;
	save->rflags |= RFLAGS_TF;
	if (insn_is(step, INSN_SYSCALL)) {
		step->sfmask = msr_read(MSR_IA32_FMASK);
		msr_write(MSR_IA32_FMASK, step->sfmask & ~RFLAGS_TF);
	} else if (insn_is(step, INSN_SYSRET)) {
		step->r11 = cpu->gpr[REG_R11];
		cpu->gpr[REG_R11] |= RFLAGS_TF;
	}
	if (cpu->shadow != SHADOW_NONE) {
		/* MOV to and from CR8 would use the virtual TPR. */
		if (insn_is(step, INSN_MOV_CR8))
			save->rflags &= ~RFLAGS_IF;
		else
			cpu->vmcb->control.int_ctl = V_INTR_MASKING;
	}
}

static void set_trap_flag(u64 *flags, bool set)
{
	*flags = set ? *flags | RFLAGS_TF : *flags & ~RFLAGS_TF;
}

/* Restore the guest's own state. Returns whether the guest's trap flag causes a #DB. */
static bool after_run(struct cpu *cpu, struct single_step *step, bool completed)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	bool due = step->trap;

	save->dr6 = (save->dr6 & ~DR6_BS) | (step->dr6 & DR6_BS);
	cpu->vmcb->control.int_ctl = 0;
	if (cpu->shadow != SHADOW_NONE && insn_is(step, INSN_MOV_CR8))
		save->rflags |= RFLAGS_IF;
	if (insn_is(step, INSN_SYSCALL)) {
		msr_write(MSR_IA32_FMASK, step->sfmask);
		if (completed) {
			set_trap_flag(&cpu->gpr[REG_R11], step->trap);
			due = step->trap && !(step->sfmask & RFLAGS_TF);
			set_trap_flag(&save->rflags, due);
			return due;
		}
	} else if (insn_is(step, INSN_SYSRET)) {
		cpu->gpr[REG_R11] = step->r11;
		if (completed) {
			due = step->r11 & RFLAGS_TF;
			set_trap_flag(&save->rflags, due);
			return due;
		}
	} else if (completed && (insn_is(step, INSN_POPF) || insn_is(step, INSN_IRET))) {
		return due;		/* the instruction has loaded the guest's value */
	}
	set_trap_flag(&save->rflags, step->trap);
	return due;
}

/* PUSHF has stored the hypervisor's trap flag. */
static void correct_pushed_flags(struct cpu *cpu, const struct single_step *step)
{
	u64 linear = decode_linear(cpu, step->insn, &step->insn->access[0], step->gpr);
	u16 image;

	if (step->trap || !guest_read(cpu, linear, &image, sizeof(image), NULL))
		return;
	image &= (u16)~RFLAGS_TF;
	guest_write(cpu, linear, &image, sizeof(image), NULL);
}

/* 0F 23 /6, or /4, which is the same register. */
static bool loads_dr6(const struct instruction *insn)
{
	const u8 *end = insn->bytes + insn->length;

	return insn->length >= 3 && end[-3] == 0x0f && end[-2] == 0x23 && (end[-1] >> 3 & 5) == 4;
}

/*
 * The guest's data breakpoints that the instruction has hit. DR7's enable bits are in pairs; type 0
 * is an instruction breakpoint. The processor reports those as faults; QEMU records at each single
 * step which one is at the next instruction, and drops the others.
 */
static bool breakpoint_met(struct cpu *cpu, const struct single_step *step)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	u64 met = save->dr6 & ~step->dr6 & DR6_B, data = 0;

	for (unsigned i = 0; i < 4; i++)
		if ((met & BIT(i)) && (save->dr7 >> 2 * i & 3) && (save->dr7 >> (16 + 4 * i) & 3))
			data |= BIT(i);
	if (!step->insn || !loads_dr6(step->insn))
		save->dr6 = (save->dr6 & ~DR6_B) | (step->dr6 & DR6_B) | data;
	return data;
}

static void completed(struct cpu *cpu, struct single_step *step, bool trap_due)
{
	const struct instruction *insn = step->insn;
	bool met;

	cpu->statistics.exits[KIND_STEP]++;
	cpu->shadow = SHADOW_NONE;
	if (insn_is(step, INSN_IRET))
		cpu->nmis_may_be_blocked = false;
	if (insn_is(step, INSN_PUSHF))
		correct_pushed_flags(cpu, step);
	if (insn_is(step, INSN_LOAD_SS))
		cpu->statistics.inexact[INEXACT_TWO_STEPS]++;
	if (!insn)
		cpu->statistics.inexact[INEXACT_UNDECODED]++;

	if (insn_is(step, INSN_REP)) {
		if ((step->gpr[REG_RCX] ^ cpu->gpr[REG_RCX]) & insn->count_mask)
			retire_accesses(cpu, step->retired, insn, step->gpr);
		rep_end(cpu, insn, step->gpr[REG_RCX]);
		rep_note(cpu);
		cpu->engine->rep.active = cpu->engine->rep.rip == insn->rip;
	}
	if (!insn_is(step, INSN_REP) || !cpu->engine->rep.active)
		retire_end(cpu, step->retired, insn, step->needs_retire);

	met = breakpoint_met(cpu, step);
	if (trap_due)
		deliver_single_step(cpu);
	else if (met)
		deliver_exception(cpu, VECTOR_DB, 0);
}

/* INTO, or an INT n that wasn't recognised before. */
static void software_interrupt(struct cpu *cpu, const struct instruction *insn)
{
	const struct guest_event event = {
		.vector = insn && insn->kind == INSN_INT ? insn->vector : VECTOR_OF,
		.type = EVENT_SOFTWARE,
		.length = insn ? insn->length : 1,
	};

	deliver(cpu, &event);
}

/* Exits of a step other than its completion. */
static void interrupted(struct cpu *cpu, const struct single_step *step, u64 code)
{
	if (exits_instruction(cpu, code))
		return;
	if (code >= EXIT_EXCEPTION && code <= EXIT_EXCEPTION_LAST) {
		if (step->retired)
			model_cancel(&cpu->model, step->retired);
		if (step->retired && model_fault(&cpu->model, FAULT_FAULTS_RETIRE))
			retire_end(cpu, step->retired, step->insn, step->needs_retire);
		cpu->statistics.exits[KIND_EXCEPTION]++;
		exits_exception(cpu, code);
		return;
	}
	switch (code) {
	case EXIT_INTR:
		vmrun_take_interrupt(cpu, true, false);
		break;
	case EXIT_NMI:
		vmrun_take_interrupt(cpu, false, false);
		break;
	case EXIT_SWINT:
		software_interrupt(cpu, step->insn);
		break;
	case EXIT_SHUTDOWN:
		vmrun_shutdown(cpu);
	default:
		if (!exit_control(cpu, code))
			vmrun_unexpected(cpu, code);
	}
}

static u64 run_trapped(struct cpu *cpu, struct single_step *step, bool *done, bool *trap_due)
{
	u64 code;

	before_run(cpu, step);
	code = vmrun(cpu);
	*done = code == EXIT_DB && (cpu->vmcb->save.dr6 & DR6_BS);
	*trap_due = after_run(cpu, step, *done);
	return code;
}

static void trap_step(struct cpu *cpu, const struct instruction *insn)
{
	struct single_step step = {
		.insn = insn,
		.retired = &step.local,
		.needs_retire = model_needs_retire(&cpu->model),
	};
	bool done, trap_due;
	u64 code;

	if (insn_is(&step, INSN_REP)) {
		rep_begin(cpu);
		step.retired = &cpu->engine->rep.retired;
	} else {
		retire_begin(cpu, step.retired);
		if (insn)
			retire_accesses(cpu, step.retired, insn, cpu->gpr);
	}
	__builtin_memcpy(step.gpr, cpu->gpr, sizeof(step.gpr));

	code = run_trapped(cpu, &step, &done, &trap_due);
	if (code == EXIT_NPF && model_in_tx(&cpu->model)) {
		transaction_abort(cpu, TX_MEMORY_TYPE, 0);
		return;
	}
	if (code == EXIT_NPF) {
		cpu->statistics.exits[KIND_APIC]++;
		if (exit_store(cpu))
			return;
		exit_store_step_begin(cpu);
		code = run_trapped(cpu, &step, &done, &trap_due);
		exit_store_step_end(cpu, done);
	}
	if (done)
		completed(cpu, &step, trap_due);
	else
		interrupted(cpu, &step, code);
}

/* The processor itself delivers an event: nothing can be stepped in the meantime. */
static void untrapped(struct cpu *cpu)
{
	const struct single_step step = { .insn = NULL };
	u64 code = vmrun(cpu);

	/* A store to the APIC is executed again, by a step. */
	if (code != EXIT_NPF)
		interrupted(cpu, &step, code);
}

/*
 * With several processors QEMU runs some locked accesses exclusively, and then loses the arithmetic
 * flags if a trap follows (docs/TRICKS.md): run those without a trap. An interrupt in its place is
 * harmless.
 */
static bool avoid_trap(struct cpu *cpu, const struct instruction *insn)
{
	bool delivered;

	return insn->locked && processors_get(1) && engine_emulate_fits(cpu) &&
	       engine_emulate(cpu, true, &delivered);
}

void step_instruction(struct cpu *cpu)
{
	const struct instruction *insn;

	if (cpu->vmcb->control.event_injection & EVENT_VALID) {
		untrapped(cpu);
		return;
	}
	insn = decode_current(cpu);
	if (model_has_tx(&cpu->model) && transaction_instruction(cpu, insn))
		return;
	if (insn && is_emulated_here(insn) && emulate_insn(cpu, insn))
		return;
	if (insn && exit_control_refuses(cpu, insn))
		return;
	if (insn && avoid_trap(cpu, insn))
		return;
	trap_step(cpu, insn);
}
