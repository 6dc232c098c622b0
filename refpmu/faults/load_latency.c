/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/load_latency.c: which loads are tagged and count, and the fields of a
 * record. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/goldencove/goldencove.h"
#include "refpmu/faults/record.h"
#include "refpmu/model/access.h"
#include "refpmu/model/archpebs/archpebs.h"
#include "refpmu/model/core.h"
#include "spec/data_source.h"

#define FIXED_GAP	15		/* of fault ll-tags-fixed */
#define PERIOD_GAP	0x1fULL		/* of fault ll-tags-period: bits of the start value */
#define RESERVED_CODE	0x9		/* of fault ll-source-reserved: Table 18-24 */
#define L2_MISSED	16		/* cycles, of fault ll-ends-at-l2 */
#define LOW_BYTE	0xffULL
#define LEAST_THRESHOLD	3		/* of fault arch-latency-threshold-3 */
#define FOUR_BITS	0xf		/* of fault ll-source-of-4-bits */
#define GRACEMONT_LOCAL	0xc		/* of fault ll-memory-of-gracemont: local DRAM, exclusive */
#define RESERVED_BITS	(BIT(6) | BIT(63))
#define NAMELESS_BIT	BIT(9)		/* on each core from Ice Lake on */
#define NAMELESS_CODE	0x7		/* of Lion Cove */
#define FROM_GLC	(GENS_FROM_GLC | GENS_SINCE_GLC)
#define FROM_ICL	(GENS_ICL_ICX | FROM_GLC)
#define QUADWORD	8		/* bytes */
#define WRONG_BIT	BIT(10)		/* of fault ll-address-bit */

/* ---- tags ---- */

u32 fault_tag_gap(struct model *m, u32 gap)
{
	if (broken(m, FAULT_LL_TAG_FIXED))
		return FIXED_GAP;
	if (broken(m, FAULT_LL_TAG_PERIOD))
		for (unsigned i = 0; i < FIRST_FIXED; i++)
			if (m->counter[i].rule.kind == EK_LOAD_LATENCY)
				return (u32)(faults_of(m)->counter_written[i] & PERIOD_GAP);
	return gap;
}

static u64 threshold_in_effect(struct model *m)
{
	const struct model *first = first_of(m);
	u64 threshold = m->ld_lat_threshold;

	if (faults_of(m)->threshold_latched != threshold && broken(m, FAULT_LL_THRESHOLD_LATCHED))
		return faults_of(m)->threshold_latched;
	if (first && broken(m, FAULT_LL_SECOND_BY_FIRST))
		return first->ld_lat_threshold;
	if (broken(m, FAULT_LL_THRESHOLD_STALE))
		return faults_of(m)->threshold_before;
	if (threshold > LEAST_THRESHOLD && model_has_arch_pebs(m) &&
	    broken(m, FAULT_ARCH_LATENCY_THRESHOLD_3))
		return LEAST_THRESHOLD;
	if (threshold > LOW_BYTE && broken(m, FAULT_LL_THRESHOLD_LOW))
		return threshold & LOW_BYTE;
	if (threshold & LOW_BYTE && broken(m, FAULT_LL_THRESHOLD_HIGH))
		return threshold & ~LOW_BYTE;
	return threshold;
}

bool fault_eligible(struct model *m, u32 latency, bool eligible)
{
	u64 threshold;

	if (m->config.fault == FAULT_NONE)
		return eligible;
	threshold = threshold_in_effect(m);
	if (threshold > MEMORY_LEAST_LATENCY - 1 && broken(m, FAULT_LL_THREE_ONLY))
		return false;
	return latency > threshold ||
	       (latency == threshold && broken(m, FAULT_LL_THRESHOLD_EQUAL)) ||
	       broken(m, FAULT_LL_THRESHOLD_IGNORED);
}

void fault_load_kept(struct model *m, const struct model_access *a, const struct memory_result *o)
{
	struct fault_load *last = &faults_of(m)->tagged;

	if (m->config.fault == FAULT_NONE)
		return;
	faults_of(m)->tagged_before = *last;
	if (last->load.locked && broken(m, FAULT_LL_LOCK_STICKY))
		m->tagged.locked = true;
	last->load = m->tagged;
	last->dtlb_miss = o->dtlb_miss;
	last->near = o->l1_hit;
	last->split = o->split;
	last->bytes = a->bytes;
	last->exchange = a->locked && faults_of(m)->exchange;
}

