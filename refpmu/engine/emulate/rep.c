/* SPDX-License-Identifier: MIT */
/* See rep.h. */
#include "refpmu/hv/guest_memory.h"
#include "refpmu/engine/emulate/rep.h"
#include "refpmu/engine/retire.h"
#include "refpmu/engine/engine_cpu.h"

#define AT_ONCE		512	/* iterations between two looks for interrupts */

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

/* MOVSx (A4H, A5H), STOSx (AAH, ABH). */
static bool is_simple(const struct cpu *cpu, const struct instruction *insn)
{
	u8 opcode = insn->bytes[insn->length - 1];

	return (opcode == 0xa4 || opcode == 0xa5 || opcode == 0xaa || opcode == 0xab) &&
	       insn->bytes[insn->length - 2] != 0x0f && insn->count_mask == ~0ULL &&
	       !insn->incomplete && !(cpu->vmcb->save.rflags & RFLAGS_DF);
}

static void emulate_rep_copy(void *to, const void *from, unsigned bytes)
{
	switch (bytes) {
	case 1:
		__builtin_memcpy(to, from, 1);
		break;
	case 2:
		__builtin_memcpy(to, from, 2);
		break;
	case 4:
		__builtin_memcpy(to, from, 4);
		break;
	default:
		__builtin_memcpy(to, from, 8);
		break;
	}
}

/* In order: the load of MOVS, the store. */
static bool iterate(struct cpu *cpu, const struct instruction *insn)
{
	const struct insn_access *access = insn->access;
	unsigned bytes = access[0].bytes;
	void *at[2] = { &cpu->gpr[REG_RAX], NULL };
	bool loads = insn->n_access == 2;

	for (unsigned i = 0; i < insn->n_access; i++) {
		void **place = &at[i + !loads];

		*place = guest_data_at(cpu, decode_linear(cpu, insn, &access[i], cpu->gpr), bytes,
				       access[i].store);
		if (!*place)
			return false;
	}
	retire_accesses(cpu, &cpu->engine->rep.retired, insn, cpu->gpr);
	emulate_rep_copy(at[1], at[0], bytes);
	if (loads)
		cpu->gpr[REG_RSI] += bytes;
	cpu->gpr[REG_RDI] += bytes;
	cpu->gpr[REG_RCX]--;
	return true;
}

bool rep_run(struct cpu *cpu, const struct instruction *insn)
{
	bool needs_retire = model_needs_retire(&cpu->model);
	unsigned n = 0;

	if (!is_simple(cpu, insn) || model_in_tx(&cpu->model))
		return false;
	rep_begin(cpu);
	cpu->engine->siblings.steps++;
	while (cpu->gpr[REG_RCX] && n < AT_ONCE && iterate(cpu, insn))
		n++;
	if (!cpu->gpr[REG_RCX]) {
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
