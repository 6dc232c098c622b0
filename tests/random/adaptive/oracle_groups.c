/* SPDX-License-Identifier: MIT */
/*
 * The contents of the groups of an adaptive record: Linux setup_pebs_adaptive_sample_data,
 * __setup_pebs_counter_group; docs/READINGS.md, "What the tests of Ice Lake read" and "What the
 * tests of the counters group read". Groups that a record doesn't have aren't judged.
 */
#include "tests/random/oracle_internal.h"

static unsigned lowest(u64 counters)
{
	unsigned i = 0;

	while (i < DRAW_COUNTERS && !(counters & oracle_bit(i)))
		i++;
	return i;
}

/* "Between an RDTSC before arming and one after reading the buffer", and not decreasing. */
static void judge_tsc(struct oracle *o, const struct pebs_record *r)
{
	u64 least = o->tsc > o->seen->begin ? o->tsc : o->seen->begin, tsc;

	if (!record_get(r, RECORD_tsc, &tsc))
		return;
	oracle_expect(o, DRAW_CLAIM_TSC, least, o->seen->end - least, tsc, "TSC of record %lu",
		      o->record);
	o->tsc = tsc;
}

static void judge_vectors(struct oracle *o, const struct trace_step *step,
			  const struct draw_groups *g)
{
	if (!(g->config & PEBS_DATA_CFG_XMM))
		return;
	for (unsigned n = step->xmm0 == TRACE_XMM0_UNKNOWN; n < DRAW_VECTORS; n++)
		for (unsigned half = 0; half < 2; half++) {
			bool zero = !n && step->xmm0 == TRACE_XMM0_ZERO;

			oracle_expect(o, DRAW_CLAIM_VECTORS,
				      zero ? 0 : draw_vector(o->c, n, half), 0, g->vector[n][half],
				      "half of an XMM register of record %lu", o->record);
		}
}

/* If recording is on and every branch is filtered out, the entries don't change; if recording is
 * off, they may also be 0 (docs/READINGS.md, "The LBR group while IA32_DEBUGCTL[0] is 0"). */
static void judge_entries(struct oracle *o, const struct draw_groups *g)
{
	const struct draw_adaptive *a = &o->env->adaptive;
	u64 n = ((g->config & PEBS_DATA_CFG_LBR_ENTRIES) >> PEBS_DATA_CFG_LBR_ENTRIES_SHIFT) + 1;
	bool zero = !o->c->ds.recording && !g->entry[0].word[0];

	if (!(g->config & PEBS_DATA_CFG_LBR) || !a->entry)
		return;
	for (unsigned i = 0; i < n && i < a->entries && i < DRAW_ENTRIES; i++)
		for (unsigned k = 0; k < sizeof(a->entry[i].word) / sizeof(a->entry[i].word[0]);
		     k++)
			oracle_expect(o, DRAW_CLAIM_ENTRIES, zero ? 0 : a->entry[i].word[k], 0,
				      g->entry[i].word[k], "last branch records of record %lu",
				      o->record);
}

/* Check the counter's value at the record, which may or may not include the record's
 * instruction. */
static void judge_value(struct oracle *o, const struct trace_step *step, unsigned i, u64 got)
{
	const struct counter *k = &o->counter[i];
	bool counts = oracle_is_on(o, i) && oracle_event_of(o, i);
	u64 mask = oracle_width_mask(o, i), added = 0;

	if (k->lost || (counts && !o->env->strict))
		return;
	if (counts)
		added = oracle_counted(o, i, step).most;
	oracle_expect(o, DRAW_CLAIM_VALUES, 0, k->room + added, (got - (k->least - added)) & mask,
		      "a counter's value, less the least one, in record %lu", o->record);
}

/* Counters that the record may be for aren't judged: they may or may not have been reloaded. */
static void judge_values(struct oracle *o, const struct trace_step *step,
			 const struct draw_groups *g)
{
	const u64 sets = PEBS_DATA_CFG_CNTR_GP | PEBS_DATA_CFG_CNTR_FIXED;
	const u64 skipped = (o->must | o->may | o->armed | o->wrapped | o->loose) & o->pebs_enable;
	u64 left = g->config & sets;

	if (!(g->config & (PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS)))
		return;
	oracle_expect(o, DRAW_CLAIM_VALUES, o->c->ds.config & sets, 0, left,
		      "counters of the counters group of record %lu", o->record);
	oracle_expect(o, DRAW_CLAIM_VALUES, !!(o->c->ds.config & PEBS_DATA_CFG_METRICS), 0,
		      g->metrics, "metrics in record %lu", o->record);
	for (unsigned n = 0; left && n < DRAW_VALUES; n++, left &= left - 1) {
		u64 lowest_one = left & ~(left - 1);

		for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
			unsigned bit = i < DRAW_GP ? PEBS_DATA_CFG_CNTR_GP_SHIFT + i :
						     PEBS_DATA_CFG_CNTR_FIXED_SHIFT + i - DRAW_GP;

			if (lowest_one == BIT(bit) && oracle_exists(o, i) &&
			    !(skipped & oracle_bit(i)))
				judge_value(o, step, i, g->value[n]);
		}
	}
}

/* step: NO_STEP if the instruction isn't in the program. */
void oracle_judge_groups(struct oracle *o, unsigned step, const struct pebs_record *r,
			 const struct draw_groups *groups, u64 named)
{
	const struct trace_step *at = step == NO_STEP ? NULL : &o->trace->step[step];
	u64 tx;

	judge_tsc(o, r);
	/* After INT n the registers are those of CPL 0, with another stack. */
	if (at && !(at->row->flags & ROW_TO_KERNEL)) {
		oracle_expect_field(o, DRAW_CLAIM_RIP, r, RECORD_rip, trace_next_ip(o->trace, step),
				    "RIP of record %lu");
		oracle_judge_registers(o, at, r);
	}
	if (record_get(r, RECORD_tx_abort, &tx))
		oracle_expect(o, DRAW_CLAIM_TX, 0, 0, tx & o->env->adaptive.tx_bits,
			      "TX abort information of record %lu", o->record);
	/* The address in a record of several counters is of the event of one of them. */
	if (at && !(named & (named - 1)))
		oracle_judge_address(o, at, lowest(named), r);
	judge_entries(o, groups);
	if (!at)
		return;
	judge_vectors(o, at, groups);
	judge_values(o, at, groups);
}
