/* SPDX-License-Identifier: MIT */
/*
 * RDMSR and WRMSR. Intercepted are: the PMU's MSRs, in whole ranges, so that those which the
 * presented processor doesn't have raise #GP; EFER, whose SVME bit is the hypervisor's; and AMD-V's
 * MSRs, which don't exist for the guest. All others go to the machine below. QEMU's TCG ignores
 * writes to MSRs that it doesn't know and reads them as 0, where a processor raises #GP.
 *
 * Numbers of the PMU's MSRs are those of SDM volume 3C, "Model-Specific Registers (MSRs)"; the
 * ranges are wider than what one generation has.
 */
#include "refpmu/hv/deliver.h"
#include "refpmu/engine/exits.h"
#include "refpmu/hv/guest_tsc.h"
#include "refpmu/hv/instructions.h"
#include "refpmu/hv/processors.h"
#include "refpmu/engine/siblings.h"
#include "refpmu/hv/svm.h"
#include "spec/arch_lbr.h"
#include "spec/msr.h"
#include "spec/netburst.h"

#define EFER_KNOWN	(EFER_SCE | EFER_LME | EFER_LMA | EFER_NXE)	/* bits of Intel's EFER */

/* An MSR in these ranges that the model doesn't answer raises #GP, or is the machine's. */
static const struct msr_range {
	u32 first, last;
	bool machine;
} seen[] = {
	{ MSR_IA32_TIME_STAMP_COUNTER, MSR_IA32_TIME_STAMP_COUNTER, false },
	{ MSR_IA32_TSC_ADJUST, MSR_IA32_TSC_ADJUST, false },
	{ MSR_IA32_PMC0, MSR_IA32_PMC0 + MODEL_MAX_GP - 1, false },
	{ MSR_IA32_PERFEVTSEL0, MSR_IA32_PERFEVTSEL0 + MODEL_MAX_GP - 1, false },
	{ MSR_IA32_TSX_FORCE_ABORT, MSR_IA32_TSX_FORCE_ABORT, false },
	{ MSR_OFFCORE_RSP_0, MSR_OFFCORE_RSP_1, false },
	{ MSR_LBR_CORE_FROM, MSR_LBR_CORE_FROM + MODEL_LBR_CORE2 - 1, false },
	{ MSR_LBR_CORE_TO, MSR_LBR_CORE_TO + MODEL_LBR_CORE2 - 1, false },
	{ MSR_LBR_SELECT, MSR_LASTBRANCH_TOS, false },
	{ MSR_LASTBRANCH_0_FROM_IP, MSR_LASTBRANCH_0_FROM_IP + MODEL_LBR_ENTRIES - 1, true },
	{ MSR_LASTBRANCH_0_TO_IP, MSR_LASTBRANCH_0_TO_IP + MODEL_LBR_ENTRIES - 1, true },
	{ MSR_LBR_INFO_0, MSR_LBR_INFO_0 + MODEL_LBR_ENTRIES - 1, false },
	{ MSR_IA32_LBR_0_INFO, MSR_IA32_LBR_0_INFO + ARCH_LBR_MAX_ENTRIES - 1, false },
	{ MSR_IA32_LBR_CTL, MSR_IA32_LBR_DEPTH, false },
	{ MSR_IA32_LBR_0_FROM_IP, MSR_IA32_LBR_0_FROM_IP + ARCH_LBR_MAX_ENTRIES - 1, false },
	{ MSR_IA32_LBR_0_TO_IP, MSR_IA32_LBR_0_TO_IP + ARCH_LBR_MAX_ENTRIES - 1, false },
	/* Room for 32 general-purpose and 16 fixed counters. */
	{ MSR_IA32_PMC_GP0_CTR, MSR_IA32_PMC_FX0_CTR + 16 * V6_BANK_STRIDE - 1, false },
	{ MSR_UNC_PERF_GLOBAL_CTRL, MSR_UNC_PERF_GLOBAL_STATUS, false },
	{ MSR_IA32_FIXED_CTR0, MSR_IA32_FIXED_CTR0 + MODEL_MAX_FIXED, false },
	{ MSR_PERF_METRICS, MSR_PERF_METRICS, false },
	{ MSR_IA32_PERF_CAPABILITIES, MSR_IA32_PERF_CAPABILITIES, false },
	{ MSR_IA32_FIXED_CTR_CTRL, MSR_UNCORE_ADDR_OPCODE_MATCH, false },
	{ MSR_UNCORE_PMC0, MSR_UNCORE_PMC0 + 7, false },
	{ MSR_UNCORE_PERFEVTSEL0, MSR_UNCORE_PERFEVTSEL0 + 7, false },
	{ MSR_IA32_PEBS_ENABLE, MSR_IA32_PEBS_ENABLE + 6, false },
	{ MSR_IA32_A_PMC0, MSR_IA32_A_PMC0 + MODEL_MAX_GP - 1, false },
	{ MSR_IA32_DS_AREA, MSR_IA32_DS_AREA, false },
	{ MSR_IA32_DEBUGCTL, MSR_IA32_DEBUGCTL, true },
	{ MSR_IA32_MISC_ENABLE, MSR_IA32_MISC_ENABLE, true },
	{ MSR_SMI_COUNT, MSR_SMI_COUNT, false },
	{ MSR_NB_BPU_COUNTER0, MSR_NB_IQ_COUNTER5, false },
	{ MSR_NB_BPU_CCCR0, MSR_NB_IQ_CCCR5, false },
	{ MSR_NB_BSU_ESCR0, MSR_NB_PEBS_MATRIX_VERT, false },
	{ MSR_IA32_BIOS_SIGN_ID, MSR_IA32_BIOS_SIGN_ID, true },
	{ MSR_IA32_EFER, MSR_IA32_EFER, true },
	{ MSR_AMD_VM_CR, MSR_AMD_VM_HSAVE_PA + 1, false },
};

