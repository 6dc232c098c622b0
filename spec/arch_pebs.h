/* SPDX-License-Identifier: MIT */
/* C names for spec/arch_pebs.def. */
#ifndef SPEC_ARCH_PEBS_H
#define SPEC_ARCH_PEBS_H

#include "spec/types.h"

/* IA32_PERF_CAPABILITIES[11:8] with these records. */
#define PEBS_FORMAT_ARCHITECTURAL	15

enum {
#define ARCH_PEBS_GROUP(group, bytes, title, source) ARCH_PEBS_##group##_BYTES = (bytes),
#define ARCH_PEBS_FIELD(group, field, offset, size, title, source) \
	ARCH_PEBS_##group##_##field = (offset),
#define ARCH_PEBS_BITS(group, field, name, lo, hi, title, source) ARCH_PEBS_##name##_SHIFT = (lo),
#define ARCH_PEBS_XER(component, number, bytes, title, source) \
	ARCH_PEBS_XER_##component = (number), ARCH_PEBS_XER_##component##_BYTES = (bytes),
#include "spec/arch_pebs.def"
	ARCH_PEBS_XER_COMPONENTS = 8,	/* bits of the header's field */
	ARCH_PEBS_COUNTER_BYTES = 8,	/* each value of COUNTERS */
	ARCH_PEBS_LBR_BY_DEPTH = 3,	/* ARCH_PEBS_LBR_CODE with entries 0 */
};

#define ARCH_PEBS_BITS(group, field, name, lo, hi, title, source) \
	static const u64 ARCH_PEBS_##name __attribute__((unused)) = BITS(lo, hi);
#include "spec/arch_pebs.def"

#endif
