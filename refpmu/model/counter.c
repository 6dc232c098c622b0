/* SPDX-License-Identifier: MIT */
/*
 * Counting: "Architectural Performance Monitoring Version 1 Facilities" to "Version 3", Figure
 * 18-1 and the precise events of Haswell.
 *
 * Time in the model: an instruction takes one or more core cycles (latitude), the same number for
 * each, and then the latencies of its loads, one after the other. The latencies come from the
 * memory hierarchy, so there are none while it isn't used (access.c). All events of an instruction
 * fall in the first of its cycles; cycle events fall in each. The reference clock ticks with the
 * core clock. CMASK, INV and E see this sequence of cycles; a cycle at a privilege level that the
 * counter doesn't select has no event, and isn't counted under INV either.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/archpebs/record.h"
#include "refpmu/model/core.h"
#include "refpmu/model/lbr.h"
#include "refpmu/model/pmu.h"

#define FIXED_OS	1	/* EN of a fixed counter: 0 off, 1 CPL 0, 2 CPL 1 to 3, 3 all */
#define FIXED_USER	2

/* "The width of counter reported by CPUID.0AH:EAX[23:16] is 48 bits" (Nehalem). */
static u64 highest(struct model *m, unsigned counter)
{
	return fault_counter_width(m, counter, model_width_mask(m, counter));
}

/* IA32_PEBS_ENABLE enables "which IA32_PMCx overflow condition will cause the PEBS record to be
 * captured". With baseline it has a bit for each fixed counter too: Linux. */
bool model_pebs_enabled(struct model *m, unsigned counter)
{
	if (model_has_arch_pebs(m))
		return model_arch_pebs_enabled(m, counter);
	if (counter < FIRST_FIXED && !(model_pebs_counters(m) & BIT(counter)))
		return false;
	if (counter >= FIRST_FIXED && !model_has_baseline(m))
		return false;
	return fault_pebs_enabled(m, counter, m->pebs_enable & model_global_bit(counter));
}

/* "Architectural Performance Monitoring Version 1 Facilities": after its highest value a counter
 * wraps to 0. */
void model_set_counter(struct model *m, unsigned counter, u64 value)
{
	m->counter[counter].value = value & highest(m, counter);
}

/* PDist isn't promised for a start value nearer to overflow than 256 events: latitude
 * pdist-near. */
void model_preset_counter(struct model *m, unsigned counter, u64 value)
{
	model_set_counter(m, counter, value);
	m->counter[counter].near = highest(m, counter) - m->counter[counter].value <
				   PDIST_LEAST_PERIOD - 1;
}

/* The selected event's code, as in spec/event.def. UMASK2: CPUID.(EAX=23H,ECX=0):EBX[0]. */
static u32 selected_code(struct model *m, unsigned n)
{
	u64 umask2 = (m->perfevtsel[n] & IA32_PERFEVTSEL_UMASK2) >> IA32_PERFEVTSEL_UMASK2_SHIFT;

	return (u16)m->perfevtsel[n] | (u32)fault_umask2(m, n, umask2) << 16;
}

/*
 * The event that a general-purpose counter selects. A counter that can't count it counts nothing:
 * docs/READINGS.md, "An event on a counter that can't count it, or that isn't modelled".
 */
static const struct event_row *event_of(struct model *m, unsigned n)
{
	const struct event_row *event = model_event(m, selected_code(m, n));

	if (event && !(event->counters & BIT(n)) && !model_is_total_cycles(m, n))
		event = NULL;
	if (model_event_is_uncounted(m, selected_code(m, n)))
		event = NULL;
	return fault_event(m, n, event);
}

/* "PDist: Precise Distribution": IA32_PMC0 and fixed counter 0 have it, on some generations
 * IA32_PMC1 too; with CPUID leaf 23H the counters that it lists. */
static bool has_pdist(struct model *m, unsigned i)
{
	if (model_has_arch_pebs(m))
		return model_pdist_counters(m) & BIT(i);
	if (i == 1)
		return model_generation(m)->facilities & FAC_PDIST_1;
	return (!i || i == FIRST_FIXED) && model_generation(m)->facilities & FAC_PDIST;
}

