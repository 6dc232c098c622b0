/* SPDX-License-Identifier: MIT */
/*
 * The virtual machine control block of AMD-V and its codes: APM volume 2, "Layout of VMCB",
 * "SVM Intercept Codes". Offsets are in the comments and asserted. Only what QEMU 7.2's TCG
 * implements is named; it has neither NextRIP nor decode assists nor clean bits.
 */
#ifndef REFPMU_HV_VMCB_H
#define REFPMU_HV_VMCB_H

#include "refpmu/hv/architecture.h"
#include "spec/types.h"

struct vmcb_segment {
	u16 selector;
	u16 attributes;			/* descriptor bits 40..47 and 52..55: see SEG_* */
	u32 limit;
	u64 base;
};

#define SEG_ACCESSED	BIT(0)
#define SEG_WRITABLE	BIT(1)		/* of data; readable of code */
#define SEG_DOWN	BIT(2)		/* expand-down data; conforming code */
#define SEG_CODE	BIT(3)
#define SEG_S		BIT(4)		/* code or data, not system */
#define SEG_DPL_SHIFT	5
#define SEG_P		BIT(7)
#define SEG_L		BIT(9)
#define SEG_DB		BIT(10)
#define SEG_G		BIT(11)

struct vmcb_control {
	u16 intercept_cr_read, intercept_cr_write;	/* 0x00 */
	u16 intercept_dr_read, intercept_dr_write;	/* 0x04 */
	u32 intercept_exceptions;			/* 0x08 */
	u32 intercept_misc1;				/* 0x0c */
	u32 intercept_misc2;				/* 0x10 */
	u8 reserved_14[0x40 - 0x14];
	u64 iopm_base;					/* 0x40 */
	u64 msrpm_base;					/* 0x48 */
	u64 tsc_offset;					/* 0x50 */
	u32 asid;					/* 0x58 */
	u8 tlb_control;					/* 0x5c */
	u8 reserved_5d[3];
	u64 int_ctl;					/* 0x60 */
	u64 int_state;					/* 0x68 */
	u64 exit_code;					/* 0x70 */
	u64 exit_info_1;				/* 0x78 */
	u64 exit_info_2;				/* 0x80 */
	u64 exit_int_info;				/* 0x88 */
	u64 nested_control;				/* 0x90 */
	u8 reserved_98[0xa8 - 0x98];
	u32 event_injection;				/* 0xa8 */
	u32 event_injection_error;			/* 0xac */
	u64 nested_cr3;					/* 0xb0 */
	u8 reserved_b8[0x400 - 0xb8];
};

struct vmcb_save {
	struct vmcb_segment es, cs, ss, ds, fs, gs;	/* 0x400 */
	struct vmcb_segment gdtr, ldtr, idtr, tr;	/* 0x460 */
	u8 reserved_4a0[0x4cb - 0x4a0];
	u8 cpl;						/* 0x4cb */
	u32 reserved_4cc;
	u64 efer;					/* 0x4d0 */
	u8 reserved_4d8[0x548 - 0x4d8];
	u64 cr4, cr3, cr0;				/* 0x548 */
	u64 dr7, dr6;					/* 0x560 */
	u64 rflags;					/* 0x570 */
	u64 rip;					/* 0x578 */
	u8 reserved_580[0x5d8 - 0x580];
	u64 rsp;					/* 0x5d8 */
	u8 reserved_5e0[0x5f8 - 0x5e0];
	u64 rax;					/* 0x5f8 */
	u64 star, lstar, cstar, sfmask;			/* 0x600 */
	u64 kernel_gs_base;				/* 0x620 */
	u64 sysenter_cs, sysenter_esp, sysenter_eip;	/* 0x628 */
	u64 cr2;					/* 0x640 */
	u8 reserved_648[0x668 - 0x648];
	u64 g_pat;					/* 0x668 */
	u8 reserved_670[0x1000 - 0x670];
};

struct vmcb {
	struct vmcb_control control;
	struct vmcb_save save;
};

