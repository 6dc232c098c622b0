/* SPDX-License-Identifier: MIT */
/* Memory accesses, for counting and for records (access.c). For refpmu/model/ only. */
#ifndef REFPMU_MODEL_ACCESS_H
#define REFPMU_MODEL_ACCESS_H

#include "refpmu/model/internal.h"

/* From model_configure(). watch: some counter or record depends on the source of data; latency:
 * load latency is on. */
void model_access_watch(struct model *m, bool watch, bool latency);
/* Does a counter with this rule depend on the source of data? */
bool model_access_matters(const struct model_rule *rule);

/* Carry out the instruction's accesses, in order: fills in s->outcome, and returns the cycles that
 * its loads take. Once for each instruction, before any counting. */
u64 model_access_run(struct model *m, struct retire_ctx *s);

/* Is this access an occurrence of the event? Only for kinds whose events are single accesses. */
bool model_access_is(struct model *m, enum event_kind kind, const struct model_access *a,
		     const struct access_outcome *o);
/* The number of the instruction's accesses that are occurrences of the event. For kinds from
 * EK_SPLIT_LOADS to EK_UNCACHED, EK_LOAD_LATENCY, EK_PRECISE_STORE, EK_OFFCORE_0 and _1. */
u64 model_access_count(struct model *m, const struct retire_ctx *s, enum event_kind kind);

/* Carry out one access in the memory hierarchy; a load may be tagged. */
struct access_outcome model_access_meet(struct model *m, const struct model_access *a);
/* Is a load with this data source an occurrence of the event? */
bool model_load_matches(enum event_kind kind, u8 source);

/* Is the access split between two lines? Between two pages of the smallest size? */
bool model_is_split(const struct model_access *a);
bool model_crosses_page(const struct model_access *a);

/* load_latency.c */
/* A load has retired: was it tagged? If so, its outcome is kept for the next record. */
bool model_tag_load(struct model *m, const struct model_access *a, const struct memory_result *o);
/* Is the access an occurrence of the load latency event? */
bool model_is_latency_event(struct model *m, const struct model_access *a,
			    const struct access_outcome *o);
/* offcore.c: an access that misses the L2, and the register that selects it. */
struct offcore_access {
	unsigned n;	/* of MSR_OFFCORE_RSP_<n> */
	u64 request;	/* a bit of it */
	bool store, locked, split;
	u8 source;	/* enum memory_source: the response */
	u64 select;	/* the register */
};
/* Does MSR_OFFCORE_RSP_<n> select an access with this source? */
bool model_offcore_is(struct model *m, unsigned n, const struct model_access *a, u8 source);
/* load_latency.c: is a load of so many cycles above the threshold? */
bool model_latency_eligible(struct model *m, u32 latency);
/* The outcome of a source in spec/data_source.def, and its code: Table 18-24. */
u8 model_source_outcome(u8 source);
u64 model_outcome_code(const struct model *m, u8 outcome);
u64 model_source_code(const struct model *m, u8 source);
u64 model_further_bits(const struct model *m, const struct tagged_load *load);
/* The bits of a data source that may be anything here, as no source defines them. */
u64 model_undefined_source(const struct model *m);
/* The latency field of a record for this latency. */
u64 model_latency_field(struct model *m, u32 latency);

#endif
