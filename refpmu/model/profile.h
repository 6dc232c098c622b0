/* SPDX-License-Identifier: MIT */
/* Names for refpmu/model/profile.def: PROFILE_<token>. With PROFILE_NONE only the knobs' own ranges
 * apply. */
#ifndef REFPMU_MODEL_PROFILE_H
#define REFPMU_MODEL_PROFILE_H

enum profile_id {
	PROFILE_NONE,
#define PROFILE(token, name, title) PROFILE_##token,
#include "refpmu/model/profile.def"
	PROFILE_COUNT
};

/* Known behaviour of a platform, bits of a set. */
enum profile_fact {
	FACT_KVM_SIGNATURE	= 1 << 0,	/* CPUID names a hypervisor */
	FACT_NO_PEBS		= 1 << 1,	/* neither PEBS nor DS area nor their MSRs */
	FACT_NO_ANYTHREAD	= 1 << 2,	/* the AnyThread bits are reserved */
	FACT_NO_UNCORE		= 1 << 3,	/* OVF_CTRL[61] is reserved */
	FACT_DEBUGCTL_EMPTY	= 1 << 4,	/* nothing in IA32_DEBUGCTL can be set */
	FACT_FIXED_ANY_WIDTH	= 1 << 5,	/* bits above a fixed counter's width are dropped */
	FACT_RDPMC_BIT_31	= 1 << 6,	/* RDPMC ignores ECX[31] */
	FACT_UNKNOWN_MODEL	= 1 << 7,	/* a model that generation.def has no row for */
	FACT_HYPERV_SIGNATURE	= 1 << 8,	/* as KVM_SIGNATURE */
	FACT_VMWARE_SIGNATURE	= 1 << 9,	/* likewise */
	FACT_NO_OFFCORE		= 1 << 10,	/* no off-core response registers */
	FACT_PERFMON_2		= 1 << 11,	/* CPUID shows no later version than 2 */
	FACT_PERFMON_1		= 1 << 12,	/* CPUID shows version 1, without counters */
	FACT_NO_PMU		= 1 << 13,	/* neither CPUID leaf 0AH nor the PMU's registers */
	FACT_MSRS_IGNORED	= 1 << 14,	/* absent registers read 0 and ignore writes */
	FACT_HYBRID		= 1 << 15,	/* two types of cores; 0AH says what both have */
	FACT_ARCH_LBR = 1 << 16, /* architectural LBRs, whatever the generation has */
	FACT_MISC_ENABLE_FIXED = 1 << 17, /* IA32_MISC_ENABLE[12:11]: a write that changes them is
					     #GP */
	FACT_TIME_BY_RDPMC = 1
			     << 18, /* RDPMC of 10000H to 10002H reads a time: VMware's interface */
	FACT_LVTPC_UNMASKED	= 1 << 19,	/* delivery doesn't mask LVTPC */
	FACT_OVF_CTRL_PASSED = 1 << 20, /* IA32_PERF_GLOBAL_OVF_CTRL is the processor's own */
	FACT_BASIC_PEBS = 1 << 21, /* records of format 4 without baseline; no load latency */
	FACT_PEBS_OFF		= 1 << 22,	/* not from a profile: a personality without PEBS */
	/* An access of an MSR, or RDPMC, is the hypervisor's: counters of instructions count it
	 * whatever their CMASK, INV and E are; or they don't. */
	FACT_EXITS_COUNT	= 1 << 23,
	FACT_EXITS_UNCOUNTED	= 1 << 24,
	FACT_ANYTHREAD_UNTOLD = 1 << 25, /* CPUID.0AH:EDX[15] is 0, with NO_ANYTHREAD too */
	FACT_IN_TX_OPEN = 1 << 26, /* IN_TX and IN_TXCP can be set without transactions */
	FACT_NAMED_MODEL = 1 << 27, /* the brand is the hypervisor's own */
	FACT_XEN_SIGNATURE = 1 << 28, /* as KVM_SIGNATURE */
	FACT_END		= 1 << 29,
	FACT_WITHOUT_PEBS = FACT_NO_PEBS | FACT_PEBS_OFF,
};

/* Each has a bit of its own. */
_Static_assert((FACT_KVM_SIGNATURE + FACT_NO_PEBS + FACT_NO_ANYTHREAD + FACT_NO_UNCORE +
		FACT_DEBUGCTL_EMPTY + FACT_FIXED_ANY_WIDTH + FACT_RDPMC_BIT_31 +
		FACT_UNKNOWN_MODEL + FACT_HYPERV_SIGNATURE + FACT_VMWARE_SIGNATURE +
		FACT_NO_OFFCORE + FACT_PERFMON_2 + FACT_PERFMON_1 + FACT_NO_PMU +
		FACT_MSRS_IGNORED + FACT_HYBRID + FACT_ARCH_LBR + FACT_MISC_ENABLE_FIXED +
		FACT_TIME_BY_RDPMC + FACT_LVTPC_UNMASKED + FACT_OVF_CTRL_PASSED + FACT_BASIC_PEBS +
		FACT_PEBS_OFF + FACT_EXITS_COUNT + FACT_EXITS_UNCOUNTED + FACT_ANYTHREAD_UNTOLD +
		FACT_IN_TX_OPEN + FACT_NAMED_MODEL + FACT_XEN_SIGNATURE) == FACT_END - 1,
	       "29 bits");

#endif
