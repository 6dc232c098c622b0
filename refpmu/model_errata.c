/* SPDX-License-Identifier: MIT */
/* What counters do by erratum, where latitude has it: spec/setup.def. */
#include "refpmu/model_internal.h"

static const u32 setup_selects[] = {
#define SETUP_SELECT(counter, value) [counter] = value,
#include "spec/setup.def"
};
#define SETUP_COUNTERS	(sizeof(setup_selects) / sizeof(setup_selects[0]))
#define SETUP_MASK	BITS(0, SETUP_COUNTERS - 1)

bool model_errata_miscounts(const struct model *m)
{
	return m->latitude[LAT_COUNTERS_NEED_SETUP] && !m->set_up &&
	       model_generation(m)->facilities & FAC_SETUP;
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

u64 model_errata_increment(struct model *m, unsigned i, u64 add)
{
	if (!add || i >= FIRST_FIXED || !model_errata_miscounts(m))
		return add;
	/* Every other time one of its events is lost. */
	m->counter[i].misses = !m->counter[i].misses;
	return add - m->counter[i].misses;
}
