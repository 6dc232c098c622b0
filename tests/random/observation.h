/* SPDX-License-Identifier: MIT */
/* The observed results of a drawn case. Pure. */
#ifndef TESTS_RANDOM_OBSERVATION_H
#define TESTS_RANDOM_OBSERVATION_H

#include "pmu/lbr/format.h"
#include "pmu/record.h"
#include "spec/arch_lbr.h"
#include "tests/random/case.h"

#define DRAW_INTERRUPTS_SEEN	8
#define DRAW_ENTRIES		32	/* of the LBR group */
#define DRAW_VALUES		24	/* of the counters group */

struct draw_interrupt {
	u32 vector, lvtpc;
	u64 status, global, debugctl, rip;
	u64 arch_index;			/* IA32_PEBS_INDEX */
};

/* Fields of an adaptive record that aren't in struct pebs_record. */
struct draw_groups {
	u64 config;			/* MSR_PEBS_DATA_CFG of the groups that it has */
	bool metrics;			/* the counters group ends with slots and metrics */
	u64 vector[DRAW_VECTORS][2];
	struct draw_entry entry[DRAW_ENTRIES];
	u64 value[DRAW_VALUES];		/* of the counters group, in its order */
};

struct draw_branches_seen {
	u64 top;			/* legacy: MSR_LASTBRANCH_TOS */
	u64 depth;			/* architectural: IA32_LBR_DEPTH */
	u64 looked;			/* bit n: entry[n] was read; n is its number in the MSRs */
	struct lbr_raw entry[ARCH_LBR_MAX_ENTRIES];
};

struct draw_observation {
	u64 value[DRAW_COUNTERS];	/* of each counter, at the end */
	u64 status;			/* IA32_PERF_GLOBAL_STATUS */
	u64 debugctl;
	struct draw_result result[DRAW_OPERATIONS];
	u64 left;			/* what a refused write left in its register */
	unsigned interrupts;		/* the first ones are kept */
	struct draw_interrupt interrupt[DRAW_INTERRUPTS_SEEN];
	u64 index;			/* PEBS index, in bytes from the buffer's base */
	bool area_changed, outside;	/* the DS area; memory around the records */
	unsigned records;		/* as the index says */
	struct pebs_record record[DRAW_RECORDS_SEEN];
	struct draw_arch_seen arch;
	/* Where baseline is 1 */
	struct draw_groups groups[DRAW_RECORDS_SEEN];
	u64 walked;			/* where the sizes of the records lead, as the index */
	u64 begin, end;			/* the time-stamp counter, before the window and after it */
	struct draw_branches_seen branches;
};

#endif
