/* SPDX-License-Identifier: MIT */
/*
 * Counting: "Architectural Performance Monitoring Version 1 Facilities" to "Version 3", Figure
 * 18-1 and the precise events of Haswell.
 *
 * Time in the model: an instruction takes one or more core cycles (latitude), the same number for
 * each, and then its loads take their latencies, one after the other; latencies are those of the
 * memory hierarchy, and so they pass only while it is asked (access.c). All events of an
 * instruction fall in the first of its cycles; cycle events fall in each. The reference clock ticks
 * with the core clock. CMASK, INV and E see this sequence of cycles; a cycle at a privilege level
 * that the counter doesn't select has no event, and isn't counted under INV either.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/core.h"
#include "refpmu/model/netburst/netburst.h"

#define RFLAGS_IF	BIT(9)
/* EN of a fixed counter: 0 off, 1 CPL 0, 2 CPL 1 to 3, 3 all. */
#define FIXED_OS	1
#define FIXED_USER	2
/* The code that "Load Latency Performance Monitoring Facility" prints for 100BH. */
#define MISPRINTED_LATENCY 0x100

static const struct event events[] = {
#define EVENT_ON(gens, name, flags, counters, sure, min_period, period_unit, source) \
	{ gens, EVENT_##name, flags, EVENT_KIND_##name, counters },
#include "spec/event.def"
};

const struct event *model_event(const struct model *m, u16 code)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i].code == code && events[i].gens & BIT(m->config.generation) &&
		    (!(events[i].flags & EV_TSX) || model_has_tx(m)))
			return &events[i];
	return NULL;
}

static u64 highest(struct model *m, unsigned counter)
{
	if (broken(m, counter < FIRST_FIXED ? FAULT_WIDTH_40 : FAULT_FIXED_WIDTH_40))
		return BITS(0, 39);
	return model_width_mask(m);
}

bool model_pebs_enabled(struct model *m, unsigned counter)
{
	if (counter >= 32 || !(model_generation(m)->pebs_mask & BIT(counter)))
		return false;
	if (!(m->pebs_enable & BIT(counter)))
		return broken(m, FAULT_PEBS_ENABLE_IGNORED) ||
		       (m->pebs_enable & BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + counter) &&
			broken(m, FAULT_LL_EN_ENABLES)) ||
		       (counter == 3 && m->pebs_enable & IA32_PEBS_ENABLE_PS_EN &&
			broken(m, FAULT_PS_EN_ENABLES));
	if (counter && broken(m, FAULT_PMC0_PEBS_ONLY))
		return false;
	if (counter == 3 && broken(m, FAULT_PMC3_NO_PEBS))
		return false;
	return counter != 2 || !broken(m, FAULT_PMC2_NO_PEBS);
}

void model_set_counter(struct model *m, unsigned counter, u64 value)
{
	m->counter[counter].value = value & highest(m, counter);
}

/* The last-level cache events: Table 18-1. */
static bool absent_event_counts(struct model *m, u16 code)
{
	return (code == EVENT_LONGEST_LAT_CACHE_REFERENCE ||
		code == EVENT_LONGEST_LAT_CACHE_MISS) && broken(m, FAULT_ABSENT_EVENT_COUNTS);
}

/* Faults of the load latency event: which code it has, and on which counters. */
static const struct event *break_event(struct model *m, unsigned n, u16 code,
				       const struct event *event)
{
	const struct event *latency = model_event(m, EVENT_MEM_TRANS_RETIRED_LOAD_LATENCY);

	if (!latency)
		latency = model_event(m, EVENT_MEM_INST_RETIRED_LATENCY_ABOVE_THRESHOLD);
	if (code == MISPRINTED_LATENCY && broken(m, FAULT_LL_MISPRINT))
		return latency;
	if (event && event == latency && (broken(m, FAULT_LL_MISPRINT) ||
					  (n && broken(m, FAULT_LL_ONE_COUNTER))))
		return NULL;
	return event;
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
	case EK_MISPREDICTS:
		return broken(m, FAULT_BRANCHES_NO_RECORD);
	default:
		return false;
	}
}

