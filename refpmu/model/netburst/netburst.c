/* SPDX-License-Identifier: MIT */
/*
 * Counting on NetBurst: "Performance Counters", "CCCR MSRs", "Programming the Performance Counters
 * for Non-Retirement Events" (filters, cascades, interrupts).
 *
 * Time: an instruction of either logical processor takes one or more clocks (latitude), its events
 * are in the first. The threshold filter works on these clocks; with the complement flag clocks
 * without an event pass it too, on either thread. docs/READINGS.md has the decisions.
 */
#include "refpmu/model/netburst/netburst.h"
#include "refpmu/model/access.h"
#include "refpmu/model/core.h"

#define LINGER	200	/* instructions */

const struct netburst_counter_row netburst_counters[NB_COUNTERS] = {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	[number] = { pool, alternate, extended },
#include "spec/netburst.def"
};

/* "... the logical processor ID, which corresponds to bit 0 of the initial APIC ID". */
unsigned netburst_thread_of(const struct model *m)
{
	return m->config.hyper_threading ? m->host->processor % NB_THREADS : 0;
}

bool netburst_has_ht(const struct model *m)
{
	return m->config.hyper_threading && m->host->processors > 1;
}

/* "ESCR MSRs", "CCCR MSRs": they are 0 after a reset. */
void netburst_init(struct model *m)
{
	struct netburst *n = netburst_of(m);

	n->thread[netburst_thread_of(m)].active = true;
	/* Of the two threads, the first clears the shared state, except the state that changes
	 * while they run. */
	if (netburst_thread_of(m))
		return;
	*n = (struct netburst){
		.thread = { { .active = true }, { .active = n->thread[1].active } },
	};
	fault_nb_init(m, n);
	for (unsigned i = 0; i < NB_COUNTERS; i++)
		netburst_cccr_written(&n->now, i);
	for (unsigned e = 0; e < NB_ESCRS; e++)
		netburst_escr_written(&n->now, e);
	if (!m->latitude[LAT_DIRTY_MSRS])
		return;
	for (unsigned i = 0; i < NB_COUNTERS; i++)
		n->counter[i] = model_random(m) & BITS(0, NB_WIDTH - 1);
}

/* "Performance Counters": 40 bits. */
u64 netburst_width(struct model *m)
{
	return fault_nb_width(m, BITS(0, NB_WIDTH - 1));
}

/* ---- which counters run ---- */

/* The last counter stops. Usually one starts again soon: to call the other logical processor back
 * each time takes longer than to watch some more of its instructions. */
static void linger(struct model *m)
{
	struct netburst_processor *other = &netburst_of(m)->thread[!netburst_thread_of(m)];

	if (netburst_has_ht(m))
		__atomic_store_n(&other->linger, LINGER, __ATOMIC_RELAXED);
}

/* "CCCR MSRs", enable flag [12]. A counter that a cascade has started counts without it. */
void netburst_configure(struct model *m, u32 keep_started)
{
	struct netburst_settings *now = &netburst_of(m)->now;
	u32 running = now->running & keep_started;

	for (unsigned i = 0; i < NB_COUNTERS; i++)
		if (now->cccr[i] & NB_CCCR_ENABLE)
			running |= (u32)BIT(i);
	running = fault_nb_running(m, running);
	if (now->running && !running)
		linger(m);
	__atomic_store_n(&now->running, running, __ATOMIC_RELEASE);
}

bool netburst_counts(const struct model *m)
{
	return __atomic_load_n(&netburst_of(m)->now.running, __ATOMIC_ACQUIRE);
}

bool netburst_needs_retire(const struct model *m)
{
	const struct netburst *n = netburst_of(m);
	const struct netburst_processor *t = &n->thread[netburst_thread_of(m)];

	return netburst_counts(m) || t->writing || m->n_requests ||
	       __atomic_load_n(&t->linger, __ATOMIC_RELAXED);
}