/* Microcode uses IA32_PMC3 while transactions can run: Linux tfa_get_event_constraints, latitude
 * tsx-force-abort. */
static bool is_taken(const struct model *m, unsigned n)
{
	return n == 3 && model_has_force_abort(m) &&
	       !(m->tsx_force_abort & IA32_TSX_FORCE_ABORT_RTM_FORCE_ABORT);
}

/*
 * Can the event of a general-purpose counter make records? A precise event is one without E, INV,
 * CMASK and AnyThread: "Processor Event Based Sampling"; or all cycles. With baseline, and with
 * architectural PEBS, any event makes records.
 */
static bool makes_records(const struct model *m, unsigned n, const struct event_row *event,
			  const struct model_rule *rule)
{
	bool precise = !rule->edge && !rule->any &&
		       ((event->flags & EV_PEBS && !rule->invert && !rule->cmask) ||
			model_is_total_cycles(m, n));

	if (model_has_baseline(m) || model_has_arch_pebs(m))
		return true;
	if (model_format_is_adaptive(m) && m->latitude[LAT_NO_BASELINE_EVENTS])
		return precise && event->flags & (EV_LL | EV_DLA);
	return precise;
}

/* Figure 18-6 "Layout of IA32_PERFEVTSELx MSRs Supporting Architectural Performance Monitoring
 * Version 3"; IN_TX and IN_TXCP: "Performance Monitoring and Intel TSX"; EQ: CPUID.(EAX=23H,ECX=0).
 */
static struct model_rule rule_of(struct model *m, u64 select, const struct event_row *event)
{
	return (struct model_rule){
		.kind = event->kind,
		.flags = event->flags,
		.cmask = fault_equal_cmask(m, select & IA32_PERFEVTSEL_EQ,
					   (u8)(select >> IA32_PERFEVTSEL_CMASK_SHIFT)),
		.os = select & IA32_PERFEVTSEL_OS,
		.usr = select & IA32_PERFEVTSEL_USR,
		.edge = select & IA32_PERFEVTSEL_E,
		.invert = select & IA32_PERFEVTSEL_INV,
		.equal = fault_equal(m, select & IA32_PERFEVTSEL_EQ),
		.interrupt = select & IA32_PERFEVTSEL_INT,
		.any = select & IA32_PERFEVTSEL_ANY,
		.in_tx = select & IA32_PERFEVTSEL_IN_TX,
		.in_txcp = select & IA32_PERFEVTSEL_IN_TXCP,
	};
}

static void decode_gp(struct model *m, unsigned n, struct counter_setting *setting)
{
	u64 select = m->perfevtsel[n];
	const struct event_row *event = event_of(m, n);
	struct model_rule *rule = &setting->rule;

	if (!event)
		return;
	*rule = rule_of(m, select, event);
	rule->pebs = makes_records(m, n, event, rule) && model_pebs_enabled(m, n);
	rule->adaptive = model_has_baseline(m) &&
			 fault_adaptive(m, n, select & IA32_PERFEVTSEL_ADAPTIVE);
	if (model_is_total_cycles(m, n))
		rule->flags &= (u16)~EV_PDIR;
	/* "PDist: Precise Distribution", intel/perfmon: with precise events. */
	if (has_pdist(m, n) && rule->pebs && event->flags & EV_PEBS)
		rule->flags |= EV_PDIR;
	setting->enabled = select & IA32_PERFEVTSEL_EN && !is_taken(m, n);
	/* "CMASK or INV ... must be 0. Writing other values will result in undefined behavior." */
	if (event->flags & EV_LL && (rule->cmask || rule->invert))
		setting->enabled = false;
}

