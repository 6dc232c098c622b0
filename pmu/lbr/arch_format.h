/* SPDX-License-Identifier: MIT */
/*
 * Decodes architectural last branch records: CPUID leaf 1CH, and the registers of one entry. Pure:
 * no machine access, no globals.
 */
#ifndef PMU_LBR_ARCH_FORMAT_H
#define PMU_LBR_ARCH_FORMAT_H

#include "pmu/lbr/format.h"
#include "spec/arch_lbr.h"

struct lbr_leaf {
	u8 depths;			/* bit n: ARCH_LBR_DEPTH_UNIT * (n + 1) entries */
	bool cpl_filtering, branch_filtering, call_stack;
	bool mispredict, timed, branch_type;
	u8 event_logging;		/* bit n: occurrences of IA32_PMCn */
};

/* The leaf's EAX, EBX and ECX. */
struct lbr_leaf lbr_leaf_decode(u32 eax, u32 ebx, u32 ecx);
/* The greatest depth; 0: none. */
unsigned lbr_leaf_deepest(const struct lbr_leaf *leaf);
bool lbr_leaf_lists(const struct lbr_leaf *leaf, u64 depth);
/* Bits of IA32_LBR_CTL that exist. */
u64 lbr_leaf_control(const struct lbr_leaf *leaf);

/* Fields that the leaf doesn't enumerate are 0; transactions: CPUID.07H:EBX[11]. */
struct lbr_branch lbr_arch_decode(const struct lbr_leaf *leaf, bool transactions,
				  const struct lbr_raw *raw);

#endif