/* "CCCR MSRs", active thread field [17:16]: neither logical processor is active, one, both, or
 * any. A halted one is inactive. */
static bool threads_fit(const struct model *m, u64 cccr)
{
	const struct netburst_processor *t = netburst_of(m)->thread;
	unsigned active = (unsigned)t[0].active + t[1].active;

	if (!netburst_has_ht(m))
		return true;
	switch ((cccr & NB_CCCR_ACTIVE_THREAD) >> NB_CCCR_ACTIVE_THREAD_SHIFT) {
	case NB_ACTIVE_NONE:
		return active == 0;
	case NB_ACTIVE_ONE:
		return active == 1;
	case NB_ACTIVE_BOTH:
		return active == 2;
	default:
		return true;
	}
}

/* ---- filters ---- */

/* "Compare Flag", "Complement Flag", "Threshold Field", "Edge Flag". */
static struct netburst_filter filter_of(struct model *m, unsigned i, u64 cccr)
{
	struct netburst_filter f = {
		.compare = cccr & NB_CCCR_COMPARE,
		.complement = cccr & NB_CCCR_COMPLEMENT,
		.edge = cccr & NB_CCCR_EDGE,
		.least = ((cccr & NB_CCCR_THRESHOLD) >> NB_CCCR_THRESHOLD_SHIFT) + 1,
	};

	fault_nb_filter(m, i, cccr, &f);
	return f;
}

/* "Filtering Events": the input is greater than the threshold or, with the complement flag, less
 * or equal. */
static bool passes(const struct netburst_filter *f, u64 input)
{
	return (input >= f->least) != f->complement;
}

/*
 * "Filtering Events": with the compare flag the counter advances by 1 in a clock that passes, and
 * never by the input. With the edge flag it counts only clocks that pass after one that didn't.
 * Without compare the other flags have no effect.
 */
static u64 increment(struct model *m, unsigned i, u64 cccr, u64 input, bool per_clock)
{
	struct netburst *n = netburst_of(m);
	u64 clocks = m->latitude[LAT_CYCLES_PER_INSTRUCTION], edges;
	struct netburst_filter f = filter_of(m, i, cccr);
	bool before = n->condition & BIT(i), first, others;

	if (!f.compare)
		return per_clock ? input * clocks : input;
	first = passes(&f, input);
	others = passes(&f, per_clock ? input : 0);
	if (!f.edge)
		return first + (clocks - 1) * others;
	edges = (u64)(first && !before) + (clocks > 1 && others && !first);
	n->condition = (n->condition & ~(u32)BIT(i)) |
		       (u32)((clocks > 1 ? others : first) ? BIT(i) : 0);
	return edges;
}

/* ---- overflow ---- */

static void post(struct model *m, unsigned thread, unsigned i)
{
	struct model *to = thread == netburst_thread_of(m) ? m : model_core_sibling(m);

	if (!to)
		return;
	model_request(to, ACTION_OVERFLOW_INT, i);
	model_core_kick(m, to);
}

/* "CCCR MSRs": OVF_PMI_T0 sends the interrupt to logical processor 0, and OVF_PMI_T1 to logical
 * processor 1. Both may be set. */
static void raise_pmi(struct model *m, const struct netburst_step *s, unsigned i)
{
	u64 cccr = s->with->cccr[i];
	bool to[NB_THREADS] = { cccr & NB_CCCR_OVF_PMI_T0, cccr & NB_CCCR_OVF_PMI_T1 };

	fault_nb_pmi(m, s->thread, i, to);
	for (unsigned t = 0; t < NB_THREADS; t++)
		if (to[t])
			post(m, t, i);
}

/*
 * Cascade flag: "When set, enables counting on one counter of a counter pair when its alternate
 * counter in the other the counter pair in the same counter group overflows". Bit 11: "Extended
 * Cascading", Table 18-65. The counters that wait for this overflow; the next instruction is
 * their first.
 */
