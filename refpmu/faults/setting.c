/* SPDX-License-Identifier: MIT */
/* Faults of a counter's setting, where its control registers are decoded. */
#include "refpmu/faults/archpebs/archpebs.h"
#include "refpmu/faults/broken.h"
#include "refpmu/faults/record.h"
#include "refpmu/faults/goldencove/goldencove.h"
#include "refpmu/faults/icelake/version5.h"
#include "refpmu/faults/kvm/kvm.h"
#include "refpmu/faults/skylake/version4.h"
#include "refpmu/model/internal.h"

#define LEAST_PERIOD	64	/* of fault short-periods-lost */
/* The code that "Load Latency Performance Monitoring Facility" prints for 100BH. */
#define MISPRINTED_LATENCY	0x100
#define CMASK_HIGHEST	0x80
#define CMASK_MOST	0xff
#define FIXED_USER		2	/* EN of a fixed counter: CPL 1 to 3 */

u64 fault_counter_width(struct model *m, unsigned counter, u64 mask)
{
	enum fault_id narrow = counter < FIRST_FIXED ? FAULT_WIDTH_40 : FAULT_FIXED_WIDTH_40;

	if (m->config.fault == FAULT_NONE)
		return mask;
	return broken(m, narrow) ? BITS(0, 39) : mask;
}

bool fault_pebs_enabled(struct model *m, unsigned counter, bool enabled)
{
	if (m->config.fault == FAULT_NONE)
		return enabled;
	if (!enabled)
		return broken(m, FAULT_PEBS_ENABLE_IGNORED) ||
		       (m->pebs_enable & BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + counter) &&
			broken(m, FAULT_LL_EN_ENABLES)) ||
		       (counter == 3 && m->pebs_enable & IA32_PEBS_ENABLE_PS_EN &&
			broken(m, FAULT_PS_EN_ENABLES));
	if (counter >= FIRST_FIXED && m->pebs_enable & IA32_PEBS_ENABLE_PEBS_EN_PMC &&
	    broken(m, FAULT_FIXED_PEBS_ALONE))
		return false;
	if (!fault_v5_pebs_enabled(m, counter) || (counter && broken(m, FAULT_PMC0_PEBS_ONLY)))
		return false;
	if (counter == 3 && broken(m, FAULT_PMC3_NO_PEBS))
		return false;
	if (counter < 3 && m->pebs_enable & IA32_PEBS_ENABLE_PS_EN &&
	    broken(m, FAULT_PS_EN_SILENCES))
		return false;
	return counter != 2 || !broken(m, FAULT_PMC2_NO_PEBS);
}

static bool is_architectural(u16 code)
{
	for (unsigned i = 0; i < MODEL_ARCHITECTURAL_EVENTS; i++)
		if (code == model_architectural_event(i))
			return true;
	return false;
}

static const struct event_row *latency_event(const struct model *m)
{
	const struct event_row *event = model_event(m, EVENT_MEM_TRANS_RETIRED_LOAD_LATENCY);

	return event ? event : model_event(m, EVENT_MEM_INST_RETIRED_LATENCY_ABOVE_THRESHOLD);
}

const struct event_row *fault_event(struct model *m, unsigned n, const struct event_row *event)
{
	u16 code = (u16)m->perfevtsel[n];
	const struct event_row *named, *latency;

	if (m->config.fault == FAULT_NONE)
		return event;
	event = fault_glc_event(m, n, fault_v5_event(m, n, fault_ext_event(m, n, event)));
	named = model_event(m, code);
	latency = latency_event(m);
	if (named && named->kind >= EK_SLOTS_BAD_SPECULATION &&
	    named->kind <= EK_SLOTS_BACKEND_BOUND && broken(m, FAULT_TOPDOWN_EVENTS_SILENT))
		return NULL;
	if (!named && is_architectural(code) && broken(m, FAULT_ABSENT_EVENT_COUNTS))
		return model_event(m, EVENT_INST_RETIRED_ANY_P);
	if (!event && named && named->flags & EV_PS && broken(m, FAULT_PS_ANY_COUNTER))
		return named;
	if (code == MISPRINTED_LATENCY && latency && latency->counters & BIT(n) &&
	    broken(m, FAULT_LL_MISPRINT))
		return latency;
	if (event && event == latency &&
	    (broken(m, FAULT_LL_MISPRINT) || (n && broken(m, FAULT_LL_ONE_COUNTER))))
		return NULL;
	return event;
}

