/* SPDX-License-Identifier: MIT */
/*
 * Bits of the architecture that aren't the PMU's: SDM volume 3, "EFLAGS Register", "Control
 * Registers", "Debug Registers", "IA-32e Mode" (IA32_EFER), "4-Level Paging", "Page-Fault
 * Exceptions". MSRs are in msr.def.
 */
#ifndef SPEC_X86_H
#define SPEC_X86_H

#include "spec/types.h"

#define RFLAGS_CF	BIT(0)
#define RFLAGS_FIXED	BIT(1)
#define RFLAGS_PF	BIT(2)
#define RFLAGS_AF	BIT(4)
#define RFLAGS_ZF	BIT(6)
#define RFLAGS_SF	BIT(7)
#define RFLAGS_TF	BIT(8)
#define RFLAGS_IF	BIT(9)
#define RFLAGS_DF	BIT(10)
#define RFLAGS_OF	BIT(11)
#define RFLAGS_IOPL	BITS(12, 13)
#define RFLAGS_NT	BIT(14)
#define RFLAGS_RF	BIT(16)
#define RFLAGS_VM	BIT(17)
#define RFLAGS_AC	BIT(18)
#define RFLAGS_ID	BIT(21)
#define RFLAGS_STATUS	(RFLAGS_CF | RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF | RFLAGS_SF | RFLAGS_OF)

#define CR0_PE		BIT(0)
#define CR0_MP		BIT(1)
#define CR0_EM		BIT(2)
#define CR0_TS		BIT(3)
#define CR0_ET		BIT(4)
#define CR0_NE		BIT(5)
#define CR0_WP		BIT(16)
#define CR0_AM		BIT(18)
#define CR0_NW		BIT(29)
#define CR0_CD		BIT(30)
#define CR0_PG		BIT(31)

#define CR3_PCID	BITS(0, 11)

#define CR4_TSD		BIT(2)
#define CR4_DE		BIT(3)
#define CR4_PSE		BIT(4)
#define CR4_PAE		BIT(5)
#define CR4_PGE		BIT(7)
#define CR4_PCE		BIT(8)
#define CR4_OSFXSR	BIT(9)
#define CR4_OSXMMEXCPT	BIT(10)
#define CR4_UMIP	BIT(11)
#define CR4_LA57	BIT(12)
#define CR4_PCIDE	BIT(17)
#define CR4_OSXSAVE	BIT(18)
#define CR4_SMEP	BIT(20)
#define CR4_SMAP	BIT(21)
#define CR4_PKE		BIT(22)
#define CR4_CET		BIT(23)
#define CR4_PKS		BIT(24)

/* XCR0, and XSTATE_BV of an XSAVE area: SDM volume 1, "XSAVE-Managed State". */
#define XSTATE_X87	BIT(0)
#define XSTATE_SSE	BIT(1)
#define XSTATE_AVX	BIT(2)		/* the upper halves of YMM registers, */
#define XSAVE_AVX_OFFSET 576		/* and where they are in an area that isn't compacted */

#define EFER_SCE	BIT(0)
#define EFER_LME	BIT(8)
#define EFER_LMA	BIT(10)
#define EFER_NXE	BIT(11)

#define DR6_B		BITS(0, 3)
#define DR6_BS		BIT(14)
#define DR6_FIXED	0xffff0ff0ULL
#define DR7_G0		BIT(1)		/* breakpoint 0, here of instructions */
#define DR7_ENABLED	BITS(0, 7)
#define DR7_FIXED	BIT(10)		/* no breakpoint enabled */

/* An entry of a page table, of whichever level. */
#define PTE_P		BIT(0)
#define PTE_W		BIT(1)
#define PTE_U		BIT(2)
#define PTE_PWT		BIT(3)
#define PTE_PCD		BIT(4)
#define PTE_A		BIT(5)
#define PTE_D		BIT(6)
#define PTE_PS		BIT(7)		/* a page of 2 MiB or 1 GiB */
#define PTE_PAT		BIT(7)		/* of 4-KiB pages */
#define PTE_G		BIT(8)
#define PTE_PAT_LARGE	BIT(12)
#define PTE_ADDRESS	BITS(12, 51)
#define PTE_NX		BIT(63)

/* The error code of a page fault. */
#define PF_PRESENT	BIT(0)
#define PF_WRITE	BIT(1)
#define PF_FETCH	BIT(4)

#endif
