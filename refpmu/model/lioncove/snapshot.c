/* SPDX-License-Identifier: MIT */
/*
 * Records of format 6: the counters group, which is the last group. MSR_PEBS_DATA_CFG[4] selects
 * the counters of its bits 47:32 and 55:48, [5] selects fixed counter 3 and MSR_PERF_METRICS; one
 * of the two bits is enough for the group. The values are those before the reset values are loaded:
 * Linux takes the sampled counter's value from the record and then begins again with its reset
 * value.
 */
#include "refpmu/model/record.h"

#define HEAD_WORD	4u

static u32 field(u64 config, u64 mask, unsigned shift)
{
	return (u32)((config & mask) >> shift);
}

/* No source says whether bits of counters that don't exist can be set: latitude snapshot-absent.
 * A record has neither bits nor values of them. */
u64 model_snapshot_absent(const struct model *m)
{
	u64 existing = model_gp_mask(m) << PEBS_DATA_CFG_CNTR_GP_SHIFT |
		       model_fixed_mask(m) << PEBS_DATA_CFG_CNTR_FIXED_SHIFT |
		       (model_has_metrics(m) ? PEBS_DATA_CFG_METRICS : 0);

	return (PEBS_DATA_CFG_CNTR_GP | PEBS_DATA_CFG_CNTR_FIXED | PEBS_DATA_CFG_METRICS) &
	       ~existing;
}

static void add_value(struct model *m, struct snapshot *s, unsigned counter)
{
	s->value[s->n++] = m->counter[counter].value;
}

/* One value for each bit, the lowest first: general-purpose counters, fixed counters, then slots
 * and metrics if the third word is 3. Linux struct pebs_cntr_header, INTEL_CNTR_METRICS. */
void model_snapshot(struct model *m, u64 asked, struct snapshot *s)
{
	const u64 config = fault_snapshot_config(m, asked) & ~model_snapshot_absent(m);

	*s = (struct snapshot){
		.present = config & (PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS),
		.head = ADAPTIVE_COUNTERS_BYTES,
	};
	if (config & PEBS_DATA_CFG_CNTR) {
		s->gp = field(config, PEBS_DATA_CFG_CNTR_GP, PEBS_DATA_CFG_CNTR_GP_SHIFT);
		s->fixed = field(config, PEBS_DATA_CFG_CNTR_FIXED, PEBS_DATA_CFG_CNTR_FIXED_SHIFT);
	}
	for (u32 left = s->gp; left; left &= left - 1)
		add_value(m, s, (unsigned)__builtin_ctz(left));
	for (u32 left = s->fixed; left; left &= left - 1)
		add_value(m, s, FIRST_FIXED + (unsigned)__builtin_ctz(left));
	if (config & PEBS_DATA_CFG_METRICS) {
		s->metrics = ADAPTIVE_COUNTERS_METRICS;
		add_value(m, s, SLOTS_COUNTER);
		s->value[s->n++] = model_metrics_read(m);
	}
	if (s->present)
		fault_snapshot(m, s);
}

/* A head of 10H bytes, and 8 bytes for each value: Linux struct pebs_cntr_header. */
unsigned model_snapshot_bytes(const struct snapshot *s)
{
	return s->head + s->n * (unsigned)sizeof(s->value[0]);
}

/* Linux struct pebs_cntr_header, then the values. Of a head that is cut, the first words are
 * written. */
void model_snapshot_fill(const struct snapshot *s, u8 *bytes)
{
	const u32 words[ADAPTIVE_COUNTERS_BYTES / HEAD_WORD] = {
		[ADAPTIVE_COUNTERS_gp / HEAD_WORD] = s->gp,
		[ADAPTIVE_COUNTERS_fixed / HEAD_WORD] = s->fixed,
		[ADAPTIVE_COUNTERS_metrics / HEAD_WORD] = s->metrics,
	};

	__builtin_memcpy(bytes, words, s->head);
	for (unsigned i = 0; i < s->n; i++)
		put64(bytes + s->head + i * sizeof(s->value[0]), s->value[i]);
}
