/* SPDX-License-Identifier: MIT */
/*
 * C names for spec/msr.def: MSR_<name> for addresses, <msr>_<field> for masks and
 * <msr>_<field>_SHIFT for the lowest bit of a field.
 */
#ifndef SPEC_MSR_H
#define SPEC_MSR_H

#include "spec/types.h"

enum msr_address {
#define MSR(name, address, cap, source) MSR_##name = (address),
#include "spec/msr.def"
};

enum {
#define MSR_FIELD(msr, field, lo, hi, cap, access, source) msr##_##field##_SHIFT = (lo),
#include "spec/msr.def"
};

/* Field masks are 64-bit constants; an enumeration can't hold bit 63 portably. */
#define MSR_FIELD(msr, field, lo, hi, cap, access, source) \
	static const u64 msr##_##field __attribute__((unused)) = BITS(lo, hi);
#include "spec/msr.def"

/*
 * Which processors have an MSR, and which of a field's bits exist on one. The reader (the model,
 * a test) turns each name into a mask of bit positions relative to the field's lowest bit.
 */
enum spec_cap {
	CAP_ALWAYS,		/* every processor that has the MSR */
	CAP_V2, CAP_V3, CAP_V4,	/* CPUID.0AH:EAX[7:0] >= 2, 3, 4 */
	CAP_GP_MASK,		/* bit n: general-purpose counter n exists */
	CAP_FIXED_MASK,		/* bit n: fixed counter n exists */
	CAP_FIXED0, CAP_FIXED1, CAP_FIXED2, CAP_FIXED3,
	CAP_ANYTHREAD,		/* CAP_V3, and CPUID.0AH:EDX[15] is 0 */
	CAP_FIXED0_ANYTHREAD, CAP_FIXED1_ANYTHREAD, CAP_FIXED2_ANYTHREAD,
	CAP_PEBS_MASK,		/* bit n: counter n can do PEBS */
	CAP_LL_MASK,		/* bit n: counter n can do load latency, with an enable bit */
	CAP_LL,			/* load latency exists */
	CAP_PRECISE_STORE,
	CAP_DS,			/* CPUID.01H:EDX[21] */
	CAP_SMM_FREEZE,		/* IA32_PERF_CAPABILITIES[12] */
	CAP_RTM,		/* CPUID.07H:EBX[11] or [4] */
	CAP_RTM_PMC2,		/* as CAP_RTM, and only in IA32_PERFEVTSEL2 */
	CAP_FW_WRITE,		/* IA32_PERF_CAPABILITIES[13] */
	CAP_OFFCORE,		/* off-core response: one register */
	CAP_OFFCORE_2,		/* off-core response: two */
	CAP_OFFCORE_NHM,	/* with the fields of Nehalem and Westmere */
	CAP_OFFCORE_SNB,	/* with the fields of Sandy Bridge and later */
	CAP_UNCORE,		/* the uncore of Nehalem and Westmere */
	CAP_UNCORE_CLIENT,	/* the uncore's global registers of Skylake's client parts */
	CAP_FRONTEND,		/* MSR_PEBS_FRONTEND */
	CAP_FRONTEND_MS,	/* its bit 3 */
	CAP_LBR_CORE2,		/* last branch records at 40H and 60H: of Core 2 alone */
	CAP_LBR,		/* last branch records at 680H and 6C0H */
	CAP_LBR_CALL_STACK,	/* their call-stack mode */
	CAP_LBR_INFO,		/* their MSR_LBR_INFO_x: spec/lbr.def */
	CAP_LBR_TOS_MASK,	/* the index of their last entry: 3:0 of 16, 4:0 of 32 */
	CAP_ARCH_LBR,		/* CPUID.07H:EDX[19]: architectural last branch records */
	CAP_ARCH_LBR_CPL,	/* and CPUID.1CH:EBX[0] */
	CAP_ARCH_LBR_BRANCH,	/* and CPUID.1CH:EBX[1] */
	CAP_ARCH_LBR_CALL_STACK, /* and CPUID.1CH:EBX[2] */
	CAP_ARCH_LBR_LOG,	/* and CPUID.1CH:ECX[16 + n] of IA32_PERFEVTSELn */
	CAP_TSX_FORCE_ABORT,	/* CPUID.07H:EDX[13] */
	CAP_SGX,		/* CPUID.07H:EBX[2] */
	CAP_PT,			/* CPUID.07H:EBX[25] */
	CAP_BASELINE,		/* IA32_PERF_CAPABILITIES[14], and PEBS format 4 or more */
	CAP_BASELINE_FIXED0,	/* and that fixed counter exists */
	CAP_BASELINE_FIXED1,
	CAP_BASELINE_FIXED2,
	CAP_BASELINE_FIXED3,
	CAP_BASELINE_FIXED4, CAP_BASELINE_FIXED5, CAP_BASELINE_FIXED6,
	CAP_BASELINE_FIXED_MASK, /* and bit n: fixed counter n exists */
	CAP_PERF_METRICS,	/* IA32_PERF_CAPABILITIES[15] */
	CAP_METRICS_LEVEL_2,	/* its bits 63:32 */
	CAP_METRICS_CLEAR,	/* IA32_PERF_CAPABILITIES[19] */
	CAP_V6,			/* CPUID.0AH:EAX[7:0] >= 6 */
	CAP_FIXED4, CAP_FIXED5, CAP_FIXED6,
	/* CPUID leaf 23H. Sub-leaf 0: */
	CAP_UMASK2, CAP_EQ, CAP_RDPMC_USER_DISABLE,
	CAP_FIXED0_RDPMC_USER_DISABLE,	/* and the fixed counter exists */
	CAP_FIXED1_RDPMC_USER_DISABLE, CAP_FIXED2_RDPMC_USER_DISABLE,
	CAP_FIXED3_RDPMC_USER_DISABLE, CAP_FIXED4_RDPMC_USER_DISABLE,
	CAP_FIXED5_RDPMC_USER_DISABLE, CAP_FIXED6_RDPMC_USER_DISABLE,
	CAP_RELOAD,		/* sub-leaf 2: auto counter reload */
	CAP_CAUSE_GP, CAP_CAUSE_FIXED,	/* bit n: its counter n can reload others */
	CAP_RELOAD_METRICS,	/* and MSR_PERF_METRICS exists */
	CAP_ARCH_PEBS,		/* sub-leaves 4 and 5: architectural PEBS */
	CAP_CFG_C,		/* sub-leaf 2 or 5 */
	CAP_CFG_C_BY_LEAF,	/* the bit of sub-leaf 4's EBX that is 32 lower is 1 */
	CAP_CFG_C_PEBS,		/* sub-leaf 5 has the counter */
	CAP_SNAPSHOT,		/* IA32_PERF_CAPABILITIES[11:8] = 6 */
};

/* Member n of the banks from 1900H on is so much times n above the first. */
#define V6_BANK_STRIDE	4
/* IA32_PEBS_BASE[3:0] = 0, in bytes; and what WR and THRESH of IA32_PEBS_INDEX count. */
#define ARCH_PEBS_LEAST_BUFFER	0x1000
#define ARCH_PEBS_UNIT		16

/* Access kinds of a field, see spec/msr.def. */
enum spec_access { RW, RO, WO1 };

/* RDPMC's ECX: "RDPMC, Read Performance-Monitoring Counters". */
#define RDPMC_FIXED	BIT(30)		/* ECX[30]: fixed-function counter, index in ECX[29:0] */
#define RDPMC_METRICS	BIT(29)		/* type 2000H: MSR_PERF_METRICS (confirmed) */

#endif
