/* SPDX-License-Identifier: MIT */
/* DS area and record as bytes and as structures, for the model's files that write them. */
#ifndef REFPMU_MODEL_RECORD_H
#define REFPMU_MODEL_RECORD_H

#include "refpmu/model/internal.h"
#include "spec/adaptive.h"

/* The 64-bit form of the DS buffer management area, which DTES64 announces for every mode. */
struct ds_area {
#define DS_FIELD(field, offset, title) u64 field;
#include "spec/ds.def"
#define ADAPTIVE_DS(field, offset, title, source) u64 field;
#define ADAPTIVE_DS_MORE(field, offset, title, source) u64 field;
#include "spec/adaptive.def"
};

enum {
#define DS_FIELD(field, offset, title) DS_OFFSET_##field = (offset),
#include "spec/ds.def"
	DS_BYTES = DS_OFFSET_pebs_counter3_reset + sizeof(u64),
	DS_ADAPTIVE_BYTES = ADAPTIVE_DS_pebs_fixed_counter3_reset + sizeof(u64),
	DS_5_BYTES = ADAPTIVE_DS_MORE_pebs_fixed_counter6_reset + sizeof(u64),
};

/* PEBS formats of IA32_PERF_CAPABILITIES[11:8] that have a row in spec/record.def. */
enum { FORMAT_FMT1 = 1, FORMAT_FMT2 = 2, FORMAT_FMT3 = 3 };

/* The fields of all formats. */
struct record {
#define RECORD_NAME(field) u64 field;
#include "spec/record.def"
	u64 format;		/* the format word of an adaptive one */
};

enum {
#define RECORD_FIELD(format, field, offset, size, title) \
	format##_OFFSET_##field = (offset) + 0 * sizeof(char[(size) == sizeof(u64) ? 1 : -1]),
#define RECORD_SIZE(format, bytes) format##_BYTES = (bytes),
#include "spec/record.def"
};

_Static_assert((int)FMT3_BYTES <= MODEL_RECORD_BYTES, "the record that the model can hold back");

static inline u64 get64(const u8 *from)
{
	u64 value;

	__builtin_memcpy(&value, from, sizeof(value));
	return value;
}

static inline void put64(u8 *to, u64 value)
{
	__builtin_memcpy(to, &value, sizeof(value));
}

/* icelake/adaptive.c: the groups of a record, in the order in which they are in memory. */
enum adaptive_group {
#define ADAPTIVE_GROUP(group, bytes, title, source) GROUP_##group,
#include "spec/adaptive.def"
	GROUP_COUNTERS,
	ADAPTIVE_GROUPS,
};

/* lioncove/snapshot.c: the counters group of format 6. */
struct snapshot {
	bool present;			/* the group is in the record */
	unsigned head;			/* bytes of it, in front of the values */
	u32 gp, fixed, metrics;		/* the words of its head */
	unsigned n;
	u64 value[MODEL_MAX_COUNTERS + 2];
};

/* The counters as they are now, by MSR_PEBS_DATA_CFG; its bytes. */
void model_snapshot(struct model *m, u64 config, struct snapshot *s);
unsigned model_snapshot_bytes(const struct snapshot *s);
void model_snapshot_fill(const struct snapshot *s, u8 *bytes);
/* Bits of MSR_PEBS_DATA_CFG for counters, or metrics, that the processor doesn't have. */
u64 model_snapshot_absent(const struct model *m);

struct adaptive_layout {
	u64 config;		/* MSR_PEBS_DATA_CFG as the format word shows it */
	unsigned entries;	/* of the LBR group */
	unsigned n;
	struct adaptive_part {
		u8 group;	/* enum adaptive_group */
		u16 bytes;
	} part[ADAPTIVE_GROUPS + 1];	/* one more, for faults */
	unsigned bytes;		/* of the record, as the format word shows it */
	struct snapshot snapshot;
};

/* The layout of a record that counter x makes for the counters in covered. */
void model_adaptive_layout(struct model *m, unsigned x, u64 covered,
			   struct adaptive_layout *layout);
/* Bytes of all parts in memory. */
unsigned model_adaptive_bytes(const struct adaptive_layout *layout);
void model_adaptive_fill(struct model *m, const struct retire_ctx *s,
			 const struct adaptive_layout *layout, const struct record *record,
			 u8 *bytes);

/* Entries of the LBR group, which architectural PEBS has too: FROM, TO and INFO. */
void model_fill_lbr_entries(struct model *m, const struct retire_ctx *s, unsigned entries,
			    u8 *bytes);

/* pebs.c: the plan of an assist. */
struct assist_plan {
	u64 ds;			/* linear address of the DS save area, */
	struct ds_area area;	/* and what is there */
	u64 covered;		/* counters that the assist is for */
	bool fits;		/* the record: if it doesn't the event is skipped */
	u64 record;		/* linear address, */
	unsigned size;		/* bytes; 0: none is written */
	u8 bytes[MODEL_RECORD_BYTES];
	u64 index_at, index;	/* linear address of the index, and its new value */
	bool advances, index_first;	/* it does, before the record is written */
	u64 reloaded;		/* counters, */
	u64 reset[MODEL_MAX_COUNTERS];	/* with these values */
	bool threshold;		/* its interrupt follows */
	u64 cleared, set;	/* bits of IA32_PERF_GLOBAL_STATUS */
	struct adaptive_layout layout;
};

/* record.c */
/* Bytes of the processor's records; if they are adaptive, of the last one. At most
 * MODEL_RECORD_BYTES. */
unsigned model_record_bytes(const struct model *m);
/* The record of counter x's event on this instruction, for these counters, with this status. */
void model_fill_record(struct model *m, const struct retire_ctx *s, unsigned x, u64 status,
		       u64 applicable, const struct adaptive_layout *layout, u8 *bytes);

/* The same as fields. */
void model_collect_record(struct model *m, const struct retire_ctx *s, unsigned x, u64 status,
			  u64 applicable, struct record *record);

void model_record_gprs(const u64 *gpr, struct record *record);

/* load_latency.c: the same for the load latency event. */
void model_record_latency(struct model *m, const struct retire_ctx *s, struct record *record);

/* data_address.c: fill in address, data source and latency of counter x's event. */
void model_record_memory(struct model *m, const struct retire_ctx *s, unsigned x,
			 struct record *record);

#endif
