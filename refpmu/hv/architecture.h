/* SPDX-License-Identifier: MIT */
/*
 * Architectural bits that the hypervisor looks at, of the guest's state and of its own: SDM volume
 * 3, "EFLAGS Register", "Control Registers", "4-Level Paging", "Page-Fault Exceptions". MSRs of the
 * PMU are in spec/msr.def, what belongs to AMD-V in vmcb.h.
 */
#ifndef REFPMU_HV_ARCHITECTURE_H
#define REFPMU_HV_ARCHITECTURE_H

#include "spec/types.h"

#define RFLAGS_FIXED	BIT(1)
#define RFLAGS_ARITHMETIC 0x8d5ULL	/* CF PF AF ZF SF OF */
#define RFLAGS_TF	BIT(8)
#define RFLAGS_IF	BIT(9)
#define RFLAGS_DF	BIT(10)
#define RFLAGS_IOPL	BITS(12, 13)
#define RFLAGS_NT	BIT(14)
#define RFLAGS_RF	BIT(16)
#define RFLAGS_VM	BIT(17)
#define RFLAGS_AC	BIT(18)
#define RFLAGS_ID	BIT(21)

#define CR0_PE		BIT(0)
#define CR0_EM		BIT(2)
#define CR0_TS		BIT(3)
#define CR0_WP		BIT(16)
#define CR0_NW		BIT(29)
#define CR0_CD		BIT(30)
#define CR0_PG		BIT(31)
#define CR4_TSD		BIT(2)
#define CR4_PSE		BIT(4)
#define CR4_PAE		BIT(5)
#define CR4_PGE		BIT(7)
#define CR4_PCE		BIT(8)
#define CR4_OSFXSR	BIT(9)
#define CR4_LA57	BIT(12)
#define CR4_PCIDE	BIT(17)
#define CR4_OSXSAVE	BIT(18)
#define CR4_SMEP	BIT(20)
#define CR4_SMAP	BIT(21)
#define CR4_PKE		BIT(22)

#define EFER_SCE	BIT(0)
#define EFER_LME	BIT(8)
#define EFER_LMA	BIT(10)
#define EFER_NXE	BIT(11)
#define EFER_SVME	BIT(12)

#define DR6_B		BITS(0, 3)
#define DR6_BS		BIT(14)
#define DR7_ENABLED	BITS(0, 7)

/* An entry of a page table of any level, the guest's, the nested ones and the hypervisor's own. */
#define PTE_P		BIT(0)
#define PTE_W		BIT(1)
#define PTE_U		BIT(2)
#define PTE_A		BIT(5)
#define PTE_D		BIT(6)
#define PTE_PS		BIT(7)		/* a page of 2 MiB or 1 GiB */
#define PTE_PAT		BIT(7)		/* of 4-KiB pages */
#define PTE_G		BIT(8)
#define PTE_PAT_LARGE	BIT(12)
#define PTE_ADDRESS	BITS(12, 51)
#define PTE_NX		BIT(63)
#define TWO_MIB		BIT(21)

/* The error code of a page fault, and exit_info_1 of a nested one. */
#define PF_PRESENT	BIT(0)
#define PF_WRITE	BIT(1)
#define PF_FETCH	BIT(4)

#endif
