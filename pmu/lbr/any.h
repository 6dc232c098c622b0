/* SPDX-License-Identifier: MIT */
/*
 * Last branch records of the calling processor, of either kind: the legacy ones of lbr.h or the
 * architectural ones of arch.h. For callers that don't depend on the kind. CPL 0.
 */
#ifndef PMU_LBR_ANY_H
#define PMU_LBR_ANY_H

#include "pmu/lbr/lbr.h"

/* 0: there are none, or none that this program supports. */
unsigned lbr_any_depth(void);

/* The write that starts recording of all branches; writing 0 to the same register stops it. */
struct lbr_switch {
	u32 msr;
	u64 on;
	const char *name;		/* of the bit without which nothing is recorded */
};
struct lbr_switch lbr_any_switch(void);

/* Recording off, each entry 0, every branch let in. Recording off. */
void lbr_any_open(void);
void lbr_any_close(void);
void lbr_any_read(struct lbr_stack *stack);

#endif
