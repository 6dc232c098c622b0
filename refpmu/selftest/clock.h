/* SPDX-License-Identifier: MIT */
/*
 * Under latitude tsc-by-reference: while reference cycles are counted the TSC advances with them,
 * and after that with the machine's time, never back.
 */
#ifndef REFPMU_SELFTEST_CLOCK_H
#define REFPMU_SELFTEST_CLOCK_H

/* NULL, or what went wrong. */
const char *clock_by_reference(void);

#endif