/* Figure 18-2 "Layout of IA32_FIXED_CTR_CTRL MSR", and 18-7 for AnyThread. */
static void decode_fixed(struct model *m, unsigned n, struct counter_setting *setting)
{
	static const u8 kinds[MODEL_MAX_FIXED] = {
		EK_INSTRUCTIONS,	  EK_CORE_CYCLES,	   EK_REF_CYCLES,    EK_SLOTS,
		EK_SLOTS_BAD_SPECULATION, EK_SLOTS_FRONTEND_BOUND, EK_SLOTS_RETIRING
	};
	/* Each counter has the same field as counter 0, at a higher bit. */
	u64 control = m->fixed_ctr_ctrl >> n * IA32_FIXED_CTR_CTRL_EN1_SHIFT;

	control = fault_fixed_control(m, n, control);
	setting->rule = (struct model_rule){
		.kind = kinds[n],
		.os = control & FIXED_OS,
		.usr = control & FIXED_USER,
		.interrupt = control & IA32_FIXED_CTR_CTRL_PMI0,
		.any = control & IA32_FIXED_CTR_CTRL_ANY0 && n < 3,
	};
	setting->rule.pebs = model_pebs_enabled(m, FIRST_FIXED + n);
	setting->rule.adaptive = model_has_baseline(m) &&
				 fault_adaptive(m, FIRST_FIXED + n,
						control & IA32_FIXED_CTR_CTRL_ADAPTIVE0);
	if (setting->rule.pebs && (has_pdist(m, FIRST_FIXED + n) ||
				   (!n && model_generation(m)->facilities & FAC_PDIR_FIXED &&
				    m->latitude[LAT_PDIR_FIXED])))
		setting->rule.flags = EV_PDIR;
	setting->enabled = control & IA32_FIXED_CTR_CTRL_EN0;
}

/*
 * The setting of counter i. "Each enable bit in IA32_PERF_GLOBAL_CTRL is AND'ed with the enable
 * bits for all privilege levels in the respective IA32_PERFEVTSELx or IA32_FIXED_CTR_CTRL MSRs".
 */
static struct counter_setting setting_of(struct model *m, unsigned i)
{
	struct counter_setting setting = {
		.rule.kind = EK_NONE,
		.global = m->global_ctrl & model_global_bit(i),
		.frozen = m->global_status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ,
	};

	fault_at_counter(m, i);
	if (model_has_counter(m, i) && i < FIRST_FIXED)
		decode_gp(m, i, &setting);
	else if (model_has_counter(m, i))
		decode_fixed(m, i - FIRST_FIXED, &setting);
	fault_counter_setting(m, i, &setting);
	if (!setting.enabled || (i >= FIRST_FIXED && m->latitude[LAT_UNCOUNTED_EVENTS] == 3))
		setting.rule = (struct model_rule){ .kind = EK_NONE };
	return setting;
}

/*
 * "When Load latency event is enabled, no other PEBS event can be configured with other counters"
 * (Sandy Bridge on): other PEBS counters then make no records.
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

/* A counter counts if both its enables are set, and from version 4 on only while CTR_Frz is 0:
 * "Enhancement in IA32_PERF_GLOBAL_STATUS". */
void model_configure(struct model *m)
{
	bool memory = false, latency = false, any = false, frontend = false;

	m->active = 0;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		struct counter_setting setting = setting_of(m, i);
		const struct model_rule *rule = &m->counter[i].rule;

		m->counter[i].rule = setting.rule;
		if (!setting.enabled || !setting.global || setting.frozen ||
		    rule->kind == EK_NONE || !(rule->os || rule->usr)) {
			m->counter[i].condition = false;
			continue;
		}
		m->active |= BIT(i);
		memory = memory || model_access_matters(rule);
		latency = latency || rule->kind == EK_LOAD_LATENCY;
		any = any || rule->any;
		frontend = frontend || rule->kind == EK_FRONTEND;
	}
	/* Fetches that weren't watched aren't known: everything misses. */
	if (frontend && !m->watch_frontend)
		__builtin_memset(&m->fetch, 0, sizeof(m->fetch));
	m->watch_frontend = frontend;
	fault_counter_settings(m);
	model_lbr_log_configure(m);
	if (m->active)
		keep_load_latency_alone(m);
	/* The metrics depend on how long a load has waited. */
	memory = memory || model_metrics_run(m) || model_uncore_watches(m);
	model_access_watch(m, memory, latency);
	model_core_watch(m, fault_watches(m, any));
	fault_at_counter(m, MODEL_NO_COUNTER);
}

