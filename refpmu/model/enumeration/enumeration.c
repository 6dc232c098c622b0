/* SPDX-License-Identifier: MIT */
/*
 * The enumeration of the processor: from its generation's row of spec/generation.def, or from a
 * personality (TOLD in latitude.def). "Architectural Performance Monitoring",
 * "IA32_PERF_CAPABILITIES MSR Enumeration".
 */
#include "refpmu/model/archpebs/archpebs.h"
#include "refpmu/model/lbr.h"
#include "spec/adaptive.h"

/* What KVM gives a guest at most: KVM_MAX_NR_INTEL_GP_COUNTERS, KVM_MAX_NR_FIXED_COUNTERS. */
#define KVM_MOST_GP		8
#define KVM_MOST_FIXED		3

#define CAPABILITY_LBR_FMT	IA32_PERF_CAPABILITIES_LBR_FMT
#define CAPABILITY_PEBS_FMT	IA32_PERF_CAPABILITIES_PEBS_FMT

bool model_told(const struct model *m, enum latitude_id knob)
{
	return m->config.latitude.set & LATITUDE_BIT(knob);
}

u32 model_told_or(const struct model *m, enum latitude_id knob, u32 row)
{
	return model_told(m, knob) ? m->latitude[knob] : row;
}

/* CPUID.0AH:EAX[7:0]. */
unsigned model_core_version(const struct model *m)
{
	return model_told_or(m, LAT_VERSION, model_generation(m)->perfmon);
}

/* KVM shows a guest version 2 at most. */
bool model_version_4(const struct model *m)
{
	return model_core_version(m) >= 4 && !(m->facts & (FACT_PERFMON_1 | FACT_PERFMON_2));
}

/* CPUID.0AH:EDX[15], from version 5 on. KVM sets it although it shows version 2. */
bool model_shows_no_anythread(const struct model *m)
{
	return model_told_or(m, LAT_ANYTHREAD_DEPRECATED,
			     (m->facts & FACT_PERFMON_2 && !(m->facts & FACT_ANYTHREAD_UNTOLD)) ||
				     model_generation(m)->facilities & FAC_NO_ANYTHREAD);
}

/* "Architectural Performance Monitoring Version 3" has AnyThread. CPUID.0AH:EDX[15] takes it
 * away. */
bool model_has_anythread(const struct model *m)
{
	return model_core_version(m) >= 3 && !model_shows_no_anythread(m) &&
	       !(m->facts & FACT_NO_ANYTHREAD);
}

/* The counters from 0 up to the first hole in the bitmap of leaf 23H. */
static unsigned gp_below_hole(const struct model *m)
{
	return (unsigned)__builtin_ctzll(~(u64)m->latitude[LAT_GP_MASK]);
}

static bool gp_mask_is_told(const struct model *m)
{
	return model_told(m, LAT_GP_MASK) && model_has_ext(m);
}

/* CPUID.0AH:EAX[15:8]; with leaf 23H the counters below the first hole of its bitmap. */
unsigned model_gp_counters(const struct model *m)
{
	const struct generation *g = model_generation(m);
	unsigned n = m->config.hyper_threading ? g->gp : g->gp_no_ht;

	if (gp_mask_is_told(m))
		n = gp_below_hole(m);
	else if (model_is_small_core(m))
		n -= MODEL_MORE_OF_A_P_CORE;
	if (m->facts & FACT_KVM_SIGNATURE && n > KVM_MOST_GP)
		n = KVM_MOST_GP;
	return fault_gp_counters(m, model_told_or(m, LAT_GP_COUNTERS, n));
}

/* CPUID.(23H,1):EAX: bit n is IA32_PMCn. Else all counters up to CPUID.0AH:EAX[15:8]. */
u64 model_gp_mask(const struct model *m)
{
	return gp_mask_is_told(m) ? m->latitude[LAT_GP_MASK] : BIT(model_gp_counters(m)) - 1;
}

/* Nehalem: "All four general-purpose performance counters, IA32_PMCx, can be used for PEBS if
 * the performance event supports PEBS." Other generations: spec/generation.def. */
