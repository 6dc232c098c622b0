/* SPDX-License-Identifier: MIT */
/*
 * MOV to control registers, and to DR7, because a new value of DR7 needs other intercepts. SDM
 * volume 2, "MOV--Move to/from Control Registers": the values that raise #GP. QEMU 7.2's TCG
 * accepts some of them, but its next VMRUN refuses the guest's state. For others, reserved bits of
 * CR3 and CR4, it exits with EXIT_INVALID, where a processor raises #GP.
 */
#include "refpmu/hv/deliver.h"
#include "refpmu/engine/engine.h"
#include "refpmu/engine/exits.h"

static bool bad_cr0(const struct cpu *cpu, u64 value)
{
	const struct vmcb_save *save = &cpu->vmcb->save;
	bool begins_paging = (value & CR0_PG) && !(save->cr0 & CR0_PG);

	if (value >> 32 || ((value & CR0_PG) && !(value & CR0_PE)) ||
	    ((value & CR0_NW) && !(value & CR0_CD)))
		return true;
	if (cpu_64bit_code(cpu) && !(value & CR0_PG))
		return true;
	return begins_paging && (save->efer & EFER_LME) &&
	       (!(save->cr4 & CR4_PAE) || (save->cs.attributes & SEG_L));
}

bool exit_control_refuses(struct cpu *cpu, const struct instruction *insn)
{
	u64 value = cpu->gpr[insn->operand_register % REG_COUNT];

	if (cpu_cpl(cpu))
		return false;
	if (insn->mode != 64)
		value = (u32)value;
	if (!(insn->kind == INSN_LOAD_CR0 && bad_cr0(cpu, value)) &&
	    !(insn->kind == INSN_LOAD_CR4 && cpu_long_mode(cpu) && !(value & CR4_PAE)))
		return false;
	deliver_exception(cpu, VECTOR_GP, 0);
	return true;
}

bool exit_control(struct cpu *cpu, u64 code)
{
	switch (code) {
	case EXIT_CR0_WRITE:
	case EXIT_CR4_WRITE:
	case EXIT_DR7_WRITE:
		engine_step(cpu);
		return true;
	case EXIT_INVALID:
		deliver_exception(cpu, VECTOR_GP, 0);
		return true;
	default:
		return false;
	}
}
