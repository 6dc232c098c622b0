/* SPDX-License-Identifier: MIT */
/*
 * "Load Latency Performance Monitoring Facility": which loads carry a tag, which of them count, and
 * what a record says of the last one. Tables 18-24 and 18-33.
 *
 * Nothing is speculative here: the loads that are cancelled are those of instructions that raise an
 * exception.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/record.h"
#include "spec/authority.h"
#include "spec/data_source.h"

#define FIXED_GAP	15		/* of fault ll-tags-fixed */
#define RESERVED_CODE	0x9		/* of fault ll-source-reserved: Table 18-24 */
#define LOW_BYTE		0xffULL
#define RESERVED_BITS	(BIT(6) | BIT(63))

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

static u64 code_of(const struct model *m, u8 outcome)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].outcome == outcome && codes[i].authority == AUTH_TEXT &&
		    codes[i].gens & BIT(m->config.generation))
			return codes[i].code;
	return 0;	/* unknown L3 miss */
}

u64 model_source_code(const struct model *m, u8 source)
{
	return code_of(m, outcomes[source]);
}

/* Faults that report a level as another. */
static u8 break_outcome(struct model *m, u8 outcome)
{
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_DATA_SOURCE(token, right, wrong, name, requirements, sentence, ...) \
	if (outcome == (right) && broken(m, FAULT_##token)) \
		return wrong;
#include "refpmu/faults/fault_memory.def"
#undef FAULT
	return outcome;
}

/* ---- tags ---- */

/* Loads that pass before the next tag: any number, whatever else the processor does. */
static u32 gap(struct model *m)
{
	if (broken(m, FAULT_LL_TAG_FIXED))
		return FIXED_GAP;
	if (broken(m, FAULT_LL_TAG_PERIOD))
		for (unsigned i = 0; i < FIRST_FIXED; i++)
			if (m->counter[i].rule.kind == EK_LOAD_LATENCY)
				return (u32)(m->counter[i].written & 0x1f);
	return model_draw_below(&m->tag_random, m->latitude[LAT_TAG_GAP]);
}

static u64 threshold_in_effect(struct model *m)
{
	u64 threshold = m->ld_lat_threshold;

	if (broken(m, FAULT_LL_THRESHOLD_STALE))
		return m->faults.threshold_before;
	if (threshold > LOW_BYTE && broken(m, FAULT_LL_THRESHOLD_LOW))
		return threshold & LOW_BYTE;
	if (threshold & LOW_BYTE && broken(m, FAULT_LL_THRESHOLD_HIGH))
		return threshold & ~LOW_BYTE;
	return threshold;
}

/* "Loads with latencies greater than this value are eligible for counting and latency data
 * reporting." */
static bool eligible(struct model *m, u32 latency)
{
	u64 threshold = threshold_in_effect(m);

	if (threshold > MEMORY_LEAST_LATENCY - 1 && broken(m, FAULT_LL_THREE_ONLY))
		return false;
	return latency > threshold ||
	       (latency == threshold && broken(m, FAULT_LL_THRESHOLD_EQUAL)) ||
	       broken(m, FAULT_LL_THRESHOLD_IGNORED);
}

/* Faults that pass over a kind of loads. */
static bool overlooked(struct model *m, const struct model_access *a,
		       const struct memory_result *o)
{
	return (!a->locked && broken(m, FAULT_LL_LOCKED_ONLY)) ||
	       (o->source == SOURCE_L3_HITM && broken(m, FAULT_LL_MODIFIED_LOST)) ||
	       (o->source > SOURCE_L3_HITM && broken(m, FAULT_LL_MEMORY_LOST));
}

static void keep(struct model *m, const struct model_access *a, const struct memory_result *o)
{
	m->faults.tagged_before = m->tagged;
	m->tagged = (struct tagged_load){
		.valid = true,
		.linear = a->linear,
		.source = o->source,
		.dtlb_miss = o->dtlb_miss,
		.stlb_miss = o->stlb_miss,
		.locked = a->locked || (m->tagged.locked && broken(m, FAULT_LL_LOCK_STICKY)),
		.near = o->l1_hit,
		.split = o->split,
		.latency = o->latency,
	};
}

bool model_tag_load(struct model *m, const struct model_access *a, const struct memory_result *o)
{
	if (overlooked(m, a, o))
		return false;
	if (m->tag_gap) {
		m->tag_gap--;
		if (broken(m, FAULT_LL_UNTAGGED_RECORDED) && eligible(m, o->latency))
			keep(m, a, o);
		return false;
	}
	m->tag_gap = gap(m);
	if (eligible(m, o->latency))
		keep(m, a, o);
	return true;
}

/* What a broken processor makes of a cancelled load. */
static void take_cancelled(struct model *m, const struct model_retired *r,
			   const struct model_access *a)
{
	if (broken(m, FAULT_LL_CANCELLED_KEPT))
		m->faults.cancelled = (struct tagged_load){
			.valid = true, .linear = a->linear, .source = SOURCE_L1,
			.latency = MEMORY_LEAST_LATENCY,
		};
	if (broken(m, FAULT_LL_CANCELLED_TAGGED))
		m->tag_gap = ~0u;
	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		const struct model_rule *rule = &m->counter[i].rule;

		m->faults.at_counter = (u8)i;
		if (rule->kind == EK_LOAD_LATENCY && (r->cpl ? rule->usr : rule->os) &&
		    broken(m, FAULT_LL_CANCELLED_COUNTS))
			model_set_counter(m, i, m->counter[i].value + 1);
	}
	m->faults.at_counter = MODEL_NO_COUNTER;
}

void model_cancel(struct model *m, const struct model_retired *r)
{
	for (unsigned i = 0; m->config.fault && i < r->n_access; i++)
		if (!r->access[i].store)
			take_cancelled(m, r, &r->access[i]);
}

bool model_is_latency_event(struct model *m, const struct model_access *a,
			    const struct access_outcome *o)
{
	if (a->store)
		return broken(m, FAULT_LL_COUNTS_STORES);
	if (!(model_generation(m)->facilities & FAC_LL_TAGGED)) {
		if (broken(m, FAULT_LL_COUNTS_HALF) && eligible(m, o->memory.latency) &&
		    (m->config.when.nth || m->config.when.every || m->faults.tick++ & 1))
			return false;
	} else if (!o->tagged && !broken(m, FAULT_LL_COUNTS_UNTAGGED)) {
		return false;
	}
	return eligible(m, o->memory.latency) || broken(m, FAULT_LL_THRESHOLD_RECORDS);
}

/* ---- the record ---- */

static u32 latency_of(struct model *m, const struct tagged_load *load)
{
	if (broken(m, FAULT_LL_LATENCY_LOW))
		return load->latency - MEMORY_LEAST_LATENCY;
	if (load->latency > LOW_BYTE && broken(m, FAULT_LL_LATENCY_8))
		return load->latency & LOW_BYTE;
	if (broken(m, FAULT_LL_OTHER_CLOCK))
		return 2 * load->latency;
	return broken(m, FAULT_LL_LAST_DISPATCH) ? MEMORY_LEAST_LATENCY : load->latency;
}

/* Bits 5:4. */
static u64 further_bits(struct model *m, const struct tagged_load *load)
{
	bool stlb_miss = load->stlb_miss || broken(m, FAULT_LL_STLB_ALWAYS), locked = load->locked;

	if (broken(m, FAULT_LL_BITS_MISSING))
		return 0;
	if (broken(m, FAULT_LL_DTLB_MISS))
		stlb_miss = load->dtlb_miss && !load->stlb_miss;
	if (load->dtlb_miss && !stlb_miss)
		stlb_miss = broken(m, FAULT_LL_DTLB_AS_MISS);
	if (broken(m, FAULT_LL_BITS_SWAPPED)) {
		locked = stlb_miss;
		stlb_miss = load->locked;
	}
	return (stlb_miss ? DATA_SOURCE_LL_STLB_MISS : 0) | (locked ? DATA_SOURCE_LL_LOCK : 0);
}

static u64 data_source_of(struct model *m, const struct tagged_load *load)
{
	u64 value = code_of(m, break_outcome(m, outcomes[load->source]));

	if (broken(m, FAULT_LL_SOURCE_RESERVED))
		value = RESERVED_CODE;
	if (model_generation(m)->facilities & FAC_STLB_LOCK || broken(m, FAULT_LL_STLB_NEHALEM))
		value |= further_bits(m, load);
	if (broken(m, FAULT_LL_SOURCE_UPPER))
		value |= RESERVED_BITS;
	return value;
}

static u64 address_of(struct model *m, const struct step *s, const struct tagged_load *load)
{
	if (broken(m, FAULT_LL_ADDRESS_IP))
		return s->r->ip;
	if (broken(m, FAULT_LL_ADDRESS_LINE) || (!load->near && broken(m, FAULT_LL_FAR_LINE)))
		return load->linear & -(u64)MEMORY_LINE;
	if (broken(m, FAULT_LL_ADDRESS_BIT))
		return load->linear ^ BIT(10);
	if (broken(m, FAULT_LL_ADDRESS_8))
		return load->linear & -sizeof(u64);
	if (broken(m, FAULT_LL_ADDRESS_32))
		return (u32)load->linear;
	if (load->split && broken(m, FAULT_LL_SPLIT_SECOND))
		return model_second_line(load->linear);
	return load->linear;
}

/* The last tagged load above the threshold, whichever instruction made it. */
void model_record_latency(struct model *m, const struct step *s, struct record *record)
{
	const struct tagged_load *load = &m->tagged, *latency, *source;

	if (!load->valid || (s->cpl && broken(m, FAULT_LL_USER_EMPTY)))
		return;
	if (broken(m, FAULT_LL_LOAD_BEFORE))
		load = &m->faults.tagged_before;
	if (m->faults.cancelled.valid && broken(m, FAULT_LL_CANCELLED_KEPT))
		load = &m->faults.cancelled;
	latency = source = broken(m, FAULT_LL_MIXED) ? &m->faults.tagged_before : load;
	if (broken(m, FAULT_LL_SOURCE_BEFORE))
		source = &m->faults.tagged_before;
	record->data_linear_address = address_of(m, s, load);
	if (model_generation(m)->pebs_format == FORMAT_FMT2 && broken(m, FAULT_LL_FORMAT_2_EMPTY))
		return;
	record->latency = latency_of(m, latency);
	record->data_source = data_source_of(m, source);
	if (broken(m, FAULT_LL_ABORT_RUBBISH))
		record->tx_abort = record->latency | record->latency << 32;
	m->faults.cancelled.valid = false;
}
