/* SPDX-License-Identifier: MIT */
/*
 * C names for spec/netburst.def. Its MSRs share addresses with others of family 06H, so their names
 * begin with MSR_NB_ here: never decode an address without the family.
 */
#ifndef SPEC_NETBURST_H
#define SPEC_NETBURST_H

#include "spec/types.h"

#define NB_NONE		0xff
#define NB_WIDTH	40	/* bits of a counter: "Performance Counters" (18.15.2) */
#define NB_THREADS	2	/* logical processors of a core: bit 0 of the initial APIC ID */
#define NB_RDPMC_FAST	BIT(31)	/* RDPMC's ECX: bits 31:0 of the counter alone */

/* CCCR.ACTIVE_THREAD: how many logical processors of the core must be active (18.16.2). */
enum netburst_active { NB_ACTIVE_NONE, NB_ACTIVE_ONE, NB_ACTIVE_BOTH, NB_ACTIVE_ANY };

/* The counters that share ESCRs: the columns of Table 18-63. */
enum netburst_pool {
	NB_BPU_0, NB_BPU_1, NB_MS_0, NB_MS_1, NB_FLAME_0, NB_FLAME_1, NB_IQ_0, NB_IQ_1,
};

enum netburst_present { NB_ALL, NB_HT_ONLY, NB_ONES, NB_EXTENDED };
enum netburst_thread { NB_TS, NB_TI };
enum netburst_flags { NB_PEBS = 1 << 0, NB_TAGS = 1 << 1 };

/* What a bit of an event mask, or a metric, counts. */
enum netburst_what {
	NBW_NEVER,
	NBW_INSTRUCTIONS, NBW_UNTAGGED_INSTRUCTIONS, NBW_TAGGED_INSTRUCTIONS,
	NBW_UOPS,		/* how many an instruction has, isn't stated */
	NBW_LOADS, NBW_STORES,
	NBW_NOT_TAKEN_PREDICTED, NBW_NOT_TAKEN_MISPREDICTED, NBW_TAKEN_PREDICTED,
	NBW_TAKEN_MISPREDICTED, NBW_MISPREDICTED,
	NBW_CONDITIONAL, NBW_CALLS, NBW_RETURNS,
	NBW_CLOCKS,
	NBW_DATA_WALKS,		/* page walks that loads and stores cause */
	NBW_L1_LOAD_MISSES, NBW_L2_LOAD_MISSES,
	NBW_DTLB_LOAD_MISSES, NBW_DTLB_STORE_MISSES, NBW_DTLB_MISSES,
	NBW_SPLIT_LOADS, NBW_SPLIT_STORES,
	NBW_PACKED_SP, NBW_PACKED_DP, NBW_SCALAR_SP, NBW_SCALAR_DP, NBW_MMX_64, NBW_MMX_128,
	NBW_X87,
	/* micro-operations with a tag: of front-end tagging; bit n of execution tagging; replay */
	NBW_FRONT_END, NBW_EXECUTION_0, NBW_EXECUTION_1, NBW_EXECUTION_2, NBW_EXECUTION_3,
	NBW_REPLAY,
};

enum netburst_msr {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	MSR_NB_##name = (address), MSR_NB_##cccr = (cccr_address),
#define NB_ESCR(name, address, select, pool, source) MSR_NB_##name = (address),
#define NB_REGISTER(name, address, source) MSR_NB_##name = (address),
#include "spec/netburst.def"
};

enum netburst_counter {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	NB_##name = (number),
#include "spec/netburst.def"
	NB_COUNTERS
};

enum netburst_escr {
#define NB_ESCR(name, address, select, pool, source) NB_##name,
#include "spec/netburst.def"
	NB_ESCRS
};

enum {
#define NB_FIELD(reg, field, lo, hi, present, source) NB_##reg##_##field##_SHIFT = (lo),
#include "spec/netburst.def"
};

#define NB_FIELD(reg, field, lo, hi, present, source) \
	static const u64 NB_##reg##_##field __attribute__((unused)) = BITS(lo, hi);
#include "spec/netburst.def"

enum netburst_event {
#define NB_EVENT(name, select, escr0, escr1, cccr_select, flags, source) NB_EVENT_##name,
#include "spec/netburst.def"
	NB_EVENT_COUNT
};

enum netburst_mask {
#define NB_MASK(event, name, bit, thread, counts, source) NB_##event##_##name = 1 << (bit),
#include "spec/netburst.def"
};

enum netburst_metric {
#define NB_METRIC(name, event, downstream, upstream, upstream_mask, tag, pebs_enable, matrix_vert, \
		  counts, source) \
	NB_METRIC_##name,
#include "spec/netburst.def"
	NB_METRIC_COUNT
};

/* The two forms of DS area and record: <form>_BYTES, <form>_OFFSET_<field>, <form>_DS_<field>. */
enum {
#define NB_RECORD_SIZE(form, bytes) form##_BYTES = (bytes),
#define NB_RECORD_FIELD(form, field, offset, size, title) form##_OFFSET_##field = (offset),
#define NB_DS_FIELD(form, field, offset, size, title) form##_DS_##field = (offset),
#include "spec/netburst.def"
};

#endif
