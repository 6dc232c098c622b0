/* SPDX-License-Identifier: MIT */
/* Faults of CPUID and IA32_PERF_CAPABILITIES. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/goldencove/goldencove.h"
#include "refpmu/faults/icelake/version5.h"
#include "refpmu/faults/kvm/kvm.h"

#define BRANCH_EVENT	5	/* of CPUID.0AH:EBX: branch instructions retired */

unsigned fault_gp_counters(const struct model *m, unsigned count)
{
	return m->config.fault == FAULT_GP_COUNTERS_EIGHT && count ? 8 : count;
}

u64 fault_perf_capabilities(struct model *m, u64 value)
{
	/* Changes format 1 to 2, and 2 to 1. */
	const u64 other = (1 ^ 2) << IA32_PERF_CAPABILITIES_PEBS_FMT_SHIFT;

	value = fault_glc_capabilities(m, fault_kvm_capabilities(m, value));
	if (m->thread && broken(m, FAULT_SECOND_THREAD_OTHER_LBRS))
		value ^= 1;
	if (broken(m, FAULT_CAPABILITIES_TRAP_MISSING))
		value &= ~(u64)IA32_PERF_CAPABILITIES_PEBS_TRAP;
	if (broken(m, FAULT_CAPABILITIES_REGISTERS_MISSING))
		value &= ~(u64)IA32_PERF_CAPABILITIES_PEBS_ARCH_REG;
	if (broken(m, FAULT_FORMAT_0))
		return value & ~(u64)IA32_PERF_CAPABILITIES_PEBS_FMT;
	return broken(m, FAULT_FORMAT_OTHER) ? value ^ other : value;
}

enum {
#define CPUID_FIELD(name, leaf, subleaf, reg, lo, hi, source) \
	FIELD_##name##_LO = (lo), FIELD_##name##_HI = (hi),
#include "spec/cpuid.def"
};

void fault_cpuid_version(struct model *m, u32 regs[4])
{
	enum { EAX, EBX, ECX, EDX };

	if (broken(m, FAULT_CPUID_DS_HIDDEN))
		regs[EDX] &= ~(1u << FIELD_DS_LO);
	if (broken(m, FAULT_CPUID_DTES64_HIDDEN))
		regs[ECX] &= ~(1u << FIELD_DTES64_LO);
}

void fault_cpuid_perfmon(struct model *m, u32 subleaf, u32 regs[4])
{
	enum { EAX, EBX, ECX, EDX };

	if (subleaf && broken(m, FAULT_CPUID_0AH_SUBLEAF))
		for (unsigned i = 0; i < 4; i++)
			regs[i] = 0;
	if (!regs[EAX])
		return;
	fault_v5_cpuid(m, regs);
	fault_kvm_perfmon(m, regs);
	if (regs[EDX] & 1u << FIELD_ANYTHREAD_DEPRECATED_LO &&
	    broken(m, FAULT_CPUID_ANYTHREAD_SHOWN))
		regs[EDX] &= ~(1u << FIELD_ANYTHREAD_DEPRECATED_LO);
	if (broken(m, FAULT_CPUID_EVENT_HIDDEN))
		regs[EBX] |= 1u << (FIELD_EVENTS_ABSENT_LO + BRANCH_EVENT);
	if (regs[EBX] && broken(m, FAULT_CPUID_EVENT_SHOWN))
		regs[EBX] = 0;
	if (broken(m, FAULT_CPUID_FIXED_MISSING))
		regs[EDX] -= 1u << FIELD_FIXED_COUNTERS_LO;
	if (broken(m, FAULT_CPUID_FIXED_WIDTH_40))
		regs[EDX] = (regs[EDX] & ~(u32)BITS(FIELD_FIXED_WIDTH_LO, FIELD_FIXED_WIDTH_HI)) |
			    40u << FIELD_FIXED_WIDTH_LO;
	if (broken(m, FAULT_CPUID_COUNTER_MISSING))
		regs[EAX] -= 1u << FIELD_GP_COUNTERS_LO;
	if (m->thread && broken(m, FAULT_SECOND_THREAD_TELLS_EIGHT))
		regs[EAX] = (regs[EAX] & ~(u32)BITS(FIELD_GP_COUNTERS_LO, FIELD_GP_COUNTERS_HI)) |
			    (u32)model_generation(m)->gp_no_ht << FIELD_GP_COUNTERS_LO;
	if (m->thread && broken(m, FAULT_SECOND_THREAD_OTHER_EVENTS))
		regs[EBX] ^= 1u << (FIELD_EVENTS_ABSENT_LO + BRANCH_EVENT);
	if (m->thread && broken(m, FAULT_SECOND_THREAD_FEWER_FIXED))
		regs[EDX] -= 1u << FIELD_FIXED_COUNTERS_LO;
	if (broken(m, FAULT_CPUID_WIDTH_40))
		regs[EAX] = (regs[EAX] & ~(u32)BITS(FIELD_GP_WIDTH_LO, FIELD_GP_WIDTH_HI)) |
			    40u << FIELD_GP_WIDTH_LO;
}
