/* SPDX-License-Identifier: MIT */
/*
 * C names for spec/event.def. EVENT_<name> is the value of IA32_PERFEVTSELx[15:0], and
 * EVENT_KIND_<name> says what it counts. Two names may have one value: each on its generations.
 */
#ifndef SPEC_EVENT_H
#define SPEC_EVENT_H

#include "spec/types.h"

/* What an occurrence of an event is. Exact kinds are properties of retired instructions. */
enum event_kind {
	EK_NONE,
	EK_INSTRUCTIONS, EK_CORE_CYCLES, EK_REF_CYCLES,
	EK_SLOTS,		/* where a micro-operation could have been issued */
	EK_UOPS,		/* micro-operations that retire */
	EK_BRANCHES, EK_COND_BRANCHES, EK_NEAR_CALLS, EK_NEAR_RETURNS, EK_NEAR_TAKEN,
	EK_MISPREDICTS,
	EK_COND_TAKEN, EK_COND_NOT_TAKEN, EK_FAR_BRANCHES,
	EK_NEAR_INDIRECT,	/* jumps and calls; returns are another kind */
	EK_COND_TAKEN_BACKWARD, EK_COND_TAKEN_FORWARD,
	/* Slots by what they were used for, as fixed counters 4 to 6 count them; and of waits. */
	EK_SLOTS_BAD_SPECULATION, EK_SLOTS_FRONTEND_BOUND, EK_SLOTS_RETIRING,
	EK_SLOTS_BACKEND_BOUND,
	EK_FRONTEND,		/* what MSR_PEBS_FRONTEND selects */
	EK_LBR_INSERTS,		/* entries of the last branch records */
	EK_LOADS, EK_STORES, EK_LOCK_LOADS,
	/* Accesses that cross a line; that miss the first or the second translation buffer. */
	EK_SPLIT_LOADS, EK_SPLIT_STORES,
	EK_DTLB_MISS_LOADS, EK_DTLB_MISS_STORES, EK_STLB_MISS_LOADS, EK_STLB_MISS_STORES,
	/* Loads by where their data came from. */
	EK_L1_HIT, EK_L2_HIT, EK_L3_HIT, EK_L1_MISS, EK_L2_MISS, EK_L3_MISS, EK_HIT_LFB,
	EK_XSNP_NONE, EK_XSNP_MISS, EK_XSNP_HIT, EK_XSNP_HITM,
	EK_LOCAL_DRAM, EK_REMOTE_DRAM, EK_REMOTE_CACHE, EK_UNCACHED,
	EK_LOAD_LATENCY,	/* loads with a latency above MSR_PEBS_LD_LAT_THRESHOLD */
	EK_PRECISE_STORE,
	EK_STORE_SAMPLE,	/* stores, as load latency samples loads */
	EK_STORE_FORWARD,	/* loads that a store in front of them blocks */
	/* Accesses that go to the last-level cache; that it hasn't the line of. */
	EK_LLC_REFERENCES, EK_LLC_MISSES,
	EK_OFFCORE_0, EK_OFFCORE_1,	/* what MSR_OFFCORE_RSP_0, _1 select */
	/* Transactions: how they begin and end, and why some abort. */
	EK_TX_STARTED, EK_TX_COMMITTED, EK_TX_STARTED_HLE, EK_TX_COMMITTED_HLE,
	EK_TX_ABORTED_HLE, EK_TX_ABORTED_RTM, EK_TX_ABORTED_MEMORY,
	EK_TX_ABORTED_UNFRIENDLY, EK_TX_ABORTED_MEMORY_TYPE, EK_TX_ABORTED_OTHER, EK_TX_CONFLICT,
	EK_TX_CAPACITY_WRITES,
	EK_TX_FIRST = EK_TX_STARTED,
};

enum event_flags {
	EV_ARCH = 1 << 0, EV_PEBS = 1 << 1, EV_DLA = 1 << 2, EV_STORE_L1 = 1 << 3,
	EV_PDIR = 1 << 4, EV_LL = 1 << 5, EV_PS = 1 << 6, EV_TSX = 1 << 7, EV_INSN = 1 << 8,
	EV_LL_AUX = 1 << 9, EV_WALK = 1 << 10,
};

enum event_code {
#define EVENT(name, event, umask, kind, source) EVENT_##name = (umask) << 8 | (event),
#include "spec/event.def"
};

enum event_code_with_umask2 {
#define EVENT_UMASK2(gens, name, event, umask, umask2, kind, flags, counters, source) \
	EVENT2_##name = (umask2) << 16 | (umask) << 8 | (event),
#include "spec/event.def"
};

enum frontend_event {
#define FRONTEND(name, evtsel, width, source) FRONTEND_##name = (evtsel),
#include "spec/event.def"
};

/* CMASK, with INV, that makes all cycles of an event of EVENT_CYCLES: no cycle has so many. */
#define TOTAL_CYCLES_CMASK	0x10
/* At most so many micro-operations retire in a cycle (Linux intel_pebs_aliases_snb). */
#define MOST_UOPS_A_CYCLE	4

enum event_kind_of {
#define EVENT(name, event, umask, kind, source) EVENT_KIND_##name = (kind),
#include "spec/event.def"
};

#endif