u64 fault_fixed_control(struct model *m, unsigned n, u64 control)
{
	const u64 enable = IA32_FIXED_CTR_CTRL_EN0, pmi = IA32_FIXED_CTR_CTRL_PMI0;

	if (m->config.fault == FAULT_NONE)
		return control;
	if (n && control & IA32_FIXED_CTR_CTRL_ANY0 &&
	    (broken(m, FAULT_FIXED12_ANYTHREAD_IGNORED) ||
	     (n == 2 && broken(m, FAULT_FIXED2_ANYTHREAD_IGNORED)) ||
	     (n == 2 && control & pmi && broken(m, FAULT_FIXED2_ANYTHREAD_NOT_WITH_PMI)) ||
	     (m->thread && broken(m, FAULT_FIXED12_ANYTHREAD_OF_SECOND))))
		control &= ~IA32_FIXED_CTR_CTRL_ANY0;
	if (!(control & enable) && broken(m, FAULT_FIXED_OFF_COUNTS))
		control |= enable;
	if (n && control & enable && broken(m, FAULT_FIXED12_COUNT_USER))
		control |= FIXED_USER;
	if (n && control & enable && broken(m, FAULT_FIXED_LEVELS_OF_FIRST))
		control = (control & ~enable) | (m->fixed_ctr_ctrl & enable);
	if (n && broken(m, FAULT_FIXED_INT_OF_FIRST))
		control = (control & ~pmi) | (m->fixed_ctr_ctrl & pmi);
	return fault_v5_fixed_control(m, n, control);
}

static bool makes_no_record(struct model *m, enum event_kind kind)
{
	switch (kind) {
	case EK_INSTRUCTIONS:
		return broken(m, FAULT_INSTRUCTIONS_NO_RECORD);
	case EK_BRANCHES:
	case EK_COND_BRANCHES:
	case EK_NEAR_CALLS:
	case EK_NEAR_RETURNS:
	case EK_NEAR_TAKEN:
		return broken(m, FAULT_BRANCHES_NO_RECORD);
	case EK_MISPREDICTS:
		return broken(m, FAULT_BRANCHES_NO_RECORD) ||
		       broken(m, FAULT_MISPREDICTS_NO_RECORD);
	case EK_UOPS:
		return broken(m, FAULT_UOPS_NO_RECORD);
	case EK_L1_HIT:
	case EK_HIT_LFB:
	case EK_L2_HIT:
	case EK_L3_MISS:
	case EK_DTLB_MISS_LOADS:
	case EK_DTLB_MISS_STORES:
	case EK_UNCACHED:
		return broken(m, FAULT_ACCESSES_NO_RECORD) ||
		       (is_by_level(kind) && broken(m, FAULT_LEVELS_NO_RECORD));
	default:
		return is_by_level(kind) && broken(m, FAULT_LEVELS_NO_RECORD);
	}
}

/* Does a counter with CMASK make records? */
static bool records_with_cmask(struct model *m, unsigned n, const struct model_rule *rule)
{
	return rule->cmask && rule->flags & EV_PEBS && !rule->edge && !rule->invert && !rule->any &&
	       model_pebs_enabled(m, n) && broken(m, FAULT_CMASK_RECORDS);
}

/* The event depends on the cache that a load or store hit. */
static bool is_of_memory(enum event_kind kind)
{
	return kind >= EK_SPLIT_LOADS && kind <= EK_OFFCORE_1;
}

static bool silent(struct model *m, unsigned i, enum event_kind kind)
{
	return (kind == EK_LOCK_LOADS && broken(m, FAULT_LOCK_IGNORED)) ||
	       (kind == EK_CORE_CYCLES && i < FIRST_FIXED && broken(m, FAULT_CORE_CYCLES_SILENT)) ||
	       (kind == EK_REF_CYCLES && !i && broken(m, FAULT_REF_CYCLES_OF_LAST)) ||
	       (i == FIRST_FIXED + 2 && broken(m, FAULT_FIXED2_STOPS)) || broken(m, FAULT_INERT);
}

/* An architectural event other than cycles, instructions and branches. */
static bool is_other_architectural(enum event_kind kind)
{
	return kind == EK_REF_CYCLES || kind == EK_MISPREDICTS || kind == EK_LLC_REFERENCES ||
	       kind == EK_LLC_MISSES || kind == EK_SLOTS ||
	       (kind >= EK_SLOTS_BAD_SPECULATION && kind <= EK_SLOTS_BACKEND_BOUND);
}

