/* SPDX-License-Identifier: MIT */
/*
 * Data and code on one page, as on a stack: the code stores beside itself again and again. The
 * counts must be right, and blocks must not be left for each store.
 */
#ifndef REFPMU_SELFTEST_SMC_SHARED_PAGE_H
#define REFPMU_SELFTEST_SMC_SHARED_PAGE_H

#include "spec/types.h"

/* On the engine that is on; `fast`: it is the fast one. Under machine_enter(). NULL, or what was
 * wrong. */
const char *smc_shared_page_check(bool fast);

#endif