/* Which writes drop the arm: docs/READINGS.md, "Disarming". */
void model_disarm(struct model *m, u64 counters)
{
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (counters & BIT(i))
			m->counter[i].armed = m->counter[i].pmi_deferred = false;
}

static bool is_cycle_event(const struct model_rule *rule)
{
	return rule->kind == EK_CORE_CYCLES || rule->kind == EK_REF_CYCLES ||
	       rule->kind == EK_SLOTS;
}

/* CMASK, "Architectural Performance Monitoring Version 1 Facilities": the cycle has at least so
 * many events. With EQ exactly so many. */
static bool reaches(const struct model_rule *rule, u64 occurred)
{
	u64 least = rule->cmask ? rule->cmask : 1;

	return rule->equal && rule->cmask ? occurred == least : occurred >= least;
}

/* CMASK and INV of the same section count cycles, and E counts how often such cycles begin:
 * docs/READINGS.md, "Cycles". */
u64 model_increment(struct model_counter *c, const struct model_rule *rule, bool cycle_event,
		    u64 occurred, u64 cycles)
{
	/* "if counter-mask is programmed to zero, INV flag is ignored" */
	bool invert = rule->invert && rule->cmask;
	bool first, others;
	u64 edges;

	if (!rule->cmask && !rule->edge)
		return cycle_event ? occurred * cycles : occurred;

	first = reaches(rule, occurred) != invert;
	others = (cycle_event && reaches(rule, occurred)) != invert;
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

/* The first event after arming starts the assist: "Processor Event Based Sampling (PEBS)".
 * Latitude record-shadow lets some pass. */
void model_meet_event(struct model *m, struct retire_ctx *s, unsigned i)
{
	struct model_counter *c = &m->counter[i];

	if (!fault_event_seen(m, s, true))
		return;
	if (!c->shadow)
		s->due |= BIT(i);
	else
		c->shadow--;
}

/* With EV_PDIR: latitude pdist-near and pdist-fixed-next. */
static void with_pdist(struct model *m, unsigned i, struct counter_overflow *overflow)
{
	if (!has_pdist(m, i))
		return;
	if (m->counter[i].near && m->latitude[LAT_PDIST_NEAR]) {
		overflow->due = false;
	} else if (i == FIRST_FIXED && m->latitude[LAT_PDIST_FIXED_NEXT]) {
		overflow->due = false;
		overflow->shadow = 0;
	}
}

/* Values of latitude pebs-int; 0: after the assist. */
enum { PEBS_INT_AT_OVERFLOW = 1, PEBS_INT_NEVER };

/*
 * The effect of an overflow: the counter "is armed to ... capture the next event", or it
 * interrupts. With precise distribution the recorded event is the one that overflowed; precise
 * store is about "the next store that retires".
 */
static struct counter_overflow overflow_of(struct model *m, const struct retire_ctx *s, unsigned i)
{
	const struct model_rule *rule = s->rule[i];
	struct counter_overflow overflow = {
		.status = model_global_bit(i),
		/* The instruction may be the WRMSR that disables PEBS. */
		.arms = rule->pebs && m->counter[i].rule.pebs,
	};

	if (!overflow.arms) {
		overflow.interrupt = rule->interrupt;
		return overflow;
	}
	if (m->latitude[LAT_PEBS_INT] == PEBS_INT_AT_OVERFLOW)
		overflow.interrupt = rule->interrupt;
	else if (m->latitude[LAT_PEBS_INT] != PEBS_INT_NEVER)
		overflow.pmi_deferred = rule->interrupt;
	overflow.due = rule->flags & EV_PDIR;
	if (!(rule->flags & EV_PS))
		overflow.shadow = (u8)model_draw(m, LAT_RECORD_SHADOW);
	if (rule->flags & EV_DLA)
		overflow.shadow = (u8)(overflow.shadow + model_draw(m, LAT_TAG_DELAY));
	if (overflow.due)
		with_pdist(m, i, &overflow);
	return overflow;
}

/* The counter has wrapped: set its status bit (Figure 18-20), and arm PEBS or request the
 * interrupt. A counter that reloads itself sets no bit: Linux intel_pmu_enable_acr. */
static void wrap(struct model *m, struct retire_ctx *s, unsigned i)
{
	struct model_counter *c = &m->counter[i];
	struct counter_overflow overflow = overflow_of(m, s, i);

	s->wrapped |= BIT(i);
	if (model_reloads_itself(m, i))
		overflow.status = 0;
	fault_overflow(m, s, i, &overflow);
	m->global_status |= overflow.status;
	model_errata_wrapped(m, i);
	if (overflow.arms) {
		c->armed = true;
		c->pmi_deferred = overflow.pmi_deferred;
		c->shadow = overflow.shadow;
		if (m->host->trace)
			m->host->trace(m->host->ctx, ACTION_ARM, i);
	}
	if (overflow.due)
		s->due |= BIT(i);
	if (overflow.interrupt)
		s->interrupts |= BIT(i);
}

/* IN_TX: "Performance Monitoring and Intel TSX". */
static bool in_scope(struct model *m, const struct retire_ctx *s, const struct model_rule *rule)
{
	bool inside = model_in_tx(m) || s->tx_abort;

	return !rule->in_tx || fault_in_scope(m, s, rule, inside);
}

/* The events of the microcode that switches counter i on or off, in addition to the WRMSR
 * itself: latitude open-loads, close-loads, open-branches and close-branches. */
static u64 switching(const struct model *m, const struct retire_ctx *s, unsigned i)
{
	bool loads = s->rule[i]->kind == EK_LOADS, branches = s->rule[i]->kind == EK_BRANCHES;

	if (s->opened & BIT(i))
		return loads ? m->latitude[LAT_OPEN_LOADS] :
		       branches ? m->latitude[LAT_OPEN_BRANCHES] :
				  0;
	if (s->closed & BIT(i))
		return loads ? m->latitude[LAT_CLOSE_LOADS] :
		       branches ? m->latitude[LAT_CLOSE_BRANCHES] :
				  0;
	return 0;
}

/* "Architectural Performance Monitoring Version 1 Facilities": OS is about privilege level 0, USR
 * about levels 1, 2 and 3. */
static bool counts_at(struct model *m, const struct model_rule *rule, u8 cpl)
{
	return fault_level(m, cpl) ? rule->usr : rule->os;
}

/*
 * An instruction that exits never retires in the guest. KVM adds it to counters of instructions
 * "ignoring checks for edge detect, pin control, invert and CMASK bits", or, before Linux 5.17,
 * adds nothing (kvm_pmu_trigger_event).
 */
static u64 of_exit(const struct model *m, const struct retire_ctx *s, unsigned i, u64 add)
{
	if (!s->exits || s->rule[i]->kind != EK_INSTRUCTIONS)
		return add;
	if (m->facts & FACT_EXITS_UNCOUNTED)
		return 0;
	return m->facts & FACT_EXITS_COUNT ? !(s->uncounted & BIT(i)) : add;
}

/* Count the instruction on one counter. MEM_INST_RETIRED counts an instruction once, however
 * many accesses it has: Table 18-56, note 4. */
static void counter_count(struct model *m, struct retire_ctx *s, unsigned i)
{
	struct model_counter *c = &m->counter[i];
	const struct model_rule *rule = s->rule[i];
	bool scope = in_scope(m, s, rule);
	u64 add, before = c->value;

	fault_at_counter(m, i);
	add = (s->uncounted & BIT(i) ? 0 : model_events_of(m, s, rule)) + switching(m, s, i);
	if (add > 1 && rule->flags & EV_INSN)
		add = 1;
	if (!scope || !counts_at(m, rule, s->cpl)) {
		fault_not_selected(m, s, i, scope, add);
		c->condition = false;
		return;
	}
	add = fault_occurrences(m, rule, s->r, add);
	if (c->armed && fault_meets_event(m, add))
		model_meet_event(m, s, i);
	fault_event_counts(m, s, i, add);
	if (rule->kind == EK_UOPS && rule->cmask && add > MOST_UOPS_A_CYCLE)
		add = MOST_UOPS_A_CYCLE;
	add = model_increment(c, rule, is_cycle_event(rule), add, s->cycles);
	add = of_exit(m, s, i, add);
	add = fault_increment(m, i, rule, add);
	add = model_errata_increment(m, i, add);
	if (m->lbr.logs & BIT(i))
		model_lbr_log(m, i, s->cpl, add);
	if (rule->os)
		add += m->smm_events;
	model_set_counter(m, i, before + add);
	if (fault_overflows(m, i, before + add > highest(m, i)))
		wrap(m, s, i);
}

/*
 * A WRMSR retires that may have switched counters on or off. A counter that it doesn't switch
 * counts it under the previous rule; for the others latitude decides. A counter that it wrote holds
 * the written value.
 */
static void choose_rules(struct model *m, struct retire_ctx *s)
{
	u64 on = m->active & ~m->active_before;
	u64 off = m->active_before & ~m->active;

	s->active = (m->active_before | on) & ~m->counter_written;
	s->opened = on;
	s->closed = off;
	if (m->latitude[LAT_DISABLE_COUNTS])
		s->uncounted |= off;
	if (!m->latitude[LAT_ENABLE_COUNTS])
		s->uncounted |= on;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		s->rule[i] = on & BIT(i) ? &m->counter[i].rule : &m->rule_before[i];
		if (s->uncounted & BIT(i) && !switching(m, s, i))
			s->active &= ~BIT(i);
	}
	m->writing = false;
}

