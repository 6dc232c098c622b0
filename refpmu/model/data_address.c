/* SPDX-License-Identifier: MIT */
/*
 * The fields of a record about memory accesses, by event: load latency (load_latency.c), "Precise
 * Store Facility" (Sandy Bridge), "PEBS Data Address Profiling" (Haswell). With other events the
 * three fields are 0, or undefined values drawn from the seed.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/archpebs/archpebs.h"
#include "refpmu/model/record.h"
#include "spec/data_source.h"

/* The access that counter x's event tags: which one of several isn't stated, latitude
 * tag-access. MODEL_MAX_ACCESSES: none is left. */
static unsigned tagged_access(struct model *m, const struct retire_ctx *s, unsigned x)
{
	enum { LAST, FIRST };
	enum event_kind kind = s->rule[x]->kind;
	unsigned found[MODEL_MAX_ACCESSES], n = 0;

	for (unsigned a = 0; a < s->r->n_access; a++)
		if (model_access_is(m, kind, &s->r->access[a], &s->outcome[a]))
			found[n++] = a;
	if (!n)
		return MODEL_MAX_ACCESSES;
	/* Precise store records the next store; there is no choice among several. */
	if (kind == EK_PRECISE_STORE || m->latitude[LAT_TAG_ACCESS] == FIRST)
		return found[0];
	return found[m->latitude[LAT_TAG_ACCESS] == LAST ? n - 1 : model_random(m) % n];
}

/* Table 18-34, "Layout of Precise Store Information In PEBS Record": L1D hit, STLB miss, locked
 * access. */
static u64 store_status(const struct model_access *a, const struct memory_result *o)
{
	return (o->l1_hit ? DATA_SOURCE_PS_L1D_HIT : 0) |
	       (o->stlb_miss ? DATA_SOURCE_PS_STLB_MISS : 0) |
	       (a->locked ? DATA_SOURCE_PS_LOCKED : 0);
}

/*
 * "Upon counter overflow hardware captures the linear address and other status information of the
 * next store that retires. This information is then written to the PEBS record."
 */
static void precise_store(struct model *m, const struct retire_ctx *s, unsigned x,
			  struct record *record)
{
	unsigned a = tagged_access(m, s, x);

	if (a == MODEL_MAX_ACCESSES)
		return;
	record->data_linear_address = s->r->access[a].linear;
	record->data_source = store_status(&s->r->access[a], &s->outcome[a].memory);
	fault_precise_store(m, s, a, record);
}

/* MEM_TRANS_RETIRED.STORE_SAMPLE (intel/perfmon): a store's latency, and its data source as that
 * of a load (Linux ds.c). */
static void store_sample(struct model *m, const struct retire_ctx *s, unsigned x,
			 struct record *record)
{
	unsigned a = tagged_access(m, s, x);
	const struct access_outcome *o = &s->outcome[a];
	struct tagged_load store;

	if (a == MODEL_MAX_ACCESSES)
		return;
	store = (struct tagged_load){
		.stlb_miss = o->memory.stlb_miss, .locked = s->r->access[a].locked,
	};
	record->data_linear_address = s->r->access[a].linear;
	record->data_source = model_source_code(m, o->memory.source) |
			      model_further_bits(m, &store);
	record->latency = model_latency_field(m, o->memory.latency);
	fault_data_address(m, s, x, a, record);
}

/*
 * Table 18-46, "Layout of Data Linear Address Information In PEBS Record": the address of the load
 * or store, and of stores, with events that the table names, whether it hit the L1 data cache.
 */
static void data_address(struct model *m, const struct retire_ctx *s, unsigned x,
			 struct record *record)
{
	unsigned a = tagged_access(m, s, x);

	if (a == MODEL_MAX_ACCESSES)
		return;
	record->data_linear_address = s->r->access[a].linear;
	if (s->rule[x]->flags & EV_STORE_L1 && s->r->access[a].store && s->outcome[a].memory.l1_hit)
		record->data_source = DATA_SOURCE_DLA_DCU_HIT;
	fault_data_address(m, s, x, a, record);
}

/* Fields that the manual doesn't define for this event: Table 18-46. */
static void leave_undefined(struct model *m, u16 flags, struct record *record)
{
	if (!m->latitude[LAT_UNDEFINED_FIELDS] || flags & (EV_LL | EV_PS))
		return;
	if (flags & EV_DLA && (model_format_is_adaptive(m) || model_has_arch_pebs(m))) {
		record->data_source = model_random(m);
		record->latency = model_random(m) & BITS(0, 15);
	} else if (!(flags & EV_DLA)) {
		record->data_linear_address = model_random(m);
		record->data_source = model_random(m);
		record->latency = model_random(m) & BITS(0, 15);
	} else if (!(flags & EV_STORE_L1)) {
		record->data_source |= model_random(m) & DATA_SOURCE_DLA_DCU_HIT;
	}
}

/* "Both the PEBS_EN_CTRX and LL_EN_CTRX bits must be set for the counter(s) of interest." From
 * version 5 on there is no LL_EN_CTRX: Linux. */
static bool latency_enabled(struct model *m, unsigned x)
{
	return fault_latency_enabled(
		m, x,
				     model_generation(m)->facilities & FAC_LL_UNARMED ||
					     m->pebs_enable &
						     BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + x));
}

/* "Precise Store Facility": a separate bit enables it, IA32_PEBS_ENABLE[63]. */
static bool store_enabled(struct model *m)
{
	return fault_store_enabled(m, m->pebs_enable & IA32_PEBS_ENABLE_PS_EN);
}

/*
 * "The PEBS records at offsets 98H, A0H, and ABH record data gathered from three of the PEBS
 * capabilities" (ABH is a misprint of A8H). PDIR is one of them and stores nothing here:
 * docs/READINGS.md, "PDIR records at 98H, A0H and A8H".
 */
void model_record_memory(struct model *m, const struct retire_ctx *s, unsigned x,
			 struct record *record)
{
	u16 flags = s->rule[x]->flags;

	if (flags & EV_LL && latency_enabled(m, x))
		model_record_latency(m, s, record);
	if (flags & EV_PS && store_enabled(m))
		precise_store(m, s, x, record);
	if (s->rule[x]->kind == EK_STORE_SAMPLE) {
		store_sample(m, s, x, record);
		return;
	}
	if (flags & EV_DLA)
		data_address(m, s, x, record);
	leave_undefined(m, flags, record);
}
