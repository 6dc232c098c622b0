/* SPDX-License-Identifier: MIT */
/* See retire.h. */
#include "refpmu/engine/translator.h"
#include "refpmu/hv/guest_tsc.h"
#include "refpmu/engine/retire.h"
#include "refpmu/engine/engine_cpu.h"

static void note_registers(const struct cpu *cpu, struct model_registers *registers)
{
	__builtin_memcpy(registers->gpr, cpu->gpr, sizeof(registers->gpr));
	registers->rip = cpu->vmcb->save.rip;
	registers->rflags = cpu->vmcb->save.rflags;
}

void retire_begin(struct cpu *cpu, struct model_retired *retired)
{
	retired->ip = cpu_code_address(cpu);
	retired->cpl = cpu_cpl(cpu);
	retired->compatibility = cpu_long_mode(cpu) && !cpu_64bit_code(cpu);
	retired->legacy = !cpu_long_mode(cpu);
	retired->arithmetic = ARITHMETIC_NONE;
	retired->branch = BRANCH_NONE;
	retired->taken = retired->backward = retired->indirect = false;
	retired->next_ip = retired->ip;
	retired->tx = TX_NO_ACT;
	retired->loads = retired->stores = retired->locked_loads = 0;
	retired->n_access = 0;
	retired->any_spilled = false;
	retired->act = ACT_NONE;
	note_registers(cpu, &retired->before);
}

static void retire_add(struct cpu *cpu, struct model_retired *retired, u64 linear, u16 bytes,
		       bool store, bool locked)
{
	if (retired->n_access == MODEL_MAX_ACCESSES) {
		model_spill_access(&cpu->model, retired, &retired->access[0]);
		for (unsigned i = 1; i < MODEL_MAX_ACCESSES; i++)
			retired->access[i - 1] = retired->access[i];
		retired->n_access--;
	}
	retired->access[retired->n_access++] = (struct model_access){
		.linear = linear, .bytes = bytes, .store = store, .locked = locked,
	};
}

void retire_accesses(struct cpu *cpu, struct model_retired *retired, const struct instruction *insn,
		     const u64 gpr[REG_COUNT])
{
	for (unsigned i = 0; i < insn->n_access; i++) {
		const struct insn_access *access = &insn->access[i];
		u64 linear = decode_linear(cpu, insn, access, gpr);

		if (access->load) {
			retired->loads++;
			if (insn->locked)
				retired->locked_loads++;
			retire_add(cpu, retired, linear, access->bytes, false, insn->locked);
		}
		if (access->store) {
			retired->stores++;
			retire_add(cpu, retired, linear, access->bytes, true, insn->locked);
		}
	}
}

/* May the instruction change the page tables that are in use? */
static bool changes_tables(const struct instruction *insn)
{
	return !insn || insn->act == ACT_INVALIDATE_PAGE || insn->act == ACT_LOAD_CR3 ||
	       insn->act == ACT_FLUSH_TLB;
}

void retire_uncounted(struct cpu *cpu, const struct instruction *insn)
{
	if (changes_tables(insn))
		translator_tables_changed(cpu);
	if (insn && insn->port)
		translator_device_accessed(cpu);
}

void retire_end(struct cpu *cpu, struct model_retired *retired, const struct instruction *insn,
		bool needed_retire)
{
	retire_uncounted(cpu, insn);
	if (!needed_retire && !model_needs_retire(&cpu->model))
		return;
	note_registers(cpu, &retired->after);
	retired->cpl_after = cpu_cpl(cpu);
	if (insn) {
		retired->branch = insn->branch;
		retired->taken = insn->branch == BRANCH_CONDITIONAL ?
					 decode_condition(insn, retired->before.gpr,
							  retired->before.rflags) :
					 insn->branch != BRANCH_NONE;
		retired->backward = insn->backward;
		retired->indirect = insn->indirect;
		retired->next_ip = retired->ip + insn->length;
		retired->act = insn->act;
		retired->arithmetic = insn->arithmetic;
		if (insn->act)
			retired->act_linear = decode_linear(cpu, insn, &insn->act_operand,
							    retired->before.gpr);
		if (insn->incomplete)
			cpu->statistics.inexact[INEXACT_ACCESSES]++;
	}
	cpu->engine->statistics.stepped++;
	model_retire(&cpu->model, retired);
	cpu->vmcb->control.tsc_offset += model_stolen_tsc(&cpu->model);
	guest_tsc_follow(cpu);
}
