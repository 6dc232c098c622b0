/* SPDX-License-Identifier: MIT */
/*
 * Cross-modifying code: another processor changes what this one runs while its counters count, or
 * the page tables that it runs by. After init_storm_open(), under machine_enter(), with another
 * processor there.
 */
#ifndef REFPMU_SELFTEST_XMC_H
#define REFPMU_SELFTEST_XMC_H

#include "spec/types.h"

/* All ways, on the engine that is on, with the other processor counting and not. NULL, or the
 * first one that went wrong. */
const char *xmc_check(void);

#endif
