/* SPDX-License-Identifier: MIT */
/*
 * Which logical processors are threads of one core, and which cores are in one package: SDM volume
 * 3A, "Hierarchical Mapping of Shared Resources", "Algorithm for Three-Level Mappings of APIC_ID".
 * Pure. Levels between core and package (CPUID leaf 1FH) aren't distinguished.
 */
#ifndef KERNEL_TOPOLOGY_H
#define KERNEL_TOPOLOGY_H

#include "spec/types.h"

#define TOPOLOGY_LEVELS	2u

/* The processor's CPUID fields (spec/cpuid.def); a leaf that doesn't exist is all zeros. */
struct topology_cpuid {
	u32 htt, logical_processors, initial_apic_id;		/* leaf 1 */
	u32 cores;						/* leaf 4, as read: less 1 */
	struct {
		u32 shift, processors, type;
	} level[TOPOLOGY_LEVELS]; /* leaf 0BH */
	u32 x2apic_id;
};

/* Numbers that are equal exactly for processors of one core, or of one package. */
struct topology {
	u32 apic_id;
	u32 core, package;
	u32 thread;		/* in its core */
	u32 kind;		/* type of core, CPUID.1AH:EAX, set by the caller; 0: not known */
};

struct topology topology_of(const struct topology_cpuid *cpuid);

static inline bool topology_same_core(const struct topology *a, const struct topology *b)
{
	return a->core == b->core;
}

static inline bool topology_same_kind(const struct topology *a, const struct topology *b)
{
	return a->kind == b->kind;
}

static inline bool topology_same_package(const struct topology *a, const struct topology *b)
{
	return a->package == b->package;
}

#endif
