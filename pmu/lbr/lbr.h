/* SPDX-License-Identifier: MIT */
/*
 * The last branch records of the processor that calls: the stack of Nehalem to Rocket Lake, with
 * MSR_LASTBRANCH_TOS and MSR_LBR_SELECT. They record while IA32_DEBUGCTL[0] is 1. The caller writes
 * this register, mostly directly before and after the code that it observes. CPL 0.
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

/* IA32_PERF_CAPABILITIES[5:0]; and the number of entries, 0: none, or of a kind that isn't
 * supported here. */
unsigned lbr_format(void);
unsigned lbr_depth(void);

/* Switch recording off, clear all entries, make entry `top` the newest, and write
 * MSR_LBR_SELECT. */
void lbr_open(u64 select, unsigned top);
/* Recording off, nothing selected. */
void lbr_close(void);

/* Read or write the registers of entry i, in the order of their addresses: 0 to lbr_depth() - 1.
 * lbr_read(): all entries by age. Switch recording off first, or the branches of these functions
 * are recorded too. */
struct lbr_raw lbr_entry(unsigned i);
void lbr_put(unsigned i, const struct lbr_raw *raw);
void lbr_read(struct lbr_stack *stack);

/* The position in the stack, newest first, of a branch from this address; depth: there is none. */
unsigned lbr_find(const struct lbr_stack *stack, u64 from);

/* Have both stacks the same contents? */
bool lbr_same(const struct lbr_stack *a, const struct lbr_stack *b);

#endif
