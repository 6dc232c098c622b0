/* SPDX-License-Identifier: MIT */
/* The parameters (knobs) for behaviour that the manual leaves open: refpmu/model/latitude.def,
 * refpmu/model/profile.def.
 */
#ifndef REFPMU_MODEL_LATITUDE_H
#define REFPMU_MODEL_LATITUDE_H

#include "refpmu/model/latitude_id.h"
#include "refpmu/model/profile.h"
#include "spec/types.h"

/* Bit n: knob n. There are more than 64. */
typedef unsigned __int128 latitude_set;
#define LATITUDE_BIT(knob) ((latitude_set)1 << (knob))

/*
 * With a seed, each knob is drawn from the profile's range, or from the knob's own range. Without a
 * seed a knob has the lowest value of its range. A knob that is set by hand has the given value.
 */
struct model_latitude {
	u64 seed;			/* 0: none */
	enum profile_id profile;
	latitude_set set;		/* the knobs that are set by hand, */
	u32 value[LAT_COUNT];		/* to this, within its range */
};

/* Is the value in the knob's range? */
bool model_latitude_allows(enum latitude_id knob, u32 value);

_Static_assert(LAT_COUNT <= 128, "knobs are bits of a set");

#endif
