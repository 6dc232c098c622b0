/* SPDX-License-Identifier: MIT */
/* Faults of the uncore's counters and of the interrupts that they signal. */
#include "refpmu/faults/broken.h"
#include "refpmu/model/internal.h"
#include "refpmu/model/msr.h"

#define UNCORE_FIXED	UNCORE_GP
#define ALL_ENABLES	(UNCORE_PERF_GLOBAL_CTRL_EN_PC | UNCORE_PERF_GLOBAL_CTRL_EN_FC0)
#define CMASK_LOW	3
#define EVERY_CORE	UNCORE_PERF_GLOBAL_CTRL_EN_PMI_CORE

bool fault_uncore_shared(struct model *m, bool shared)
{
	return shared && !broken(m, FAULT_UNCORE_PER_PROCESSOR);
}

/* Use the counter's enables from the time when its bit in MSR_UNCORE_PERF_GLOBAL_CTRL was set. */
static void keep_enables(struct model *m, struct uncore_setting *setting)
{
	const u64 control = model_uncore_of(m)->global_ctrl & ALL_ENABLES;
	u64 *began = &faults_of(m)->uncore_began[setting->counter];
	bool *enabled = &faults_of(m)->uncore_enabled[setting->counter];

	if (!setting->global)
		*began = 0;
	else if (!*began) {
		*began = control;
		*enabled = setting->enabled;
	}
	if (!*began)
		return;
	if (setting->enabled != *enabled && broken(m, FAULT_UNCORE_ENABLE_LATCHED))
		setting->enabled = *enabled;
	if (setting->enabled && *began != control && broken(m, FAULT_UNCORE_STOPPED_BY_OTHERS))
		setting->enabled = false;
}

void fault_uncore_setting(struct model *m, struct uncore_setting *setting)
{
	struct model_rule *rule = &setting->rule;

	if (m->config.fault == FAULT_NONE)
		return;
	if (rule->edge && broken(m, FAULT_UNCORE_EDGE_IGNORED))
		rule->edge = false;
	if (rule->edge && broken(m, FAULT_UNCORE_EDGE_SILENT))
		rule->kind = EK_NONE;
	if (rule->edge && rule->invert && broken(m, FAULT_UNCORE_INVERTED_EDGE))
		rule->edge = false;
	if (rule->edge && rule->invert && broken(m, FAULT_UNCORE_INVERTED_EDGE_SILENT))
		rule->kind = EK_NONE;
	if (rule->kind == EK_L3_HIT && broken(m, FAULT_UNCORE_HITS_SILENT))
		rule->kind = EK_NONE;
	if ((rule->kind == EK_L3_HIT && broken(m, FAULT_UNCORE_HITS_COUNT_MISSES)) ||
	    (rule->kind == EK_L3_MISS && broken(m, FAULT_UNCORE_MISSES_COUNT_HITS)))
		rule->kind = EK_LLC_REFERENCES;
	if (rule->cmask && broken(m, FAULT_UNCORE_CMASK_IGNORED))
		rule->cmask = 0;
	if (rule->cmask > CMASK_LOW && broken(m, FAULT_UNCORE_CMASK_2))
		rule->cmask &= CMASK_LOW;
	if (rule->invert && broken(m, FAULT_UNCORE_INV_IGNORED))
		rule->invert = false;
	keep_enables(m, setting);
	if (!setting->enabled && rule->kind != EK_REF_CYCLES &&
	    broken(m, FAULT_UNCORE_GP_ENABLE_IGNORED))
		setting->enabled = true;
	if (!setting->enabled && broken(m, FAULT_UNCORE_ENABLE_IGNORED))
		setting->enabled = true;
	if (setting->enabled && !setting->global && broken(m, FAULT_UNCORE_GLOBAL_CTRL_IGNORED))
		setting->global = true;
	if (setting->enabled && setting->global && broken(m, FAULT_INERT))
		setting->enabled = false;
}

