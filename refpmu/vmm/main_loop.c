/* SPDX-License-Identifier: MIT */
/* See main_loop.h. */
#include "refpmu/hv/code_page.h"
#include "refpmu/hv/deliver.h"
#include "refpmu/engine/configuration.h"
#include "refpmu/engine/engine.h"
#include "refpmu/engine/exits.h"
#include "refpmu/engine/native_pages.h"
#include "refpmu/engine/siblings.h"
#include "refpmu/engine/transaction.h"
#include "refpmu/hv/vmrun.h"
#include "refpmu/vmm/main_loop.h"

/* Something happened while it wasn't looking. */
static bool must_be_tracked(struct cpu *cpu)
{
	configuration_follow(cpu);
	return model_needs_retire(&cpu->model);
}

/* An NMI, for the guest or for us, which must not end the shadow after an STI. */
static void called_or_interrupted(struct cpu *cpu)
{
	if (!vmrun_take_interrupt(cpu, false, false) && cpu->shadow != SHADOW_NONE &&
	    !model_needs_retire(&cpu->model))
		engine_step(cpu);
}

/* To QEMU, which has no TSX, XEND and XTEST are invalid. */
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
			engine_run_untrusted(cpu);
		return;
	}
	cpu->statistics.exits[KIND_APIC]++;
	if (!exit_store(cpu))
		engine_step(cpu);
}

void main_loop(struct cpu *cpu)
{
	for (;;) {
		u64 code, rip;

		if (model_needs_retire(&cpu->model)) {
			engine_run(cpu);
			continue;
		}
		siblings_untracked(cpu);
		if (hypervisor.several && must_be_tracked(cpu)) {
			siblings_tracked(cpu);
			continue;
		}
		code = model_has_tx(&cpu->model) ? native_pages_vmrun(cpu) : vmrun(cpu);
		rip = cpu->vmcb->save.rip;
		/* A processor that waits for it may continue then. */
		model_resumed(&cpu->model, cpu_cpl(cpu));
		siblings_tracked(cpu);
		configuration_follow(cpu);
		/* QEMU reports a shadow at #VMEXIT and doesn't restore it at VMRUN. */
		cpu->shadow = cpu->vmcb->control.int_state & INT_STATE_SHADOW ? SHADOW_STI :
										SHADOW_NONE;
		if (exits_instruction(cpu, code)) {
			if (!model_needs_retire(&cpu->model))
				engine_exit_follow(cpu, rip);
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
			vmrun_shutdown(cpu);
		if (code != EXIT_NPF)
			vmrun_unexpected(cpu, code);
		nested_page_fault(cpu);
	}
}