/* Is this counter enabled by its own control register? */
static bool decode_gp(struct model *m, unsigned n, struct model_rule *rule)
{
	u64 select = m->perfevtsel[n];
	const struct event *event = model_event(m, (u16)select);
	bool enabled = select & IA32_PERFEVTSEL_EN;

	if (!event && absent_event_counts(m, (u16)select))
		event = model_event(m, EVENT_INST_RETIRED_ANY_P);
	if (m->config.fault)
		event = break_event(m, n, (u16)select, event);
	if (!event || !(event->counters & BIT(n) || (event->flags & EV_PS &&
						     broken(m, FAULT_PS_ANY_COUNTER))))
		return false;
	if (!enabled && !broken(m, FAULT_ENABLE_BIT_IGNORED))
		return false;
	*rule = (struct model_rule){
		.kind = event->kind,
		.flags = event->flags,
		.cmask = (u8)(select >> IA32_PERFEVTSEL_CMASK_SHIFT),
		.os = select & IA32_PERFEVTSEL_OS,
		.usr = select & IA32_PERFEVTSEL_USR,
		.edge = select & IA32_PERFEVTSEL_E,
		.invert = select & IA32_PERFEVTSEL_INV,
		.interrupt = select & IA32_PERFEVTSEL_INT,
		.any = select & IA32_PERFEVTSEL_ANY,
		.in_tx = select & IA32_PERFEVTSEL_IN_TX,
		.in_txcp = select & IA32_PERFEVTSEL_IN_TXCP,
	};
	/*
	 * A precise event is one without E, INV, CMASK and AnyThread: "Processor Event Based
	 * Sampling".
	 */
	rule->pebs = event->flags & EV_PEBS && !rule->edge && !rule->invert &&
		     (!rule->cmask || broken(m, FAULT_CMASK_RECORDS)) && !rule->any &&
		     model_pebs_enabled(m, n) &&
		     !(m->config.fault && makes_no_record(m, rule->kind));
	/* "CMASK or INV ... must be 0. Writing other values will result in undefined behavior." */
	return !(event->flags & EV_LL) || (!rule->cmask && !rule->invert);
}

static bool decode_fixed(struct model *m, unsigned n, struct model_rule *rule)
{
	static const u8 kinds[MODEL_MAX_FIXED] = { EK_INSTRUCTIONS, EK_CORE_CYCLES, EK_REF_CYCLES };
	/* Each counter has the fields of counter 0, further up. */
	u64 control = m->fixed_ctr_ctrl >> n * IA32_FIXED_CTR_CTRL_EN1_SHIFT;

	if (!(control & IA32_FIXED_CTR_CTRL_EN0) && broken(m, FAULT_FIXED_OFF_COUNTS))
		control |= IA32_FIXED_CTR_CTRL_EN0;
	if (n && control & IA32_FIXED_CTR_CTRL_EN0 && broken(m, FAULT_FIXED12_COUNT_USER))
		control |= FIXED_USER;
	if (n && control & IA32_FIXED_CTR_CTRL_EN0 && broken(m, FAULT_FIXED_LEVELS_OF_FIRST))
		control = (control & ~IA32_FIXED_CTR_CTRL_EN0) |
			  (m->fixed_ctr_ctrl & IA32_FIXED_CTR_CTRL_EN0);
	*rule = (struct model_rule){
		.kind = kinds[n],
		.os = control & FIXED_OS,
		.usr = control & FIXED_USER,
		.interrupt = control & IA32_FIXED_CTR_CTRL_PMI0,
		.any = control & IA32_FIXED_CTR_CTRL_ANY0,
	};
	if (n && broken(m, FAULT_FIXED_INT_OF_FIRST))
		rule->interrupt = m->fixed_ctr_ctrl & IA32_FIXED_CTR_CTRL_PMI0;
	return control & IA32_FIXED_CTR_CTRL_EN0;
}

