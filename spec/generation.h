/* SPDX-License-Identifier: MIT */
/* Names for spec/generation.def: GEN_<id>, and sets of generations for the other tables' rows. */
#ifndef SPEC_GENERATION_H
#define SPEC_GENERATION_H

#include "spec/types.h"

enum generation_facility {
	FAC_FW_WRITE = 1 << 0,		/* IA32_PERF_CAPABILITIES[13] */
	FAC_SMM_FREEZE = 1 << 1,	/* IA32_PERF_CAPABILITIES[12] */
	FAC_DATALA = 1 << 2,		/* "PEBS Data Address Profiling" */
	FAC_PDIR = 1 << 3,		/* "Precise Distribution of Instructions Retired" */
	FAC_LOAD_LATENCY = 1 << 4,
	FAC_PRECISE_STORE = 1 << 5,
	FAC_TSX = 1 << 6,
	FAC_OFFCORE = 1 << 7,		/* MSR_OFFCORE_RSP_0 */
	FAC_OFFCORE_2 = 1 << 8,		/* and MSR_OFFCORE_RSP_1 */
	FAC_OFFCORE_SNB = 1 << 9,	/* their fields are those of Sandy Bridge, else Nehalem's */
	FAC_UNCORE = 1 << 10,		/* uncore counters as in "Uncore Performance Monitoring" */
	FAC_LL_ALONE = 1 << 11,		/* beside load latency no other PEBS event */
	FAC_LL_TAGGED = 1 << 12,	/* its event counts tagged loads only */
	FAC_STLB_LOCK = 1 << 13,	/* data source bits 5:4: Table 18-33 */
	FAC_NETBURST = 1 << 14,		/* the PMU of spec/netburst.def, no other */
	FAC_SETUP = 1 << 15,		/* errata AAK100, AAP53, BD53: counters want a set-up */
	FAC_LBR = 1 << 16,		/* last branch records at 680H and 6C0H, MSR_LBR_SELECT */
	FAC_LBR_CALL_STACK = 1 << 17,	/* MSR_LBR_SELECT[9] */
	FAC_FRONTEND = 1 << 18,		/* MSR_PEBS_FRONTEND */
	FAC_UNCORE_CLIENT = 1 << 19,	/* the uncore's global registers are at E01H and E02H */
	FAC_PEBS_BASELINE = 1 << 20, /* IA32_PERF_CAPABILITIES[14]: PEBS on every counter,
					MSR_PEBS_DATA_CFG */
	FAC_PERF_METRICS = 1 << 21,	/* IA32_PERF_CAPABILITIES[15]: MSR_PERF_METRICS */
	FAC_NO_ANYTHREAD = 1 << 22,	/* CPUID.0AH:EDX[15] */
	FAC_LL_UNARMED = 1 << 23,	/* load latency has no bits in IA32_PEBS_ENABLE */
	FAC_PDIR_FIXED = 1 << 24,	/* precise distribution is that of fixed counter 0 */
	FAC_ARCH_LBR = 1 << 25,		/* CPUID.07H:EDX[19], leaf 1CH; no FAC_LBR beside it */
	FAC_PDIST = 1 << 26,		/* fixed counter 0 and IA32_PMC0 record the event that
overflowed, from PDIST_LEAST_PERIOD events on */
	FAC_METRICS_LEVEL_2 = 1 << 27,	/* MSR_PERF_METRICS[63:32] */
	FAC_LL_SPLIT = 1 << 28,		/* the memory group's latency: ADAPTIVE_LATENCY */
	FAC_FRONTEND_MS = 1 << 29,	/* MSR_PEBS_FRONTEND[3] */
	FAC_RETIRE_LATENCY = 1 << 30,	/* IA32_PERF_CAPABILITIES[17] */
	FAC_PDIST_1 = 1u << 31,		/* FAC_PDIST on IA32_PMC1 too */
};

/* CPUID.1AH:EAX[31:24]. */
#define CORE_TYPE_SHIFT	24
#define CORE_TYPE_ATOM	0x20	/* an E-core */
#define CORE_TYPE_CORE	0x40

/* PDist: a start value nearer to overflow than this isn't honoured. A hypervisor that cites 21.9.6
 * says 256 events, Linux 128: above 256 both agree. */
#define PDIST_LEAST_PERIOD	256

enum generation_id {
#define GENERATION(id, ...) GEN_##id,
#include "spec/generation.def"
	GEN_COUNT,
	GEN_ARCH_COUNT = GEN_NETBURST,	/* those before it have CPUID leaf 0AH */
};

