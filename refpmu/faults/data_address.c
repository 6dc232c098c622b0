/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/data_address.c: address and status of a store or a load in a record. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/goldencove/goldencove.h"
#include "refpmu/faults/record.h"
#include "refpmu/model/access.h"
#include "spec/data_source.h"

bool fault_latency_enabled(struct model *m, unsigned x, bool enabled)
{
	u64 any = m->pebs_enable & IA32_PEBS_ENABLE_LL_EN_PMC;
	u64 lower = any & (BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + x) - 1);

	if (enabled && lower && broken(m, FAULT_LL_LOWEST_COUNTER))
		return false;
	if (enabled)
		return x == 3 || !broken(m, FAULT_LL_EN_PMC3_ONLY);
	return (any && broken(m, FAULT_LL_EN_OF_ANY)) || broken(m, FAULT_LL_EN_IGNORED);
}

bool fault_store_enabled(struct model *m, bool enabled)
{
	const struct model *first = first_of(m);

	if (enabled && first && !(first->pebs_enable & IA32_PEBS_ENABLE_PS_EN) &&
	    broken(m, FAULT_PS_SECOND_BY_FIRST))
		return false;
	return enabled || broken(m, FAULT_PS_EN_IGNORED);
}

/* ---- precise store ---- */

enum { DOUBLEWORD = 4, QUADWORD = 8 };	/* bytes */

/* The line was in a cache beyond the L1. */
static bool is_cached(const struct memory_result *o)
{
	return o->source == SOURCE_L2 || o->source == SOURCE_L3;
}

static u64 store_status(struct model *m, const struct model_access *a,
			const struct memory_result *o, u64 status)
{
	if (broken(m, FAULT_PS_L1_INVERTED))
		status ^= DATA_SOURCE_PS_L1D_HIT;
	if (is_cached(o) && broken(m, FAULT_PS_HIT_IN_ANY_CACHE))
		status |= DATA_SOURCE_PS_L1D_HIT;
	if (o->split && broken(m, FAULT_PS_SPLIT_HITS))
		status |= DATA_SOURCE_PS_L1D_HIT;
	if (o->split && broken(m, FAULT_PS_SPLIT_MISSES))
		status &= ~(u64)DATA_SOURCE_PS_L1D_HIT;
	if (broken(m, FAULT_PS_STLB_ALWAYS) || (o->dtlb_miss && broken(m, FAULT_PS_DTLB_AS_MISS)))
		status |= DATA_SOURCE_PS_STLB_MISS;
	if (o->stlb_miss &&
	    (broken(m, FAULT_PS_STLB_NEVER) || (o->split && broken(m, FAULT_PS_SPLIT_NO_WALK))))
		status &= ~(u64)DATA_SOURCE_PS_STLB_MISS;
	if (o->stlb_miss && broken(m, FAULT_PS_WALK_MISSES))
		status &= ~(u64)DATA_SOURCE_PS_L1D_HIT;
	if (a->locked && o->l1_hit && broken(m, FAULT_PS_LOCKED_MISSES))
		status &= ~(u64)DATA_SOURCE_PS_L1D_HIT;
	if (a->locked && broken(m, FAULT_PS_LOCKED_WALKS))
		status |= DATA_SOURCE_PS_STLB_MISS;
	if (broken(m, FAULT_PS_LOCK_ALWAYS))
		status |= DATA_SOURCE_PS_LOCKED;
	if (a->locked && (broken(m, FAULT_PS_LOCK_NEVER) ||
			  (o->split && broken(m, FAULT_PS_LOCK_NOT_OF_SPLITS)) ||
			  (a->bytes == DOUBLEWORD && broken(m, FAULT_PS_LOCK_NOT_OF_4)) ||
			  (a->bytes == QUADWORD && broken(m, FAULT_PS_LOCK_NOT_OF_8))))
		status &= ~(u64)DATA_SOURCE_PS_LOCKED;
	if (broken(m, FAULT_PS_SOURCE_CODE))
		status = (status & ~(u64)DATA_SOURCE_PS_L1D_HIT) | model_source_code(m, o->source);
	return status;
}

