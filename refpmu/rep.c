/* SPDX-License-Identifier: MIT */
/* See rep.h. */
#include "refpmu/rep.h"
#include "refpmu/retire.h"

void rep_note(struct cpu *cpu)
{
	struct rep_progress *rep = &cpu->rep;

	rep->rip = cpu->vmcb->save.rip;
	rep->cr3 = cpu->vmcb->save.cr3;
	rep->rsp = cpu->gpr[REG_RSP];
	rep->rcx = cpu->gpr[REG_RCX];
	rep->rsi = cpu->gpr[REG_RSI];
	rep->rdi = cpu->gpr[REG_RDI];
}

void rep_begin(struct cpu *cpu)
{
	struct rep_progress *rep = &cpu->rep;

	if (rep->active && rep->rip == cpu->vmcb->save.rip && rep->cr3 == cpu->vmcb->save.cr3 &&
	    rep->rsp == cpu->gpr[REG_RSP] && rep->rcx == cpu->gpr[REG_RCX] &&
	    rep->rsi == cpu->gpr[REG_RSI] && rep->rdi == cpu->gpr[REG_RDI])
		return;
	rep->active = true;
	retire_begin(cpu, &rep->retired);
	rep_note(cpu);
}
