/* SPDX-License-Identifier: MIT */
/*
 * Errata of counters, enabled by latitude: counters need the values of spec/setup.def first, or
 * fixed counter 2 has a slow clock. "The reset value to the counter is not clocked immediately so
 * the overflow status bit will flip 'high (1)' and generate another PMI (if enabled)":
 * CPU_CLK_UNHALTED.REF_TSC in Intel's event files. The other errata are numbered in internal.h. A
 * counter whose own enable is off has no clock, and doesn't repeat its overflow.
 */
#include "refpmu/model/core.h"
#include "refpmu/model/internal.h"

#define REF_TSC		(FIRST_FIXED + 2)
#define REF_TSC_ON	(IA32_FIXED_CTR_CTRL_EN0 << 2 * IA32_FIXED_CTR_CTRL_EN1_SHIFT)

static const u32 setup_selects[] = {
#define SETUP_SELECT(counter, value) [counter] = value,
#include "spec/setup.def"
};
#define SETUP_COUNTERS	(sizeof(setup_selects) / sizeof(setup_selects[0]))
#define SETUP_MASK	BITS(0, SETUP_COUNTERS - 1)

bool model_has_erratum(const struct model *m, unsigned erratum)
{
	static const u32 of[] = {
		[ERRATUM_MEMORY_EVENTS] = BIT(GEN_SANDYBRIDGE) | BIT(GEN_IVYBRIDGE) |
					  BIT(GEN_HASWELL),
		[ERRATUM_CALL_FILTER] = BIT(GEN_NEHALEM) | BIT(GEN_WESTMERE),
	};

	return m->latitude[LAT_ERRATUM] == erratum && of[erratum] & BIT(m->config.generation);
}

static bool wants_setup(const struct model *m)
{
	return m->latitude[LAT_COUNTERS_NEED_SETUP] && !m->set_up &&
	       model_generation(m)->facilities & FAC_SETUP;
}

bool model_errata_miscounts(const struct model *m)
{
	return wants_setup(m) || model_has_erratum(m, ERRATUM_MEMORY_EVENTS);
}

/* Every fourth event D0H to D3H is counted on the other thread's counter of the same number
 * instead, if that counter counts any event. */
static u64 leak(struct model *m, unsigned i, u64 add)
{
	struct model *sibling = model_core_sibling(m);
	u64 event = m->perfevtsel[i] & IA32_PERFEVTSEL_EVENT;

	if (!sibling || !(sibling->active & BIT(i)) || event < 0xd0 || event > 0xd3 ||
	    ++m->leaks % 4)
		return add;
	model_set_counter(sibling, i, sibling->counter[i].value + 1);
	return add - 1;
}

static bool setup_is_programmed(const struct model *m)
{
	for (unsigned i = 0; i < SETUP_COUNTERS; i++)
		if (m->perfevtsel[i] != setup_selects[i] || m->counter[i].value)
			return false;
	return true;
}

void model_errata_global_ctrl(struct model *m, u64 value)
{
	if ((value & SETUP_MASK) == SETUP_MASK)
		m->setting_up = setup_is_programmed(m);
	else if (!(value & SETUP_MASK) && m->setting_up)
		m->set_up = true;
	else
		m->setting_up = false;
}

/* Ticks that don't fill a step are kept for the next step. */
static u64 in_steps(struct model *m, u64 ticks)
{
	u32 step = m->latitude[LAT_REF_TSC_SLOW];
	u64 all = m->ref_ticks + ticks;

	m->ref_ticks = (u32)(all % step);
	return all - m->ref_ticks;
}

u64 model_errata_increment(struct model *m, unsigned i, u64 add)
{
	if (i == REF_TSC && m->latitude[LAT_REF_TSC_SLOW])
		return in_steps(m, add);
	if (!add || i >= FIRST_FIXED || !model_errata_miscounts(m))
		return add;
	if (model_has_erratum(m, ERRATUM_MEMORY_EVENTS))
		return leak(m, i, add);
	/* Every second time, one of its events is lost. */
	m->counter[i].misses = !m->counter[i].misses;
	return add - m->counter[i].misses;
}

u64 model_errata_ahead(const struct model *m, unsigned i)
{
	return i == REF_TSC ? m->latitude[LAT_REF_TSC_SLOW] : 0;
}

void model_errata_wrapped(struct model *m, unsigned i)
{
	if (i == REF_TSC && m->latitude[LAT_REF_TSC_STICKY])
		m->ref_wrapped = true;
}

void model_errata_cleared(struct model *m, u64 status)
{
	if (!m->ref_wrapped || !(status & model_global_bit(REF_TSC)))
		return;
	m->ref_wrapped = false;
	if (m->fixed_ctr_ctrl & REF_TSC_ON)
		m->ref_overflow_again_in = m->latitude[LAT_REF_TSC_STICKY];
}

void model_errata_repeat_overflow(struct model *m)
{
	if (!(m->fixed_ctr_ctrl & REF_TSC_ON))
		m->ref_overflow_again_in = 0;
	if (!m->ref_overflow_again_in || --m->ref_overflow_again_in)
		return;
	m->global_status |= model_global_bit(REF_TSC);
	if (m->counter[REF_TSC].rule.interrupt)
		model_request(m, ACTION_OVERFLOW_INT, REF_TSC);
}
