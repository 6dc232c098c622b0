/* SPDX-License-Identifier: MIT */
/* RDPMC: the privilege check is here; the model supplies the value. SDM volume 2, "RDPMC". */
#include "refpmu/hv/deliver.h"
#include "refpmu/engine/exits.h"
#include "refpmu/engine/siblings.h"
#include "spec/msr.h"

bool exit_rdpmc(struct cpu *cpu)
{
	bool allowed = cpu_cpl(cpu) == 0 || (cpu->vmcb->save.cr4 & CR4_PCE) ||
		       !(cpu->vmcb->save.cr0 & CR0_PE);
	struct msr_result result;
	u64 rax, rdx;

	if (cpu_cpl(cpu) && cpu_cpl(cpu) < 3 &&
	    model_fault(&cpu->model, FAULT_RDPMC_CPL_1_2_ALLOWED))
		allowed = true;
	if (cpu_cpl(cpu) &&
	    model_fault(&cpu->model, allowed ? FAULT_RDPMC_USER_REFUSED : FAULT_RDPMC_USER_ALLOWED))
		allowed = !allowed;
	if (cpu_cpl(cpu) && cpu->gpr[REG_RCX] & RDPMC_FIXED &&
	    model_fault(&cpu->model,
			allowed ? FAULT_RDPMC_USER_FIXED_REFUSED : FAULT_RDPMC_USER_FIXED_ALLOWED))
		allowed = !allowed;
	if (allowed || model_rdpmc_tells_time(&cpu->model, (u32)cpu->gpr[REG_RCX])) {
		siblings_drain(cpu);
		result = cpu_cpl(cpu) ? model_rdpmc_user(&cpu->model, (u32)cpu->gpr[REG_RCX]) :
					model_rdpmc(&cpu->model, (u32)cpu->gpr[REG_RCX]);
		if (cpu->gpr[REG_RCX] >> 32 && model_fault(&cpu->model, FAULT_RDPMC_WIDE_RCX))
			result.value = 0;
		if (cpu->gpr[REG_RCX] >> 32 && (u32)cpu->gpr[REG_RCX] == RDPMC_METRICS &&
		    model_fault(&cpu->model, FAULT_RDPMC_METRICS_WIDE_RCX))
			result.value = 0;
		if (result.status == MSR_DONE) {
			cpu_trace(cpu, TRACE_RDPMC, (u32)cpu->gpr[REG_RCX], result.value);
			rax = exit_kept_upper(cpu, REG_RAX, FAULT_RDPMC_KEEPS_RAX);
			if ((u32)cpu->gpr[REG_RCX] == RDPMC_METRICS)
				rax |= exit_kept_upper(cpu, REG_RAX, FAULT_RDPMC_METRICS_KEEPS_RAX);
			rdx = exit_kept_upper(cpu, REG_RDX, FAULT_RDPMC_KEEPS_RDX);
			cpu->gpr[REG_RAX] = rax | (u32)result.value;
			cpu->gpr[REG_RDX] = rdx | result.value >> 32;
			return true;
		}
	}
	deliver_exception(cpu, VECTOR_GP, 0);
	return false;
}