/* An event of transactions other than RTM_RETIRED.START, COMMIT and ABORTED. */
static bool is_of_locks_or_a_cause(enum event_kind kind)
{
	return kind >= EK_TX_STARTED_HLE && kind != EK_TX_ABORTED_RTM;
}

static bool at_every_level(struct model *m, unsigned i, const struct model_rule *rule)
{
	return broken(m, FAULT_CPL_IGNORED) ||
	       (i < FIRST_FIXED && is_other_architectural(rule->kind) &&
		broken(m, FAULT_ARCHITECTURAL_ANY_LEVEL)) ||
	       (is_of_locks_or_a_cause(rule->kind) && broken(m, FAULT_TX_ANY_LEVEL)) ||
	       (i >= FIRST_FIXED && broken(m, FAULT_FIXED_CPL_IGNORED)) ||
	       (is_of_memory(rule->kind) && broken(m, FAULT_MEMORY_ANY_LEVEL)) ||
	       (!rule->os && !rule->usr && i < FIRST_FIXED && broken(m, FAULT_NO_LEVEL_COUNTS));
}

/* Does the counter count the inverse of what its AnyThread bit says? */
static bool is_other_any(struct model *m, unsigned i, bool any)
{
	if (i < FIRST_FIXED)
		return broken(m, any ? FAULT_ANYTHREAD_OWN_ONLY : FAULT_ANYTHREAD_ALWAYS);
	return broken(m, any ? FAULT_FIXED_ANYTHREAD_OWN_ONLY : FAULT_FIXED_ANYTHREAD_ALWAYS);
}

/* The value that is used as CMASK. */
static void break_threshold(struct model *m, struct model_rule *rule)
{
	if (rule->cmask & CMASK_HIGHEST && broken(m, FAULT_CMASK_SEVEN_BITS))
		rule->cmask &= (u8)~CMASK_HIGHEST;
	if (rule->cmask < 2)
		return;
	if (rule->edge && broken(m, FAULT_EDGE_CMASK_ONE))
		rule->cmask = 1;
	if (rule->cmask > 1 && rule->cmask < CMASK_MOST && broken(m, FAULT_CMASK_ABOVE))
		rule->cmask++;
	if (rule->invert && !rule->edge && rule->cmask < CMASK_MOST &&
	    broken(m, FAULT_INV_AT_CMASK))
		rule->cmask++;
}

static void break_rule(struct model *m, unsigned i, struct model_rule *rule)
{
	const struct model_rule *was = &m->counter[i].rule;

	break_threshold(m, rule);
	if (silent(m, i, rule->kind) ||
	    (rule->kind == EK_UOPS && !rule->pebs && broken(m, FAULT_UOPS_SILENT)))
		rule->kind = EK_NONE;
	if (rule->kind == EK_UOPS && !rule->pebs && broken(m, FAULT_UOPS_AS_BRANCHES))
		rule->kind = EK_BRANCHES;
	if (!(rule->os && rule->usr) && at_every_level(m, i, rule))
		rule->os = rule->usr = true;
	if (rule->os && !rule->usr &&
	    ((rule->pebs && broken(m, FAULT_PEBS_OS_AT_CPL_3)) ||
	     (i < FIRST_FIXED &&
	      (rule->kind == EK_CORE_CYCLES || is_other_architectural(rule->kind)) &&
	      broken(m, FAULT_ARCHITECTURAL_USER_BY_OS))))
		rule->usr = true;
	if (rule->cmask && (broken(m, FAULT_CMASK_IGNORED) ||
			    (is_of_memory(rule->kind) && broken(m, FAULT_MEMORY_CMASK_IGNORED))))
		rule->cmask = 0;
	if (rule->invert && (broken(m, FAULT_INV_IGNORED) ||
			     (is_of_memory(rule->kind) && broken(m, FAULT_MEMORY_INV_IGNORED))))
		rule->invert = false;
	if (rule->invert && !rule->cmask && broken(m, FAULT_INV_WITHOUT_CMASK))
		rule->cmask = 1;
	if (rule->edge && (broken(m, FAULT_EDGE_IGNORED) ||
			   (is_of_memory(rule->kind) && broken(m, FAULT_MEMORY_EDGE_IGNORED))))
		rule->edge = false;
	if (is_other_any(m, i, rule->any))
		rule->any = !rule->any;
	if (!rule->interrupt && broken(m, FAULT_INT_IGNORED))
		rule->interrupt = true;
	if (was->kind != EK_NONE && was->interrupt != rule->interrupt &&
	    broken(m, FAULT_INT_LATCHED))
		rule->interrupt = was->interrupt;
	if (rule->in_tx && (broken(m, FAULT_TX_FILTER_IGNORED) ||
			    (rule->pebs && broken(m, FAULT_TX_FILTER_PEBS)) ||
			    (rule->in_txcp && broken(m, FAULT_TX_CHECKPOINT_DROPS_FILTER))))
		rule->in_tx = false;
	if (rule->in_tx && rule->in_txcp && broken(m, FAULT_TX_FILTER_DROPS_CHECKPOINT))
		rule->in_txcp = false;
}