void fault_uncore_read(struct model *m, struct model_uncore *u, const struct msr_ref *p, u64 value)
{
	if (p->reg == MODEL_REG_UNCORE_GLOBAL_STATUS && value &&
	    broken(m, FAULT_UNCORE_STATUS_CLEARED_BY_READ))
		u->global_status = 0;
}

u64 fault_uncore_clears(struct model *m, u64 bits)
{
	const u64 shown = model_uncore_of(m)->global_status & ALL_ENABLES;	/* counters */

	if (broken(m, FAULT_UNCORE_CLEARS_CORE))
		m->global_status &= ~IA32_PERF_GLOBAL_STATUS_OVF_UNCORE;
	if (bits & UNCORE_PERF_GLOBAL_OVF_CTRL_CLR_OVF_PC && broken(m, FAULT_UNCORE_CLEARS_EIGHT))
		bits |= UNCORE_PERF_GLOBAL_OVF_CTRL_CLR_OVF_PC;
	if (bits & shown && !(shown & ~bits) && broken(m, FAULT_UNCORE_LAST_CLEARS_CHG))
		bits |= UNCORE_PERF_GLOBAL_OVF_CTRL_CLR_CHG;
	if (broken(m, FAULT_UNCORE_CLEARS_CHG))
		bits |= UNCORE_PERF_GLOBAL_OVF_CTRL_CLR_CHG;
	if (bits & UNCORE_PERF_GLOBAL_OVF_CTRL_CLR_OVF_PMI &&
	    broken(m, FAULT_UNCORE_CLEARS_FIXED_WITH_PMI))
		bits |= UNCORE_PERF_GLOBAL_OVF_CTRL_CLR_OVF_FC0;
	return broken(m, FAULT_UNCORE_CLEARS_ALL) ? ~0ULL : bits;
}

u64 fault_uncore_width(struct model *m, u64 mask)
{
	return broken(m, FAULT_UNCORE_WIDTH_40) ? BITS(0, 39) : mask;
}

void fault_uncore_listener(struct model *m, const struct model_uncore *u,
			   struct uncore_listener *listener)
{
	bool of_processor;

	if (m->config.fault == FAULT_NONE)
		return;
	of_processor = u->global_ctrl & EVERY_CORE &
		       BIT(UNCORE_PERF_GLOBAL_CTRL_EN_PMI_CORE_SHIFT + listener->processor);
	if (listener->selected != of_processor && broken(m, FAULT_UNCORE_SELECTS_THREADS))
		listener->selected = of_processor;
	if (u->global_ctrl & EVERY_CORE && broken(m, FAULT_UNCORE_ANY_CORE))
		listener->selected = true;
	if (!listener->selected && broken(m, FAULT_UNCORE_PMI_EVERY_CORE))
		listener->selected = true;
	if (listener->listens && listener->processor & 1 && broken(m, FAULT_UNCORE_ODD_DEAF))
		listener->listens = false;
	if (listener->selected && !listener->listens && broken(m, FAULT_UNCORE_PMI_UNASKED))
		listener->listens = true;
}

/* true: the counter has done it since its control register was written. From now on it has. */
static bool again(u64 *done, unsigned counter)
{
	const bool before = *done & BIT(counter);

	*done |= BIT(counter);
	return before;
}

void fault_uncore_overflow(struct model *m, struct uncore_overflow *o)
{
	bool gp = o->counter < UNCORE_FIXED;
	u64 bit = model_uncore_bit(o->counter);

	if (m->config.fault == FAULT_NONE)
		return;
	if (broken(m, FAULT_UNCORE_STATUS_SHIFTED))
		o->status = (o->status & ~bit) |
			    model_uncore_bit((o->counter + 1) % UNCORE_COUNTERS);
	if (broken(m, FAULT_UNCORE_STATUS_DROPPED))
		o->status &= ~bit;
	if (!o->interrupt && broken(m, FAULT_UNCORE_OVF_PMI_ALWAYS))
		o->status |= UNCORE_PERF_GLOBAL_STATUS_OVF_PMI;
	if (gp && broken(m, o->interrupt ? FAULT_UNCORE_GP_PMI_LOST : FAULT_UNCORE_GP_PMI_ALWAYS))
		o->interrupt = !o->interrupt;
	if (o->interrupt && again(&faults_of(m)->uncore_signalled, o->counter) &&
	    broken(m, FAULT_UNCORE_PMI_ONCE))
		o->interrupt = false;
	if (!o->interrupt && broken(m, FAULT_UNCORE_INT_IGNORED))
		o->interrupt = true;
}

