/* SPDX-License-Identifier: MIT */
/*
 * XMM0 to XMM15 of the calling processor. The harness is compiled without vector registers, so
 * loaded values stay while the harness, or a workload without them, runs.
 */
#ifndef TESTS_MEASURE_XMM_REGISTERS_H
#define TESTS_MEASURE_XMM_REGISTERS_H

#include "spec/types.h"

#define XMM_REGISTERS	16u
#define XMM_BYTES	16u

struct xmm_registers {
	u64 half[2 * XMM_REGISTERS];	/* bits 63:0 of XMMn, then bits 127:64 */
} __attribute__((aligned(XMM_BYTES)));

#define EACH_XMM(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

static inline void xmm_save(struct xmm_registers *to)
{
#define SAVE(n)	__asm__ volatile("movups %%xmm" #n ", %0" : "=m"(to->half[2 * (n)])::"memory");
	EACH_XMM(SAVE)
#undef SAVE
}

static inline void xmm_load(const struct xmm_registers *from)
{
#define LOAD(n)	__asm__ volatile("movups %0, %%xmm" #n : : "m"(from->half[2 * (n)]) : "memory");
	EACH_XMM(LOAD)
#undef LOAD
}

/* Fill all halves with different values, which also depend on number. */
static inline void xmm_fill(struct xmm_registers *registers, unsigned number)
{
	for (unsigned i = 0; i < 2 * XMM_REGISTERS; i++)
		registers->half[i] = 0xb1c2d300e4f5a600ULL + 0x0000010100000003ULL * i +
				     0x0100000000010000ULL * number;
}

#endif
