/* SPDX-License-Identifier: MIT */
/*
 * Code that changes while counters count: under the same linear address comes other memory, or the
 * memory is written through another linear address. What runs must be the new code, and the counts
 * its counts, on both engines. On the first processor, under machine_enter().
 */
#ifndef REFPMU_SELFTEST_SMC_H
#define REFPMU_SELFTEST_SMC_H

#include "spec/types.h"

struct smc_counts {
	u64 result, instructions, branches;
};

/* Run code(argument) with counters on; without what an empty function takes, but for its RET. */
void smc_measure(u64 (*code)(void *), void *argument, struct smc_counts *counts);

/* Write a function that returns `value` after `nops` NOPs, less than 40, and takes two
 * instructions more: at most 48 bytes. */
void smc_write(volatile u8 *to, u32 value, unsigned nops);

/* All ways of changing it, on the engine that is on. NULL, or the first one that went wrong. */
const char *smc_check(void);

#endif
