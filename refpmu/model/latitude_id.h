/* SPDX-License-Identifier: MIT */
/* Names for refpmu/model/latitude.def: LAT_<token>. */
#ifndef REFPMU_MODEL_LATITUDE_ID_H
#define REFPMU_MODEL_LATITUDE_ID_H

enum latitude_id {
#define LATITUDE(token, name, low, high, source) LAT_##token,
#include "refpmu/model/latitude.def"
	LAT_COUNT
};

#endif