/* Faults that ignore a kind of load. */
bool fault_load_seen(struct model *m, const struct model_access *a, const struct memory_result *o,
		     bool seen)
{
	if (m->config.fault == FAULT_NONE)
		return seen;
	return !(!a->locked && broken(m, FAULT_LL_LOCKED_ONLY)) &&
	       !(o->source == SOURCE_L3_HITM && broken(m, FAULT_LL_MODIFIED_LOST)) &&
	       !(o->source > SOURCE_L3_HITM && broken(m, FAULT_LL_MEMORY_LOST));
}

bool fault_load_updates(struct model *m, bool tagged)
{
	return tagged || broken(m, FAULT_LL_UNTAGGED_RECORDED);
}

static void take_cancelled(struct model *m, const struct model_retired *r,
			   const struct model_access *a)
{
	if (broken(m, FAULT_LL_CANCELLED_KEPT))
		faults_of(m)->cancelled.load = (struct tagged_load){
			.valid = true, .linear = a->linear, .source = SOURCE_L1,
			.latency = MEMORY_LEAST_LATENCY,
		};
	if (broken(m, FAULT_LL_CANCELLED_TAGGED))
		m->tag_gap = ~0u;
	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		const struct model_rule *rule = &m->counter[i].rule;

		fault_at_counter(m, i);
		if (rule->kind == EK_LOAD_LATENCY && (r->cpl ? rule->usr : rule->os) &&
		    broken(m, FAULT_LL_CANCELLED_COUNTS))
			model_set_counter(m, i, m->counter[i].value + 1);
	}
	fault_at_counter(m, MODEL_NO_COUNTER);
}

void fault_cancelled(struct model *m, const struct model_retired *r)
{
	for (unsigned i = 0; m->config.fault && i < r->n_access; i++)
		if (!r->access[i].store)
			take_cancelled(m, r, &r->access[i]);
}

/* ---- the event ---- */

/* Every second one, or those that the parameters select. */
static bool leaves_out_half(struct model *m)
{
	return broken(m, FAULT_LL_COUNTS_HALF) &&
	       (m->config.when.nth || m->config.when.every || faults_of(m)->tick++ & 1);
}

bool fault_latency_event(struct model *m, const struct model_access *a,
			 const struct access_outcome *o, bool counts)
{
	bool counts_all = !(model_generation(m)->facilities & FAC_LL_TAGGED);

	if (m->config.fault == FAULT_NONE)
		return counts;
	if (a->store)
		return broken(m, FAULT_LL_COUNTS_STORES) ||
		       (a->locked && broken(m, FAULT_LL_COUNTS_LOCKED_STORES));
	if (counts)
		return !(counts_all && leaves_out_half(m));
	if (counts_all || o->tagged)
		return broken(m, FAULT_LL_THRESHOLD_RECORDS);
	return model_has_fault(m, FAULT_LL_COUNTS_UNTAGGED) &&
	       model_latency_eligible(m, o->memory.latency) && broken(m, FAULT_LL_COUNTS_UNTAGGED);
}

/* ---- the record ---- */

/* The wrong load: the previous one, or one that didn't retire. */
static const struct fault_load *other_load(struct model *m)
{
	const struct model *first = first_of(m);

	if (first && broken(m, FAULT_LL_SECOND_FIRST_LOAD))
		return &faults_of(first)->tagged;
	if (broken(m, FAULT_LL_LOAD_BEFORE))
		return &faults_of(m)->tagged_before;
	if (faults_of(m)->cancelled.load.valid && broken(m, FAULT_LL_CANCELLED_KEPT))
		return &faults_of(m)->cancelled;
	return &faults_of(m)->tagged;
}

static u32 latency_of(struct model *m, const struct tagged_load *load)
{
	u32 threshold = (u32)m->ld_lat_threshold;

	if (broken(m, FAULT_LL_LATENCY_LOW))
		return load->latency - MEMORY_LEAST_LATENCY;
	if (load->latency > LOW_BYTE && broken(m, FAULT_LL_LATENCY_8))
		return load->latency & LOW_BYTE;
	if (threshold > MEMORY_LEAST_LATENCY - 1 && load->latency > threshold &&
	    broken(m, FAULT_LL_LATENCY_CAPPED))
		return threshold;
	if (load->source > SOURCE_L2 && load->latency > L2_MISSED && broken(m, FAULT_LL_ENDS_AT_L2))
		return L2_MISSED;
	if (broken(m, FAULT_LL_OTHER_CLOCK))
		return 2 * load->latency;
	return broken(m, FAULT_LL_LAST_DISPATCH) ? MEMORY_LEAST_LATENCY : load->latency;
}

