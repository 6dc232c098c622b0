/* SPDX-License-Identifier: MIT */
/* Names for spec/latitude.def: LAT_<token>. */
#ifndef SPEC_LATITUDE_H
#define SPEC_LATITUDE_H

enum latitude_id {
#define LATITUDE(token, name, low, high, source) LAT_##token,
#include "spec/latitude.def"
	LAT_COUNT
};

#endif