/*
 * "When Load latency event is enabled, no other PEBS event can be configured with other counters"
 * (Sandy Bridge on): what else is configured makes no records then.
 */
static void keep_load_latency_alone(struct model *m)
{
	u64 sampling = 0, others = 0;

	if (!(model_generation(m)->facilities & FAC_LL_ALONE) || m->latitude[LAT_BESIDE_LATENCY])
		return;
	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		const struct model_rule *rule = &m->counter[i].rule;

		if (rule->pebs)
			*(rule->flags & EV_LL ? &sampling : &others) |= BIT(i);
	}
	if (!sampling)
		return;
	for (u64 left = others; left; left &= left - 1)
		m->counter[__builtin_ctzll(left)].rule.pebs = false;
	model_disarm(m, others);
}

void model_configure(struct model *m)
{
	bool memory = false, latency = false, any = false;

	m->active = 0;
	m->watch_predictor = false;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		struct model_rule *rule = &m->counter[i].rule;
		bool enabled = false;

		m->faults.at_counter = (u8)i;
		if (model_has_counter(m, i))
			enabled = i < FIRST_FIXED ? decode_gp(m, i, rule) :
						    decode_fixed(m, i - FIRST_FIXED, rule);
		if (!enabled)
			*rule = (struct model_rule){ .kind = EK_NONE };
		model_break_rule(m, i, rule);
		if (m->faults.frozen || m->global_status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ)
			enabled = false;
		if (enabled && !(m->global_ctrl & model_global_bit(i)))
			enabled = broken(m, FAULT_GLOBAL_CTRL_IGNORED) ||
				  model_runs_beside_another(m, i);
		if (enabled && m->faults.not_started & BIT(i))
			enabled = false;
		if (enabled && rule->kind != EK_NONE && (rule->os || rule->usr))
			m->active |= BIT(i);
		else
			m->counter[i].condition = false;
		if (!(m->active & BIT(i)))
			continue;
		memory = memory || model_access_matters(rule);
		latency = latency || rule->kind == EK_LOAD_LATENCY;
		any = any || rule->any;
		if (rule->kind == EK_MISPREDICTS)
			m->watch_predictor = true;
	}
	if (m->config.fault)
		model_break_levels(m);
	if (m->active)
		keep_load_latency_alone(m);
	model_access_watch(m, memory || model_uncore_watches(m), latency);
	model_core_watch(m, any);
	m->faults.at_counter = MODEL_NO_COUNTER;
}

void model_disarm(struct model *m, u64 counters)
{
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (counters & BIT(i))
			m->counter[i].armed = m->counter[i].held = false;
}

/*
 * Any deterministic predictor will do: conditional branches go the way the branch at this place
 * went last, at first not taken; all other branches are predicted right. It learns only while
 * somebody counts its mistakes.
 */
bool model_conditional_mispredicted(struct model *m, u64 ip, bool goes)
{
	u8 *last = &m->predictor[(ip ^ ip >> 8) % MODEL_PREDICTOR_ENTRIES];

	if (*last == goes)
		return false;
	*last = goes;
	return true;
}

bool model_mispredicted(struct model *m, const struct model_retired *r)
{
	return r->branch == BRANCH_CONDITIONAL &&
	       model_conditional_mispredicted(m, r->ip, r->taken);
}

static bool taken(const struct model_retired *r)
{
	return r->branch != BRANCH_CONDITIONAL || r->taken;
}

