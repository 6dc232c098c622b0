/* SPDX-License-Identifier: MIT */
/*
 * Another counter that counts beside that of a window. What a counter does mustn't depend on it, so
 * in every other window of one counter one more general-purpose counter counts branches.
 */
#ifndef TESTS_MEASURE_COMPANY_H
#define TESTS_MEASURE_COMPANY_H

#include "pmu/counter.h"

/*
 * What else is to be switched on in a window of these counters: the general-purpose counter after
 * them, or the first one, from 0 on and without an interrupt. None in every other window, of several
 * counters, where that counter isn't 0 and off, beside an event that is taken alone, and under a
 * hypervisor, whose host may have no counter left. On the first processor only.
 */
struct pmc_mask company_begin(struct pmc_mask used);
/* After the window: it is off and 0. */
void company_end(struct pmc_mask company);
/* That of the last window. */
struct pmc_mask company_last(void);

#endif
