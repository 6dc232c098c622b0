/* SPDX-License-Identifier: MIT */
/*
 * Data and code on one page, as on a stack: the code repeatedly stores to its own page. The counts
 * must be right, and not every store may exit from the blocks.
 */
#ifndef REFPMU_SELFTEST_SMC_SHARED_PAGE_H
#define REFPMU_SELFTEST_SMC_SHARED_PAGE_H

#include "spec/types.h"

/* Test it on the selected engine; fast: this is the engine `fast`. Under machine_enter(). NULL, or
 * what was wrong. */
const char *smc_shared_page_check(bool fast);

#endif