#define VMCB_ASSERT(field, offset) \
	_Static_assert(offsetof(struct vmcb, field) == (offset), #field)
VMCB_ASSERT(control.iopm_base, 0x40);
VMCB_ASSERT(control.asid, 0x58);
VMCB_ASSERT(control.exit_code, 0x70);
VMCB_ASSERT(control.nested_control, 0x90);
VMCB_ASSERT(control.event_injection, 0xa8);
VMCB_ASSERT(control.nested_cr3, 0xb0);
VMCB_ASSERT(save.es, 0x400);
VMCB_ASSERT(save.gdtr, 0x460);
VMCB_ASSERT(save.cpl, 0x4cb);
VMCB_ASSERT(save.efer, 0x4d0);
VMCB_ASSERT(save.cr4, 0x548);
VMCB_ASSERT(save.dr7, 0x560);
VMCB_ASSERT(save.rflags, 0x570);
VMCB_ASSERT(save.rsp, 0x5d8);
VMCB_ASSERT(save.rax, 0x5f8);
VMCB_ASSERT(save.star, 0x600);
VMCB_ASSERT(save.cr2, 0x640);
VMCB_ASSERT(save.g_pat, 0x668);
_Static_assert(sizeof(struct vmcb) == 4096, "a VMCB is one page");

/* int_ctl, int_state */
#define V_INTR_MASKING		BIT(24)
#define INT_STATE_SHADOW	BIT(0)
/* tlb_control, for the next VMRUN */
#define TLB_FLUSH_ALL		1

/* intercept_misc1 */
#define INTERCEPT_INTR		BIT(0)
#define INTERCEPT_NMI		BIT(1)
#define INTERCEPT_RDTSC		BIT(14)
#define INTERCEPT_RDPMC		BIT(15)
#define INTERCEPT_CPUID		BIT(18)
#define INTERCEPT_SWINT		BIT(21)
#define INTERCEPT_HLT		BIT(24)
#define INTERCEPT_INVLPG	BIT(25)
#define INTERCEPT_INVLPGA	BIT(26)
#define INTERCEPT_IOIO		BIT(27)
#define INTERCEPT_MSR		BIT(28)
#define INTERCEPT_SHUTDOWN	BIT(31)
/* intercept_cr_read, intercept_cr_write */
#define INTERCEPT_CR0		BIT(0)
#define INTERCEPT_CR3		BIT(3)
#define INTERCEPT_CR4		BIT(4)
/* intercept_dr_write */
#define INTERCEPT_DR7		BIT(7)
/* intercept_misc2: VMRUN (mandatory), VMMCALL, VMLOAD, VMSAVE, STGI, CLGI, SKINIT */
#define INTERCEPT_SVM		0x7f
#define INTERCEPT_RDTSCP	BIT(7)

enum exit_code {
	EXIT_CR0_WRITE = 0x10,
	EXIT_CR4_WRITE = 0x14,
	EXIT_DR7_WRITE = 0x37,
	EXIT_EXCEPTION = 0x40,		/* + vector, 32 of them */
	EXIT_DB = EXIT_EXCEPTION + 1,
	EXIT_UD = EXIT_EXCEPTION + 6,
	EXIT_GP = EXIT_EXCEPTION + 13,
	EXIT_PF = EXIT_EXCEPTION + 14,
	EXIT_EXCEPTION_LAST = 0x5f,
	EXIT_INTR = 0x60,
	EXIT_NMI = 0x61,
	EXIT_RDTSC = 0x6e,
	EXIT_RDPMC = 0x6f,
	EXIT_CPUID = 0x72,
	EXIT_SWINT = 0x75,
	EXIT_HLT = 0x78,
	EXIT_INVLPGA = 0x7a,
	EXIT_IOIO = 0x7b,
	EXIT_MSR = 0x7c,
	EXIT_SHUTDOWN = 0x7f,
	EXIT_VMRUN = 0x80,
	EXIT_VMMCALL = 0x81,
	EXIT_VMLOAD = 0x82,
	EXIT_VMSAVE = 0x83,
	EXIT_STGI = 0x84,
	EXIT_CLGI = 0x85,
	EXIT_SKINIT = 0x86,
	EXIT_RDTSCP = 0x87,
	EXIT_NPF = 0x400,
	/* -1. QEMU 7.2 writes 32 bits of it and zeros above, QEMU 10 all 64: bits 31:0 tell. */
	EXIT_INVALID = 0xffffffff,
};

/* event_injection: "Event Injection". */
#define EVENT_VALID		BIT(31)
#define EVENT_ERROR_VALID	BIT(11)
#define EVENT_TYPE		(7u << 8)
#define EVENT_TYPE_INTR		(0u << 8)
#define EVENT_TYPE_NMI		(2u << 8)
#define EVENT_TYPE_EXCEPTION	(3u << 8)
#define EVENT_TYPE_SOFT		(4u << 8)

/* AMD's MSRs, which an Intel processor doesn't have: APM volume 2, "SVM Related MSRs". */
#define MSR_AMD_VM_CR		0xc0010114
#define MSR_AMD_VM_HSAVE_PA	0xc0010117

#endif
