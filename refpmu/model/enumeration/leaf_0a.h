/* SPDX-License-Identifier: MIT */
/*
 * CPUID leaf 0AH, "Architectural Performance Monitoring Leaf". On a package with cores of two types
 * the leaf of each core lists only what both types have: Linux intel_pmu_init; CPUID dumps of Alder
 * Lake to Panther Lake. Leaf 23H differs by core.
 */
#ifndef REFPMU_MODEL_ENUMERATION_LEAF_0A_H
#define REFPMU_MODEL_ENUMERATION_LEAF_0A_H

#include "refpmu/model/model.h"

struct leaf_0a {
	unsigned version;	/* EAX[7:0] */
	unsigned gp, fixed;	/* EAX[15:8], EDX[4:0] */
	u32 fixed_mask;		/* ECX; from version 5 on */
	unsigned events;	/* EAX[31:24] */
	u32 absent;		/* EBX */
};

/* The leaf as the guest sees it: without what a hypervisor hides. */
struct leaf_0a model_leaf_0a(const struct model *m);

#endif