u64 model_pebs_counters(const struct model *m)
{
	return model_generation(m)->pebs_mask & model_gp_mask(m);
}

/* CPUID.0AH:EAX[23:16], and EDX[12:5] for fixed counters. Nehalem: "The width of counter
 * reported by CPUID.0AH:EAX[23:16] is 48 bits." */
unsigned model_width(const struct model *m, unsigned counter)
{
	return model_told_or(m, counter < FIRST_FIXED ? LAT_GP_WIDTH : LAT_FIXED_WIDTH,
			     model_generation(m)->width);
}

u64 model_width_mask(const struct model *m, unsigned counter)
{
	return BITS(0, model_width(m, counter) - 1);
}

/* CPUID.0AH:EDX[4:0], from version 2 on. */
unsigned model_fixed_counters(const struct model *m)
{
	unsigned fixed = model_told_or(m, LAT_FIXED_COUNTERS, model_generation(m)->fixed);

	if (m->facts & FACT_KVM_SIGNATURE && fixed > KVM_MOST_FIXED)
		fixed = KVM_MOST_FIXED;
	return model_core_version(m) >= 2 ? fixed : 0;
}

/* Fixed counter i exists if EDX[4:0] > i or, from version 5 on, if ECX[i] of CPUID.0AH is 1: SDM
 * volume 1, "CPUID". */
u64 model_fixed_mask(const struct model *m)
{
	u64 first = BIT(model_fixed_counters(m)) - 1;

	return model_core_version(m) >= 5 ?
		       first | model_told_or(m, LAT_FIXED_MASK, (u32)model_ext_fixed_mask(m)) :
		       first;
}

bool model_has_counter(const struct model *m, unsigned counter)
{
	if (m->facts & FACT_NO_PMU)
		return false;
	if (counter < FIRST_FIXED)
		return model_gp_mask(m) & BIT(counter);
	return counter < MODEL_MAX_COUNTERS && model_fixed_mask(m) & BIT(counter - FIRST_FIXED);
}

/* KVM shows a guest neither fixed counter 3 nor MSR_PERF_METRICS. */
static bool can_have_metrics(const struct model *m)
{
	return model_generation(m)->facilities & FAC_PERF_METRICS && model_fixed_mask(m) & BIT(3) &&
	       !(m->facts & (FACT_NO_PEBS | FACT_PERFMON_1 | FACT_PERFMON_2));
}

/* Linux: on a hybrid IA32_PERF_CAPABILITIES[15] can be 0 although the P-core has the metrics
 * (Raptor Lake and Meteor Lake). */
static bool metrics_are_untold(const struct model *m)
{
	return model_core_type(m) && model_is_hybrid(m) && m->latitude[LAT_METRICS_UNTOLD];
}

/* IA32_PERF_CAPABILITIES[14]: Linux perf_capabilities.pebs_baseline. KVM clears it for guests. */
static bool can_have_baseline(const struct model *m)
{
	return model_generation(m)->facilities & FAC_PEBS_BASELINE &&
	       !(m->facts & (FACT_WITHOUT_PEBS | FACT_BASIC_PEBS)) && !m->latitude[LAT_NO_BASELINE];
}

/* IA32_PERF_CAPABILITIES[17], the retire latency: Linux, kvm-unit-tests. */
static bool can_have_timing(const struct model *m)
{
	return model_generation(m)->facilities & FAC_RETIRE_LATENCY && can_have_baseline(m);
}

/* "IA32_PERF_CAPABILITIES MSR Enumeration": the fields up to bit 13. Later bits: Linux and
 * "RDPMC". */