/* Does this counter run without its global enable? */
static bool runs_beside_another(struct model *m, unsigned counter)
{
	return counter == FIRST_FIXED + 1 && m->global_ctrl & model_global_bit(FIRST_FIXED + 2) &&
	       m->fixed_ctr_ctrl & IA32_FIXED_CTR_CTRL_EN2 &&
	       broken(m, FAULT_FIXED1_WITHOUT_GLOBAL);
}

void fault_counter_setting(struct model *m, unsigned i, struct counter_setting *setting)
{
	struct model_rule *rule = &setting->rule;

	if (m->config.fault == FAULT_NONE || rule->kind == EK_NONE)
		return;
	fault_v5_setting(m, i, setting);
	if (i < FIRST_FIXED) {
		rule->pebs = (rule->pebs || records_with_cmask(m, i, rule)) &&
			     !makes_no_record(m, rule->kind);
		if (rule->pebs && m->counter[i].value > model_width_mask(m, i) - LEAST_PERIOD + 1 &&
		    broken(m, FAULT_SHORT_PERIODS_LOST))
			rule->pebs = false;
		if (!(m->perfevtsel[i] & IA32_PERFEVTSEL_EN) && broken(m, FAULT_ENABLE_BIT_IGNORED))
			setting->enabled = true;
	}
	if (!fault_kvm_counts(m, i) || (i < FIRST_FIXED && m->perfevtsel[i] & IA32_PERFEVTSEL_PC &&
					broken(m, FAULT_PIN_CONTROL_STOPS)))
		setting->enabled = false;
	if (i == FIRST_FIXED + 3 && setting->enabled && broken(m, FAULT_FIXED_3_OFF))
		setting->enabled = false;
	if (!setting->enabled)
		return;
	break_rule(m, i, rule);
	if (rule->flags & EV_INSN && broken(m, FAULT_INSN_PER_ACCESS))
		rule->flags &= (u16)~EV_INSN;
	if (rule->pebs && rule->invert && broken(m, FAULT_TOTAL_CYCLES_REFUSED))
		rule->pebs = false;
	setting->frozen = fault_counter_frozen(m, i, setting->frozen);
	if (setting->frozen && rule->usr && broken(m, FAULT_CTR_FRZ_CPL_0_ONLY))
		setting->frozen = rule->os = false;
	if (faults_of(m)->frozen)
		setting->frozen = true;
	if (m->global_status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ &&
	    broken(m, FAULT_LBR_FRZ_STOPS_COUNTERS))
		setting->frozen = true;
	if (!setting->frozen && !setting->global)
		setting->global = broken(m, FAULT_GLOBAL_CTRL_IGNORED) || runs_beside_another(m, i);
	if (faults_of(m)->not_started & BIT(i))
		setting->global = false;
}

/* All general-purpose counters count at the levels of the lowest active one. */
void fault_counter_settings(struct model *m)
{
	unsigned lowest = m->active ? (unsigned)__builtin_ctzll(m->active) : MODEL_MAX_COUNTERS;

	if (m->config.fault != FAULT_LEVELS_OF_LOWEST)
		return;
	for (unsigned i = lowest + 1; i < FIRST_FIXED; i++) {
		struct model_rule *rule = &m->counter[i].rule;
		const struct model_rule *first = &m->counter[lowest].rule;

		if (!(m->active & BIT(i)) || (rule->os == first->os && rule->usr == first->usr))
			continue;
		fault_at_counter(m, i);
		if (!broken(m, FAULT_LEVELS_OF_LOWEST))
			continue;
		rule->os = first->os;
		rule->usr = first->usr;
	}
	fault_at_counter(m, MODEL_NO_COUNTER);
}
