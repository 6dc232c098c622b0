/* SPDX-License-Identifier: MIT */
/*
 * Adaptive PEBS records, IA32_PERF_CAPABILITIES[11:8] = 4 to 6: the groups that MSR_PEBS_DATA_CFG
 * selects, for counters whose Adaptive_Record bit is set; only the basic group for other counters.
 * spec/adaptive.def. Without baseline there is only the basic group.
 */
#include "refpmu/model/lbr.h"
#include "refpmu/model/record.h"

/* Maximum of the retire latency: cycles since the previous instruction retired. */
#define MOST_LATENCY	(ADAPTIVE_FORMAT_RETIRE_LATENCY >> ADAPTIVE_FORMAT_RETIRE_LATENCY_SHIFT)

static const u16 group_bytes[ADAPTIVE_GROUPS] = {
#define ADAPTIVE_GROUP(group, bytes, title, source) [GROUP_##group] = (bytes),
#include "spec/adaptive.def"
	[GROUP_COUNTERS] = ADAPTIVE_COUNTERS_BYTES,
};

/* The fields of the groups, and the members of struct record with their values. */
static const struct {
	u8 group;
	u16 offset, member;
} fields[] = {
#define MEMBER_BASIC(field) offsetof(struct record, field)
#define MEMBER_MEMORY(field) offsetof(struct record, field)
#define MEMBER_GPR(field) offsetof(struct record, field)
#define MEMBER_XMM(field) 0
#define MEMBER_LBR(field) 0
#define ADAPTIVE_FIELD(group, field, offset, size, title, source) \
	{ GROUP_##group, offset, MEMBER_##group(field) },
#include "spec/adaptive.def"
};

static void add_part(struct adaptive_layout *layout, enum adaptive_group group, unsigned bytes)
{
	layout->part[layout->n++] = (struct adaptive_part){ (u8)group, (u16)bytes };
}

static void add_group(struct adaptive_layout *layout, enum adaptive_group group)
{
	add_part(layout, group, group_bytes[group]);
}

/* The size of a record, which bits 63:48 of its format word hold: kvm-unit-tests
 * get_pebs_record_size. */
unsigned model_adaptive_bytes(const struct adaptive_layout *layout)
{
	unsigned bytes = 0;

	for (unsigned i = 0; i < layout->n; i++)
		bytes += layout->part[i].bytes;
	return bytes;
}

/*
 * IA32_PERFEVTSELx[34] and IA32_FIXED_CTR_CTRL[32 + 4i], Adaptive_Record, hold for the records of
 * their own counter: kvm-unit-tests pmu_pebs. No source says which bit a record follows that
 * several counters share: latitude adaptive-shared.
 */
static bool is_adaptive(struct model *m, unsigned x, u64 covered)
{
	if (!m->latitude[LAT_ADAPTIVE_SHARED])
		return m->counter[x].rule.adaptive;
	for (u64 left = covered; left; left &= left - 1)
		if (m->counter[__builtin_ctzll(left)].rule.adaptive)
			return true;
	return false;
}

/*
 * The groups are in the order basic, memory, GPR, XMM, LBR, and an absent group takes no space:
 * Linux setup_pebs_adaptive_sample_data, kvm-unit-tests get_pebs_record_size. The LBR group has
 * MSR_PEBS_DATA_CFG[31:24] + 1 entries. A record that isn't adaptive has only the basic group.
 */
void model_adaptive_layout(struct model *m, unsigned x, u64 covered, struct adaptive_layout *layout)
{
	u64 config = fault_data_cfg(m, x, is_adaptive(m, x, covered) ? m->pebs_data_cfg : 0);
	unsigned entries = (unsigned)(config >> PEBS_DATA_CFG_LBR_ENTRIES_SHIFT & 0xff) + 1;

	*layout = (struct adaptive_layout){ .config = config };
	add_group(layout, GROUP_BASIC);
	if (config & PEBS_DATA_CFG_MEMORY)
		add_group(layout, GROUP_MEMORY);
	if (config & PEBS_DATA_CFG_GPR)
		add_group(layout, GROUP_GPR);
	if (config & PEBS_DATA_CFG_XMM)
		add_group(layout, GROUP_XMM);
	if (config & PEBS_DATA_CFG_LBR) {
		/* No source describes more entries than the stack has. */
		layout->entries = entries < LBR_MAX_ENTRIES ? entries : LBR_MAX_ENTRIES;
		add_part(layout, GROUP_LBR, layout->entries * ADAPTIVE_LBR_BYTES);
	} else if (m->latitude[LAT_DATA_CFG_ENTRIES]) {
		layout->config &= ~PEBS_DATA_CFG_LBR_ENTRIES;
	}
	model_snapshot(m, config, &layout->snapshot);
	if (layout->snapshot.present)
		add_part(layout, GROUP_COUNTERS, model_snapshot_bytes(&layout->snapshot));
	layout->bytes = model_adaptive_bytes(layout);
	fault_adaptive_layout(m, x, layout);
}

/* The fields have the places of spec/adaptive.def. The order of the GPR group isn't that of
 * formats 0 to 3: Linux setup_pebs_adaptive_sample_data. */
static void fill_fields(enum adaptive_group group, const struct record *record, u8 *bytes)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].group == group)
			put64(bytes + fields[i].offset,
			      get64((const u8 *)record + fields[i].member));
}

