/* SPDX-License-Identifier: MIT */
/*
 * The leaves of CPUID that describe a processor, for the log. CPUID itself says which leaves exist.
 * Pure: the caller provides CPUID.
 */
#ifndef PMU_LEAVES_H
#define PMU_LEAVES_H

#include "spec/types.h"

#define LEAVES_MAX	64u	/* more than leaves_read() ever finds */

struct leaf {
	u32 number, subleaf;
	u32 regs[4];		/* EAX to EDX */
};

struct leaves {
	unsigned count;
	struct leaf at[LEAVES_MAX];
};

/* hypervisor: the leaf of its signature, or 0. A leaf that reads 0 in all registers is left out. */
void leaves_read(struct leaves *leaves, u32 hypervisor,
		 void (*cpuid)(u32 leaf, u32 subleaf, u32 regs[4]));

/* NULL: it isn't among them. */
const struct leaf *leaves_find(const struct leaves *leaves, u32 number, u32 subleaf);

/* Are the signature (leaf 1) and the native model (leaf 1AH) equal? Other differences don't
 * matter. */
bool leaves_same_kind(const struct leaves *a, const struct leaves *b);

#endif
