/* SPDX-License-Identifier: MIT */
/*
 * What a record says of memory accesses, by event: load latency (load_latency.c), "Precise
 * Store Facility" (Sandy Bridge), "PEBS Data Address Profiling" (Haswell). Other events leave the
 * three fields 0, or undefined as the seed has it.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/record.h"
#include "spec/data_source.h"

/* The access that the event of counter x is about: MODEL_MAX_ACCESSES: none is left. */
static unsigned tagged_access(struct model *m, const struct step *s, unsigned x)
{
	enum { LAST, FIRST };
	enum event_kind kind = s->rule[x]->kind;
	unsigned found[MODEL_MAX_ACCESSES], n = 0;

	for (unsigned a = 0; a < s->r->n_access; a++)
		if (model_access_is(m, kind, &s->r->access[a], &s->outcome[a]))
			found[n++] = a;
	if (!n)
		return MODEL_MAX_ACCESSES;
	/* The store that precise store records is the next one, not one of several. */
	if (kind == EK_PRECISE_STORE || m->latitude[LAT_TAG_ACCESS] == FIRST)
		return found[0];
	return found[m->latitude[LAT_TAG_ACCESS] == LAST ? n - 1 : model_random(m) % n];
}

/* Table 18-34. */
static u64 store_status(struct model *m, const struct model_access *a,
			const struct memory_result *o)
{
	bool hit = o->l1_hit != broken(m, FAULT_PS_L1_INVERTED);
	bool stlb_miss = (o->stlb_miss || broken(m, FAULT_PS_STLB_ALWAYS) ||
			  (o->dtlb_miss && broken(m, FAULT_PS_DTLB_AS_MISS))) &&
			 !broken(m, FAULT_PS_STLB_NEVER);
	bool locked = (a->locked || broken(m, FAULT_PS_LOCK_ALWAYS)) &&
		      !broken(m, FAULT_PS_LOCK_NEVER);
	u64 status = hit ? DATA_SOURCE_PS_L1D_HIT : 0;

	if (broken(m, FAULT_PS_SOURCE_CODE))
		status = model_source_code(m, o->source);
	return status | (stlb_miss ? DATA_SOURCE_PS_STLB_MISS : 0) |
	       (locked ? DATA_SOURCE_PS_LOCKED : 0);
}

static u64 store_address(struct model *m, const struct step *s, unsigned a)
{
	const struct memory_result *o = &s->outcome[a].memory;
	u64 linear = s->r->access[a].linear;

	if (broken(m, FAULT_PS_ADDRESS_IP))
		return s->r->ip;
	if (broken(m, FAULT_PS_ADDRESS_LINE) || (!o->l1_hit && broken(m, FAULT_PS_FAR_LINE)))
		return linear & -(u64)MEMORY_LINE;
	if (broken(m, FAULT_PS_ADDRESS_8))
		return linear & -sizeof(u64);
	if (broken(m, FAULT_PS_ADDRESS_32))
		return (u32)linear;
	if (o->split && broken(m, FAULT_PS_SPLIT_SECOND))
		return model_second_line(linear);
	return linear;
}

static void precise_store(struct model *m, const struct step *s, unsigned x, struct record *record)
{
	unsigned a = tagged_access(m, s, x);

	if (a == MODEL_MAX_ACCESSES || (s->cpl && broken(m, FAULT_PS_USER_EMPTY)))
		return;
	record->data_linear_address = store_address(m, s, a);
	record->data_source = store_status(m, &s->r->access[a], &s->outcome[a].memory);
	if (broken(m, FAULT_PS_LATENCY))
		record->latency = s->outcome[a].memory.latency;
}

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

/* The access's address, unless the processor is broken. */
static u64 break_address(struct model *m, const struct model_access *a,
			 const struct memory_result *o)
{
	if (!o->l1_hit && broken(m, FAULT_DLA_FAR_LINE))
		return a->linear & -(u64)MEMORY_LINE;
	if (broken(m, FAULT_DLA_ADDRESS_8))
		return a->linear & -sizeof(u64);
	if (broken(m, FAULT_DLA_ADDRESS_32))
		return (u32)a->linear;
	if (model_is_split(a) && broken(m, a->store ? FAULT_DLA_SPLIT_STORES_SECOND :
						      FAULT_DLA_SPLIT_LOADS_SECOND))
		return model_second_line(a->linear);
	return a->linear;
}

static void data_address(struct model *m, const struct step *s, unsigned x, struct record *record)
{
	unsigned a = tagged_access(m, s, x);

	if (a == MODEL_MAX_ACCESSES)
		return;
	if (!address_missing(m, s->rule[x]->kind) && !(s->cpl && broken(m, FAULT_DLA_USER_EMPTY)))
		record->data_linear_address = break_address(m, &s->r->access[a],
							    &s->outcome[a].memory);
	if (s->rule[x]->flags & EV_STORE_L1 && s->r->access[a].store &&
	    s->outcome[a].memory.l1_hit &&
	    !(s->r->access[a].locked && broken(m, FAULT_DLA_LOCKED_MISSES)))
		record->data_source = DATA_SOURCE_DLA_DCU_HIT;
}

/* What the manual doesn't define for this event: Table 18-46. */
static void leave_undefined(struct model *m, u16 flags, struct record *record)
{
	if (!m->latitude[LAT_UNDEFINED_FIELDS] || flags & (EV_LL | EV_PS))
		return;
	if (!(flags & EV_DLA)) {
		record->data_linear_address = model_random(m);
		record->data_source = model_random(m);
		record->latency = model_random(m) & BITS(0, 15);
	} else if (!(flags & EV_STORE_L1)) {
		record->data_source |= model_random(m) & DATA_SOURCE_DLA_DCU_HIT;
	}
}

void model_record_memory(struct model *m, const struct step *s, unsigned x, struct record *record)
{
	u16 flags = s->rule[x]->flags;

	u64 ll_en = m->pebs_enable & IA32_PEBS_ENABLE_LL_EN_PMC;

	if (x != 3 && broken(m, FAULT_LL_EN_PMC3_ONLY))
		ll_en = 0;
	if (flags & EV_LL && (ll_en & BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + x) ||
			      (ll_en && broken(m, FAULT_LL_EN_OF_ANY)) ||
			      broken(m, FAULT_LL_EN_IGNORED)))
		model_record_latency(m, s, record);
	if (flags & EV_PS && (m->pebs_enable & IA32_PEBS_ENABLE_PS_EN ||
			      broken(m, FAULT_PS_EN_IGNORED)))
		precise_store(m, s, x, record);
	if (flags & EV_DLA)
		data_address(m, s, x, record);
	leave_undefined(m, flags, record);
}
