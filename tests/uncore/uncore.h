/* SPDX-License-Identifier: MIT */
/*
 * Steps of the uncore's tests. The fixed counter counts the uncore's clock, so it wraps without any
 * load. The number of a core in the uncore isn't known, so all four are selected for interrupts.
 */
#ifndef TESTS_UNCORE_UNCORE_H
#define TESTS_UNCORE_UNCORE_H

#include "pmu/uncore.h"
#include "tests/frame/test.h"

/* Figures of the section. */
#define EN_FC0		BIT(32)
#define EN_PMI_CORE_FIRST 48	/* number of the bit of a core */
#define EN_PMI_CORE_LAST 51
#define EN_PMI_CORES	BITS(EN_PMI_CORE_FIRST, EN_PMI_CORE_LAST)
#define PMI_FRZ		BIT(63)
#define OVF_FC0		BIT(32)
#define OVF_PMI		BIT(61)
/* Table 35-13: UNC_Ovf. */
#define CORE_UNC_OVF	BIT(61)

/* Chapter 19, uncore events: reads that hit the L3; that miss it, one for each load of a flushed
 * line. */
#define UNC_L3_HITS_READ	0x0108
#define UNC_L3_MISS_READ	0x0109
#define MISSES			64
/* Figure 18-25: edge detect, PMI, INV, CMASK. */
#define UNCORE_EDGE		BIT(18)
#define UNCORE_PMI		BIT(20)
#define UNCORE_INVERT		BIT(23)
#define UNCORE_CMASK(n)		((u64)(n) << 24)
/* Every clock has fewer than 255 events: with this a counter counts clocks, whatever its event. */
#define UNCORE_CLOCKS		(UNCORE_CMASK(255) | UNCORE_INVERT)

/*
 * Program the fixed counter, with its interrupt enable or without. The last general-purpose counter
 * has an event and its local enable then too, and counts nothing without its bit of the global
 * control: where none of these counters is programmed, Nehalem may ignore the fixed counter's
 * interrupts (erratum AAJ084).
 */
void uncore_program_fixed(bool pmi);
/* Let the fixed counter wrap, with or without its interrupt enable, and with these bits of the
 * global control. Bounded: after a wrap that wasn't seen, the next wait is shorter. */
void uncore_wrap(bool pmi, u64 control);
void uncore_wait_for_wrap(void);

/* Wait several hundred of the uncore's clocks. */
void uncore_spin(void);
/* Does the fixed counter move? */
bool uncore_moves(void);

/* A general-purpose counter, enabled locally, counts UNC_L3_MISS_READ from 0 with these bits of its
 * event select. */
void uncore_count_filtered(unsigned counter, u64 bits);

/* Those of EN_PMI_CORES that the register takes: "n = 0, 3 if four cores are present". */
u64 uncore_cores(void);
/* Has this processor's core one of them? A package with more than four cores may have some that
 * haven't. false: the test is INCONCLUSIVE. */
bool uncore_reaches(struct test *t);

/* Everything off and clear, the core's status and debug control too. */
void uncore_off(void);

#endif
