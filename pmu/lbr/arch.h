/* SPDX-License-Identifier: MIT */
/*
 * Architectural last branch records of the processor that calls: CPUID.07H:EDX[19]. They record
 * while IA32_LBR_CTL[0] is 1. The caller writes this register, like IA32_DEBUGCTL[0] for the legacy
 * ones (lbr.h). CPL 0.
 */
#ifndef PMU_LBR_ARCH_H
#define PMU_LBR_ARCH_H

#include "pmu/lbr/arch_format.h"
#include "pmu/lbr/lbr.h"

/* IA32_PERFEVTSELx[35], EN_LBR_LOG: entries contain the number of the counter's events, if leaf 1CH
 * lists the counter. */
#define COUNT_LBR_LOG	IA32_PERFEVTSEL_EN_LBR_LOG

/* CPUID leaf 1CH; all 0 if there are none. */
struct lbr_leaf arch_lbr_leaf(void);
/* IA32_LBR_DEPTH; 0: there are none. */
unsigned arch_lbr_depth(void);
/* IA32_LBR_CTL that records everything: each bit but call-stack mode. */
u64 arch_lbr_everything(void);

/* Recording off, this depth, each entry 0. */
void arch_lbr_open(unsigned depth);
/* Recording off, the greatest depth, each entry 0: as after RESET. */
void arch_lbr_close(void);

/* Read the registers of entry i, or of all entries, newest first. Recording must be off. */
struct lbr_raw arch_lbr_entry(unsigned i);
void arch_lbr_put(unsigned i, const struct lbr_raw *raw);
void arch_lbr_read(struct lbr_stack *stack);
/* Entries before the first one that is 0. */
unsigned arch_lbr_count(const struct lbr_stack *stack);

#endif