bool arch_watching(const struct model *m)
{
	return m->active || model_uncore_busy(m) || m->n_requests || m->writing || model_in_tx(m) ||
	       m->ref_overflow_again_in || model_core_is_watched(m) || model_lbr_on(m) ||
	       (model_lbr_entries(m) && model_lbr_enabled(m));
}

/* An abort is an event of its own: HLE_RETIRED and RTM_RETIRED in SDM chapter 19. */
static void count_abort(struct model *m, const struct model_retired *r)
{
	struct retire_ctx s = {
		.r = r, .cpl = r->cpl, .tx_abort = true,
		.cycles = m->latitude[LAT_CYCLES_PER_INSTRUCTION],
	};

	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		if (m->counter[i].rule.kind < EK_TX_FIRST)
			continue;
		s.active |= BIT(i);
		s.rule[i] = &m->counter[i].rule;
		for (unsigned times = fault_abort_counts(m, 1); times; times--)
			counter_count(m, &s, i);
	}
	fault_at_counter(m, MODEL_NO_COUNTER);
	if (s.due | s.interrupts)
		model_serve(m, &s);
}

/* Count an instruction of another thread on this one's counters with AnyThread: "Architectural
 * Performance Monitoring Version 3". */
static void count_for_other_thread(struct model *m, const struct retire_ctx *by, bool same_core)
{
	struct retire_ctx s = *by;

	s.active = s.due = s.wrapped = s.interrupts = s.opened = s.closed = s.uncounted = 0;
	s.interrupted = s.aborts = s.writes = s.exits = false;
	fault_next_sequence(m);
	s.cpl = fault_sibling_cpl(m, s.cpl);
	for (u64 left = m->active; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		s.rule[i] = &m->counter[i].rule;
		if (fault_sibling_counts(m, &s, i, same_core, s.rule[i]->any && same_core))
			s.active |= BIT(i);
	}
	for (u64 left = s.active; left; left &= left - 1)
		counter_count(m, &s, (unsigned)__builtin_ctzll(left));
	fault_at_counter(m, MODEL_NO_COUNTER);
	fault_sibling_served(m, &s);
	if (s.due | s.interrupts)
		model_serve(m, &s);
}