static u64 capabilities_of_row(const struct model *m)
{
	const struct generation *g = model_generation(m);
	u64 value = model_has_arch_lbr(m) ? IA32_PERF_CAPABILITIES_LBR_FMT :
					    (u64)g->lbr_fmt << IA32_PERF_CAPABILITIES_LBR_FMT_SHIFT;

	/* Without PEBS KVM offers no branch records either: only the last bit remains. */
	if (m->facts & FACT_NO_PEBS)
		return g->facilities & FAC_FW_WRITE ? IA32_PERF_CAPABILITIES_FW_WRITE : 0;
	/* With basic PEBS they are missing too unless they are requested; freezing in SMM belongs
	 * to the host. */
	if (m->facts & FACT_BASIC_PEBS)
		value = 0;
	value |= IA32_PERF_CAPABILITIES_PEBS_TRAP | IA32_PERF_CAPABILITIES_PEBS_ARCH_REG;
	value |= (u64)model_pebs_format(m) << IA32_PERF_CAPABILITIES_PEBS_FMT_SHIFT;
	if (g->facilities & FAC_SMM_FREEZE && !(m->facts & FACT_BASIC_PEBS))
		value |= IA32_PERF_CAPABILITIES_SMM_FREEZE;
	if (g->facilities & FAC_FW_WRITE)
		value |= IA32_PERF_CAPABILITIES_FW_WRITE;
	if (can_have_baseline(m))
		value |= IA32_PERF_CAPABILITIES_PEBS_BASELINE;
	if (can_have_timing(m))
		value |= IA32_PERF_CAPABILITIES_PEBS_TIMING_INFO;
	if (can_have_metrics(m) && !metrics_are_untold(m)) {
		value |= IA32_PERF_CAPABILITIES_PERF_METRICS;
		if (m->latitude[LAT_METRICS_CLEAR])
			value |= IA32_PERF_CAPABILITIES_RDPMC_METRICS_CLEAR;
	}
	return value;
}

/* IA32_PERF_CAPABILITIES exists if CPUID.01H:ECX[15], PDCM, is 1. */
u64 model_capabilities(const struct model *m)
{
	if (!model_told_or(m, LAT_PDCM, true))
		return 0;
	return model_told(m, LAT_PERF_CAPABILITIES) ? m->latitude[LAT_PERF_CAPABILITIES] :
						      capabilities_of_row(m);
}

/* IA32_PERF_CAPABILITIES[14], of a processor that can have it. */
bool model_has_baseline(const struct model *m)
{
	return can_have_baseline(m) && model_capabilities(m) & IA32_PERF_CAPABILITIES_PEBS_BASELINE;
}

/* IA32_PERF_CAPABILITIES[15]: "RDPMC", Linux. */
bool model_has_metrics(const struct model *m)
{
	return can_have_metrics(m) && (metrics_are_untold(m) ||
				       model_capabilities(m) & IA32_PERF_CAPABILITIES_PERF_METRICS);
}

/* Does this model of the generation lack the facility? */
static bool lacks(u32 signature, u32 facility)
{
	u32 family = signature >> 8 & 0xf;
	u32 model = (signature >> 4 & 0xf) | (signature >> 12 & 0xf0);

#define GENERATION_MODEL(id, family_, model_, without) \
	if (family == (family_) && model == (model_) && facility & (without)) \
		return true;
#include "spec/generation.def"
	return false;
}

void model_take_told(struct model *m)
{
	if (!model_told_or(m, LAT_VERSION, 1))
		m->facts |= FACT_NO_PMU | FACT_NO_PEBS;
	if (!model_told_or(m, LAT_DS, 1) || !model_told_or(m, LAT_PDCM, 1) ||
	    model_told_or(m, LAT_PEBS_UNAVAILABLE, 0))
		m->facts |= FACT_PEBS_OFF;
	if (model_told(m, LAT_SIGNATURE) &&
	    lacks(m->latitude[LAT_SIGNATURE], FAC_UNCORE | FAC_UNCORE_CLIENT))
		m->facts |= FACT_NO_UNCORE;
}

/* ---- what can't be ---- */

static const latitude_set told =
#define TROUBLE(token, name, low, high, source)
#define TOLD(token, name, low, high, source) LATITUDE_BIT(LAT_##token) |
#include "refpmu/model/latitude.def"
	0;

