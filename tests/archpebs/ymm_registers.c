/* SPDX-License-Identifier: MIT */
/* See ymm_registers.h. SDM volume 1, "Detection of AVX Instructions"; volume 2, XGETBV, XSETBV. */
#include "tests/archpebs/ymm_registers.h"

#include "kernel/processor/cpu.h"
#include "kernel/processor/cpuid.h"
#include "spec/x86.h"

#define ECX_XSAVE	BIT(26)		/* CPUID.01H */
#define ECX_AVX		BIT(28)
#define VECTOR_STATE	(XSTATE_X87 | XSTATE_SSE | XSTATE_AVX)

#define EACH_YMM(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

static u64 cr4_before, xcr0_before;

static u64 xgetbv(void)
{
	u32 low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (u64)high << 32 | low;
}

static void xsetbv(u64 value)
{
	__asm__ volatile("xsetbv" ::"a"((u32)value), "d"((u32)(value >> 32)), "c"(0) : "memory");
}

bool ymm_are_there(void)
{
	const u32 both = ECX_XSAVE | ECX_AVX;

	return (cpuid_read(1, 0).ecx & both) == both;
}

void ymm_begin(const struct ymm_halves *halves)
{
	cr4_before = cr4_read();
	cr4_write(cr4_before | CR4_OSXSAVE);
	xcr0_before = xgetbv();
	xsetbv(xcr0_before | VECTOR_STATE);
#define LOAD(n) \
	__asm__ volatile("vinsertf128 $1, %0, %%ymm" #n ", %%ymm" #n ::"m"(halves->quad[2 * (n)]) \
			 : "memory");
	EACH_YMM(LOAD)
#undef LOAD
}

void ymm_end(void)
{
	__asm__ volatile("vzeroupper");
	xsetbv(xcr0_before);
	cr4_write(cr4_before);
}
