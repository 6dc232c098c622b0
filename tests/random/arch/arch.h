/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS in a drawn case: the settings of its registers, the facts of the processor,
 * and the observed contents of the buffer. A counter is named by its position: general-purpose ones
 * first, then fixed ones. Pure.
 */
#ifndef TESTS_RANDOM_ARCH_H
#define TESTS_RANDOM_ARCH_H

#include "spec/arch_pebs.h"
#include "spec/types.h"

#define DRAW_GP		10
#define DRAW_FIXED	7
#define DRAW_COUNTERS	(DRAW_GP + DRAW_FIXED)

#define DRAW_RECORDS_SEEN	24
#define DRAW_ARCH_RUNS	4	/* of records: from each WR on */
#define DRAW_ARCH_XMM	32	/* halves of XMM0 to XMM15 */
/* THRESH that no record reaches. */
#define DRAW_ARCH_NEVER	(IA32_PEBS_INDEX_THRESH >> IA32_PEBS_INDEX_THRESH_SHIFT)

struct draw_arch {
	u8 used;
	u8 place, size;			/* of the buffer: its first page; 1000H << size bytes */
	u8 writes;			/* of IA32_PEBS_INDEX, by the program */
	u16 xmm;			/* bit n: XMMn isn't 0 */
	u32 write, threshold;		/* WR and THRESH: in units of 16 bytes */
	u64 config[DRAW_COUNTERS];	/* IA32_PMC_x_CFG_C */
};

/* Sets of counters by position in IA32_PERF_GLOBAL_CTRL: draw_status_bit(). */
struct draw_arch_env {
	u64 pebs, pdist;		/* CPUID.(23H,5); 0: no architectural PEBS */
	u64 groups;			/* CPUID.(23H,4):EBX, as bits of CFG_C */
	u64 memory;			/* of the buffer: its first page */
	u64 lbr_ctl, lbr_depth;
	u32 precise;			/* bit n: event n of the environment */
	bool freeze;			/* FREEZE_PERFMON_ON_PMI, as version 4 has it */
	bool exact;			/* the record is of the first event after the overflow */
};

struct draw_arch_record {
	u32 at, bytes;			/* in the buffer; of all its fragments */
	u64 header;   /* of the fragments, without the size: all bits that are set */
	u64 reserved;			/* the second quadwords */
	u64 applicable, tsc;
	bool xer, lbr, counters;	/* groups that it has */
	u64 xstate_bv, xmm[DRAW_ARCH_XMM];
	u64 lbr_ctl, lbr_depth, lbr_entries;
	u64 there;			/* counters of the group, by position in the register */
	bool metrics;
	u64 value[DRAW_COUNTERS];
};

struct draw_arch_seen {
	u64 index;			/* IA32_PEBS_INDEX at the end */
	unsigned runs;
	unsigned last[DRAW_ARCH_RUNS];	/* the record after those of a run */
	u64 after[DRAW_ARCH_RUNS];	/* the byte after it */
	bool overlap;			/* a run has come to where another one begins */
	bool beyond, outside;		/* bytes written: not in the buffer; in it, in no record */
	struct draw_arch_record record[DRAW_RECORDS_SEEN];
};

/* The halves of XMM1 to XMM15 that a case loads, and of XMM0, which programs change. */
u64 draw_arch_xmm(const struct draw_arch *arch, unsigned half);

/* IA32_PEBS_INDEX with these. */
u64 draw_arch_index(u64 write, u64 threshold);

#endif