/* Each MSR has two bits, read and write, in three ranges: APM volume 2, "MSR Intercepts". */
void exit_msr_permissions(u8 *permissions)
{
	for (unsigned i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		for (u32 msr = seen[i].first; msr <= seen[i].last; msr++) {
			u32 range = msr >= 0xc0010000 ? 0x1000 : msr >= 0xc0000000 ? 0x800 : 0;
			u32 index = msr & 0x1fff;

			permissions[range + index / 4] |= (u8)(3u << index % 4 * 2);
		}
}

static bool belongs_to_machine(u32 msr)
{
	for (unsigned i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		if (msr >= seen[i].first && msr <= seen[i].last)
			return seen[i].machine;
	return false;		/* outside of all ranges: no Intel processor has those */
}

bool exit_msr_is_tracked(u32 msr)
{
	for (unsigned i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		if (msr >= seen[i].first && msr <= seen[i].last)
			return true;
	return false;
}

/* LMA isn't writable, SVME stays set and is read as 0. */
static struct msr_result efer(struct cpu *cpu, bool write, u64 value)
{
	u64 *now = &cpu->vmcb->save.efer;

	if (!write)
		return (struct msr_result){ MSR_DONE, *now & ~EFER_SVME };
	if ((value & ~EFER_KNOWN) ||
	    ((cpu->vmcb->save.cr0 & CR0_PG) && ((value ^ *now) & EFER_LME)))
		return (struct msr_result){ .status = MSR_GP };
	*now = (value & ~EFER_LMA) | (*now & EFER_LMA) | EFER_SVME;
	return (struct msr_result){ .status = MSR_DONE };
}

static bool has_tsc_adjust(struct cpu *cpu)
{
	enum { EBX = 1, LEAF_FEATURES = 7 };
	u32 regs[4] = { 0 };

	model_cpuid(&cpu->model, LEAF_FEATURES, 0, regs);
	return regs[EBX] & BIT(1);
}

void exit_msr_set_tsc_adjust(struct cpu *cpu, u64 adjust)
{
	cpu->vmcb->control.tsc_offset += adjust - cpu->tsc_adjust;
	cpu->tsc_adjust = adjust;
}

/* "IA32_TSC_ADJUST MSR": a write to either register changes the other one by the same amount. */
static struct msr_result time_stamp(struct cpu *cpu, u32 msr, bool write, u64 value)
{
	u64 now = guest_tsc(cpu);

	if (msr == MSR_IA32_TSC_ADJUST && !has_tsc_adjust(cpu))
		return (struct msr_result){ .status = MSR_GP };
	if (!write)
		return (struct msr_result){ MSR_DONE, msr == MSR_IA32_TSC_ADJUST ?
					    cpu->tsc_adjust : now };
	exit_msr_set_tsc_adjust(cpu, msr == MSR_IA32_TSC_ADJUST ? value :
								  cpu->tsc_adjust + (value - now));
	return (struct msr_result){ .status = MSR_DONE };
}

static struct msr_result access(struct cpu *cpu, u32 msr, bool write, u64 value)
{
	struct msr_result result;

	if (msr == MSR_IA32_EFER)
		return efer(cpu, write, value);
	if (msr == MSR_IA32_BIOS_SIGN_ID)
		return (struct msr_result){
			MSR_DONE, write ? 0 : model_microcode(&cpu->model, processors_first(cpu))
		};
	if (msr == MSR_IA32_TIME_STAMP_COUNTER || msr == MSR_IA32_TSC_ADJUST)
		return time_stamp(cpu, msr, write, value);
	result = write ? model_wrmsr(&cpu->model, msr, value) : model_rdmsr(&cpu->model, msr);
	if (result.status != MSR_NOT_OURS)
		return result;
	if (!belongs_to_machine(msr))
		return (struct msr_result){ .status = cpu->model.facts & FACT_MSRS_IGNORED ?
							      MSR_DONE :
							      MSR_GP };
	if (write)
		msr_write(msr, value);
	else
		result.value = msr_read(msr);
	result.status = MSR_DONE;
	return result;
}

u64 exit_kept_upper(struct cpu *cpu, unsigned gpr, enum fault_id fault)
{
	u64 upper = cpu->gpr[gpr] & ~0xffffffffULL;

	return upper && model_fault(&cpu->model, fault) ? upper : 0;
}

bool exit_msr(struct cpu *cpu, bool write)
{
	u64 value = (u32)cpu->gpr[REG_RAX] | cpu->gpr[REG_RDX] << 32;
	struct msr_result result;
	u64 rax, rdx;

	if (write && cpu->gpr[REG_RDX] >> 32 && model_fault(&cpu->model, FAULT_WRMSR_WIDE_RDX))
		value = 0;
	siblings_drain(cpu);
	result = access(cpu, (u32)cpu->gpr[REG_RCX], write, value);
	if (result.status != MSR_DONE) {
		deliver_exception(cpu, VECTOR_GP, 0);
		return false;
	}
	cpu_trace(cpu, write ? TRACE_WRMSR : TRACE_RDMSR, (u32)cpu->gpr[REG_RCX],
		  write ? value : result.value);
	if (write) {
		guest_tsc_follow(cpu);
		siblings_synchronize(cpu);
	}
	if (!write) {
		rax = exit_kept_upper(cpu, REG_RAX, FAULT_RDMSR_KEEPS_RAX);
		rdx = exit_kept_upper(cpu, REG_RDX, FAULT_RDMSR_KEEPS_RDX);
		cpu->gpr[REG_RAX] = rax | (u32)result.value;
		cpu->gpr[REG_RDX] = rdx | result.value >> 32;
	}
	return true;
}
