/* SPDX-License-Identifier: MIT */
/*
 * Recognises guests whose memory the hypervisor can't read: AMD's SEV, SEV-ES and SEV-SNP, Intel's
 * TDX. In such a guest CPUID, RDMSR and WRMSR raise #VC or #VE; the firmware has handlers for
 * these, but we don't. Memory is garbled if the page tables don't mark it as private. So the
 * machine can't be borrowed. Pure except confidential_look().
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

/* The name of the technology, for the message; NULL: this isn't such a guest. */
const char *confidential_name(const struct confidential_view *view);

/* This processor, with the owner's state in place. */
void confidential_look(struct confidential_view *view);

#endif