/* Bit n: the generation whose GEN_<id> is n. The columns `gens` of other tables hold these. */
enum generation_set {
#define GENERATION(id, ...) GENS_##id = 1 << GEN_##id,
#include "spec/generation.def"
	GENS_EVERY = (1 << GEN_COUNT) - 1,
	GENS_E_CORES = GENS_GRACEMONT | GENS_SIERRAFOREST | GENS_SKYMONT,
	/* Crestmont and later; those of them before version 6. */
	GENS_FROM_CMT = GENS_SIERRAFOREST | GENS_SKYMONT | GENS_CLEARWATERFOREST,
	GENS_CMT_SKT = GENS_SIERRAFOREST | GENS_SKYMONT,
	GENS_FROM_SKT = GENS_SKYMONT | GENS_CLEARWATERFOREST,
	/* Their cores have one logical processor. */
	GENS_ONE_THREAD = GENS_E_CORES | GENS_CLEARWATERFOREST,
	GENS_FROM_LNC = GENS_LUNARLAKE | GENS_PANTHERLAKE,	/* P-cores from Lion Cove on */
	/* CPUID.1CH:ECX[19:16] is 0FH: CPUID dumps of Lunar Lake, Arrow Lake-S and Panther Lake,
	 * both types of cores. Crestmont: of a server by a mail on Linux's branch counters, which
	 * says four. */
	GENS_LBR_LOG = GENS_FROM_CMT | GENS_FROM_LNC,
	/* Packages in which it is 0 on each core: dumps of Meteor Lake and Arrow Lake-U, Crestmont
	 * too. */
	GENS_LBR_LOG_ABSENT = GENS_METEORLAKE,
	/* Those with architectural PEBS. */
	GENS_ARCH_PEBS = GENS_PANTHERLAKE | GENS_CLEARWATERFOREST,
	/* All with architectural monitoring but E-cores, and Lion Cove and later: their events are
	 * others. */
	GENS_ALL = ((1 << GEN_ARCH_COUNT) - 1) & ~(GENS_E_CORES | GENS_LUNARLAKE | GENS_ARCH_PEBS),
	GENS_BOTH = GENS_ALL | GENS_E_CORES,
	/* Those that it leaves out, all from Golden Cove on. */
	GENS_SINCE_GLC = GENS_E_CORES | GENS_LUNARLAKE | GENS_ARCH_PEBS,
	GENS_ARCH = GENS_ALL | GENS_SINCE_GLC,
	/* P-cores of clients: no transactions, no events of another package. */
	GENS_P_CORES = GENS_ALDERLAKE | GENS_METEORLAKE,
	GENS_GOLDEN_COVE = GENS_SAPPHIRERAPIDS | GENS_ALDERLAKE,
	GENS_NHM_WSM = GENS_NEHALEM | GENS_WESTMERE,
	GENS_FROM_WSM = GENS_ALL & ~GENS_NEHALEM,
	GENS_FROM_SNB = GENS_FROM_WSM & ~GENS_WESTMERE,
	GENS_SNB_IVB = GENS_SANDYBRIDGE | GENS_IVYBRIDGE,
	GENS_FROM_IVB = GENS_FROM_SNB & ~GENS_SANDYBRIDGE,
	GENS_FROM_HSW = GENS_FROM_IVB & ~GENS_IVYBRIDGE,
	GENS_FROM_BDW = GENS_FROM_HSW & ~GENS_HASWELL,
	GENS_FROM_SKL = GENS_FROM_BDW & ~GENS_BROADWELL,
	GENS_HSW_BDW = GENS_HASWELL | GENS_BROADWELL,
	GENS_TO_BDW = GENS_ALL & ~GENS_FROM_SKL,
	GENS_FROM_ICL = GENS_FROM_SKL & ~GENS_SKYLAKE,
	GENS_FROM_GLC = GENS_FROM_ICL & ~(GENS_ICELAKE | GENS_ICELAKE_SP),
	GENS_FROM_RWC = GENS_FROM_GLC & ~GENS_GOLDEN_COVE,
	GENS_FROM_ICX = GENS_FROM_ICL & ~GENS_ICELAKE,
	GENS_ICL_ICX = GENS_FROM_ICL & ~GENS_FROM_GLC,
	GENS_TO_ICX = GENS_ALL & ~GENS_FROM_GLC,
	GENS_TO_SKL = GENS_ALL & ~GENS_FROM_ICL,
	GENS_SNB_BDW = GENS_FROM_SNB & ~GENS_FROM_SKL,
	GENS_IVB_BDW = GENS_FROM_IVB & ~GENS_FROM_SKL,
	GENS_HSW_SKL = GENS_FROM_HSW & ~GENS_FROM_ICL,
	GENS_SNB_SKL = GENS_FROM_SNB & ~GENS_FROM_ICL,
	GENS_WSM_SKL = GENS_FROM_WSM & ~GENS_FROM_ICL,
};

#endif