/* AnyThread ("Architectural Performance Monitoring Version 3"): events "occurring across all
 * logical processors sharing a processor core" are counted on the other threads' counters too; on
 * other cores only with a fault. The lock is held. */
static void count_any_thread(struct model *m, const struct retire_ctx *s)
{
	struct model *to;
	unsigned next = 0;

	while ((to = model_core_other(m, &next))) {
		count_for_other_thread(to, s, to->core == m->core);
		if (to->n_requests)
			model_core_kick(m, to);
	}
}

/* Collect the facts about an instruction before its accesses are made. rule[] isn't set for
 * counters that don't count. */
static void begin_retire(struct model *m, const struct model_retired *r, struct retire_ctx *s)
{
	s->r = r;
	s->cpl = r->cpl;
	s->writes = m->writing;
	s->exits = m->exited;
	m->exited = false;
	s->due = s->wrapped = s->interrupts = s->opened = s->closed = s->uncounted = 0;
	s->interrupted = s->tx_abort = s->aborts = false;
	s->tx = model_tx_is_elided(m) ? (u8)model_tx_elision_act(m) : r->tx;
	if (model_may_be_stolen(m) && !--m->steal_in)
		model_steal(m);
	model_requests_approach(m);
	if (m->writing) {
		choose_rules(m, s);
		return;
	}
	s->active = m->active;
	for (u64 left = s->active; left; left &= left - 1)
		s->rule[__builtin_ctzll(left)] = &m->counter[__builtin_ctzll(left)].rule;
}

