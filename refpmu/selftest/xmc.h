/* SPDX-License-Identifier: MIT */
/*
 * Cross-modifying code: while this processor's counters count, another processor changes the code
 * that it runs, or its page tables. After init_storm_open(), under machine_enter(), with another
 * processor there.
 */
#ifndef REFPMU_SELFTEST_XMC_H
#define REFPMU_SELFTEST_XMC_H

#include "spec/types.h"

/* Test all ways, on the selected engine, with and without counters on the other processor. NULL, or
 * the first way that went wrong. */
const char *xmc_check(void);

#endif
