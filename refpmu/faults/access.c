/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/access.c: the events of a load, of a store and of a prefetch. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/record.h"
#include "refpmu/model/access.h"

static bool is_l3_hit(u8 source)
{
	return source >= SOURCE_L3 && source <= SOURCE_L3_HITM;
}

/* The source that a broken processor reports for a load. */
static u8 other_answer(struct model *m, enum event_kind kind, u8 source)
{
	bool modified = source == SOURCE_L3_HITM;

	if (kind == EK_XSNP_HIT && modified && broken(m, FAULT_SNOOP_HIT_COUNTS_MODIFIED))
		return SOURCE_L3_SNOOP_HIT;
	if (kind == EK_XSNP_NONE && is_l3_hit(source) && broken(m, FAULT_SNOOP_NONE_COUNTS_ALL))
		return SOURCE_L3;
	if (kind == EK_XSNP_HITM && modified &&
	    (broken(m, FAULT_SNOOP_MODIFIED_UNCOUNTED) || broken(m, FAULT_LL_MODIFIED_LOST)))
		return SOURCE_L3;
	if (kind == EK_LOCAL_DRAM && source == SOURCE_REMOTE_EXCLUSIVE &&
	    broken(m, FAULT_LOCAL_COUNTS_REMOTE))
		return SOURCE_LOCAL_EXCLUSIVE;
	return source;
}

/* The level that a broken processor reports, for the events of data address profiling. */
static u8 other_level(struct model *m, enum event_kind kind, u8 source)
{
	if (kind == EK_L1_HIT && source == SOURCE_LFB && broken(m, FAULT_L1_HIT_COUNTS_PENDING))
		return SOURCE_L1;
	if (kind == EK_HIT_LFB && source == SOURCE_L1 && broken(m, FAULT_PENDING_COUNTS_L1_HIT))
		return SOURCE_LFB;
	if (kind == EK_L2_HIT && source == SOURCE_L1 && broken(m, FAULT_L2_HIT_COUNTS_L1))
		return SOURCE_L2;
	if (kind == EK_L3_MISS && is_l3_hit(source) && broken(m, FAULT_L3_MISS_COUNTS_L3_HITS))
		return SOURCE_LOCAL_SHARED;
	if (kind == EK_L2_HIT && is_l3_hit(source) && broken(m, FAULT_L2_HIT_COUNTS_L3))
		return SOURCE_L2;
	if (kind == EK_L1_MISS && source > SOURCE_L2 && broken(m, FAULT_L1_MISS_NEAR_ONLY))
		return SOURCE_L1;
	if (kind == EK_L2_MISS && source == SOURCE_L2 && broken(m, FAULT_L2_MISS_COUNTS_L2))
		return SOURCE_L3;
	return source;
}

static bool by_source(struct model *m, enum event_kind kind, const struct model_access *a, u8 right,
		      bool is)
{
	u8 source;

	if (a->store)
		return is;
	if (is && is_by_level(kind) &&
	    ((faults_of(m)->cpl && broken(m, FAULT_LEVELS_NOT_OF_USER)) ||
	     (a->locked && broken(m, FAULT_LEVELS_NOT_LOCKED))))
		return false;
	source = other_level(m, kind, other_answer(m, kind, right));
	return source == right ? is : model_load_matches(kind, source);
}

static bool stlb_miss(struct model *m, const struct model_access *a, const struct memory_result *o,
		      bool is)
{
	if (is && faults_of(m)->cpl && broken(m, FAULT_STLB_MISS_NOT_OF_USER))
		return false;
	if (is && a->store && model_crosses_page(a) && broken(m, FAULT_STLB_STORES_IN_PAGE))
		return false;
	if (is && !a->store && model_is_split(a) && broken(m, FAULT_STLB_LOADS_UNSPLIT))
		return false;
	if (is)
		return !broken(m, FAULT_STLB_MISS_SILENT) &&
		       !(a->locked && broken(m, a->store ? FAULT_STLB_MISS_PLAIN_STORES :
							   FAULT_STLB_MISS_PLAIN_LOADS));
	return o->dtlb_miss && !o->stlb_miss && broken(m, FAULT_STLB_MISS_COUNTS_DTLB);
}

