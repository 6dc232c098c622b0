/* SPDX-License-Identifier: MIT */
/* Faults of the counters group of format 6, and of the reset values of format 5. */
#include "refpmu/faults/lioncove/lioncove.h"
#include "refpmu/faults/broken.h"

#define CUT_HEAD	8u	/* bytes */
#define ONE_WORD	1u
#define ASKS		(PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS)
#define COUNTER_BITS	(PEBS_DATA_CFG_CNTR_GP | PEBS_DATA_CFG_CNTR_FIXED)

/* ---- which counters ---- */

u64 fault_snapshot_config(struct model *m, u64 config)
{
	if (m->config.fault == FAULT_NONE)
		return config;
	if (!config && m->pebs_data_cfg & ASKS && broken(m, FAULT_SNAPSHOT_EVERYWHERE))
		return m->pebs_data_cfg;
	if (!(config & PEBS_DATA_CFG_CNTR))
		return config & COUNTER_BITS && broken(m, FAULT_SNAPSHOT_ALWAYS) ?
			       config | PEBS_DATA_CFG_CNTR :
			       config;
	if (config & PEBS_DATA_CFG_CNTR_FIXED && broken(m, FAULT_SNAPSHOT_FIXED_DROPPED))
		config &= ~PEBS_DATA_CFG_CNTR_FIXED;
	if (broken(m, FAULT_SNAPSHOT_ALL))
		config |= COUNTER_BITS;
	return config;
}

/* ---- words and values ---- */

static void exchange(u64 *a, u64 *b)
{
	u64 kept = *a;

	*a = *b;
	*b = kept;
}

/* Move the first n of `all` values to the end. */
static void rotate(u64 *value, unsigned all, unsigned n)
{
	u64 kept[MODEL_MAX_COUNTERS + 2];

	__builtin_memcpy(kept, value, sizeof(kept));
	for (unsigned i = 0; i < all; i++)
		value[i] = kept[(i + n) % all];
}

static void order(struct model *m, struct snapshot *s)
{
	const unsigned gp = bits_set(s->gp), fixed = bits_set(s->fixed);

	if (gp && fixed && broken(m, FAULT_SNAPSHOT_FIXED_FIRST))
		rotate(s->value, gp + fixed, gp);
	if (gp > 1 && broken(m, FAULT_SNAPSHOT_HIGH_FIRST))
		for (unsigned i = 0; i < gp / 2; i++)
			exchange(&s->value[i], &s->value[gp - 1 - i]);
	if (s->gp & (s->gp + 1) && broken(m, FAULT_SNAPSHOT_WITHOUT_GAPS))
		for (unsigned i = 0; i < gp; i++)
			s->value[i] = m->counter[i].value;
}

static void metrics(struct model *m, struct snapshot *s)
{
	u64 *slots = &s->value[s->n - 2];

	if (broken(m, FAULT_SNAPSHOT_METRICS_MISSING)) {
		s->n -= 2;
		s->metrics = 0;
		return;
	}
	if (broken(m, FAULT_SNAPSHOT_METRICS_WORD))
		s->metrics = ONE_WORD;
	if (broken(m, FAULT_SNAPSHOT_METRICS_FIRST))
		exchange(&slots[0], &slots[1]);
	if (broken(m, FAULT_SNAPSHOT_METRICS_ZERO))
		slots[1] = 0;
	if (broken(m, FAULT_SNAPSHOT_SLOTS_OF_CYCLES))
		slots[0] = m->counter[FIRST_FIXED + 1].value;
}

static void as_written(struct model *m, struct snapshot *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if ((i < FIRST_FIXED ? s->gp >> i : s->fixed >> (i - FIRST_FIXED)) & 1)
			s->value[n++] = faults_of(m)->counter_written[i] & model_width_mask(m, i);
}

static void moment(struct model *m, struct snapshot *s)
{
	u64 *before = faults_of(m)->snapshot_before;
	u64 now[MODEL_MAX_COUNTERS + 2];

	if (broken(m, FAULT_SNAPSHOT_AS_WRITTEN))
		as_written(m, s);
	if (m->config.fault != FAULT_SNAPSHOT_STALE)
		return;
	__builtin_memcpy(now, s->value, sizeof(now));
	if (broken(m, FAULT_SNAPSHOT_STALE))
		__builtin_memcpy(s->value, before, sizeof(now));
	__builtin_memcpy(before, now, sizeof(now));
}

void fault_snapshot(struct model *m, struct snapshot *s)
{
	if (m->config.fault == FAULT_NONE)
		return;
	moment(m, s);
	order(m, s);
	if (s->metrics)
		metrics(m, s);
	if (s->gp != s->fixed && broken(m, FAULT_SNAPSHOT_WORDS_EXCHANGED)) {
		u32 kept = s->gp;

		s->gp = s->fixed;
		s->fixed = kept;
	}
	if (broken(m, FAULT_SNAPSHOT_HEAD_SHORT))
		s->head = CUT_HEAD;
}

/* ---- registers, reset values ---- */

u64 fault_lnc_bits(struct model *m, const struct msr_ref *p, u64 bits)
{
	if (p->reg == MODEL_REG_PEBS_DATA_CFG && bits & ASKS && broken(m, FAULT_SNAPSHOT_REFUSED))
		return bits & ~ASKS;
	return bits;
}

/* In format 4, fixed counter i has the slot that belongs to a general-purpose counter from format 5
 * on. */
u64 fault_lnc_reset(struct model *m, const struct assist_plan *plan, unsigned i, u64 value)
{
	const unsigned slot = (ADAPTIVE_DS_pebs_fixed_counter0_reset -
			       DS_OFFSET_pebs_counter0_reset) /
			      sizeof(u64);

	if (i >= FIRST_FIXED && slot + i - FIRST_FIXED < MODEL_MAX_GP &&
	    broken(m, FAULT_RESET_SLOTS_OF_FORMAT_4))
		return plan->reset[slot + i - FIRST_FIXED];
	if (i >= slot && i < FIRST_FIXED && broken(m, FAULT_RESET_SLOTS_END))
		return plan->reset[slot - 1];
	return value;
}
