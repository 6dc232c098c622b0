/* SPDX-License-Identifier: MIT */
/*
 * struct netburst: the state that the logical processors of a NetBurst core share. Only the
 * NetBurst model uses the members; the owner needs the size and zeroes it once.
 */
#ifndef REFPMU_MODEL_NETBURST_STATE_H
#define REFPMU_MODEL_NETBURST_STATE_H

#include "spec/netburst.h"

/* The contents of the registers. */
struct netburst_settings {
	u64 cccr[NB_COUNTERS], escr[NB_ESCRS];
	u64 pebs_enable;	/* without the two bits that are relative to the accessor */
	u64 matrix_vert;
	u32 running;		/* bit n: counter n is enabled, or was started by a cascade */
	u8 pebs_threads;	/* bit t: PEBS is enabled for logical processor t */
	/* CCCRs and ESCRs, decoded when they are written. */
	u8 selected[NB_COUNTERS];	/* the ESCR that a counter's CCCR selects; NB_ESCRS: none */
	struct netburst_meaning {
		u8 event;		/* NB_EVENT_COUNT: none that it can count */
		u64 rows;		/* bit i: row i of NB_MASK is selected */
	} meaning[NB_ESCRS];
	u64 taggers, memory;	/* bit e: ESCR e tags; asks what memory accesses met */
};

/* A store that later loads may have to wait for. */
struct netburst_store {
	u64 linear;
	u32 bytes;	/* 0: none */
	u32 at;		/* retired instructions of its logical processor */
};
#define NB_STORES	4

/* A logical processor's share. */
struct netburst_processor {
	bool active;		/* it has been seen running, and hasn't halted since */
	bool user;		/* then: its last instruction was at CPL 1 to 3 */
	bool armed;		/* its PEBS counter has overflowed, and there is no record yet */
	u8 shadow;		/* events still to pass before the record (latitude) */
	struct netburst_store store[NB_STORES];		/* the last ones, in turn */
	unsigned next_store;
	u32 retired;		/* instructions that were counted */
	u32 linger;		/* instructions that are seen although no counter runs any more */
	/* A WRMSR of its own has run and its retirement is to come: the settings before it, and
	 * the counter that it wrote. */
	bool writing;
	u32 written;
	struct netburst_settings before;
	u64 fault_room[30];	/* as struct model has it */
};

struct netburst {
	struct netburst_settings now;
	u64 counter[NB_COUNTERS];
	u64 tc_precise_event;
	u32 pmi_due;		/* bit n: overflowed, the PMI comes with the next count */
	u32 condition;		/* bit n: of the last clock, what edge detection compares with */
	u64 literal;		/* MSR_PEBS_ENABLE as it was written */
	u64 fault_room[34];
	struct netburst_processor thread[NB_THREADS];
};

#endif
