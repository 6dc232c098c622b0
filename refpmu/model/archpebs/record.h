/* SPDX-License-Identifier: MIT */
/* The plan of a record of architectural PEBS: its contents and its place. */
#ifndef REFPMU_MODEL_ARCHPEBS_RECORD_H
#define REFPMU_MODEL_ARCHPEBS_RECORD_H

#include "refpmu/model/archpebs/archpebs.h"
#include "refpmu/model/record.h"
#include "spec/arch_pebs.h"

/* Enough for all groups in three fragments, and for the additions of faults. */
#define ARCH_RECORD_BYTES	0x900

struct arch_layout {
	u64 groups;		/* bits of the header */
	unsigned entries;	/* of LBR, */
	unsigned ler;		/* bytes in front of them */
	u64 counters;		/* that are stored, by their index */
	bool metrics;
	u64 xstate_bv;		/* components of XER that are stored: */
	u8 xmm[ARCH_PEBS_XER_XMM_BYTES], ymmh[ARCH_PEBS_XER_YMMH_BYTES];
};

struct arch_plan {
	struct arch_layout layout;
	u64 at, begin, end;	/* physical: the record, the buffer */
	bool linear;		/* not physical: with some faults */
	unsigned size;
	u8 bytes[ARCH_RECORD_BYTES];
	bool fits;		/* else it is dropped: */
	bool full;		/* IA32_PEBS_INDEX.FULL */
	u64 index;		/* the new value of IA32_PEBS_INDEX */
	bool reloads;
	u64 reload;
	u64 cleared, set;	/* bits of IA32_PERF_GLOBAL_STATUS */
	bool threshold;		/* its interrupt follows */
	u64 covered;		/* counters whose arm ends */
};

/* fragment.c: the groups of a record of counter x; the record itself, and its bytes. */
void model_arch_layout(struct model *m, unsigned x, struct arch_layout *layout);
unsigned model_arch_fill(struct model *m, const struct retire_ctx *s, unsigned x,
			 const struct arch_layout *layout, u8 *bytes);

/* buffer.c: does counter x make records; the record of its event. */
bool model_arch_pebs_enabled(struct model *m, unsigned counter);
struct assist model_arch_assist(struct model *m, struct retire_ctx *s, unsigned x);

#endif
