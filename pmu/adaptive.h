/* SPDX-License-Identifier: MIT */
/*
 * Adaptive PEBS records, IA32_PERF_CAPABILITIES[11:8] = 4 to 6: the first quadword of a record says
 * which groups the record has and how long it is. The counters group says which counters it
 * contains. Pure: driven by spec/adaptive.def and, for the counters group, which is that of
 * architectural PEBS, by spec/arch_pebs.def; no machine access, no globals. The bytes may be
 * arbitrary. So the format word is checked first: it must be consistent, and match the number of
 * bytes.
 */
#ifndef PMU_ADAPTIVE_H
#define PMU_ADAPTIVE_H

#include "spec/adaptive.h"
#include "spec/types.h"

/* In their order in a record. */
enum adaptive_group {
#define ADAPTIVE_GROUP(group, bytes, title, source) GROUP_##group,
#include "spec/adaptive.def"
	GROUP_COUNTERS,			/* of format 6 */
	GROUPS
};

struct adaptive_layout {
	u64 config;			/* MSR_PEBS_DATA_CFG that makes it */
	u32 gp, fixed;			/* counters of the counters group, bit by bit */
	u16 size;			/* of a record, bytes */
	u16 entries;			/* of the LBR group */
	u16 offset[GROUPS];		/* where a group begins, if the record has it */
	bool metrics;			/* the counters group ends with slots and metrics */
};

enum adaptive_state {
	ADAPTIVE_WHOLE,
	ADAPTIVE_NO_BASIC_GROUP,	/* fewer bytes than the basic group has */
	ADAPTIVE_UNKNOWN_GROUP,		/* the format word has a bit that names none */
	ADAPTIVE_OTHER_SIZE,		/* its size isn't that of its groups */
	ADAPTIVE_CUT_OFF,		/* fewer bytes than its size */
};

/* The layout of records with MSR_PEBS_DATA_CFG = config. false, with *layout unchanged: reserved
 * bits, or counters without CNTR. */
bool adaptive_lay_out(u64 config, struct adaptive_layout *layout);

/* Has the record the group? */
bool adaptive_has(const struct adaptive_layout *layout, enum adaptive_group group);

/*
 * The layout of the record at bytes; size bytes can be read. *layout is set only if the result is
 * ADAPTIVE_WHOLE. bytes need not be aligned.
 */
enum adaptive_state adaptive_read(const void *bytes, size_t size, struct adaptive_layout *layout);

/* The same for a record that may be cut off (ADAPTIVE_CUT_OFF). If the head of the counters group
 * is cut off, the layout has no counters. */
bool adaptive_begins(const void *bytes, size_t size, struct adaptive_layout *layout);

#endif
