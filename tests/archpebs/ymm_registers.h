/* SPDX-License-Identifier: MIT */
/*
 * The upper halves of YMM0 to YMM15 of the calling processor. They are enabled between ymm_begin()
 * and ymm_end(), which restores XCR0 and CR4 and sets the halves to 0. Needs CPUID.01H:ECX[28]
 * (AVX) and CPL 0.
 */
#ifndef TESTS_ARCHPEBS_YMM_REGISTERS_H
#define TESTS_ARCHPEBS_YMM_REGISTERS_H

#include "spec/types.h"

#define YMM_REGISTERS	16u

struct ymm_halves {
	u64 quad[2 * YMM_REGISTERS];	/* bits 191:128 of YMMn, then bits 255:192 */
};

bool ymm_are_there(void);
void ymm_begin(const struct ymm_halves *halves);
void ymm_end(void);

#endif
