/* SPDX-License-Identifier: MIT */
/*
 * An instruction's loads and stores in the memory hierarchy, and their events:
 * MEM_LOAD_UOPS_RETIRED and similar, "Load Latency Performance Monitoring Facility".
 *
 * The hierarchy is used only while an enabled counter, or a record of it, depends on it. At other
 * times the caches don't change.
 *
 * Not handled: loads that are cancelled (nothing is speculative here).
 */
#include "refpmu/model/access.h"
#include "refpmu/model/core.h"

#define SMALLEST_PAGE	4096

static struct memory_tables tables_of(const struct model *m)
{
	return (struct memory_tables){ m->host->translate, m->host->ctx };
}

static void access_enter(struct model *m)
{
	if (model_memory(m))
		memory_enter(model_memory(m));
}

static void access_leave(struct model *m)
{
	if (model_memory(m))
		memory_leave(model_memory(m));
}

/* Does any counter that counts this processor's accesses depend on the memory hierarchy?
 * docs/READINGS.md, "Contents of the hierarchy, and the accesses that it follows". */
static bool watched(const struct model *m)
{
	const struct model *sibling;

	if (m->watch_memory || model_uncore_watches(m))
		return true;
	if (!model_core_is_watched(m))
		return false;
	sibling = model_core_sibling(m);
	return sibling && sibling->watch_memory;
}

/* Without a hierarchy every access hits the L1. */
static struct memory_result through_hierarchy(struct model *m, const struct model_access *a)
{
	const struct memory_tables tables = tables_of(m);

	if (!model_memory(m))
		return (struct memory_result){ .l1_hit = true, .latency = MEMORY_LEAST_LATENCY };
	return memory_access(model_memory(m), m->core, &tables, a->linear, a->bytes, a->store,
			     a->locked);
}

void model_access_watch(struct model *m, bool watch, bool latency)
{
	const struct memory_tables tables = tables_of(m);

	/* The caches are in the state after the last watched instruction; no fill is under way any
	 * more. */
	if (watch && !m->watch_memory && model_memory(m)) {
		access_enter(m);
		memory_act(model_memory(m), m->core, &tables, ACT_DRAIN, 0);
		access_leave(m);
	}
	m->watch_memory = watch;
	m->watch_latency = latency;
}

/* Events by where data comes from; and records of Table 18-46, which tell whether a store hit
 * the L1. */
bool model_access_matters(const struct model_rule *rule)
{
	if ((rule->kind >= EK_SPLIT_LOADS && rule->kind <= EK_OFFCORE_1) ||
	    rule->kind == EK_SLOTS_BACKEND_BOUND)
		return true;
	return rule->pebs && rule->flags & EV_STORE_L1;
}

/* ---- what an access is ---- */

static bool crosses(const struct model_access *a, u64 size)
{
	return a->linear / size != (a->linear + (a->bytes ? a->bytes - 1U : 0)) / size;
}

/* Table 18-45, MEM_UOPS_RETIRED.SPLIT_LOADS and SPLIT_STORES: accesses across a line's end. */
bool model_is_split(const struct model_access *a)
{
	return crosses(a, MEMORY_LINE);
}

bool model_crosses_page(const struct model_access *a)
{
	return crosses(a, SMALLEST_PAGE);
}

static bool is_l3_hit(u8 source)
{
	return source >= SOURCE_L3 && source <= SOURCE_L3_HITM;
}

static bool is_l3_miss(u8 source)
{
	return source >= SOURCE_REMOTE_CACHE && source <= SOURCE_REMOTE_EXCLUSIVE;
}

/*
 * MEM_LOAD_UOPS_RETIRED and similar (Table 18-45, chapter 19): does the event count a load with
 * this data source? A load whose line is already on its way is neither a hit nor a miss of the
 * L1: docs/READINGS.md, "L1 misses".
 */
bool model_load_matches(enum event_kind kind, u8 source)
{
	switch (kind) {
	case EK_L1_HIT:
		return source == SOURCE_L1;
	case EK_HIT_LFB:
		return source == SOURCE_LFB;
	case EK_L2_HIT:
		return source == SOURCE_L2;
	case EK_L3_HIT:
		return is_l3_hit(source);
	case EK_L1_MISS:
		return source == SOURCE_L2 || is_l3_hit(source) || is_l3_miss(source);
	case EK_L2_MISS:
		return is_l3_hit(source) || is_l3_miss(source);
	case EK_L3_MISS:
		return is_l3_miss(source);
	case EK_XSNP_NONE:
		return source == SOURCE_L3;
	case EK_XSNP_MISS:
		return source == SOURCE_L3_SNOOP_MISS;
	case EK_XSNP_HIT:
		return source == SOURCE_L3_SNOOP_HIT;
	case EK_XSNP_HITM:
		return source == SOURCE_L3_HITM;
	case EK_REMOTE_CACHE:
		return source == SOURCE_REMOTE_CACHE;
	case EK_LOCAL_DRAM:
		return source == SOURCE_LOCAL_SHARED || source == SOURCE_LOCAL_EXCLUSIVE;
	case EK_REMOTE_DRAM:
		return source == SOURCE_REMOTE_SHARED || source == SOURCE_REMOTE_EXCLUSIVE;
	case EK_UNCACHED:
		return source == SOURCE_UNCACHED || source == SOURCE_IO;
	default:
		return false;
	}
}

