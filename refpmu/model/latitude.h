/* SPDX-License-Identifier: MIT */
/* Which of the legal processors the model is: refpmu/model/latitude.def, refpmu/model/profile.def.
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
 * The seed draws each knob from the profile's range of it, or from its own; without a seed it is
 * the lowest value. Knobs set by hand are what they are set to.
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
