/* SPDX-License-Identifier: MIT */
/*
 * Counting on NetBurst: "Performance Counters", "CCCR MSRs", "Programming the Performance Counters
 * for Non-Retirement Events" (filters, cascades, interrupts).
 *
 * Time: an instruction of either logical processor takes one or more clocks (latitude), its events
 * fall in the first. The threshold filter sees these clocks; with the complement flag those without
 * an event pass it too, whoever runs. docs/READINGS.md says what was decided.
 */
#include "refpmu/model/netburst/netburst.h"
#include "refpmu/model/access.h"
#include "refpmu/model/core.h"

#define LINGER	200	/* instructions */
#define THRESHOLD_MAX	(NB_CCCR_THRESHOLD >> NB_CCCR_THRESHOLD_SHIFT)

const struct netburst_counter_row netburst_counters[NB_COUNTERS] = {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	[number] = { pool, alternate, extended },
#include "spec/netburst.def"
};

unsigned netburst_thread_of(const struct model *m)
{
	return m->config.hyper_threading ? m->host->processor % NB_THREADS : 0;
}

bool netburst_has_ht(const struct model *m)
{
	return m->config.hyper_threading && m->host->processors > 1;
}

void netburst_init(struct model *m)
{
	struct netburst *n = netburst_of(m);

	n->thread[netburst_thread_of(m)].active = true;
	/* Of the two, the first empties what they share, but for what goes on meanwhile. */
	if (netburst_thread_of(m))
		return;
	*n = (struct netburst){
		.thread = { { .active = true }, { .active = n->thread[1].active } },
	};
	for (unsigned t = 0; t < NB_THREADS; t++)
		for (unsigned i = 0; i < NB64_BYTES; i++)
			n->thread[t].previous_record[i] = MODEL_NO_RECORD_BEFORE;
	for (unsigned i = 0; i < NB_COUNTERS; i++)
		netburst_cccr_written(&n->now, i);
	for (unsigned e = 0; e < NB_ESCRS; e++)
		netburst_escr_written(&n->now, e);
	if (!m->latitude[LAT_DIRTY_MSRS])
		return;
	for (unsigned i = 0; i < NB_COUNTERS; i++)
		n->counter[i] = model_random(m) & BITS(0, NB_WIDTH - 1);
}

u64 netburst_width(struct model *m)
{
	return broken(m, FAULT_NB_WIDTH_32) ? BITS(0, 31) : BITS(0, NB_WIDTH - 1);
}

/* ---- which counters run ---- */

/* A CCCR without its enable flag: what broken processors take for one. */
static bool runs_disabled(struct model *m, unsigned i)
{
	const struct netburst_settings *now = &netburst_of(m)->now;
	u64 cccr = now->cccr[i];

	/* Only one that has something to count: all would be watched for ever. */
	if (now->selected[i] == NB_ESCRS || !now->escr[now->selected[i]])
		return false;
	return (cccr && broken(m, FAULT_NB_ENABLE_IGNORED)) ||
	       (i == NB_FLAME_COUNTER1 && cccr && broken(m, FAULT_NB_COUNTER_9_STARTED)) ||
	       (cccr & NB_CCCR_CASCADE && broken(m, FAULT_NB_CASCADE_AT_ONCE)) ||
	       (cccr & NB_CCCR_EXTENDED_CASCADE && broken(m, FAULT_NB_EXTENDED_AT_ONCE));
}

/* The last counter stops. Most often one will start again soon: calling the other logical processor
 * back each time takes longer than seeing some more of what it does. */
static void linger(struct model *m)
{
	struct netburst_processor *other = &netburst_of(m)->thread[!netburst_thread_of(m)];

	if (netburst_has_ht(m))
		__atomic_store_n(&other->linger, LINGER, __ATOMIC_RELAXED);
}

void netburst_configure(struct model *m, u32 keep_started)
{
	struct netburst_settings *now = &netburst_of(m)->now;
	u32 running = now->running & keep_started;

	for (unsigned i = 0; i < NB_COUNTERS; i++)
		if (now->cccr[i] & NB_CCCR_ENABLE || runs_disabled(m, i))
			running |= (u32)BIT(i);
	if (broken(m, FAULT_INERT))
		running = 0;
	if (now->running && !running)
		linger(m);
	__atomic_store_n(&now->running, running, __ATOMIC_RELEASE);
}

