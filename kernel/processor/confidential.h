/* SPDX-License-Identifier: MIT */
/*
 * Guests whose memory their hypervisor can't read: AMD's SEV, SEV-ES and SEV-SNP, Intel's TDX.
 * CPUID, RDMSR and WRMSR raise #VC or #VE there, which the firmware's handlers answer and ours
 * don't, and page tables that don't mark memory as private read it garbled. So the machine can't be
 * borrowed.
 * Pure but for confidential_look().
 */
#ifndef KERNEL_CONFIDENTIAL_H
#define KERNEL_CONFIDENTIAL_H

#include "spec/types.h"

struct confidential_leaf {
	u32 eax, ebx, ecx, edx;
};

struct confidential_view {
	struct confidential_leaf tdx;	/* leaf 21H, zeros if there is none: "IntelTDX    " */
	struct confidential_leaf encryption;	/* leaf 8000001FH: EAX[1] SEV, EBX[5:0] bit */
	u64 top_entry;			/* of the owner's map, for this program */
};

/* What it is, for a refusal; NULL: no such guest. */
const char *confidential_name(const struct confidential_view *view);

/* This processor, with the owner's state in place. */
void confidential_look(struct confidential_view *view);

#endif
