/* SPDX-License-Identifier: MIT */
/*
 * What the launcher asks for by HYPERCALL_CONFIGURE, and how the model takes it. Pure: any bytes
 * may come from a guest.
 */
#ifndef REFPMU_VMM_CONFIGURE_H
#define REFPMU_VMM_CONFIGURE_H

#include "spec/types.h"

#define HYPERCALL_ANY_COUNTER	(~(u32)0)
#define HYPERCALL_KNOBS		64

struct hypercall_configure {
	u32 generation;			/* enum generation_id */
	u32 hyper_threading;		/* bool */
	u32 fault;			/* enum fault_id */
	/* struct fault_when */
	u32 counter;			/* or HYPERCALL_ANY_COUNTER */
	u32 page_crossing;		/* bool */
	u32 nth, from, every;
	u32 conditions;			/* enum fault_condition */
	/* struct model_latitude */
	u32 profile;			/* enum profile_id */
	u64 seed;
	u64 latitude_set;
	u32 latitude[HYPERCALL_KNOBS];	/* by enum latitude_id */
};

struct model_config;

/* false: no such generation, fault, counter, profile or knob, or a value out of its range; *config
 * is as it was. */
bool configure(const struct hypercall_configure *request, struct model_config *config);

#endif
