/* SPDX-License-Identifier: MIT */
/*
 * CPUID: the machine's answer without AMD-V, then the model's changes. Bits that mirror CR4 come
 * from the guest's CR4, not from the one under which the hypervisor asks.
 */
#include "refpmu/engine/exits.h"
#include "refpmu/hv/svm.h"

#define LEAF_FEATURES		1
#define FEATURES_OSXSAVE	BIT(27)		/* ECX: CR4.OSXSAVE */
#define LEAF_STRUCTURED		7
#define STRUCTURED_OSPKE	BIT(4)		/* ECX: CR4.PKE */
#define LEAF_EXTENDED		0x80000000
#define LEAF_EXTENDED_FEATURES	0x80000001
#define EXTENDED_SVM		(BIT(2) | BIT(12))	/* ECX: SVM, SKINIT */
#define LEAF_SVM		0x8000000a

static u32 mirror(u32 reg, u64 bit, bool set)
{
	return set ? reg | (u32)bit : reg & ~(u32)bit;
}

bool exit_cpuid(struct cpu *cpu)
{
	u32 leaf = model_cpuid_leaf(&cpu->model, (u32)cpu->gpr[REG_RAX]),
	    subleaf = (u32)cpu->gpr[REG_RCX];
	u64 cr4 = cpu->vmcb->save.cr4;
	u32 regs[4], highest[4];

	cpuid(leaf & LEAF_EXTENDED, 0, highest);
	cpuid(leaf, subleaf, regs);
	/* For leaves above the highest one QEMU returns that leaf. */
	if (leaf > highest[0] || leaf == LEAF_SVM)
		regs[0] = regs[1] = regs[2] = regs[3] = 0;
	if (leaf == LEAF_FEATURES)
		regs[2] = mirror(regs[2], FEATURES_OSXSAVE, cr4 & CR4_OSXSAVE);
	if (leaf == LEAF_STRUCTURED && subleaf == 0)
		regs[2] = mirror(regs[2], STRUCTURED_OSPKE, cr4 & CR4_PKE);
	if (leaf == LEAF_EXTENDED_FEATURES)
		regs[2] &= ~(u32)EXTENDED_SVM;
	model_cpuid(&cpu->model, leaf, subleaf, regs);

	cpu->gpr[REG_RAX] = regs[0];
	cpu->gpr[REG_RBX] = regs[1];
	cpu->gpr[REG_RCX] = regs[2];
	cpu->gpr[REG_RDX] = regs[3];
	return true;
}