/* XMMn is at 10H * n of its group, bits 63:0 first: Linux setup_pebs_adaptive_sample_data. */
static void fill_xmm(struct model *m, u8 *bytes)
{
	if (m->host->xmm)
		m->host->xmm(m->host->ctx, bytes);
	else
		__builtin_memset(bytes, 0, ADAPTIVE_XMM_BYTES);
}

/*
 * The newest entry comes first, without MSR_LASTBRANCH_TOS: Linux intel_pmu_store_pebs_lbrs. The
 * sampled instruction has retired, so if it is a branch, its entry is among them: latitude
 * lbr-before. What the group holds while branch records are off is latitude lbr-cleared.
 */
void model_fill_lbr_entries(struct model *m, const struct retire_ctx *s, unsigned entries,
			    u8 *bytes)
{
	const unsigned depth = model_lbr_entries(m);
	const __typeof__(m->lbr) kept = m->lbr;

	if (!m->latitude[LAT_LBR_BEFORE] && !s->tx_abort && !s->aborts)
		model_lbr_retired(m, s->r);
	for (unsigned i = 0; i < entries; i++, bytes += ADAPTIVE_LBR_BYTES) {
		const struct lbr_entry *e = model_lbr_entry(m, i);
		bool shown = i < depth && (model_lbr_enabled(m) || !m->latitude[LAT_LBR_CLEARED]);

		put64(bytes + ADAPTIVE_LBR_from, shown ? e->from : 0);
		put64(bytes + ADAPTIVE_LBR_to, shown ? e->to : 0);
		put64(bytes + ADAPTIVE_LBR_info, shown ? fault_lbr_record_info(m, e->info) : 0);
	}
	m->lbr = kept;
}

/*
 * Bits 31:0 of the format word are the effective MSR_PEBS_DATA_CFG[31:0], and 0 if the record
 * isn't adaptive; bits 63:48 are the size: kvm-unit-tests pmu_pebs. With
 * IA32_PERF_CAPABILITIES[17] bits 47:32 are the retire latency, at most FFFFH: intel/perfmon
 * README, Linux.
 *
 * Before Golden Cove only bits 31:0 of the latency are valid: Linux struct pebs_meminfo.
 */
void model_adaptive_fill(struct model *m, const struct retire_ctx *s,
			 const struct adaptive_layout *layout, const struct record *record,
			 u8 *bytes)
{
	struct record whole = *record;
	unsigned at = 0;

	whole.format = (layout->config & ADAPTIVE_FORMAT_DATA_CFG) |
		       (u64)layout->bytes << ADAPTIVE_FORMAT_SIZE_SHIFT;
	if (model_capabilities(m) & IA32_PERF_CAPABILITIES_PEBS_TIMING_INFO) {
		u64 cycles = s->cycles < MOST_LATENCY ? s->cycles : MOST_LATENCY;

		whole.format |= fault_retire_latency(m, s, cycles)
				<< ADAPTIVE_FORMAT_RETIRE_LATENCY_SHIFT;
	}
	if (!(model_generation(m)->facilities & FAC_LL_SPLIT))
		whole.latency &= BITS(0, 31);
	for (unsigned i = 0; i < layout->n; at += layout->part[i].bytes, i++) {
		enum adaptive_group group = (enum adaptive_group)layout->part[i].group;

		if (at + group_bytes[group] > MODEL_RECORD_BYTES)
			return;
		if (group == GROUP_XMM)
			fill_xmm(m, bytes + at);
		else if (group == GROUP_LBR)
			model_fill_lbr_entries(m, s, layout->entries, bytes + at);
		else if (group == GROUP_COUNTERS)
			model_snapshot_fill(&layout->snapshot, bytes + at);
		else
			fill_fields(group, &whole, bytes + at);
	}
}