/* How often does the event occur on this instruction? Cycle events: in each of its cycles. */
static u64 occurrences(enum event_kind kind, const struct model_retired *r, bool mispredict)
{
	enum model_branch b = r->branch;

	switch (kind) {
	case EK_NONE:
		return 0;
	case EK_INSTRUCTIONS:
	case EK_CORE_CYCLES:
	case EK_REF_CYCLES:
		return 1;
	case EK_BRANCHES:
		return b != BRANCH_NONE;
	case EK_COND_BRANCHES:
		return b == BRANCH_CONDITIONAL;
	case EK_NEAR_CALLS:
		return b == BRANCH_CALL;
	case EK_NEAR_RETURNS:
		return b == BRANCH_RETURN;
	case EK_NEAR_TAKEN:
		return b != BRANCH_NONE && b != BRANCH_FAR && taken(r);
	case EK_MISPREDICTS:
		return mispredict;
	case EK_LOADS:
		return r->loads;
	case EK_STORES:
		return r->stores;
	case EK_LOCK_LOADS:
		return r->locked_loads;
	default:
		return 0;
	}
}

static bool is_cycle_event(const struct model_rule *rule)
{
	return rule->kind == EK_CORE_CYCLES || rule->kind == EK_REF_CYCLES;
}

u64 model_increment(struct model_counter *c, const struct model_rule *rule, bool cycle_event,
		    u64 occurred, u64 cycles)
{
	/* INV does nothing without CMASK. */
	bool invert = rule->invert && rule->cmask;
	u64 least = rule->cmask ? rule->cmask : 1;
	bool first, others;
	u64 edges;

	if (!rule->cmask && !rule->edge)
		return cycle_event ? occurred * cycles : occurred;

	first = (occurred >= least) != invert;
	others = (cycle_event && occurred >= least) != invert;
	if (!rule->edge)
		return first + (cycles - 1) * others;

	edges = first && !c->condition;
	c->condition = first;
	if (cycles > 1) {
		edges += others && !first;
		c->condition = others;
	}
	return edges;
}

/* Show the overflow of counter i. */
static void show_overflow(struct model *m, const struct step *s, unsigned i)
{
	struct model *sibling = model_core_sibling(m);
	u64 bit = model_global_bit(i);

	if (broken(m, FAULT_STATUS_DROPPED))
		return;
	if (s->wrapped != BIT(i) && broken(m, FAULT_STATUS_FIRST_ONLY))
		return;
	if (broken(m, FAULT_STATUS_DOUBLED)) {
		unsigned next = i + 1 == model_gp_counters(m) ? FIRST_FIXED : i + 1;

		bit |= model_global_bit(model_has_counter(m, next) ? next : 0);
	}
	if (i == 0 && broken(m, FAULT_STATUS_PMC4))
		bit |= BIT(4);
	m->global_status |= bit;
	if (broken(m, FAULT_STATUS_LATE))
		m->faults.hidden_status |= bit;
	if (sibling && broken(m, FAULT_STATUS_SHARED))
		sibling->global_status |= bit;
}

/* An event has occurred for which the counter was armed. */
static void meet_event(struct model *m, struct step *s, unsigned i)
{
	struct model_counter *c = &m->counter[i];

	if (!(s->r->before.rflags & RFLAGS_IF) && broken(m, FAULT_IF_HOLDS_RECORDS))
		return;
	if (!c->shadow)
		s->due |= BIT(i);
	else
		c->shadow--;
}

/* No interrupt of this overflow, on a broken processor. again: its bit was still set. */
static bool stays_quiet(struct model *m, const struct step *s, const struct model_rule *rule,
			bool again)
{
	return (again && broken(m, FAULT_PMI_WAITS_FOR_STATUS)) ||
	       (s->writes && broken(m, FAULT_WRMSR_OVERFLOW_QUIET)) ||
	       (rule->os != rule->usr && broken(m, FAULT_INT_NEEDS_BOTH_LEVELS));
}

