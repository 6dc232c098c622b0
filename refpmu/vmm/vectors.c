/* SPDX-License-Identifier: MIT */
/* See vectors.h. */
#include "refpmu/vmm/vectors.h"

#include "refpmu/hv/cpu.h"
#include "refpmu/hv/svm.h"

#define VECTOR_BYTES	256		/* sixteen registers, sixteen bytes each */

void vectors_xmm(void *ctx, u8 *bytes)
{
	u8 area[FXSAVE_BYTES] __attribute__((aligned(16)));

	(void)ctx;
	fxsave(area);
	__builtin_memcpy(bytes, area + FXSAVE_XMM, VECTOR_BYTES);
}

bool vectors_ymmh(void *ctx, u8 *bytes)
{
	u8 area[XSAVE_AVX_OFFSET + VECTOR_BYTES] __attribute__((aligned(64)));
	const struct cpu *cpu = ctx;
	bool enabled;
	u64 cr4;

	if (!begin_xsave(cpu->vmcb->save.cr4, &cr4))
		return false;
	enabled = xcr0() & XSTATE_AVX;
	if (enabled) {
		__builtin_memset(area, 0, sizeof(area));
		__asm__ volatile("xsave64 (%0)"
				 :
				 : "r"(area), "a"((u32)XSTATE_AVX), "d"(0)
				 : "memory");
		__builtin_memcpy(bytes, area + XSAVE_AVX_OFFSET, VECTOR_BYTES);
	}
	end_xsave(cr4);
	return enabled;
}
