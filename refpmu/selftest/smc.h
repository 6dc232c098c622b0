/* SPDX-License-Identifier: MIT */
/*
 * Code that changes while counters count: its linear address is mapped to other memory, or the
 * memory is written through another linear address. The processor must run the new code and count
 * its events, on both engines. On the first processor, under machine_enter().
 */
#ifndef REFPMU_SELFTEST_SMC_H
#define REFPMU_SELFTEST_SMC_H

#include "spec/types.h"

struct smc_counts {
	u64 result, instructions, branches;
};

/* Run code(argument) with counters on. The counts of an empty function, except its RET, are
 * subtracted. */
void smc_measure(u64 (*code)(void *), void *argument, struct smc_counts *counts);

/* Write a function that returns `value` after `nops` NOPs, less than 40, and takes two
 * instructions more: at most 48 bytes. */
void smc_write(volatile u8 *to, u32 value, unsigned nops);

/* Test all ways of changing code, on the selected engine. NULL, or the first way that went
 * wrong. */
const char *smc_check(void);

#endif
