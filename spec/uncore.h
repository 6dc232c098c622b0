/* SPDX-License-Identifier: MIT */
/* C names for spec/uncore.def. UNCORE_EVENT_<name> is MSR_UNCORE_PERFEVTSELx[15:0]. */
#ifndef SPEC_UNCORE_H
#define SPEC_UNCORE_H

enum uncore_event_code {
#define UNCORE_EVENT(name, event, umask, kind, source) \
	UNCORE_EVENT_##name = (umask) << 8 | (event),
#include "spec/uncore.def"
};

#endif