/* The counter has wrapped: show it, and arm PEBS or have the interrupt requested. */
static void wrap(struct model *m, struct step *s, unsigned i)
{
	struct model_counter *c = &m->counter[i];
	const struct model_rule *rule = s->rule[i];

	bool again = m->global_status & model_global_bit(i);

	s->wrapped |= BIT(i);
	show_overflow(m, s, i);
	model_errata_wrapped(m, i);

	/* The instruction may be the WRMSR that takes PEBS away. */
	if (!rule->pebs || !c->rule.pebs) {
		if (rule->interrupt && !(m->config.fault && stays_quiet(m, s, rule, again)))
			s->interrupts |= BIT(i);
		return;
	}
	c->armed = true;
	c->held = rule->interrupt;
	/* Precise store is about "the next store that retires". */
	c->shadow = rule->flags & EV_PS ? broken(m, FAULT_PS_LATE) :
					  (u8)model_draw(m, LAT_RECORD_SHADOW);
	if (rule->flags & EV_DLA)
		c->shadow = (u8)(c->shadow + model_draw(m, LAT_TAG_DELAY));
	if (i == 3 && broken(m, FAULT_PMC3_NEXT_BUT_ONE))
		c->shadow++;
	if (m->host->trace)
		m->host->trace(m->host->ctx, ACTION_ARM, i);
	if (rule->flags & EV_PDIR ? !broken(m, FAULT_PDIR_SKIDS) :
				    broken(m, FAULT_RECORD_AT_OVERFLOW))
		s->due |= BIT(i);
	if (rule->flags & EV_PS && broken(m, FAULT_PS_AT_WRAP))
		s->due |= BIT(i);
	if (!c->held && broken(m, FAULT_PEBS_INTERRUPTS))
		s->interrupts |= BIT(i);
	if (c->held && broken(m, FAULT_OVF_AT_WRAP)) {
		c->held = false;
		s->interrupts |= BIT(i);
	}
	if (broken(m, FAULT_THRESHOLD_AT_ARM)) {
		m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
		model_request(m, ACTION_THRESHOLD_INT, i);
	}
}

/* IN_TX: "Performance Monitoring and Intel TSX". */
static bool in_scope(struct model *m, const struct step *s, const struct model_rule *rule)
{
	bool inside = m->tx.depth || s->tx_abort;

	if (rule->in_tx && inside && m->tx.elided && broken(m, FAULT_HLE_FILTER_OUTSIDE))
		return false;
	if (rule->in_tx && !inside && rule->pebs && s->cpl &&
	    broken(m, FAULT_TX_FILTER_USER_RECORDS))
		return true;
	return !rule->in_tx || inside != broken(m, FAULT_TX_FILTER_INVERTED);
}

/* What microcode does to switch counter i on or off: events of the WRMSR besides its own. */
static u64 switching(const struct model *m, const struct step *s, unsigned i)
{
	bool loads = s->rule[i]->kind == EK_LOADS, branches = s->rule[i]->kind == EK_BRANCHES;

	if (s->opened & BIT(i))
		return loads ? m->latitude[LAT_OPEN_LOADS] :
		       branches ? m->latitude[LAT_OPEN_BRANCHES] : 0;
	if (s->closed & BIT(i))
		return loads ? m->latitude[LAT_CLOSE_LOADS] :
		       branches ? m->latitude[LAT_CLOSE_BRANCHES] : 0;
	return 0;
}

