/* SPDX-License-Identifier: MIT */
/* See engine_solo.h. */
#include "refpmu/engine_solo.h"
#include "refpmu/exits.h"
#include "refpmu/guest_memory.h"
#include "refpmu/retire.h"
#include "refpmu/solo.h"

#define RFLAGS_AC	BIT(18)

static u64 linear_of(void *ctx, const struct instruction *insn, const struct insn_access *access,
		     const u64 gpr[REG_COUNT])
{
	return decode_linear(ctx, insn, access, gpr);
}

static void *data_at(void *ctx, u64 linear, unsigned bytes, bool write)
{
	return guest_data_at(ctx, linear, bytes, write);
}

void engine_solo_init(struct cpu *cpu)
{
	cpu->solo_code = hypervisor_pages((unsigned)(sizeof(struct solo_code) / PAGE_SIZE));
}

/* Both ends of it: decode_current() reads whatever is mapped. */
static bool may_execute(struct cpu *cpu, const struct instruction *insn)
{
	u64 last = insn->linear + insn->length - 1;
	bool user = cpu_cpl(cpu) == 3;

	return guest_code_at(cpu, insn->linear, user) == CODE_ALLOWED &&
	       (insn->linear / PAGE_SIZE == last / PAGE_SIZE ||
		guest_code_at(cpu, last, user) == CODE_ALLOWED);
}

bool engine_solo(struct cpu *cpu, bool *delivered)
{
	const struct solo_world world = {
		.ctx = cpu, .code = cpu->solo_code, .linear = linear_of, .at = data_at,
	};
	struct vmcb_save *save = &cpu->vmcb->save;
	const struct solo_state state = { cpu->gpr, &save->rip, &save->rflags };
	const struct instruction *insn = decode_current(cpu);
	bool watching = model_watching(&cpu->model);
	struct model_retired retired;
	const struct solo_op *op;

	*delivered = false;
	if (!insn || save->rflags & RFLAGS_AC)
		return false;
	op = decode_solo(cpu, insn);
	if (op->kind == SOLO_REFUSED || !may_execute(cpu, insn))
		return false;
	/* What is pending comes first. */
	if (exits_take_interrupt(cpu, save->rflags & RFLAGS_IF, false)) {
		*delivered = true;
		return true;
	}
	retire_begin(cpu, &retired);
	retire_accesses(cpu, &retired, insn, cpu->gpr);
	if (!solo_run(op, insn, &state, &world))
		return false;
	save->rsp = cpu->gpr[REG_RSP];
	cpu->statistics.solo++;
	retire_end(cpu, &retired, insn, watching);
	return true;
}
