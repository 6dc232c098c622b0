/* SPDX-License-Identifier: MIT */
/* See arch.h. Every write to IA32_LBR_DEPTH, also of the same value, clears the entries (Linux,
 * intel_pmu_arch_lbr_reset). */
#include "pmu/lbr/arch.h"

#include "kernel/interrupt/fault.h"
#include "kernel/processor/cpuid.h"
#include "pmu/counter.h"

#define LEAF	0x1cu

struct lbr_leaf arch_lbr_leaf(void)
{
	struct cpuid r;

	if (!counter_caps()->arch_lbr || cpuid_get(CPUID_MAX_LEAF) < LEAF)
		return (struct lbr_leaf){ 0 };
	r = cpuid_read(LEAF, 0);
	return lbr_leaf_decode(r.eax, r.ebx, r.ecx);
}

unsigned arch_lbr_depth(void)
{
	u64 depth;

	if (!counter_caps()->arch_lbr || msr_try_read(MSR_IA32_LBR_DEPTH, &depth).raised)
		return 0;
	return depth > ARCH_LBR_MAX_ENTRIES ? 0 : (unsigned)depth;
}

u64 arch_lbr_everything(void)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();

	return lbr_leaf_control(&leaf) & ~IA32_LBR_CTL_CALL_STACK;
}

void arch_lbr_open(unsigned depth)
{
	msr_write(MSR_IA32_LBR_CTL, 0);
	msr_write(MSR_IA32_LBR_DEPTH, depth);
}

void arch_lbr_close(void)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();

	arch_lbr_open(lbr_leaf_deepest(&leaf));
}

struct lbr_raw arch_lbr_entry(unsigned i)
{
	return (struct lbr_raw){
		.from = msr_read(MSR_IA32_LBR_0_FROM_IP + i),
		.to = msr_read(MSR_IA32_LBR_0_TO_IP + i),
		.info = msr_read(MSR_IA32_LBR_0_INFO + i),
	};
}

void arch_lbr_put(unsigned i, const struct lbr_raw *raw)
{
	msr_write(MSR_IA32_LBR_0_FROM_IP + i, raw->from);
	msr_write(MSR_IA32_LBR_0_TO_IP + i, raw->to);
	msr_write(MSR_IA32_LBR_0_INFO + i, raw->info);
}

void arch_lbr_read(struct lbr_stack *stack)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const bool rtm = cpuid_get(CPUID_RTM);

	u64 from[ARCH_LBR_MAX_ENTRIES], to[ARCH_LBR_MAX_ENTRIES], info[ARCH_LBR_MAX_ENTRIES];

	*stack = (struct lbr_stack){ .depth = arch_lbr_depth() };
	msr_read_row(MSR_IA32_LBR_0_FROM_IP, stack->depth, from);
	msr_read_row(MSR_IA32_LBR_0_TO_IP, stack->depth, to);
	msr_read_row(MSR_IA32_LBR_0_INFO, stack->depth, info);
	for (unsigned i = 0; i < stack->depth; i++) {
		stack->raw[i] = (struct lbr_raw){ from[i], to[i], info[i] };
		stack->branch[i] = lbr_arch_decode(&leaf, rtm, &stack->raw[i]);
	}
}

unsigned arch_lbr_count(const struct lbr_stack *stack)
{
	unsigned count = 0;

	while (count < stack->depth && stack->raw[count].from)
		count++;
	return count;
}
