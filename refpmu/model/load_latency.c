/* SPDX-License-Identifier: MIT */
/*
 * "Load Latency Performance Monitoring Facility": which loads are tagged, which of these count, and
 * the fields of a record for the last one. Tables 18-24 and 18-33.
 *
 * There is no speculation: only the loads of instructions that raise an exception are cancelled.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/record.h"
#include "spec/authority.h"
#include "spec/data_source.h"

/* Table 18-24, as far as the manual defines it for the generation. For Skylake and later, which the
 * table doesn't name, and for E-cores: as Linux reads the codes. */
static const struct {
	u32 gens;
	u8 code, outcome, authority;
} codes[] = {
#define DATA_SOURCE(gens, code, outcome, authority, title, source) \
	{ gens, code, outcome, authority },
#include "spec/data_source.def"
};

static const u8 outcomes[MEMORY_SOURCES] = {
	[SOURCE_L1] = MEM_L1,
	[SOURCE_LFB] = MEM_LFB,
	[SOURCE_L2] = MEM_L2,
	[SOURCE_L3] = MEM_L3,
	[SOURCE_L3_SNOOP_MISS] = MEM_L3,	/* the L3 answered */
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

/* Table 18-24, "Data Source Encoding for Load Latency Record". What has no code there is code
 * 00H, unknown L3 miss. */
u64 model_outcome_code(const struct model *m, u8 outcome)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].outcome == outcome && codes[i].gens & BIT(m->config.generation) &&
		    (codes[i].authority == AUTH_TEXT || codes[i].gens == GENS_FROM_SKL ||
		     codes[i].gens & GENS_SINCE_GLC))
			return codes[i].code;
	return 0;	/* unknown L3 miss */
}

u8 model_source_outcome(u8 source)
{
	return outcomes[source];
}

u64 model_source_code(const struct model *m, u8 source)
{
	return model_outcome_code(m, model_source_outcome(source));
}

/* ---- tags ---- */

/* "Load operations are randomly selected by hardware and tagged": after a tagged load any number of
 * loads may pass. */
static bool takes_tag(struct model *m)
{
	if (m->tag_gap) {
		m->tag_gap--;
		return false;
	}
	m->tag_gap = fault_tag_gap(m, model_draw_below(&m->tag_random, m->latitude[LAT_TAG_GAP]));
	return true;
}

/*
 * The latency from dispatch to completion; the memory hierarchy gives only the time in the memory
 * subsystem. Linux struct pebs_meminfo: from Golden Cove and Gracemont on a record has both.
 */
static u32 instruction_latency(const struct model *m, u32 latency)
{
	return latency + m->latitude[LAT_INSTRUCTION_LATENCY];
}

static bool has_two(const struct model *m)
{
	return model_generation(m)->facilities & FAC_LL_SPLIT;
}

static u64 at_most(u64 value, u64 most)
{
	return value < most ? value : most;
}

/*
 * "The elapsed cycles of the tagged load operation between dispatch to GO, measured in processor
 * core clock domain." From Golden Cove on two latencies (Linux PMU_FL_INSTR_LATENCY). No source
 * says that the other bits are 0.
 */
u64 model_latency_field(struct model *m, u32 latency)
{
	const u64 unused = ~(ADAPTIVE_LATENCY_INSTRUCTION | ADAPTIVE_LATENCY_CACHE);
	const u64 most = ADAPTIVE_LATENCY_INSTRUCTION;

	if (!has_two(m))
		return latency;
	return at_most(instruction_latency(m, latency), most) |
	       at_most(latency, most) << ADAPTIVE_LATENCY_CACHE_SHIFT |
	       (m->latitude[LAT_UNDEFINED_FIELDS] ? model_random(m) & unused : 0);
}

/* "Loads with latencies greater than this value are eligible for counting and latency data
 * reporting." */
bool model_latency_eligible(struct model *m, u32 latency)
{
	if (has_two(m) && m->latitude[LAT_LATENCY_COMPARED])
		latency = instruction_latency(m, latency);
	return fault_eligible(m, latency, latency > m->ld_lat_threshold);
}

/* "Latency and data source information of tagged loads are updated internally." */
static void load_latency_keep(struct model *m, const struct model_access *a,
			      const struct memory_result *o)
{
	m->tagged = (struct tagged_load){
		.valid = true,
		.linear = a->linear,
		.source = o->source,
		.stlb_miss = o->stlb_miss,
		.locked = a->locked,
		.latency = o->latency,
	};
	fault_load_kept(m, a, o);
}

/*
 * Loads are tagged "to carry information related to data source locality and latency". One at or
 * below the threshold isn't kept: docs/READINGS.md, "Load operations are randomly selected by
 * hardware and tagged".
 */
