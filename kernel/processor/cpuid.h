/* SPDX-License-Identifier: MIT */
/* CPUID, and its fields by the names of spec/cpuid.def. */
#ifndef KERNEL_CPUID_H
#define KERNEL_CPUID_H

#include "spec/types.h"

struct cpuid {
	u32 eax, ebx, ecx, edx;
};

static inline struct cpuid cpuid_read(u32 leaf, u32 subleaf)
{
	struct cpuid r;

	__asm__ volatile("cpuid"
			 : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "a"(leaf), "c"(subleaf));
	return r;
}

enum cpuid_field {
#define CPUID_FIELD(name, leaf, subleaf, reg, lo, hi, source) CPUID_##name,
#include "spec/cpuid.def"
	CPUID_FIELD_COUNT
};

/* The field's value on this processor; 0 if its leaf is above the largest one. */
u32 cpuid_get(enum cpuid_field field);

#endif
