/* SPDX-License-Identifier: MIT */
/* C names for spec/adaptive.def. */
#ifndef SPEC_ADAPTIVE_H
#define SPEC_ADAPTIVE_H

#include "spec/types.h"

/* The first IA32_PERF_CAPABILITIES[11:8] with these records. */
#define PEBS_FORMAT_ADAPTIVE	4
/* The first one with the slots of ADAPTIVE_DS_5. */
#define PEBS_FORMAT_MORE_RESETS	5
/* The first one with the counters group. The one after these is 0FH. */
#define PEBS_FORMAT_SNAPSHOT	6

enum {
#define ADAPTIVE_GROUP(group, bytes, title, source) ADAPTIVE_##group##_BYTES = (bytes),
#define ADAPTIVE_FIELD(group, field, offset, size, title, source) \
	ADAPTIVE_##group##_##field = (offset),
#define ADAPTIVE_FORMAT(field, lo, hi, title, source) ADAPTIVE_FORMAT_##field##_SHIFT = (lo),
#define ADAPTIVE_LATENCY(field, lo, hi, title, source) ADAPTIVE_LATENCY_##field##_SHIFT = (lo),
#define ADAPTIVE_DS(field, offset, title, source) ADAPTIVE_DS_##field = (offset),
#define ADAPTIVE_DS_5(field, offset, title, source) ADAPTIVE_DS_5_##field = (offset),
#include "spec/adaptive.def"
	ADAPTIVE_XMM_REGISTERS = 16,
	ADAPTIVE_XMM_REGISTER_BYTES = 16,
};

#define ADAPTIVE_FORMAT(field, lo, hi, title, source) \
	static const u64 ADAPTIVE_FORMAT_##field __attribute__((unused)) = BITS(lo, hi);
#define ADAPTIVE_LATENCY(field, lo, hi, title, source) \
	static const u64 ADAPTIVE_LATENCY_##field __attribute__((unused)) = BITS(lo, hi);
#include "spec/adaptive.def"

#endif