bool model_tag_load(struct model *m, const struct model_access *a, const struct memory_result *o)
{
	bool tagged;

	if (!fault_load_seen(m, a, o, true))
		return false;
	tagged = takes_tag(m);
	if (fault_load_updates(m, tagged) && model_latency_eligible(m, o->latency))
		load_latency_keep(m, a, o);
	return tagged;
}

/* "If a load is cancelled it will not be counted and the internal state of the load latency
 * facility will not be updated. In this case the hardware will tag the next available load." */
void model_cancel(struct model *m, const struct model_retired *r)
{
	fault_cancelled(m, r);
}

/* "Stores are ignored when this event is programmed." From Sandy Bridge on the event "counts only
 * tagged retired loads". */
bool model_is_latency_event(struct model *m, const struct model_access *a,
			    const struct access_outcome *o)
{
	bool every_load = !(model_generation(m)->facilities & FAC_LL_TAGGED);
	bool counts = !a->store && (every_load || o->tagged) &&
		      model_latency_eligible(m, o->memory.latency);

	return fault_latency_event(m, a, o, counts);
}

/* ---- the record ---- */

/* Bits of which no source tells what they are. */
static const struct {
	u32 gens;
	u64 bits;
} unknown[] = {
#define DATA_SOURCE_UNKNOWN(gens, lo, hi, source) { gens, BITS(lo, hi) },
#include "spec/data_source.def"
};

/* Linux PMU_FL_MEM_LOADS_AUX: does the helper event, LD_BLOCKS.STORE_FORWARD, count? */
static bool helper_counts(const struct model *m)
{
	for (u64 left = m->active; left; left &= left - 1)
		if (m->counter[__builtin_ctzll(left)].rule.flags & EV_LL_AUX)
			return true;
	return false;
}

/* If the generation has the helper event and it doesn't count, two bits more are undefined:
 * docs/READINGS.md, "Bits 6 and 7 of the data source without the helper event". */
u64 model_undefined_source(const struct model *m)
{
	const struct event_row *helper = model_event(m, EVENT_LD_BLOCKS_STORE_FORWARD);
	u64 bits = 0;

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		if (unknown[i].gens & BIT(m->config.generation))
			bits |= unknown[i].bits;
	if (helper && helper->flags & EV_LL_AUX && !helper_counts(m))
		bits |= DATA_SOURCE_LL_DATA_BLOCKED | DATA_SOURCE_LL_ADDRESS_BLOCKED;
	return bits;
}

/* Bits that no source defines may have any value: latitude undefined-fields. */
static u64 undefined_bits(struct model *m)
{
	const u64 bits = m->latitude[LAT_UNDEFINED_FIELDS] ? model_undefined_source(m) : 0;

	return bits ? model_random(m) & bits : 0;
}

/* Fields whose bits differ on some generations. */
static const struct {
	u32 gens;
	u16 usual, here;
} moved[] = {
#define DATA_SOURCE_MOVED(gens, facility, field, lo, hi, source) \
	{ gens, DATA_SOURCE_##facility##_##field, BITS(lo, hi) & 0xffff },
#include "spec/data_source.def"
};

/* Gracemont has STLB_MISS and LOCK exchanged, Crestmont and Lion Cove have them at other bits:
 * Linux ds.c. */
static u64 at_place(const struct model *m, u64 field)
{
	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++)
		if (moved[i].usual == field && moved[i].gens & BIT(m->config.generation))
			return moved[i].here;
	return field;
}

/* Table 18-33, bits 5:4: STLB miss, locked access. No load is blocked in the model. */
u64 model_further_bits(const struct model *m, const struct tagged_load *load)
{
	return (load->stlb_miss ? at_place(m, DATA_SOURCE_LL_STLB_MISS) : 0) |
	       (load->locked ? at_place(m, DATA_SOURCE_LL_LOCK) : 0) |
	       (load->blocked ? at_place(m, DATA_SOURCE_LL_DATA_BLOCKED) : 0);
}

/*
 * "The load latency data written to the PEBS record will be for the last tagged load operation
 * which retired just before the PEBS assist was invoked": the address of its target, the cycles
 * from dispatch to GO, and the data source, Tables 18-24 and 18-33.
 */
void model_record_latency(struct model *m, const struct retire_ctx *s, struct record *record)
{
	const struct tagged_load *load = &m->tagged;

	if (!load->valid)
		return;
	record->data_linear_address = load->linear;
	record->latency = model_latency_field(m, load->latency);
	record->data_source = model_source_code(m, load->source) | undefined_bits(m);
	if (model_generation(m)->facilities & FAC_STLB_LOCK)
		record->data_source |= model_further_bits(m, load);
	fault_latency_record(m, s, record);
}