/* IA32_PERF_CAPABILITIES[5:0]: the formats of spec/lbr.def, and 3FH for architectural records. */
static bool lbr_format_is_known(const struct model *m)
{
	switch (model_lbr_format(m)) {
#define LBR_FORMAT(format, entries, title, source) case format:
#include "spec/lbr.def"
		return true;
	default:
		return !model_lbr_format(m) ||
		       (model_has_arch_lbr(m) &&
			model_lbr_format(m) == IA32_PERF_CAPABILITIES_LBR_FMT);
	}
}

/* Only a generation with records can have PEBS. */
static bool pebs_is_possible(const struct model *m)
{
	const u64 shape = CAPABILITY_PEBS_FMT | IA32_PERF_CAPABILITIES_PEBS_TRAP |
			  IA32_PERF_CAPABILITIES_PEBS_ARCH_REG;

	return m->facts & FACT_WITHOUT_PEBS ||
	       (model_core_version(m) >= 2 && model_gp_mask(m) &&
		(model_capabilities(m) & shape) == (capabilities_of_row(m) & shape));
}

static bool capabilities_are_possible(const struct model *m)
{
	const u64 others = IA32_PERF_CAPABILITIES_PEBS_BASELINE |
			   IA32_PERF_CAPABILITIES_PERF_METRICS |
			   IA32_PERF_CAPABILITIES_RDPMC_METRICS_CLEAR;
	const u64 any = CAPABILITY_LBR_FMT | CAPABILITY_PEBS_FMT |
			IA32_PERF_CAPABILITIES_PEBS_TRAP | IA32_PERF_CAPABILITIES_PEBS_ARCH_REG |
			IA32_PERF_CAPABILITIES_SMM_FREEZE | IA32_PERF_CAPABILITIES_FW_WRITE;
	u64 shown = model_capabilities(m), can = any;

	if (can_have_baseline(m))
		can |= IA32_PERF_CAPABILITIES_PEBS_BASELINE;
	if (can_have_metrics(m))
		can |= others & ~IA32_PERF_CAPABILITIES_PEBS_BASELINE;
	/* With baseline every record has the retire latency. */
	if (can_have_timing(m) && shown & IA32_PERF_CAPABILITIES_PEBS_BASELINE)
		can |= IA32_PERF_CAPABILITIES_PEBS_TIMING_INFO;
	return !(shown & ~can) && (shown & IA32_PERF_CAPABILITIES_PERF_METRICS ||
				   !(shown & IA32_PERF_CAPABILITIES_RDPMC_METRICS_CLEAR));
}

/* CPUID.0AH: fixed counters exist from version 2 on, and ECX from version 5 on. */
static bool counters_are_possible(const struct model *m)
{
	unsigned version = model_core_version(m);

	return (version >= 2 || !model_told_or(m, LAT_FIXED_COUNTERS, 0)) &&
	       (version >= 5 || !model_told_or(m, LAT_FIXED_MASK, 0)) &&
	       !(model_told_or(m, LAT_FIXED_MASK, 0) & ~BITS(0, 3) &
		 ~model_ext_fixed_of(m->config.generation)) &&
	       (version || !model_told_or(m, LAT_GP_COUNTERS, 0));
}

enum model_contradiction model_contradiction(const struct model_config *config)
{
	struct model m = { .config = *config, .package = (u8)config->generation };

	if (!(config->latitude.set & told))
		return CONTRADICTION_NONE;
	model_take_latitude(&m);
	if (model_generation(&m)->facilities & FAC_NETBURST)
		return CONTRADICTION_NETBURST;
	if (model_version_4(&m) && model_generation(&m)->facilities & FAC_UNCORE)
		return CONTRADICTION_UNCORE;
	if (!counters_are_possible(&m))
		return CONTRADICTION_COUNTERS;
	if (!model_ext_is_possible(&m))
		return CONTRADICTION_EXT;
	if (!lbr_format_is_known(&m) || !capabilities_are_possible(&m))
		return CONTRADICTION_CAPABILITIES;
	return pebs_is_possible(&m) ? CONTRADICTION_NONE : CONTRADICTION_PEBS;
}
