/* SPDX-License-Identifier: MIT */
/*
 * What the performance-monitoring unit of one logical processor can do: CPUID.0AH and its
 * neighbours, IA32_PERF_CAPABILITIES, IA32_MISC_ENABLE, and the row of spec/generation.def that
 * the family and model name. Processors of one machine may differ, so nothing is cached here: the
 * reader keeps one struct per processor.
 */
#ifndef PMU_CAPS_H
#define PMU_CAPS_H

#include "pmu/hypervisor.h"
#include "pmu/operations.h"
#include "pmu/record.h"
#include "pmu/version6/version6.h"
#include "spec/generation.h"
#include "spec/types.h"

struct generation {
	const char *code, *name, *title;
	u32 pebs_mask, ll_mask, facilities;
	unsigned gp, gp_no_ht, fixed, width, pebs_format;
	u32 set;		/* this generation alone, as a set (enum generation_set) */
};

struct pmu_caps {
	char vendor[13], brand[49];			/* "" where there is none */
	bool intel;
	bool hypervisor;				/* one is visible, perhaps not in ... */
	bool hypervisor_bit;				/* ... CPUID.01H:ECX[31] */
	struct hypervisor host;				/* which one; leaf 0: a hidden one */
	bool old_kvm;					/* KVM before Linux 6.9 */
	bool cpuid_limited;	/* by IA32_MISC_ENABLE[22]: there is no leaf 0AH */
	bool msrs_ignored;				/* unknown MSRs raise no #GP */
	unsigned family, model, stepping;		/* DisplayFamily, DisplayModel */
	u32 microcode;					/* its revision; 0: none is loaded */
	u32 pebs_microcode;				/* that PEBS needs, if it is older */
	u32 leaf_0a_eax, leaf_0a_ebx, leaf_0a_ecx, leaf_0a_edx;	/* raw, for the log */
	unsigned version;				/* 0: no architectural monitoring */
	/* gp, fixed: number of counters below the first gap in gp_mask, fixed_mask */
	unsigned gp, gp_width, fixed, fixed_width;
	/* by CPUID; gp, gp_mask: only accessible ones */
	unsigned gp_enumerated;
	u32 gp_mask_enumerated;
	u32 fixed_mask;	/* bit i: CPUID says there is fixed counter i */
	u32 gp_mask;	/* bit n: there is IA32_PMCn, and it can be accessed */
	struct version6 v6;				/* CPUID leaf 23H */
	bool any_thread;				/* there is such a bit */
	u32 events_absent;				/* bit n: architectural event n is absent */
	bool pdcm, ds, dtes64;
	bool tsx;		/* RTM or HLE */
	bool hybrid;		/* CPUID.07H:EDX[15] */
	u32 core_type, native_model;			/* CPUID.1AH; 0: not said */
	bool told_less;	/* there may be more counters than CPUID.0AH lists */
	bool arch_lbr;		/* IA32_DEBUGCTL[0] reads 0 */
	bool rtm_always_abort;
	bool tsx_force_abort;	/* IA32_TSX_FORCE_ABORT: RTM takes IA32_PMC3 */
	u64 perf_capabilities;				/* 0 without PDCM */
	u64 misc_enable;				/* 0 where it can't be read */
	bool full_width;				/* IA32_A_PMCx exist */
	bool pebs;					/* DS, and MISC_ENABLE says available */
	unsigned pebs_format;				/* IA32_PERF_CAPABILITIES[11:8] */
	bool record_known;				/* this program decodes the format */
	enum record_format record_format;
	const struct generation *generation;		/* NULL: not in the table, or doubted */
	/* By family and model. It is doubted where the brand is a hypervisor's own: that names the
	 * processor it imitates, and the PMU is its host's. */
	const struct generation *shown;
	const struct pmu_operations *operations;	/* of the kind of PMU that it has */
	u32 facilities;					/* FAC_* that this model has; 0: no row */
	u32 pebs_mask;					/* bit n: PMCn can do PEBS */
	bool baseline;		/* MSR_PEBS_DATA_CFG, adaptive records, PEBS on every counter */
	u32 pebs_fixed_mask;				/* bit i: fixed counter i can do PEBS */
	bool metrics;					/* MSR_PERF_METRICS */
	bool metrics_open;	/* it may exist although its bit is 0: erratum RPL018 */
	bool arch_pebs;		/* IA32_PEBS_BASE; no IA32_PEBS_ENABLE, no MSR_PEBS_DATA_CFG */
};

/* is_guest: this is known to be a guest. If CPUID then shows no hypervisor, the hypervisor is
 * hidden. Call before caps_read(). */
void caps_expect_guest(bool is_guest);

/* Read them on the calling processor. In any CPL 0 state with the exception table in use. */
struct pmu_caps caps_read(void);

/*
 * Short name for files and headlines, such as "haswell-06_3c" or "amd-0f_6b"; lower case, no
 * blanks. Returns text.
 */
const char *caps_cpu_name(const struct pmu_caps *caps, char *text, size_t size);

/* The name of the generation for the log. */
const char *caps_generation(const struct pmu_caps *caps);

/* The name of a type of core (CPUID.1AH:EAX[31:24]) for the log, after a comma; "" for none. */
const char *caps_core_name(u32 type);

/* Bit n: CPUID says that architectural event n is absent. */
u32 caps_absent_events(const struct pmu_caps *caps);

#endif