static bool captured(struct model *m, const struct model_access *a)
{
	return !broken(m, a->locked ? FAULT_PS_LOCKED_LOST : FAULT_PS_PLAIN_LOST) &&
	       !(model_is_split(a) && broken(m, FAULT_PS_SPLIT_LOST));
}

static bool last_level(struct model *m, enum event_kind kind, const struct model_access *a,
		       u8 source, bool is)
{
	const unsigned counter = faults_of(m)->at_counter;

	if (a->store)
		return is && !broken(m, FAULT_LLC_STORES_MISSED);
	if (!is && counter + 1 < model_gp_counters(m) && broken(m, FAULT_LLC_LOWER_COUNT_HITS))
		return true;
	if (kind == EK_LLC_REFERENCES)
		return is || (source == SOURCE_L2 && broken(m, FAULT_LLC_REFERENCES_OF_L2));
	return is || (is_l3_hit(source) && broken(m, FAULT_LLC_MISSES_OF_L3));
}

/* Does the event of these loads count nothing? */
static bool silent(struct model *m, enum event_kind kind)
{
	return (kind == EK_L1_HIT && broken(m, FAULT_L1_HIT_SILENT)) ||
	       (kind == EK_HIT_LFB && broken(m, FAULT_HIT_LFB_SILENT)) ||
	       (kind == EK_UNCACHED && broken(m, FAULT_UNCACHED_SILENT));
}

bool fault_access_is(struct model *m, enum event_kind kind, const struct model_access *a,
		     const struct access_outcome *o, bool is)
{
	if (m->config.fault == FAULT_NONE)
		return is;
	switch (kind) {
	case EK_SPLIT_LOADS:
	case EK_SPLIT_STORES:
		if (is && !a->store && a->locked && broken(m, FAULT_SPLIT_LOADS_UNLOCKED))
			return false;
		if (is && a->store && o->memory.stlb_miss &&
		    broken(m, FAULT_SPLIT_STORES_WITHOUT_WALK))
			return false;
		return is &&
		       !(model_crosses_page(a) && broken(m, a->store ? FAULT_SPLIT_STORES_IN_PAGE :
								       FAULT_SPLIT_LOADS_IN_PAGE));
	case EK_STLB_MISS_LOADS:
		return a->store ? is : stlb_miss(m, a, &o->memory, is);
	case EK_STLB_MISS_STORES:
		return a->store ? stlb_miss(m, a, &o->memory, is) : is;
	case EK_PRECISE_STORE:
		return is && captured(m, a);
	case EK_LLC_REFERENCES:
	case EK_LLC_MISSES:
		return last_level(m, kind, a, o->memory.source, is);
	case EK_DTLB_MISS_LOADS:
	case EK_DTLB_MISS_STORES:
		if (is && faults_of(m)->cpl && broken(m, FAULT_DTLB_MISS_NOT_OF_USER))
			return false;
		return o->memory.dtlb_miss && broken(m, FAULT_DTLB_MISSES_SWAPPED) ? !is : is;
	default:
		return !(is && silent(m, kind)) && by_source(m, kind, a, o->memory.source, is);
	}
}

u64 fault_duration(struct model *m, u64 cycles)
{
	return cycles && broken(m, FAULT_LL_CLOCK_STANDS) ? 0 : cycles;
}

/* Faults ll-counts-prefetches and -far-prefetches: the facility takes a prefetch for a load. */
bool fault_prefetch(struct model *m, const struct retire_ctx *s, bool is_load)
{
	const struct model_access a = { .linear = s->r->act_linear, .bytes = 1 };
	struct access_outcome o;

	if (m->config.fault == FAULT_NONE)
		return is_load;
	faults_of(m)->prefetched = false;
	if (!s->r->act || s->r->act > ACT_PREFETCH_OWN ||
	    !(broken(m, FAULT_LL_COUNTS_PREFETCHES) ||
	      (s->r->act != ACT_PREFETCH_L1 && broken(m, FAULT_LL_COUNTS_FAR_PREFETCHES))))
		return is_load;
	o = model_access_meet(m, &a);
	faults_of(m)->prefetched = model_access_is(m, EK_LOAD_LATENCY, &a, &o);
	return true;
}

u64 fault_prefetched(const struct model *m, enum event_kind kind, u64 n)
{
	return n + (kind == EK_LOAD_LATENCY && faults_of(m)->prefetched);
}
