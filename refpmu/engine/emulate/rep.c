/* SPDX-License-Identifier: MIT */
/* See rep.h. */
#include "refpmu/hv/guest_memory.h"
#include "refpmu/engine/emulate/emulate.h"
#include "refpmu/engine/emulate/rep.h"
#include "refpmu/engine/retire.h"
#include "refpmu/engine/engine_cpu.h"

#define AT_ONCE		512	/* iterations between two checks for interrupts */
#define REPNE		0xf2
#define REPE		0xf3	/* and REP */

void rep_note(struct cpu *cpu)
{
	struct rep_progress *rep = &cpu->engine->rep;

	rep->rip = cpu->vmcb->save.rip;
	rep->cr3 = cpu->vmcb->save.cr3;
	rep->rsp = cpu->gpr[REG_RSP];
	rep->rcx = cpu->gpr[REG_RCX];
	rep->rsi = cpu->gpr[REG_RSI];
	rep->rdi = cpu->gpr[REG_RDI];
}

void rep_end(struct cpu *cpu, const struct instruction *insn, u64 rcx)
{
	struct vmcb_save *save = &cpu->vmcb->save;

	if (save->rip != insn->rip || !(rcx & insn->count_mask) ||
	    (cpu->gpr[REG_RCX] & insn->count_mask))
		return;
	cpu_skip(cpu, insn->length);
	save->rflags &= ~RFLAGS_RF;
}

void rep_drop_rf(struct cpu *cpu)
{
	const struct rep_progress *rep = &cpu->engine->rep;
	struct vmcb_save *save = &cpu->vmcb->save;

	if (rep->active && rep->rip == save->rip && !(save->dr7 & DR7_ENABLED))
		save->rflags &= ~RFLAGS_RF;
}

void rep_begin(struct cpu *cpu)
{
	struct rep_progress *rep = &cpu->engine->rep;

	if (rep->active && rep->rip == cpu->vmcb->save.rip && rep->cr3 == cpu->vmcb->save.cr3 &&
	    rep->rsp == cpu->gpr[REG_RSP] && rep->rcx == cpu->gpr[REG_RCX] &&
	    rep->rsi == cpu->gpr[REG_RSI] && rep->rdi == cpu->gpr[REG_RDI])
		return;
	rep->active = true;
	retire_begin(cpu, &rep->retired);
	rep_note(cpu);
}

static bool has_prefix(const struct instruction *insn, u8 prefix)
{
	for (unsigned i = 0; i + 1u < insn->length; i++)
		if (insn->bytes[i] == prefix)
			return true;
	return false;
}

/* Processors may differ in which of several prefixes applies. */
static bool is_simple(const struct cpu *cpu, const struct instruction *insn)
{
	return emulate_string_knows(insn) && !(cpu->vmcb->save.rflags & RFLAGS_DF) &&
	       !(has_prefix(insn, REPE) && has_prefix(insn, REPNE));
}

static bool iterate(struct cpu *cpu, const struct instruction *insn)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	const struct emulate_state state = { cpu->gpr, &save->rip, &save->rflags };
	struct string_places at = { NULL, NULL };

	for (unsigned i = 0; i < insn->n_access; i++) {
		const struct insn_access *access = &insn->access[i];
		void **place = access->base == REG_RSI ? &at.rsi : &at.rdi;

		*place = guest_data_at(cpu, decode_linear(cpu, insn, access, cpu->gpr),
				       access->bytes, access->store);
		if (!*place)
			return false;
	}
	retire_accesses(cpu, &cpu->engine->rep.retired, insn, cpu->gpr);
	emulate_string(insn, &state, &at);
	cpu->gpr[REG_RCX]--;
	return true;
}

/* After an iteration: does the comparison or RCX = 0 end the string? */
static bool is_last(const struct cpu *cpu, const struct instruction *insn)
{
	bool equal = cpu->vmcb->save.rflags & RFLAGS_ZF;

	return !cpu->gpr[REG_RCX] ||
	       (emulate_string_compares(insn) && equal != has_prefix(insn, REPE));
}

bool rep_run(struct cpu *cpu, const struct instruction *insn)
{
	bool needs_retire = model_needs_retire(&cpu->model), done = !cpu->gpr[REG_RCX];
	unsigned n = 0;

	if (!is_simple(cpu, insn) || model_in_tx(&cpu->model))
		return false;
	rep_begin(cpu);
	cpu->engine->siblings.steps++;
	while (!done && n < AT_ONCE && iterate(cpu, insn)) {
		done = is_last(cpu, insn);
		n++;
	}
	if (done) {
		cpu->engine->rep.active = false;
		cpu_skip(cpu, insn->length);
		cpu->engine->statistics.emulated += needs_retire;
		retire_end(cpu, &cpu->engine->rep.retired, insn, needs_retire);
	} else {
		rep_note(cpu);
	}
	cpu->engine->siblings.steps++;
	return n || !cpu->engine->rep.active;
}