/* Faults that report one level as another. */
static u8 other_outcome(struct model *m, u8 outcome)
{
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_DATA_SOURCE(token, right, wrong, name, requirements, sentence, ...) \
	if (outcome == (right) && broken(m, FAULT_##token)) \
		return wrong;
#include "refpmu/faults/fault_memory.def"
#undef FAULT
	return outcome;
}

/* Codes of Table 18-24 and of Linux for Skylake. */
static const u8 skylake[MEM_OUTCOMES] = {
	[MEM_L1] = 0x1,
	[MEM_LFB] = 0x2,
	[MEM_L2] = 0x3,
	[MEM_L3] = 0x4,
	[MEM_L3_SNOOP_CLEAN] = 0x5,
	[MEM_L3_HITM] = 0x6,
	[MEM_LOCAL_SHARED] = 0xa,
	[MEM_LOCAL_EXCLUSIVE] = 0xa,
};

/* Faults that report a load by the code of another core. */
static u64 other_code(struct model *m, u8 outcome, u64 code)
{
	const u64 generation = BIT(m->config.generation);

	if (code > FOUR_BITS && broken(m, FAULT_LL_SOURCE_4_BITS))
		return code & FOUR_BITS;
	if (generation & GENS_FROM_LNC && broken(m, FAULT_LL_SOURCE_OF_SKYLAKE))
		return skylake[outcome];
	if (generation & GENS_FROM_CMT && outcome == MEM_LOCAL_EXCLUSIVE &&
	    broken(m, FAULT_LL_MEMORY_OF_GRACEMONT))
		return GRACEMONT_LOCAL;
	return code;
}

/* Bits 5:4 of the data source. */
static u64 further_bits(struct model *m, const struct retire_ctx *s, const struct fault_load *right)
{
	struct tagged_load load = right->load;

	if (broken(m, FAULT_LL_BITS_MISSING))
		return 0;
	if (!load.stlb_miss && (broken(m, FAULT_LL_STLB_ALWAYS) ||
				(right->dtlb_miss && broken(m, FAULT_LL_DTLB_AS_MISS))))
		load.stlb_miss = true;
	if (broken(m, FAULT_LL_DTLB_MISS))
		load.stlb_miss = right->dtlb_miss && !load.stlb_miss;
	if ((load.locked && broken(m, FAULT_LL_LOCKED_NO_WALK)) ||
	    (load.stlb_miss && s->cpl && broken(m, FAULT_LL_USER_NO_WALK)))
		load.stlb_miss = false;
	if (load.stlb_miss && right->split && broken(m, FAULT_LL_SPLIT_NO_WALK))
		load.stlb_miss = false;
	if ((load.stlb_miss && broken(m, FAULT_LL_LOCK_NOT_OF_WALKS)) ||
	    (load.locked && right->split && broken(m, FAULT_LL_LOCK_NOT_OF_SPLITS)) ||
	    (load.locked && right->bytes != QUADWORD && broken(m, FAULT_LL_LOCK_OF_8)) ||
	    (load.locked && !right->near && broken(m, FAULT_LL_LOCK_OF_HITS)) ||
	    (right->exchange && broken(m, FAULT_LL_LOCK_NOT_OF_XCHG)))
		load.locked = false;
	if (load.stlb_miss != load.locked && broken(m, FAULT_LL_BITS_SWAPPED)) {
		load.locked = load.stlb_miss;
		load.stlb_miss = !load.stlb_miss;
	}
	if (BIT(m->config.generation) & FROM_GLC && broken(m, FAULT_LL_BLOCKED_ALWAYS))
		load.blocked = true;
	return model_further_bits(m, &load);
}

static u64 data_source_of(struct model *m, const struct retire_ctx *s,
			  const struct fault_load *load)
{
	u8 outcome = other_outcome(m, model_source_outcome(load->load.source));
	u64 value = other_code(m, outcome, model_outcome_code(m, outcome));

	if (load->load.locked && outcome == MEM_L3_HITM && broken(m, FAULT_LL_LOCKED_AS_CLEAN))
		value = model_outcome_code(m, MEM_L3_SNOOP_CLEAN);
	if (load->load.locked && outcome == MEM_L3 && broken(m, FAULT_LL_LOCKED_AS_L1))
		value = model_outcome_code(m, MEM_L1);
	if (load->load.locked && BIT(m->config.generation) & GENS_FROM_LNC &&
	    broken(m, FAULT_LL_LOCKED_CODE_7))
		value = NAMELESS_CODE;
	if (load->load.stlb_miss && broken(m, FAULT_LL_WALK_IS_FAR))
		value = model_outcome_code(m, MEM_LOCAL_EXCLUSIVE);
	if (broken(m, FAULT_LL_SOURCE_RESERVED))
		value = RESERVED_CODE;
	if (model_generation(m)->facilities & FAC_STLB_LOCK || broken(m, FAULT_LL_STLB_NEHALEM))
		value |= further_bits(m, s, load);
	if (broken(m, FAULT_LL_SOURCE_UPPER))
		value |= RESERVED_BITS;
	if (BIT(m->config.generation) & FROM_ICL && broken(m, FAULT_LL_SOURCE_BIT_9))
		value |= NAMELESS_BIT;
	return value;
}

static u64 address_of(struct model *m, const struct retire_ctx *s, const struct fault_load *load)
{
	unsigned counter = faults_of(m)->at_counter;

	if (broken(m, FAULT_LL_ADDRESS_IP) ||
	    ((counter == 1 || counter == 2) && broken(m, FAULT_LL_ADDRESS_PMC0_3)))
		return s->r->ip;
	if (broken(m, FAULT_LL_ADDRESS_LINE) || (!load->near && broken(m, FAULT_LL_FAR_LINE)))
		return load->load.linear & -(u64)MEMORY_LINE;
	if (with_new_base(s, load->load.linear) != load->load.linear &&
	    broken(m, FAULT_LL_NEW_BASE))
		return with_new_base(s, load->load.linear);
	if (m->config.fault == FAULT_LL_UNWRAPPED && has_address_prefix(m, s) &&
	    broken(m, FAULT_LL_UNWRAPPED))
		return load->load.linear | BIT(32);
	if (broken(m, FAULT_LL_ADDRESS_BIT))
		return load->load.linear ^ WRONG_BIT;
	if (broken(m, FAULT_LL_ADDRESS_8))
		return load->load.linear & -sizeof(u64);
	if (broken(m, FAULT_LL_ADDRESS_32))
		return (u32)load->load.linear;
	if (load->load.linear >> 48 && broken(m, FAULT_LL_ADDRESS_48))
		return load->load.linear & BITS(0, 47);
	if (load->split && broken(m, FAULT_LL_SPLIT_SECOND))
		return second_line(load->load.linear);
	return load->load.linear;
}

/* All three fields are 0, or some of them. */
static void empty(struct model *m, const struct retire_ctx *s, struct record *record)
{
	if (model_generation(m)->pebs_format == FORMAT_FMT2 && broken(m, FAULT_LL_FORMAT_2_EMPTY))
		record->latency = record->data_source = 0;
	if (s->cpl && broken(m, FAULT_LL_USER_EMPTY))
		record->data_linear_address = record->latency = record->data_source = 0;
	if ((s->cpl && broken(m, FAULT_LL_USER_SOURCE)) ||
	    (faults_of(m)->at_counter < 3 && broken(m, FAULT_LL_SOURCE_PMC3)))
		record->data_source = 0;
}

void fault_latency_record(struct model *m, const struct retire_ctx *s, struct record *record)
{
	const struct fault_load *load, *latency, *source;

	if (m->config.fault == FAULT_NONE)
		return;
	load = latency = source = other_load(m);
	if (broken(m, FAULT_LL_MIXED))
		latency = source = &faults_of(m)->tagged_before;
	if (broken(m, FAULT_LL_SOURCE_BEFORE))
		source = &faults_of(m)->tagged_before;
	record->data_linear_address = address_of(m, s, load);
	record->latency = fault_glc_latency(m, latency->load.locked,
					    model_latency_field(m,
								(u32)latency_of(m,
										&latency->load)));
	record->data_source = data_source_of(m, s, source) |
			      (record->data_source & model_undefined_source(m));
	if (broken(m, FAULT_LL_ABORT_RUBBISH))
		record->tx_abort = record->latency | record->latency << 32;
	empty(m, s, record);
	faults_of(m)->cancelled.load.valid = false;
}
