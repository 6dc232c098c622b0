/* SPDX-License-Identifier: MIT */
/* C names for spec/arch_lbr.def. */
#ifndef SPEC_ARCH_LBR_H
#define SPEC_ARCH_LBR_H

#include "spec/types.h"

enum {
	ARCH_LBR_DEPTH_UNIT = 8,	/* EAX[n] of leaf 1CH: this * (n + 1) entries */
	ARCH_LBR_LOGGED = 4,		/* counters whose events an entry can have */
	ARCH_LBR_LOG_MOST = 3,		/* events of each that an entry can show */
	ARCH_LBR_MAX_ENTRIES = 64,	/* of EAX[7]; 32 on all parts seen */
	/* Component 15 of XSAVES: five registers, then FROM, TO and INFO of the most entries: Linux
	 * struct arch_lbr_state (one source). */
	ARCH_LBR_STATE_HEAD = 0x28,
	ARCH_LBR_STATE_ENTRY = 0x18,
};

enum {
#define ARCH_LBR_FIELD(field, lo, hi, known_by, source) ARCH_LBR_##field##_SHIFT = (lo),
#define ARCH_LBR_LOG(counter, lo, hi, source) ARCH_LBR_PMC##counter##_CNT_SHIFT = (lo),
#include "spec/arch_lbr.def"
};

#define ARCH_LBR_FIELD(field, lo, hi, known_by, source) \
	static const u64 ARCH_LBR_##field __attribute__((unused)) = BITS(lo, hi);
#define ARCH_LBR_LOG(counter, lo, hi, source) \
	static const u64 ARCH_LBR_PMC##counter##_CNT __attribute__((unused)) = BITS(lo, hi);
#include "spec/arch_lbr.def"

enum arch_lbr_type {
#define ARCH_LBR_KIND(kind, low, high, filter, source) ARCH_LBR_TYPE_##kind = (low),
#include "spec/arch_lbr.def"
};

#endif