bool netburst_watching(const struct model *m)
{
	const struct netburst *n = netburst_of(m);
	const struct netburst_processor *t = &n->thread[netburst_thread_of(m)];

	return __atomic_load_n(&n->now.running, __ATOMIC_ACQUIRE) || t->writing ||
	       m->n_requests || __atomic_load_n(&t->linger, __ATOMIC_RELAXED);
}

/* The active thread field. */
static bool threads_fit(struct model *m, u64 cccr)
{
	const struct netburst_processor *t = netburst_of(m)->thread;
	unsigned active = (unsigned)t[0].active + t[1].active;

	if (!netburst_has_ht(m) || broken(m, FAULT_NB_ACTIVE_IGNORED))
		return true;
	if (broken(m, FAULT_NB_HALTED_ACTIVE))
		active = NB_THREADS;
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

static bool passes(struct model *m, u64 cccr, u64 input)
{
	u64 threshold = (cccr & NB_CCCR_THRESHOLD) >> NB_CCCR_THRESHOLD_SHIFT;
	bool complement = cccr & NB_CCCR_COMPLEMENT && !broken(m, FAULT_NB_COMPLEMENT_IGNORED);
	bool above;

	if (threshold > 1 && threshold < THRESHOLD_MAX && broken(m, FAULT_NB_THRESHOLD_MIDDLE))
		threshold = 1;
	if (complement && cccr & NB_CCCR_EDGE && broken(m, FAULT_NB_COMPLEMENT_WITH_EDGE))
		complement = false;
	above = input > threshold ||
		     (input == threshold && broken(m, FAULT_NB_THRESHOLD_EQUAL));
	return complement ? !above : above;
}

static u64 increment(struct model *m, unsigned i, u64 cccr, u64 input, bool per_clock)
{
	struct netburst *n = netburst_of(m);
	u64 clocks = m->latitude[LAT_CYCLES_PER_INSTRUCTION], edges;
	bool compare = cccr & NB_CCCR_COMPARE && !broken(m, FAULT_NB_COMPARE_IGNORED);
	bool edge = cccr & NB_CCCR_EDGE && !broken(m, FAULT_NB_EDGE_IGNORED);
	bool before = n->condition & BIT(i), first, others;

	if (compare && !(cccr & NB_CCCR_COMPLEMENT) && broken(m, FAULT_NB_COMPARE_SILENT))
		return 0;
	compare = compare || (cccr & NB_CCCR_COMPLEMENT && broken(m, FAULT_NB_COMPLEMENT_ALONE)) ||
		  (cccr & NB_CCCR_THRESHOLD && broken(m, FAULT_NB_THRESHOLD_ALONE));
	if (!compare && !(edge && broken(m, FAULT_NB_EDGE_ALONE)))
		return per_clock ? input * clocks : input;
	first = compare ? passes(m, cccr, input) : input;
	others = compare ? passes(m, cccr, per_clock ? input : 0) : per_clock && input;
	if (!edge)
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
	model_core_call(m, to);
}

static void raise_pmi(struct model *m, const struct netburst_step *s, unsigned i)
{
	u64 cccr = s->with->cccr[i];
	bool exchanged = broken(m, FAULT_NB_PMI_EXCHANGED);
	bool t0 = cccr & NB_CCCR_OVF_PMI_T0, t1 = cccr & NB_CCCR_OVF_PMI_T1;

	if (broken(m, FAULT_NB_PMI_NEVER))
		return;
	if (!t0 && !t1 && broken(m, FAULT_NB_PMI_ALWAYS))
		t0 = true;
	if ((t0 || t1) && broken(m, FAULT_NB_PMI_TO_CAUSE)) {
		post(m, s->thread, i);
		return;
	}
	if (t0)
		post(m, exchanged, i);
	if (t1)
		post(m, !exchanged, i);
}

/* Those that wait for this counter's overflow: the next instruction is their first. */
static u32 started_by(struct model *m, const struct netburst_step *s, unsigned i)
{
	const struct netburst_settings *with = s->with;
	u32 started = 0;

	for (unsigned k = 0; k < NB_COUNTERS; k++) {
		unsigned alternate = netburst_counters[k].alternate;

		if (broken(m, FAULT_NB_CASCADE_NEIGHBOUR))
			alternate ^= 1;
		if ((k == NB_IQ_COUNTER2 || k == NB_IQ_COUNTER3) &&
		    broken(m, FAULT_NB_CASCADE_16_INTO_14))
			alternate = k + 2;
		if (alternate == i && !broken(m, FAULT_NB_CASCADE_NEVER) &&
		    (with->cccr[k] & NB_CCCR_CASCADE || broken(m, FAULT_NB_CASCADE_UNASKED)))
			started |= (u32)BIT(k);
		if (with->cccr[k] & NB_CCCR_EXTENDED_CASCADE &&
		    netburst_counters[k].extended == i && !broken(m, FAULT_NB_EXTENDED_NEVER))
			started |= (u32)BIT(k);
	}
	return started;
}

static void show_overflow(struct model *m, unsigned i)
{
	u64 *cccr = &netburst_of(m)->now.cccr[i];

	if (!(*cccr & (NB_CCCR_OVF_PMI_T0 | NB_CCCR_OVF_PMI_T1)) &&
	    broken(m, FAULT_NB_OVF_NEEDS_PMI))
		return;
	if (*cccr & NB_CCCR_OVF && broken(m, FAULT_NB_OVF_TOGGLES))
		*cccr &= ~NB_CCCR_OVF;
	else
		*cccr |= NB_CCCR_OVF;
}

/* "The PMI is generated on the next event count after the counter has overflowed": how many of the
 * counts added have a PMI is all the same, one is taken for all. */
static void interrupt(struct model *m, const struct netburst_step *s, unsigned i, bool wrapped,
		      bool counts_behind)
{
	struct netburst *n = netburst_of(m);
	bool due = n->pmi_due & BIT(i), later = n->pmi_later & BIT(i);

	n->pmi_later &= ~(u32)BIT(i);
	if (due && broken(m, FAULT_NB_PMI_LATE)) {
		n->pmi_later |= (u32)BIT(i);
		due = false;
	}
	if (later || due || (wrapped && (counts_behind || broken(m, FAULT_NB_PMI_AT_OVERFLOW))))
		raise_pmi(m, s, i);
	if (wrapped && !counts_behind && !broken(m, FAULT_NB_PMI_AT_OVERFLOW))
		n->pmi_due |= (u32)BIT(i);
	else
		n->pmi_due &= ~(u32)BIT(i);
}

/* ---- PEBS ---- */

/* Is counter i the one that does PEBS for this logical processor, and is it enabled? */
static bool samples(struct model *m, const struct netburst_step *s, unsigned i)
{
	unsigned own = NB_IQ_COUNTER4 + s->thread;
	u8 enabled = s->with->pebs_threads;

	if (broken(m, FAULT_NB_PEBS_EXCHANGED))
		own = NB_IQ_COUNTER4 + !s->thread;
	if (i != own && !(i >= NB_IQ_COUNTER0 && broken(m, FAULT_NB_PEBS_ANY_COUNTER)))
		return false;
	if (enabled && broken(m, FAULT_NB_PEBS_BOTH))
		return true;
	if (s->thread && enabled & BIT(0) && broken(m, FAULT_NB_PEBS_ONE_THREAD))
		return false;
	return enabled & BIT(s->thread) || broken(m, FAULT_NB_PEBS_UNASKED);
}

/* The PEBS counter has had an event, and has overflowed with it or before. */
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

/* Fault nb-second-lost: has logical processor 0 had an event of this counter a moment ago? */
static bool lost_to_first(struct model *m, const struct netburst_step *s, unsigned i)
{
	enum { MOMENT = 64 };	/* instructions of the core */
	struct netburst *n = netburst_of(m);
	u64 now = (u64)n->thread[0].seen + n->thread[1].seen;

	if (!s->thread) {
		n->first_had[i] = now;
		return false;
	}
	return n->first_had[i] && now - n->first_had[i] < MOMENT &&
	       broken(m, FAULT_NB_SECOND_LOST);
}

/* Counter i on this instruction. Returns those that its overflow starts. */
static u32 count(struct model *m, const struct netburst_step *s, unsigned i)
{
	struct netburst *n = netburst_of(m);
	u64 cccr = s->with->cccr[i], input, add, value;
	u64 mask = netburst_width(m);
	bool per_clock, precise, forced, wrapped, is_sampled;

	if (!threads_fit(m, cccr) ||
	    (i == NB_IQ_COUNTER2 && broken(m, FAULT_NB_COUNTER_14_DEAD)) ||
	    (i == NB_FLAME_COUNTER0 && broken(m, FAULT_NB_COUNTER_8_DEAD)))
		return 0;
	input = netburst_input(m, s, i, &per_clock, &precise);
	if (input && lost_to_first(m, s, i))
		return 0;
	is_sampled = input && precise && samples(m, s, i);
	add = increment(m, i, cccr, input, per_clock);
	if (!add)
		return 0;
	value = n->counter[i] + add;
	if (i == NB_IQ_COUNTER3 && broken(m, FAULT_NB_COUNTER_15_CARRY))
		value = (n->counter[i] & ~BITS(0, 31)) | (value & BITS(0, 31));
	n->counter[i] = value & mask;
	forced = (cccr & NB_CCCR_FORCE_OVF && !broken(m, FAULT_NB_FORCE_OVF_IGNORED) &&
		  !(n->forced & BIT(i) && broken(m, FAULT_NB_FORCE_OVF_ONCE))) ||
		 (i == NB_FLAME_COUNTER0 && broken(m, FAULT_NB_COUNTER_8_FORCED));
	if (forced)
		n->forced |= (u32)BIT(i);
	wrapped = value > mask || forced;
	interrupt(m, s, i, wrapped, forced ? add > 1 : value > mask && n->counter[i]);
	if (wrapped)
		show_overflow(m, i);
	if (is_sampled)
		sample(m, s, i, wrapped);
	if (wrapped && broken(m, FAULT_NB_STOPS_AT_WRAP))
		n->now.running &= ~(u32)BIT(i);
	return wrapped ? started_by(m, s, i) : 0;
}

/*
 * The retirement of a WRMSR: counters that it doesn't switch count under the settings before it,
 * the others as latitude has it; the counter that it wrote holds the value written.
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
	/* Those have no settings before. */
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
	t->seen++;
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

	m->faults.moment++;
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
		s.mispredicted = model_mispredicted(m, r);
		model_access_run(m, &s.core);
		netburst_tag(m, &s);
	}
	for (; counting; counting &= counting - 1)
		started |= count(m, &s, (unsigned)__builtin_ctz(counting));
	if (n->now.running)
		netburst_note_stores(m, &s);
	/* One that software has taken the flag from meanwhile doesn't start any more. */
	for (; started; started &= started - 1) {
		unsigned i = (unsigned)__builtin_ctz(started);

		if ((n->now.cccr[i] & (NB_CCCR_CASCADE | NB_CCCR_EXTENDED_CASCADE) ||
		     broken(m, FAULT_NB_CASCADE_UNASKED)) && !broken(m, FAULT_INERT))
			n->now.running |= (u32)BIT(i);
	}
	model_requests_raise(m);
}

void netburst_halt(struct model *m)
{
	netburst_of(m)->thread[netburst_thread_of(m)].active = false;
}

/* Without the lock: nobody else writes these. */
void netburst_seen(struct model *m, u8 cpl)
{
	struct netburst_processor *t = &netburst_of(m)->thread[netburst_thread_of(m)];

	__atomic_store_n(&t->user, cpl != 0, __ATOMIC_RELEASE);
	__atomic_store_n(&t->active, true, __ATOMIC_RELEASE);
}
