/* SPDX-License-Identifier: MIT */
/*
 * LBR event logging, which Linux calls branch counters: an architectural last branch record has the
 * number of a counter's events since the previous entry. CPUID.1CH:ECX[19:16] lists the counters
 * that support it, IA32_PERFEVTSELx[35] enables it. The logged number is the increment of the
 * counter, so the counter's enables, levels and conditions apply to the log too.
 *
 * The log restarts only at a new entry, at a write of IA32_LBR_DEPTH, and when the bit is cleared.
 * It doesn't restart at a branch that is filtered out, or at a return that removes an entry.
 */
#include "refpmu/model/lbr.h"
#include "spec/arch_lbr.h"

_Static_assert(MODEL_LBR_LOGGED == ARCH_LBR_LOGGED, "what the state has room for");

/* The bits of latitude lbr-log-without. */
enum { WITHOUT_IMPRECISE, WITHOUT_CONDITIONS };

static const u8 shifts[] = {
#define ARCH_LBR_LOG(counter, lo, hi, source) [counter] = (lo),
#include "spec/arch_lbr.def"
};

/* CPUID.1CH:ECX[19:16]: bit n is IA32_PMCn. Which processors have it: docs/READINGS.md, "LBR
 * event logging". */
u64 model_lbr_logging(const struct model *m)
{
	const u64 all = (BIT(MODEL_LBR_LOGGED) - 1) & model_gp_mask(m);

	if (!model_has_arch_lbr(m) || !(BIT(m->config.generation) & GENS_LBR_LOG) ||
	    BIT(m->package) & GENS_LBR_LOG_ABSENT)
		return 0;
	return all & ~(u64)m->latitude[LAT_LBR_UNLOGGED];
}

/* A mail on Linux's branch counters: "a per-counter indication of precise event occurrences in
 * LBRs". Is this counter's event logged? Latitude lbr-log-without. */
static bool is_logged(const struct model *m, const struct model_rule *rule)
{
	const u32 without = m->latitude[LAT_LBR_LOG_WITHOUT];

	return !(without & BIT(WITHOUT_IMPRECISE) && !(rule->flags & EV_PEBS)) &&
	       !(without & BIT(WITHOUT_CONDITIONS) && (rule->cmask || rule->invert || rule->edge));
}

/* IA32_PERFEVTSELx[35]: Linux ARCH_PERFMON_EVENTSEL_BR_CNTR. No source says what a write with
 * the bit clear does to the counts. */
void model_lbr_log_configure(struct model *m)
{
	m->lbr.logs = 0;
	for (unsigned n = 0; n < MODEL_LBR_LOGGED; n++) {
		if (!(m->perfevtsel[n] & IA32_PERFEVTSEL_EN_LBR_LOG))
			m->lbr.logged[n] = 0;
		else if (model_lbr_logging(m) & BIT(n) && is_logged(m, &m->counter[n].rule))
			m->lbr.logs |= BIT(n);
	}
}

/* No source says whether events are logged while branch records are off: latitude lbr-log-off. */
void model_lbr_log(struct model *m, unsigned i, u8 cpl, u64 add)
{
	if (!m->latitude[LAT_LBR_LOG_OFF] || model_lbr_on(m))
		m->lbr.own[i] += fault_lbr_logged(m, i, cpl, add);
}

/* A branch's own events are in its entry or in the next one: latitude lbr-log-next. */
void model_lbr_log_settle(struct model *m)
{
	for (unsigned n = 0; n < MODEL_LBR_LOGGED; n++) {
		m->lbr.logged[n] += m->lbr.own[n];
		m->lbr.own[n] = 0;
	}
}

/* From IA32_LBR_x_INFO[32] on two bits for each of IA32_PMC0 to 3, at most 3: Linux
 * LBR_INFO_BR_CNTR_OFFSET. */
u64 model_lbr_log_info(const struct model *m)
{
	u64 info = 0;

	for (unsigned n = 0; n < MODEL_LBR_LOGGED; n++) {
		u64 events = m->lbr.logged[n];

		if (!m->latitude[LAT_LBR_LOG_NEXT])
			events += m->lbr.own[n];
		info |= (events < ARCH_LBR_LOG_MOST ? events : ARCH_LBR_LOG_MOST) << shifts[n];
	}
	return info;
}

/* An entry has the events since the previous entry: SDM volume 4, IA32_LBR_x_INFO. */
void model_lbr_log_begin(struct model *m)
{
	for (unsigned n = 0; n < MODEL_LBR_LOGGED; n++) {
		m->lbr.logged[n] = 0;
		if (!m->latitude[LAT_LBR_LOG_NEXT])
			m->lbr.own[n] = 0;
	}
}
