/* SPDX-License-Identifier: MIT */
/* Finds the hypervisor's signature in CPUID, at any of its possible leaves. Pure: the caller
 * provides CPUID. */
#ifndef PMU_HYPERVISOR_H
#define PMU_HYPERVISOR_H

#include "spec/hypervisor.h"
#include "spec/types.h"

struct hypervisor {
	enum hypervisor_id id;
	u32 leaf;			/* of the signature */
	char signature[13];		/* "" without one */
	char first[13];			/* the signature in leaf 40000000H, if it is another one */
};

/* regs: EAX to EDX. is_set: CPUID.01H:ECX[31]. */
struct hypervisor hypervisor_find(bool is_set, void (*cpuid)(u32 leaf, u32 regs[4]));

#endif
