/* SPDX-License-Identifier: MIT */
/* What the rules of load latency, precise store and data address profiling share. */
#ifndef HOST_MODEL_RULES_MEMORY_H
#define HOST_MODEL_RULES_MEMORY_H

#include "host/model/rules/internal.h"

#define LL	EVENT_MEM_TRANS_RETIRED_LOAD_LATENCY
#define PS	EVENT_MEM_TRANS_RETIRED_PRECISE_STORE
#define A	0x500000ULL		/* where nothing has been */
#define LL_EN(n) (BIT(n) | BIT(32 + (n)))
#define PS_ENABLED (BIT(3) | BIT(63))

/* The same processor as another generation, with each load tagged, and a buffer. */
static inline void become(struct fixture *r, enum generation_id generation, bool all_tagged)
{
	struct model_config config = r->m.config;

	config.generation = generation;
	config.hyper_threading = true;
	if (all_tagged) {
		config.latitude.set |= BIT(LAT_TAG_GAP);
		config.latitude.value[LAT_TAG_GAP] = 0;
	}
	fixture_open_config(r, &config);
	fixture_ds(r, 12, 12);
}

/* Counter n counts and records this event from now on. */
static inline void sample(struct fixture *r, unsigned n, u32 event, u64 enables, u64 threshold,
			  u64 period)
{
	/* A broken processor may refuse the bits. */
	fixture_set(r, MSR_PEBS_LD_LAT_THRESHOLD, threshold);
	fixture_program_pebs(r, n, event, 0, period);
	fixture_wrmsr(r, MSR_IA32_PEBS_ENABLE, enables);
	fixture_start(r, BIT(n));
}

static inline u64 bytes(const struct fixture *r)
{
	return fixture_index(r) - FIXTURE_BUFFER;
}

static inline u64 field(const struct fixture *r, unsigned record, unsigned offset)
{
	u64 size = r->m.config.generation < GEN_HASWELL ? 0xb0 : FIXTURE_RECORD;

	return fixture_peek(r, FIXTURE_BUFFER + record * size + offset);
}

static inline void loads_of(struct fixture *r, u64 linear, unsigned n)
{
	while (n--)
		fixture_load(r, linear);
}

static inline void act(struct fixture *r, enum memory_act what, u64 linear)
{
	fixture_retire(r, &(struct model_retired){ .act = what, .act_linear = linear });
}

/* A record of the load after this one, which only wraps the counter. */
static inline void begin(struct fixture *r)
{
	become(r, GEN_HASWELL, true);
	sample(r, 3, LL, LL_EN(3), 3, 1);
	fixture_load(r, A - 0x10000);
	act(r, ACT_DRAIN, 0);
}

/* What the counter counts of L1 hits with this threshold. */
static inline u64 near_loads(struct fixture *r, u64 threshold)
{
	u64 before;

	sample(r, 3, LL, LL_EN(3), threshold, 0);
	fixture_load(r, A);
	act(r, ACT_DRAIN, 0);
	before = PMC(3);
	loads_of(r, A, 40);
	return PMC(3) - before;
}

static inline u64 source_of(struct fixture *r, unsigned record)
{
	return field(r, record, RECORD_SOURCE) & 0xf;
}

/* A record of the store after this one. */
static inline void begin_stores(struct fixture *r)
{
	become(r, GEN_SANDYBRIDGE, true);
	sample(r, 3, PS, PS_ENABLED, 3, 1);
	fixture_store(r, A - 0x10000);
}

#endif
