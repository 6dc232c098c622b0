/* SPDX-License-Identifier: MIT */
/*
 * The PMU as its owner, the firmware, has left it: kept when a processor is first taken, said in
 * the log, and put back each time that it is given back. Firmware may count for itself, and leaves
 * control registers set (HP's servers: IA32_FIXED_CTR_CTRL = 330H). Overflow bits can't be put
 * back. Architectural registers; NetBurst's and the uncore's are given back as 0.
 */
#ifndef PMU_FOUND_H
#define PMU_FOUND_H

#include "kernel/output/tap.h"
#include "spec/types.h"

/* On the processor that calls, borrowed, with counter_init() done and nothing written yet. */
void found_keep(void);
/* Everything as it was; after a reset. */
void found_put_back(void);
/* The first register that isn't as it was, but for counters; NULL: none. */
const char *found_differs(void);
/* One comment: what was set on that processor. */
void found_describe(struct tap *tap, unsigned cpu);
/* A comment for each register, 0 or not: "rdmsr of processor 0: 0x1a0 = 0x850089 NAME". */
void found_list(struct tap *tap, unsigned cpu);

#endif
