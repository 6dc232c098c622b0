/* SPDX-License-Identifier: MIT */
/* See clock.h. */
#include "refpmu/hv/instructions.h"
#include "refpmu/selftest/clock.h"
#include "spec/msr.h"

#define ROUNDS		100000
#define BETWEEN		16	/* most instructions from reading one to the other */
#define ALL_LEVELS	3ULL
#define WAIT		1000000	/* looks at a clock that stands */
#define MARK		0x5a5a1234u

static u64 reference_cycles(void)
{
	u32 low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(BIT(30) | 2));
	return (u64)high << 32 | low;
}

static void loop(void)
{
	u64 left = ROUNDS;

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(left));
}

/* RDTSCP reads the same, later, and IA32_TSC_AUX. */
static bool rdtscp_agrees(void)
{
	u64 before = tsc(), value;
	u32 low, high, mark;

	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(mark));
	value = (u64)high << 32 | low;
	return mark == MARK && value - before < BITS(0, 62) && tsc() - value < BITS(0, 62);
}

/* Each of the two is read around the other one. */
static const char *compare(void)
{
	u64 before = tsc(), reference = reference_cycles(), from = tsc(), ticks, cycles;

	loop();
	ticks = tsc() - from;
	cycles = reference_cycles() - reference;
	if (from - before > 2 * BETWEEN)
		return "the TSC was ahead of reference cycles between two readings of it";
	if (!rdtscp_agrees())
		return "RDTSCP while reference cycles are counted";
	if (cycles < 2 * ROUNDS)
		return "reference cycles were not counted";
	return cycles - ticks > 2 * BETWEEN ? "the TSC and reference cycles differ" : NULL;
}

const char *clock_by_reference(void)
{
	const char *wrong;
	u64 before, counted, after;

	msr_write(MSR_IA32_TSC_AUX, MARK);
	before = tsc();
	msr_write(MSR_IA32_FIXED_CTR0 + 2, 0);
	msr_write(MSR_IA32_FIXED_CTR_CTRL, ALL_LEVELS << 2 * IA32_FIXED_CTR_CTRL_EN1_SHIFT);
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, BIT(IA32_PERF_GLOBAL_CTRL_EN_FIXED_CTR_SHIFT + 2));
	counted = tsc();
	wrong = compare();
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 0);
	after = tsc();
	if (wrong)
		return wrong;
	if (!rdtscp_agrees())
		return "RDTSCP when nothing is counted";
	if (counted - before > BITS(0, 62) || after - counted > BITS(0, 62))
		return "the TSC went back";
	for (unsigned i = 0; i < WAIT; i++)
		if (tsc() - after > 2 * ROUNDS)
			return NULL;
	return "the TSC stands, when nothing is counted";
}