static u32 started_by(struct model *m, const struct netburst_step *s, unsigned i)
{
	const struct netburst_settings *with = s->with;
	u32 started = 0;

	for (unsigned k = 0; k < NB_COUNTERS; k++)
		if ((with->cccr[k] & NB_CCCR_CASCADE && netburst_counters[k].alternate == i) ||
		    (with->cccr[k] & NB_CCCR_EXTENDED_CASCADE &&
		     netburst_counters[k].extended == i))
			started |= (u32)BIT(k);
	return fault_nb_started(m, s, i, started);
}

/* OVF flag: "Indicates that the counter has overflowed when set." */
static void show_overflow(struct model *m, unsigned i)
{
	u64 *cccr = &netburst_of(m)->now.cccr[i];

	*cccr = fault_nb_shows(m, i, *cccr, *cccr | NB_CCCR_OVF);
}

/* "The PMI is generated on the next event count after the counter has overflowed": one PMI stands
 * for all counts that an instruction adds. */
static void interrupt(struct model *m, const struct netburst_step *s, unsigned i, bool wrapped,
		      bool counts_behind)
{
	struct netburst *n = netburst_of(m);
	struct netburst_pmi pmi = { .was_due = n->pmi_due & BIT(i) };

	pmi.raised = pmi.was_due || (wrapped && counts_behind);
	pmi.due = wrapped && !counts_behind;
	fault_nb_interrupt(m, i, wrapped, &pmi);
	if (pmi.raised)
		raise_pmi(m, s, i);
	if (pmi.due)
		n->pmi_due |= (u32)BIT(i);
	else
		n->pmi_due &= ~(u32)BIT(i);
}

/* ---- PEBS ---- */

/*
 * "PEBS can be carried out only with two performance counters: MSR_IQ_CCCR4 (MSR address 370H)
 * for logical processor 0 and MSR_IQ_CCCR5 (MSR address 371H) for logical processor 1." These are
 * the CCCRs of counters 16 and 17. Is counter i the one of this logical processor, and is PEBS
 * enabled?
 */
static bool samples(struct model *m, const struct netburst_step *s, unsigned i)
{
	return fault_nb_samples(m, s, i,
				i == NB_IQ_COUNTER4 + s->thread &&
					s->with->pebs_threads & BIT(s->thread));
}

/*
 * "After the counter overflows, the processor copies the current state": at this event or at a
 * later one, latitude record-shadow. The PEBS counter has had an event, and has overflowed with
 * it or before.
 */
static void sample(struct model *m, const struct netburst_step *s, unsigned i, bool wrapped)
{
	struct netburst_processor *t = &netburst_of(m)->thread[s->thread];

	if (wrapped && !t->armed) {
		t->armed = true;
		t->shadow = (u8)model_draw(m, LAT_RECORD_SHADOW);
		if (m->host->trace)
			m->host->trace(m->host->ctx, ACTION_ARM, i);
	} else if (t->armed && t->shadow) {
		t->shadow--;
	}
	if (!t->armed || t->shadow)
		return;
	t->armed = false;
	if (m->host->trace)
		m->host->trace(m->host->ctx, ACTION_ASSIST, i);
	netburst_assist(m, s, i);
}

/* ---- an instruction ---- */

/* "Performance Counters": a counter that overflows goes on from 0. "CCCR MSRs", FORCE_OVF: each
 * increment is an overflow. Returns the counters that this overflow starts. */