/* The processors of the first core only. */
static u64 of_first_core(const struct model *m, u64 processors)
{
	unsigned threads = m->config.hyper_threading ? CORE_THREADS : 1;
	unsigned first = (unsigned)__builtin_ctzll(processors) / threads * threads;

	return processors & BITS(first, first + threads - 1);
}

void fault_uncore_pmi(struct model *m, struct uncore_pmi *pmi)
{
	if (m->config.fault == FAULT_NONE)
		return;
	if (pmi->to && pmi->to != of_first_core(m, pmi->to) &&
	    broken(m, FAULT_UNCORE_PMI_FIRST_CORE_ONLY))
		pmi->to = of_first_core(m, pmi->to);
	if (broken(m, FAULT_UNCORE_OVF_PMI_DROPPED))
		pmi->status = 0;
	if (broken(m, pmi->stops ? FAULT_UNCORE_FREEZE_IGNORED : FAULT_UNCORE_FREEZE_ALWAYS))
		pmi->stops = pmi->stops ? 0 : ALL_ENABLES;
	if (pmi->stops && again(&faults_of(m)->uncore_froze, pmi->counter) &&
	    broken(m, FAULT_UNCORE_FREEZE_ONCE))
		pmi->stops = 0;
	if (pmi->stops && broken(m, FAULT_UNCORE_FREEZE_HALF))
		pmi->stops &= ~model_uncore_bit(pmi->counter);
	if (pmi->stops && broken(m, FAULT_UNCORE_FREEZE_SIGNALLER_ONLY))
		pmi->stops = model_uncore_bit(pmi->counter);
	if (pmi->stops && m->global_ctrl && broken(m, FAULT_UNCORE_FREEZE_STOPS_CORE)) {
		m->global_ctrl = 0;
		model_configure(m);
	}
	if (pmi->to && broken(m, FAULT_UNCORE_PMI_LOST))
		pmi->to = 0;
	if (pmi->to && broken(m, FAULT_UNCORE_PMI_DOUBLED))
		pmi->times = 2;
}

bool fault_uncore_shows(struct model *m, unsigned counter, bool shows)
{
	if (shows && broken(m, FAULT_UNCORE_PMI_CLEARS_CORE))
		m->global_status &= IA32_PERF_GLOBAL_STATUS_OVF_UNCORE;
	return shows && !broken(m, FAULT_OVF_UNCORE_DROPPED) &&
	       !(m->host->processor & 1 && broken(m, FAULT_OVF_UNCORE_ODD_HIDDEN)) &&
	       !(m->global_status && broken(m, FAULT_OVF_UNCORE_BESIDE_CORE)) &&
	       !(counter < UNCORE_FIXED && broken(m, FAULT_OVF_UNCORE_FIXED_ONLY));
}

u64 fault_uncore_occurrences(struct model *m, const struct model_uncore *u, u64 occurred)
{
	if (occurred && faults_of(m)->cpl == 3 && broken(m, FAULT_UNCORE_USER_UNCOUNTED))
		return 0;
	if (occurred && u->enabled_by != m->host->processor &&
	    broken(m, FAULT_UNCORE_COUNTS_OWN_THREAD_ONLY))
		return 0;
	return occurred && model_core_of(m, u->enabled_by) != m->core &&
			       broken(m, FAULT_UNCORE_COUNTS_OWN_CORE_ONLY) ?
		       0 :
		       occurred;
}

void fault_uncore_overflowed(struct model *m, const struct retire_ctx *s)
{
	if (s->wrapped && broken(m, FAULT_UNCORE_PMI_DROPS_CORE))
		m->global_status &= IA32_PERF_GLOBAL_STATUS_OVF_UNCORE;
}