static u64 store_address(struct model *m, const struct retire_ctx *s, const struct memory_result *o,
			 u64 linear)
{
	if (broken(m, FAULT_PS_ADDRESS_IP))
		return s->r->ip;
	if (with_new_base(s, linear) != linear && broken(m, FAULT_PS_NEW_BASE))
		return with_new_base(s, linear);
	if (broken(m, FAULT_PS_ADDRESS_LINE) || (!o->l1_hit && broken(m, FAULT_PS_FAR_LINE)))
		return linear & -(u64)MEMORY_LINE;
	if (broken(m, FAULT_PS_ADDRESS_8))
		return linear & -sizeof(u64);
	if (linear >> 48 && broken(m, FAULT_PS_ADDRESS_48))
		return linear & BITS(0, 47);
	if (broken(m, FAULT_PS_ADDRESS_32))
		return (u32)linear;
	if (o->split && broken(m, FAULT_PS_SPLIT_SECOND))
		return second_line(linear);
	return linear;
}

void fault_precise_store(struct model *m, const struct retire_ctx *s, unsigned a,
			 struct record *record)
{
	const struct memory_result *o = &s->outcome[a].memory;

	if (m->config.fault == FAULT_NONE)
		return;
	record->data_source = store_status(m, &s->r->access[a], o, record->data_source);
	record->data_linear_address = store_address(m, s, o, record->data_linear_address);
	if (broken(m, FAULT_PS_LATENCY))
		record->latency = o->latency;
	if (first_of(m) && broken(m, FAULT_PS_SECOND_NO_STATUS))
		record->data_source = 0;
	if (s->cpl && broken(m, FAULT_PS_USER_EMPTY))
		record->data_linear_address = record->data_source = 0;
	if (s->cpl && o->stlb_miss && broken(m, FAULT_PS_USER_NO_WALK))
		record->data_source &= ~(u64)DATA_SOURCE_PS_STLB_MISS;
	if (s->cpl && broken(m, FAULT_PS_USER_STATUS))
		record->data_source = 0;
}

/* ---- data address profiling ---- */

