/* SPDX-License-Identifier: MIT */
/*
 * C names for spec/data_source.def: MEM_<outcome>, and DATA_SOURCE_<facility>_<field> (mask) with
 * DATA_SOURCE_<facility>_<field>_SHIFT.
 */
#ifndef SPEC_DATA_SOURCE_H
#define SPEC_DATA_SOURCE_H

#include "spec/types.h"

/* Where the data of a load came from. */
enum memory_outcome {
	MEM_UNKNOWN_L3_MISS,
	MEM_L1,
	MEM_LFB,		/* a miss to the same line was already on its way */
	MEM_L2,
	MEM_L3,			/* without a snoop */
	MEM_L3_SNOOP_CLEAN,	/* another core had an unmodified copy */
	MEM_L3_HITM,		/* another core had a modified copy */
	MEM_L3_SNOOP_HITM,	/* the same, where the part tells it by a code of its own */
	MEM_REMOTE_CACHE,	/* another package sent it */
	MEM_REMOTE_HITM,	/* the same, modified there */
	MEM_LOCAL_SHARED, MEM_REMOTE_SHARED,		/* memory, of this package or another */
	MEM_LOCAL_EXCLUSIVE, MEM_REMOTE_EXCLUSIVE,
	MEM_IO,
	MEM_UC,
	MEM_L3_FORWARD,	/* another core sent it, where that has a code of its own */
	MEM_L4, MEM_REMOTE_L4,	/* a cache of the memory's side, of this package or another */
	MEM_OUTCOMES
};

enum {
#define DATA_SOURCE_FIELD(gens, facility, field, lo, hi, title, source) \
	DATA_SOURCE_##facility##_##field##_SHIFT = (lo), \
	DATA_SOURCE_##facility##_##field = BITS(lo, hi) & 0xffff,
#include "spec/data_source.def"
};

#endif
