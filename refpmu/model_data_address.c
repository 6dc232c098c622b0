/* SPDX-License-Identifier: MIT */
/*
 * What a record says of memory accesses, by event: "Load Latency Performance Monitoring Facility"
 * (Nehalem on), "Precise Store Facility" (Sandy Bridge), "PEBS Data Address Profiling" (Haswell).
 * Other events leave the three fields 0, or undefined as the seed has it.
 */
#include "refpmu/model_access.h"
#include "refpmu/model_record.h"
#include "spec/data_source.h"
#include "spec/requirement.h"

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

/* Table 18-24, as far as the manual defines it for the generation. */
static const struct { u8 gens, code, outcome, authority; } codes[] = {
#define DATA_SOURCE(gens, code, outcome, authority, title, source) \
	{ gens, code, outcome, authority },
#include "spec/data_source.def"
};

static const u8 outcomes[MEMORY_SOURCES] = {
	[SOURCE_L1] = MEM_L1,
	[SOURCE_LFB] = MEM_LFB,
	[SOURCE_L2] = MEM_L2,
	[SOURCE_L3] = MEM_L3,
	[SOURCE_L3_SNOOP_MISS] = MEM_L3,	/* whoever was asked, the L3 answered */
	[SOURCE_L3_SNOOP_HIT] = MEM_L3_SNOOP_CLEAN,
	[SOURCE_L3_HITM] = MEM_L3_HITM,
	[SOURCE_REMOTE_CACHE] = MEM_REMOTE_CACHE,
	[SOURCE_REMOTE_HITM] = MEM_REMOTE_HITM,
	[SOURCE_LOCAL_SHARED] = MEM_LOCAL_SHARED,
	[SOURCE_REMOTE_SHARED] = MEM_REMOTE_SHARED,
	[SOURCE_LOCAL_EXCLUSIVE] = MEM_LOCAL_EXCLUSIVE,
	[SOURCE_REMOTE_EXCLUSIVE] = MEM_REMOTE_EXCLUSIVE,
	[SOURCE_IO] = MEM_IO,
	[SOURCE_UNCACHED] = MEM_UC,
};

static u64 source_code(const struct model *m, u8 source)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].outcome == outcomes[source] && codes[i].authority == AUTH_TEXT &&
		    codes[i].gens & BIT(m->config.generation))
			return codes[i].code;
	return 0;	/* unknown L3 miss */
}

/* The last tagged load above the threshold, whichever instruction made it. */
static void load_latency(struct model *m, struct record *record)
{
	const struct tagged_load *load = &m->tagged;

	if (!load->valid)
		return;
	record->data_linear_address = load->linear;
	record->latency = load->latency;
	record->data_source = source_code(m, load->source);
	if (!(model_generation(m)->facilities & FAC_STLB_LOCK))
		return;
	if (load->stlb_miss)
		record->data_source |= DATA_SOURCE_LL_STLB_MISS;
	if (load->locked)
		record->data_source |= DATA_SOURCE_LL_LOCK;
}

static void precise_store(struct model *m, const struct step *s, unsigned x, struct record *record)
{
	unsigned a = tagged_access(m, s, x);

	if (a == MODEL_MAX_ACCESSES)
		return;
	record->data_linear_address = s->r->access[a].linear;
	if (s->outcome[a].memory.l1_hit)
		record->data_source |= DATA_SOURCE_PS_L1D_HIT;
	if (s->outcome[a].memory.stlb_miss)
		record->data_source |= DATA_SOURCE_PS_STLB_MISS;
	if (s->r->access[a].locked)
		record->data_source |= DATA_SOURCE_PS_LOCKED;
}

static void data_address(struct model *m, const struct step *s, unsigned x, struct record *record)
{
	unsigned a = tagged_access(m, s, x);

	if (a == MODEL_MAX_ACCESSES)
		return;
	record->data_linear_address = s->r->access[a].linear;
	if (s->rule[x]->flags & EV_STORE_L1 && s->r->access[a].store &&
	    s->outcome[a].memory.l1_hit)
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

	if (flags & EV_LL && m->pebs_enable & BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + x))
		load_latency(m, record);
	if (flags & EV_PS && m->pebs_enable & IA32_PEBS_ENABLE_PS_EN)
		precise_store(m, s, x, record);
	if (flags & EV_DLA)
		data_address(m, s, x, record);
	leave_undefined(m, flags, record);
}