/* Count the instruction on all counters, and serve the effects of their overflows. These are
 * "simultaneous": priority.c. */
static void count_all(struct model *m, struct retire_ctx *s)
{
	s->active = fault_counters(m, s->r, s->active);
	for (u64 left = s->active; left; left &= left - 1)
		counter_count(m, s, (unsigned)__builtin_ctzll(left));
	fault_at_counter(m, MODEL_NO_COUNTER);
	if (s->wrapped && model_has_ext(m))
		model_reload_by(m, s->wrapped);
	m->smm_events = 0;
	m->lbr.inserted = 0;
	if (s->due | s->interrupts)
		model_serve(m, s);
}

/* Load latencies are "in core cycles" and so lengthen an instruction: docs/READINGS.md, "A
 * load's latency on the core clock". */
void arch_retire(struct model *m, bool shared, const struct model_retired *r)
{
	struct retire_ctx s;

	begin_retire(m, r, &s);
	s.frontend = m->watch_frontend && fault_frontend(m, model_frontend_occurs(m, r));
	s.cycles = m->latitude[LAT_CYCLES_PER_INSTRUCTION] + model_access_run(m, &s);
	m->cycles += s.cycles;
	if (model_metrics_run(m))
		model_metrics_retired(m, r, s.cycles, m->latitude[LAT_CYCLES_PER_INSTRUCTION]);
	if (model_in_tx(m))
		model_tx_takes(m, s.cycles);
	count_all(m, &s);
	if (m->ref_overflow_again_in)
		model_errata_repeat_overflow(m);
	if (m->uncore_before || model_uncore_busy(m))
		model_uncore_retire(m, &s);
	if (s.aborts)
		count_abort(m, &s.aborted);
	else
		model_tx_elision_retired(m, s.tx);
	if (shared)
		count_any_thread(m, &s);
	if (!s.aborts)
		model_lbr_retired(m, r);
	if (m->lbr.logs)
		model_lbr_log_settle(m);
	model_requests_raise(m);
	fault_retired(m, r);
}

/* An abort makes a last branch record (Table 17-14), and is counted. */
void model_retire_abort(struct model *m, const struct model_retired *r)
{
	bool shared = model_core_enter(m);

	fault_next_sequence(m);
	model_lbr_aborted(m, r);
	count_abort(m, r);
	model_requests_raise(m);
	model_core_leave(m, shared);
}
