/* SPDX-License-Identifier: MIT */
/* See engine_emulate.h. */
#include "refpmu/engine/emulate/engine_emulate.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/engine/emulate/rep.h"
#include "refpmu/engine/retire.h"
#include "refpmu/engine/emulate/emulate.h"
#include "refpmu/hv/vmrun.h"
#include "refpmu/engine/engine_cpu.h"

#define MXCSR_MASKS	BITS(7, 12)

static u64 linear_of(void *ctx, const struct instruction *insn, const struct insn_access *access,
		     const u64 gpr[REG_COUNT])
{
	return decode_linear(ctx, insn, access, gpr);
}

static void *data_at(void *ctx, u64 linear, unsigned bytes, bool write)
{
	return guest_data_at(ctx, linear, bytes, write);
}

void engine_emulate_init(struct cpu *cpu)
{
	cpu->engine->emulate_code = hypervisor_pages(
		(unsigned)(sizeof(struct emulate_code) / PAGE_SIZE));
}

/* The instruction at RIP, if all its bytes may be executed. */
static const struct instruction *emulate_fetch(struct cpu *cpu)
{
	u64 linear = cpu->vmcb->save.rip, left = PAGE_SIZE - linear % PAGE_SIZE;
	const struct instruction *insn = decode_known(cpu);

	if (insn)
		return insn;
	if (!guest_text_at(cpu, linear))
		return NULL;
	insn = decode_current(cpu);
	if (insn && insn->length > left && !guest_text_at(cpu, linear + left))
		return NULL;
	return insn;
}

static bool emulate_and_report(struct cpu *cpu, const struct instruction *insn,
			       const struct emulate_op *op)
{
	const struct emulate_ops world = {
		.ctx = cpu, .code = cpu->engine->emulate_code, .linear = linear_of, .at = data_at,
	};
	struct vmcb_save *save = &cpu->vmcb->save;
	const struct emulate_state state = { cpu->gpr, &save->rip, &save->rflags };
	bool needs_retire = model_needs_retire(&cpu->model), done;
	struct model_retired retired;

	if (needs_retire) {
		retire_begin(cpu, &retired);
		retire_accesses(cpu, &retired, insn, cpu->gpr);
	}
	cpu->engine->siblings.steps++;
	done = emulate_run(op, insn, &state, &world);
	if (done) {
		save->rsp = cpu->gpr[REG_RSP];
		cpu->engine->statistics.emulated += needs_retire;
		if (needs_retire)
			retire_end(cpu, &retired, insn, true);
		else
			retire_uncounted(cpu, insn);
	}
	cpu->engine->siblings.steps++;
	return done;
}

bool engine_emulate_fits(const struct cpu *cpu)
{
	const struct vmcb_save *save = &cpu->vmcb->save;

	return cpu_64bit_code(cpu) && !(save->rflags & (RFLAGS_TF | RFLAGS_RF | RFLAGS_VM)) &&
	       !(save->dr7 & DR7_ENABLED) && cpu->shadow == SHADOW_NONE &&
	       !(cpu->vmcb->control.event_injection & EVENT_VALID);
}

/*
 * The vector registers always hold the guest's values. The control registers of both sides decide
 * whether the instructions may run without an exception.
 */
static bool vectors_run(const struct cpu *cpu)
{
	const struct vmcb_save *save = &cpu->vmcb->save;
	u32 mxcsr;

	if ((save->cr0 | cpu->host_cr0) & (CR0_EM | CR0_TS) ||
	    !(save->cr4 & cpu->host_cr4 & CR4_OSFXSR))
		return false;
	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	return (mxcsr & MXCSR_MASKS) == MXCSR_MASKS;
}

/* A step asks the model about these instructions. */
static bool begins_elision(const struct cpu *cpu, const struct instruction *insn)
{
	return insn->elision == ELISION_XACQUIRE && model_has_tx(&cpu->model) &&
	       !model_in_tx(&cpu->model);
}

bool engine_emulate(struct cpu *cpu, bool look, bool *delivered)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	const struct instruction *insn;
	const struct emulate_op *op;

	*delivered = false;
	if (save->rflags & RFLAGS_AC)
		return false;
	insn = emulate_fetch(cpu);
	if (!insn)
		return false;
	op = decode_emulate_op(cpu, insn);
	if ((op->kind == EMULATE_REFUSED && insn->kind != INSN_REP) ||
	    (op->vector && !vectors_run(cpu)) || begins_elision(cpu, insn))
		return false;
	if (look) {
		cpu->engine->pmi_raised = false;
		*delivered = vmrun_take_interrupt(cpu, save->rflags & RFLAGS_IF, false);
		if (*delivered)
			return true;
	}
	return insn->kind == INSN_REP ? rep_run(cpu, insn) : emulate_and_report(cpu, insn, op);
}

bool engine_emulate_run(struct cpu *cpu, bool (*goes_on)(const struct cpu *cpu))
{
	bool delivered = false;
	unsigned n = 0;

	/* External interrupts have no exact position; an interrupt of the PMU has. */
	while (n < EMULATE_IN_ONE_GO &&
	       engine_emulate(cpu, !n || cpu->engine->pmi_raised, &delivered)) {
		n++;
		if (delivered || !goes_on(cpu))
			break;
	}
	return n;
}
