/* SPDX-License-Identifier: MIT */
/* Which hypervisor shows itself in CPUID, wherever it does. Pure: CPUID is the caller's. */
#ifndef PMU_HYPERVISOR_H
#define PMU_HYPERVISOR_H

#include "spec/hypervisor.h"
#include "spec/types.h"

struct hypervisor {
	enum hypervisor_id id;
	u32 leaf;			/* of the signature */
	char signature[13];		/* "" without one */
	char first[13];			/* what leaf 40000000H shows, where that is another one */
};

/* regs: EAX to EDX. is_set: CPUID.01H:ECX[31]. */
struct hypervisor hypervisor_find(bool is_set, void (*cpuid)(u32 leaf, u32 regs[4]));

#endif