/* Faults that leave out the address of one event. */
static bool address_missing(struct model *m, enum event_kind kind)
{
	switch (kind) {
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_ADDRESS_MISSING(token, event, name, ...) \
	case EVENT_KIND_##event: \
		return broken(m, FAULT_##token);
#include "refpmu/faults/fault_memory.def"
#undef FAULT
	default:
		return false;
	}
}

static u64 other_address(struct model *m, const struct retire_ctx *s, const struct model_access *a,
			 const struct memory_result *o, u64 linear)
{
	if (with_new_base(s, linear) != linear && broken(m, FAULT_DLA_NEW_BASE))
		return with_new_base(s, linear);
	if (m->config.fault == FAULT_DLA_UNWRAPPED && has_address_prefix(m, s) &&
	    broken(m, FAULT_DLA_UNWRAPPED))
		return linear | BIT(32);
	if (a->store && a->locked && broken(m, FAULT_DLA_LOCKED_EMPTY))
		return 0;
	if (!o->l1_hit && broken(m, FAULT_DLA_FAR_LINE))
		return linear & -(u64)MEMORY_LINE;
	if (broken(m, FAULT_DLA_ADDRESS_8))
		return linear & -sizeof(u64);
	if (linear >> 48 && broken(m, FAULT_DLA_ADDRESS_48))
		return linear & BITS(0, 47);
	if (broken(m, FAULT_DLA_ADDRESS_32))
		return (u32)linear;
	if (model_is_split(a) &&
	    broken(m, a->store ? FAULT_DLA_SPLIT_STORES_SECOND : FAULT_DLA_SPLIT_LOADS_SECOND))
		return second_line(linear);
	return linear;
}

/* Faults that forget the hit of some stores. */
static bool hit_is_lost(struct model *m, const struct retire_ctx *s, const struct model_access *a)
{
	bool push = a->linear == s->r->after.gpr[REG_RSP] && a->linear < s->r->before.gpr[REG_RSP];

	return (a->bytes != 4 && a->bytes != 8 && broken(m, FAULT_DLA_HIT_WIDTHS)) ||
	       (model_is_split(a) && broken(m, FAULT_DLA_HIT_SPLIT)) ||
	       (push && broken(m, FAULT_DLA_HIT_PUSH)) ||
	       (s->cpl && broken(m, FAULT_DLA_HIT_USER)) ||
	       (a->locked && broken(m, FAULT_DLA_LOCKED_MISSES));
}

/* Faults of the bits next to the code of a sampled store. */
static u64 store_sample_bits(struct model *m, unsigned x, const struct model_access *a,
			     const struct memory_result *o, u64 source)
{
	const u64 stlb = model_further_bits(m, &(struct tagged_load){ .stlb_miss = true });
	const u64 lock = model_further_bits(m, &(struct tagged_load){ .locked = true });

	if (o->stlb_miss && broken(m, FAULT_STORE_SAMPLE_STLB_BIT_4))
		source = (source & ~stlb) | DATA_SOURCE_LL_STLB_MISS;
	if (a->locked && (broken(m, FAULT_STORE_SAMPLE_UNLOCKED) ||
			  (x && broken(m, FAULT_STORE_SAMPLE_UNLOCKED_PMC1))))
		source &= ~lock;
	if (!a->locked && broken(m, FAULT_STORE_SAMPLE_LOCKED_ALWAYS))
		source |= lock;
	return source;
}

void fault_data_address(struct model *m, const struct retire_ctx *s, unsigned x, unsigned a,
			struct record *record)
{
	const struct model_access *access = &s->r->access[a];

	if (m->config.fault == FAULT_NONE)
		return;
	record->data_linear_address = other_address(m, s, access, &s->outcome[a].memory,
						    record->data_linear_address);
	fault_glc_store(m, s->rule[x]->kind, record);
	if (s->rule[x]->kind == EK_STORE_SAMPLE)
		record->data_source = store_sample_bits(m, x, access, &s->outcome[a].memory,
							record->data_source);
	if (s->rule[x]->kind == EK_STORE_SAMPLE && s->r->access[0].linear != access->linear &&
	    broken(m, FAULT_STORE_SAMPLE_FIRST))
		record->data_linear_address = s->r->access[0].linear;
	if (s->rule[x]->kind == EK_STORE_SAMPLE && model_is_split(access) &&
	    broken(m, FAULT_STORE_SAMPLE_SPLIT_SECOND))
		record->data_linear_address = (access->linear | (MEMORY_LINE - 1)) + 1;
	if (s->rule[x]->kind == EK_STORE_SAMPLE && s->cpl &&
	    broken(m, FAULT_STORE_SAMPLE_USER_EMPTY))
		record->data_linear_address = 0;
	if (address_missing(m, s->rule[x]->kind) || (s->cpl && broken(m, FAULT_DLA_USER_EMPTY)))
		record->data_linear_address = 0;
	if (s->rule[x]->flags & EV_STORE_L1 && access->store && is_cached(&s->outcome[a].memory) &&
	    broken(m, FAULT_DLA_HIT_IN_ANY_CACHE))
		record->data_source = DATA_SOURCE_DLA_DCU_HIT;
	if ((s->rule[x]->kind == EK_SPLIT_STORES && broken(m, FAULT_DLA_SPLITS_HIT)) ||
	    (s->rule[x]->kind == EK_STLB_MISS_STORES && broken(m, FAULT_DLA_WALKS_HIT)))
		record->data_source |= DATA_SOURCE_DLA_DCU_HIT;
	if (m->config.fault == FAULT_DLA_HIT_FOURTH && s->rule[x]->flags & EV_STORE_L1 &&
	    access->store && ++faults_of(m)->tick % 4 == 0 && broken(m, FAULT_DLA_HIT_FOURTH))
		record->data_source ^= DATA_SOURCE_DLA_DCU_HIT;
	if (record->data_source && access->store && hit_is_lost(m, s, access))
		record->data_source = 0;
}
