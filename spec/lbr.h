/* SPDX-License-Identifier: MIT */
/* C names for spec/lbr.def. */
#ifndef SPEC_LBR_H
#define SPEC_LBR_H

#include "spec/types.h"

enum {
#define LBR_FORMAT(format, entries, title, source) LBR##format##_ENTRIES = (entries),
#include "spec/lbr.def"
	LBR_MAX_ENTRIES = 32,
};

enum {
#define LBR_FIELD(format, register, field, lo, hi, source) \
	LBR##format##_##register##_##field##_SHIFT = (lo),
#include "spec/lbr.def"
};

#define LBR_FIELD(format, register, field, lo, hi, source) \
	static const u64 LBR##format##_##register##_##field __attribute__((unused)) = BITS(lo, hi);
#include "spec/lbr.def"

#endif
