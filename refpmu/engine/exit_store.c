/* SPDX-License-Identifier: MIT */
/*
 * Stores to the pages whose stores exit: the local APIC's (exit_apic.c) and the exerciser's
 * (model/exerciser.c). A plain MOV of 32 bits is executed here. Any other instruction is stepped
 * with a scratch page in place of the trapped page; then the stored value is written to the
 * register.
 */
#include "refpmu/engine/exits.h"
#include "refpmu/model/exerciser.h"
#include "refpmu/hv/nested_paging.h"
#include "refpmu/engine/retire.h"
#include "refpmu/hv/vmrun.h"


static enum trapped_page faulting_page(struct cpu *cpu)
{
	const struct vmcb_control *control = &cpu->vmcb->control;
	u64 page = control->exit_info_2 & ~(PAGE_SIZE - 1);

	for (unsigned i = 0; i < TRAPPED_PAGES && control->exit_info_1 & PF_WRITE; i++)
		if (page == nested_paging_trapped(i))
			return i;
	vmrun_unexpected(cpu, EXIT_NPF);
}

static u32 faulting_offset(const struct cpu *cpu)
{
	return cpu->vmcb->control.exit_info_2 % PAGE_SIZE & ~3u;
}

static void write_register(struct cpu *cpu, enum trapped_page page, u32 offset, u32 value)
{
	if (page == TRAPPED_APIC)
		exit_apic_write(cpu, offset, value);
	else
		model_exerciser_write(&cpu->model, offset, value);
}

bool exit_store(struct cpu *cpu)
{
	enum trapped_page page = faulting_page(cpu);
	const struct instruction *insn = decode_current(cpu);
	bool needs_retire = model_needs_retire(&cpu->model);
	struct model_retired retired;
	u32 value;

	if (!insn || !insn->store32)
		return false;
	retire_begin(cpu, &retired);
	retire_accesses(cpu, &retired, insn, cpu->gpr);
	value = insn->store_register == REG_NONE ? insn->store_immediate :
						   (u32)cpu->gpr[insn->store_register];
	write_register(cpu, page, faulting_offset(cpu), value);
	exits_complete(cpu, &retired, insn, needs_retire, SHADOW_NONE);
	return true;
}

void exit_store_step_begin(struct cpu *cpu)
{
	volatile u32 *shown;

	cpu->trapped_page = faulting_page(cpu);
	cpu->trapped_offset = faulting_offset(cpu);
	shown = (volatile u32 *)nested_paging_shown(cpu->trapped_page);
	cpu->trapped_scratch[cpu->trapped_offset / 4] = shown[cpu->trapped_offset / 4];
	nested_paging_scratch(cpu, cpu->trapped_page);
}

void exit_store_step_end(struct cpu *cpu, bool completed)
{
	nested_paging_trap_again(cpu);
	if (completed)
		write_register(cpu, cpu->trapped_page, cpu->trapped_offset,
			       cpu->trapped_scratch[cpu->trapped_offset / 4]);
}
