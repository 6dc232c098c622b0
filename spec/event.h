/* SPDX-License-Identifier: MIT */
/* C names for spec/event.def. EVENT_<name> is the value of IA32_PERFEVTSELx[15:0]. */
#ifndef SPEC_EVENT_H
#define SPEC_EVENT_H

#include "spec/types.h"

/* What an occurrence of an event is. Exact kinds are properties of retired instructions. */
enum event_kind {
	EK_NONE,
	EK_INSTRUCTIONS, EK_CORE_CYCLES, EK_REF_CYCLES,
	EK_BRANCHES, EK_COND_BRANCHES, EK_NEAR_CALLS, EK_NEAR_RETURNS, EK_NEAR_TAKEN,
	EK_MISPREDICTS,
	EK_LOADS, EK_STORES, EK_LOCK_LOADS,
};

enum event_flags {
	EV_ARCH = 1, EV_PEBS = 2, EV_DLA = 4, EV_STORE_L1 = 8, EV_PDIR = 16,
};

enum event_code {
#define EVENT(name, event, umask, kind, flags, counters, min_period, source) \
	EVENT_##name = (umask) << 8 | (event),
#include "spec/event.def"
};

#endif