/* MEM_UOPS_RETIRED (Table 18-45) and precise store count either loads or stores.
 * LONGEST_LAT_CACHE counts both: docs/READINGS.md, "CPUID.0AH:EBX". */
static bool matches(struct model *m, enum event_kind kind, const struct model_access *a,
		    const struct access_outcome *o)
{
	switch (kind) {
	case EK_STORES:
	case EK_PRECISE_STORE:
	case EK_STORE_SAMPLE:
		return a->store;
	case EK_LOADS:
		return !a->store;
	case EK_LOCK_LOADS:
		return !a->store && a->locked;
	case EK_SPLIT_LOADS:
		return !a->store && o->memory.split;
	case EK_SPLIT_STORES:
		return a->store && o->memory.split;
	case EK_DTLB_MISS_LOADS:
		return !a->store && o->memory.dtlb_miss;
	case EK_DTLB_MISS_STORES:
		return a->store && o->memory.dtlb_miss;
	case EK_STLB_MISS_LOADS:
		return !a->store && o->memory.stlb_miss;
	case EK_STLB_MISS_STORES:
		return a->store && o->memory.stlb_miss;
	case EK_LLC_REFERENCES:
		return is_l3_hit(o->memory.source) || is_l3_miss(o->memory.source);
	case EK_LLC_MISSES:
		return is_l3_miss(o->memory.source);
	case EK_OFFCORE_0:
	case EK_OFFCORE_1:
		return model_offcore_is(m, kind - EK_OFFCORE_0, a, o->memory.source);
	case EK_LOAD_LATENCY:
		return model_is_latency_event(m, a, o);
	default:
		return !a->store && model_load_matches(kind, o->memory.source);
	}
}

bool model_access_is(struct model *m, enum event_kind kind, const struct model_access *a,
		     const struct access_outcome *o)
{
	return fault_access_is(m, kind, a, o, matches(m, kind, a, o));
}

/* The cycles for which an access stalls the processor. A store waits in the store buffer and
 * stalls nothing: docs/READINGS.md, "A load's latency on the core clock". */
static u64 duration(struct model *m, const struct model_access *a, const struct access_outcome *o)
{
	return fault_duration(m, a->store ? 0 : o->memory.latency);
}

/* "When the load-latency facility is enabled, load operations are randomly selected by hardware and
 * tagged": load_latency.c. */
struct access_outcome model_access_meet(struct model *m, const struct model_access *a)
{
	struct access_outcome o = { .memory = through_hierarchy(m, a) };

	if (m->watch_latency && !a->store)
		o.tagged = model_tag_load(m, a, &o.memory);
	return o;
}

/* ---- an instruction ---- */

void model_spill_access(struct model *m, struct model_retired *r, const struct model_access *a)
{
	struct access_outcome o;

	if (!watched(m))
		return;
	access_enter(m);
	o = model_access_meet(m, a);
	access_leave(m);
	if (!r->any_spilled) {
		__builtin_memset(r->spilled, 0, sizeof(r->spilled));
		r->spilled_cycles = 0;
	}
	r->any_spilled = true;
	r->spilled_cycles += duration(m, a, &o);
	for (unsigned kind = 0; kind < MODEL_SPILLED_KINDS; kind++)
		r->spilled[kind] += model_access_is(m, EK_SPLIT_LOADS + kind, a, &o);
}

u64 model_access_run(struct model *m, struct retire_ctx *s)
{
	const struct memory_tables tables = tables_of(m);
	u64 cycles = s->r->any_spilled ? s->r->spilled_cycles : 0;

	if (!watched(m)) {
		for (unsigned a = 0; a < s->r->n_access; a++)
			s->outcome[a] = (struct access_outcome){ .memory.l1_hit = true };
		return 0;
	}
	access_enter(m);
	if (model_memory(m)) {
		memory_tick(model_memory(m), m->core);
		if (!fault_prefetch(m, s, false) && s->r->act)
			memory_act(model_memory(m), m->core, &tables, s->r->act, s->r->act_linear);
	}
	for (unsigned a = 0; a < s->r->n_access; a++) {
		s->outcome[a] = model_access_meet(m, &s->r->access[a]);
		cycles += duration(m, &s->r->access[a], &s->outcome[a]);
	}
	access_leave(m);
	return cycles;
}

u64 model_access_count(struct model *m, const struct retire_ctx *s, enum event_kind kind)
{
	unsigned early = (unsigned)kind - EK_SPLIT_LOADS;
	u64 n = fault_prefetched(m, kind, 0);

	if (s->r->any_spilled && early < MODEL_SPILLED_KINDS)
		n = s->r->spilled[early];
	for (unsigned a = 0; a < s->r->n_access; a++)
		n += model_access_is(m, kind, &s->r->access[a], &s->outcome[a]);
	return n;
}