static void count(struct model *m, struct step *s, unsigned i, bool mispredict)
{
	struct model_counter *c = &m->counter[i];
	const struct model_rule *rule = s->rule[i];
	bool selected = (s->cpl ? rule->usr : rule->os) && in_scope(m, s, rule);
	u64 add, before = c->value;

	m->faults.at_counter = (u8)i;
	if (s->unseen & BIT(i))
		add = 0;
	else if (rule->kind >= EK_TX_FIRST)
		add = model_tx_occurs(m, s, rule->kind);
	else if (rule->kind >= EK_SPLIT_LOADS)
		add = model_access_count(m, s, rule->kind);
	else
		add = occurrences(rule->kind, s->r, mispredict);
	add += switching(m, s, i);
	if (add > 1 && rule->flags & EV_INSN)
		add = 1;
	if (!selected) {
		if (m->config.fault && in_scope(m, s, rule))
			model_set_counter(m, i, before + model_break_level(m, rule));
		c->condition = false;
		if (c->armed && add && broken(m, FAULT_ASSIST_AT_ANY_CPL))
			meet_event(m, s, i);
		return;
	}
	if (m->config.fault) {
		add = model_break_occurrences(m, rule, s->r, add);
		add = model_break_instruction(m, rule, s->r, add);
	}
	if (c->armed && (add || broken(m, FAULT_ASSIST_AT_ANY)))
		meet_event(m, s, i);
	if (add && rule->pebs && rule->flags & EV_LL && broken(m, FAULT_LL_PERIOD_IGNORED)) {
		c->armed = true;
		s->due |= BIT(i);
	}
	add = model_increment(c, rule, is_cycle_event(rule), add, s->cycles);
	if (m->config.fault)
		add = model_break_increment(m, i, rule, add);
	add = model_errata_increment(m, i, add);
	if (rule->os)
		add += m->smm_events;
	model_set_counter(m, i, before + add);
	if (before + add > highest(m, i) &&
	    (!c->value || !broken(m, FAULT_OVERFLOW_AT_ZERO_ONLY)))
		wrap(m, s, i);
}

/*
 * The retirement of a WRMSR that may have switched counters on or off: each one it doesn't switch
 * counts under the rule before; the others as latitude has it. A counter that it wrote itself
 * holds the value written.
 */
static void choose_rules(struct model *m, struct step *s)
{
	u64 on = m->active & ~m->active_before;
	u64 off = m->active_before & ~m->active;

	s->active = (m->active_before | on) & ~m->counter_written;
	s->opened = on;
	s->closed = off;
	if (m->latitude[LAT_DISABLE_COUNTS])
		s->unseen |= off;
	if (!m->latitude[LAT_ENABLE_COUNTS])
		s->unseen |= on;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		s->rule[i] = on & BIT(i) ? &m->counter[i].rule : &m->rule_before[i];
		if (s->unseen & BIT(i) && !switching(m, s, i))
			s->active &= ~BIT(i);
	}
	m->writing = false;
}

bool model_watching(const struct model *m)
{
	if (model_is_netburst(m))
		return netburst_watching(m);
	return m->active || model_uncore_busy(m) || m->n_requests || m->writing || m->tx.depth ||
	       m->ref_repeats_in || model_core_is_watched(m);
}

static void count_abort(struct model *m, const struct model_retired *r)
{
	struct step s = {
		.r = r, .cpl = r->cpl, .tx_abort = true,
		.cycles = m->latitude[LAT_CYCLES_PER_INSTRUCTION],
	};

	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		if (m->counter[i].rule.kind < EK_TX_FIRST)
			continue;
		s.active |= BIT(i);
		s.rule[i] = &m->counter[i].rule;
		count(m, &s, i, false);
		if (m->tx.was_nested && broken(m, FAULT_TX_NESTED_ABORT_TWICE))
			count(m, &s, i, false);
	}
	m->faults.at_counter = MODEL_NO_COUNTER;
	if (s.due | s.interrupts)
		model_serve(m, &s);
}

/* Table 18-1, of those that the model counts. */
static bool is_architectural(const struct model_rule *rule)
{
	return is_cycle_event(rule) || rule->kind == EK_INSTRUCTIONS ||
	       rule->kind == EK_BRANCHES || rule->kind == EK_MISPREDICTS;
}

/* The sibling has retired an instruction: count it on counters with AnyThread. So has another core,
 * to broken ones. */