static u32 netburst_count_event(struct model *m, const struct netburst_step *s, unsigned i)
{
	struct netburst *n = netburst_of(m);
	u64 cccr = s->with->cccr[i], add, value;
	u64 mask = netburst_width(m);
	bool forced, wrapped, is_sampled;
	struct netburst_input input;

	if (!fault_nb_counts(m, i, cccr, threads_fit(m, cccr)))
		return 0;
	input = netburst_input(m, s, i);
	if (fault_nb_has_event(m, s, i, input.count) != !!input.count)
		return 0;
	is_sampled = input.count && input.precise && samples(m, s, i);
	add = increment(m, i, cccr, input.count, input.per_clock);
	if (!add)
		return 0;
	value = fault_nb_sum(m, i, n->counter[i] + add);
	n->counter[i] = value & mask;
	forced = fault_nb_forced(m, i, cccr & NB_CCCR_FORCE_OVF);
	wrapped = value > mask || forced;
	interrupt(m, s, i, wrapped, forced ? add > 1 : value > mask && n->counter[i]);
	if (wrapped)
		show_overflow(m, i);
	if (is_sampled)
		sample(m, s, i, wrapped);
	if (wrapped)
		fault_nb_wrapped(m, i);
	return wrapped ? started_by(m, s, i) : 0;
}

/*
 * The retirement of a WRMSR: counters that it doesn't switch count under the previous settings; for
 * the others latitude decides. The counter that it wrote holds the written value.
 */
static u32 choose_settings(struct model *m, struct netburst_step *s)
{
	struct netburst *n = netburst_of(m);
	struct netburst_processor *t = &n->thread[s->thread];
	u32 on = n->now.running & ~t->before.running, off = t->before.running & ~n->now.running;
	u32 counting = t->before.running & ~t->written;

	t->writing = false;
	s->with = &t->before;
	if (m->latitude[LAT_DISABLE_COUNTS])
		counting &= ~off;
	/* These counters have no previous settings. */
	if (m->latitude[LAT_ENABLE_COUNTS] && on) {
		s->with = &n->now;
		counting = (counting | on) & n->now.running & ~t->written;
	}
	return counting;
}

static void look_around(struct model *m, const struct model_retired *r)
{
	struct netburst *n = netburst_of(m);
	struct netburst_processor *t = &n->thread[netburst_thread_of(m)];
	bool watch = netburst_watches_memory(&n->now);

	t->active = true;
	t->user = r->cpl;
	fault_nb_instruction(m);
	if (n->now.running)
		t->linger = 0;
	else if (t->linger)
		t->linger--;
	if (watch != m->watch_memory)
		model_access_watch(m, watch, false);
}

void netburst_retire(struct model *m, const struct model_retired *r)
{
	struct netburst *n = netburst_of(m);
	struct netburst_step s = { .core = { .r = r }, .thread = netburst_thread_of(m) };
	u32 counting, started = 0;

	if (model_may_be_stolen(m) && !--m->steal_in)
		model_steal(m);
	m->smm_events = 0;
	model_requests_approach(m);
	look_around(m, r);
	s.with = &n->now;
	counting = n->now.running;
	if (n->thread[s.thread].writing)
		counting = choose_settings(m, &s);
	if (counting) {
		s.mispredicted = model_mispredicted(r);
		model_access_run(m, &s.core);
		netburst_tag(m, &s);
	}
	for (; counting; counting &= counting - 1)
		started |= netburst_count_event(m, &s, (unsigned)__builtin_ctz(counting));
	if (n->now.running)
		netburst_note_stores(m, &s);
	/* A counter whose cascade flag software has cleared in the meantime doesn't start. */
	for (; started; started &= started - 1) {
		unsigned i = (unsigned)__builtin_ctz(started);

		if (fault_nb_starts(m,
				    n->now.cccr[i] & (NB_CCCR_CASCADE | NB_CCCR_EXTENDED_CASCADE)))
			n->now.running |= (u32)BIT(i);
	}
	model_requests_raise(m);
}

/* "CCCR MSRs", active thread field: a halted logical processor is inactive. */
void netburst_halt(struct model *m)
{
	netburst_of(m)->thread[netburst_thread_of(m)].active = false;
}

/* No lock is needed: no other processor writes these. */
void netburst_resumed(struct model *m, u8 cpl)
{
	struct netburst_processor *t = &netburst_of(m)->thread[netburst_thread_of(m)];

	__atomic_store_n(&t->user, cpl != 0, __ATOMIC_RELEASE);
	__atomic_store_n(&t->active, true, __ATOMIC_RELEASE);
}
