/* SPDX-License-Identifier: MIT */
/*
 * The last branch records of the processor that calls: the stack of Nehalem to Rocket Lake, with
 * MSR_LASTBRANCH_TOS and MSR_LBR_SELECT. They record while IA32_DEBUGCTL[0] is 1, which is written
 * by those who want it, mostly right around what they look at. CPL 0.
 */
#ifndef PMU_LBR_LBR_H
#define PMU_LBR_LBR_H

#include "pmu/lbr/format.h"
#include "spec/arch_lbr.h"
#include "spec/lbr.h"
#include "spec/msr.h"

struct lbr_stack {
	unsigned depth;
	u64 top;			/* MSR_LASTBRANCH_TOS; architectural ones have none: 0 */
	struct lbr_raw raw[ARCH_LBR_MAX_ENTRIES];	/* newest first */
	struct lbr_branch branch[ARCH_LBR_MAX_ENTRIES];
};

/* IA32_PERF_CAPABILITIES[5:0]; its entries, 0: none, or not of a kind that is driven here. */
unsigned lbr_format(void);
unsigned lbr_depth(void);

/* Recording off, each entry 0, entry `top` the newest, and MSR_LBR_SELECT. */
void lbr_open(u64 select, unsigned top);
/* Recording off, nothing selected. */
void lbr_close(void);

/* Registers of entry i as they are, and all of them by age. Recording is off, or what reads is
 * recorded too. */
struct lbr_raw lbr_entry(unsigned i);
void lbr_put(unsigned i, const struct lbr_raw *raw);
void lbr_read(struct lbr_stack *stack);

/* Where in the stack, newest first, a branch from this address is; depth: nowhere. */
unsigned lbr_find(const struct lbr_stack *stack, u64 from);

/* Were these two read from the same registers' contents? */
bool lbr_same(const struct lbr_stack *a, const struct lbr_stack *b);

#endif