static void count_siblings(struct model *m, const struct step *by, bool same_core, bool mispredict)
{
	struct step s = *by;

	s.active = s.due = s.wrapped = s.interrupts = s.opened = s.closed = s.unseen = 0;
	s.interrupted = s.aborts = s.writes = false;
	m->faults.moment++;
	if (broken(m, FAULT_ANYTHREAD_OWNER_CPL))
		s.cpl = m->faults.cpl;
	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		s.rule[i] = &m->counter[i].rule;
		if (is_architectural(s.rule[i]) && i < FIRST_FIXED &&
		    broken(m, FAULT_ANYTHREAD_ARCHITECTURAL_OWN))
			continue;
		if (s.rule[i]->any &&
		    (same_core || broken(m, i < FIRST_FIXED ? FAULT_ANYTHREAD_ALL_CORES :
							      FAULT_FIXED_ANYTHREAD_ALL_CORES)))
			s.active |= BIT(i);
	}
	for (u64 left = s.active; left; left &= left - 1)
		count(m, &s, (unsigned)__builtin_ctzll(left), mispredict);
	m->faults.at_counter = MODEL_NO_COUNTER;
	if (s.interrupts && broken(m, FAULT_ANYTHREAD_SIBLING_PMI_LOST))
		s.interrupts = 0;
	if (s.due | s.interrupts)
		model_serve(m, &s);
}

/* All who count what this processor does; the lock is held. */
static void tell(struct model *m, const struct step *s, bool mispredict)
{
	struct model *to;
	unsigned next = 0;

	while ((to = model_core_other(m, &next))) {
		count_siblings(to, s, to->core == m->core, mispredict);
		if (to->n_requests)
			model_core_call(m, to);
	}
}

static void retire(struct model *m, bool shared, const struct model_retired *r)
{
	struct model *sibling = shared ? model_core_sibling(m) : NULL;
	struct step s;
	bool mispredict;

	m->faults.cpl = r->cpl;
	if (model_is_netburst(m)) {
		netburst_retire(m, r);
		return;
	}
	mispredict = (m->watch_predictor || (sibling && sibling->watch_predictor)) &&
		     model_mispredicted(m, r);
	s.r = r;
	s.cpl = r->cpl;
	s.writes = m->writing;
	m->faults.interrupts_off = !(r->after.rflags & RFLAGS_IF);
	s.due = s.wrapped = s.interrupts = s.opened = s.closed = s.unseen = 0;
	s.interrupted = s.tx_abort = s.aborts = false;
	m->faults.moment++;
	s.tx = m->tx.depth && m->tx.elided ? (u8)model_tx_elision_act(m) : r->tx;
	if (model_may_be_stolen(m) && !--m->steal_in)
		model_steal(m);
	model_requests_approach(m);
	if (m->writing) {
		choose_rules(m, &s);
	} else {
		s.active = m->active;
		for (u64 left = s.active; left; left &= left - 1)
			s.rule[__builtin_ctzll(left)] =
				&m->counter[__builtin_ctzll(left)].rule;
	}
	s.cycles = m->latitude[LAT_CYCLES_PER_INSTRUCTION] + model_access_run(m, &s);
	m->cycles += s.cycles;
	if (m->tx.depth)
		m->tx.cycles_so_far += s.cycles;
	if (m->config.fault)
		s.active &= ~model_fault_retire(m, r);
	for (u64 left = s.active; left; left &= left - 1)
		count(m, &s, (unsigned)__builtin_ctzll(left), mispredict);
	m->faults.at_counter = MODEL_NO_COUNTER;
	m->smm_events = 0;
	if (s.due | s.interrupts)
		model_serve(m, &s);
	if (m->ref_repeats_in)
		model_errata_retired(m);
	if (m->uncore_before || model_uncore_busy(m))
		model_uncore_retire(m, &s);
	if (s.aborts)
		count_abort(m, &s.aborted);
	else
		model_tx_elision_retired(m, s.tx);
	if (shared)
		tell(m, &s, mispredict);
	model_requests_raise(m);
	m->faults.ip_before = r->ip;
}

void model_retire(struct model *m, const struct model_retired *r)
{
	bool shared = model_core_enter(m);

	retire(m, shared, r);
	model_core_leave(m, shared);
}

void model_retire_abort(struct model *m, const struct model_retired *r)
{
	bool shared = model_core_enter(m);

	m->faults.moment++;
	count_abort(m, r);
	model_requests_raise(m);
	model_core_leave(m, shared);
}
