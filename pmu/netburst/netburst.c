/* SPDX-License-Identifier: MIT */
/*
 * NetBurst: SDM "Performance Monitoring (Processors Based on Intel NetBurst Microarchitecture)" and
 * "Performance Monitoring and Intel Hyper-Threading Technology in Processors Based on Intel
 * NetBurst Microarchitecture". MSR_TC_PRECISE_EVENT isn't used, because no metric of Table 19-31
 * needs it.
 */
#include "pmu/netburst/netburst.h"

#include "kernel/interrupt/fault.h"
#include "pmu/netburst/caps.h"
#include "pmu/pmi.h"
#include "pmu/reset.h"
#include "spec/msr.h"

#define NO_ESCR		NB_ESCRS

static const struct {
	u32 counter, cccr;
	u8 pool;
} counters[NB_COUNTERS] = {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	[number] = { (address), (cccr_address), (pool) },
#include "spec/netburst.def"
};

static const struct {
	u32 address;
	u8 pool;
} escrs[NB_ESCRS] = {
#define NB_ESCR(name, address, select, pool, source) { (address), (pool) },
#include "spec/netburst.def"
};

static const struct {
	u8 code, cccr_select;
	enum netburst_escr escr[2];
} events[NB_EVENT_COUNT] = {
#define NB_EVENT(name, select, escr0, escr1, cccr_select, flags, source) \
	{ (select), (cccr_select), { NB_##escr0, NB_##escr1 } },
#include "spec/netburst.def"
};

static const struct {
	enum netburst_event event, upstream;
	u32 downstream_mask, upstream_mask, tag, enable, vert;
} metrics[NB_METRIC_COUNT] = {
#define NB_METRIC(name, event, downstream, upstream, upstream_mask, tag, pebs_enable, matrix_vert, \
		  counts, source) \
	{ NB_EVENT_##event, NB_EVENT_##upstream, (downstream), (upstream_mask), (tag), \
	  (pebs_enable), (matrix_vert) },
#include "spec/netburst.def"
};

static bool netburst_put(u32 msr, u64 value)
{
	return !msr_try_write(msr, value).raised;
}

static u32 counter_msr(unsigned i)
{
	return counters[i].counter;
}

static u32 cccr_msr(unsigned i)
{
	return counters[i].cccr;
}

static u32 escr_msr(unsigned i)
{
	return escrs[i].address;
}

/* Write consecutive addresses with one call: there are 80 registers. */
static bool put_all(u32 (*msr)(unsigned i), unsigned count, u64 value)
{
	unsigned row;
	bool good = true;

	for (unsigned i = 0; i < count; i += row) {
		for (row = 1; i + row < count && msr(i + row) == msr(i) + row; row++)
			;
		good &= !msr_try_write_row(msr(i), 1, row, value).raised;
	}
	return good;
}

bool netburst_reset(void)
{
	bool good = netburst_put(MSR_NB_PEBS_ENABLE, 0);

	good &= put_all(cccr_msr, NB_COUNTERS, NB_CCCR_ACTIVE_THREAD);
	good &= put_all(counter_msr, NB_COUNTERS, 0);
	good &= put_all(escr_msr, NB_ESCRS, 0);
	good &= netburst_put(MSR_NB_PEBS_MATRIX_VERT, 0);
	good &= netburst_put(MSR_IA32_DS_AREA, 0);
	return netburst_put(MSR_NB_DEBUGCTLA, 0) && good;
}

u64 netburst_every_level(void)
{
	return netburst_caps()->threads ? NETBURST_T0 | NETBURST_T1 : NETBURST_T0;
}

u32 netburst_cccr_msr(unsigned counter)
{
	return counters[counter].cccr;
}

static enum netburst_escr escr_of(unsigned counter, enum netburst_event event)
{
	for (unsigned i = 0; i < 2; i++)
		if (escrs[events[event].escr[i]].pool == counters[counter].pool)
			return events[event].escr[i];
	return NO_ESCR;
}

u32 netburst_escr_msr(unsigned counter, enum netburst_event event)
{
	enum netburst_escr escr = escr_of(counter, event);

	return escr == NO_ESCR ? 0 : escrs[escr].address;
}

static u64 escr_value(enum netburst_event event, u32 mask, u64 levels)
{
	return (u64)events[event].code << NB_ESCR_EVENT_SELECT_SHIFT |
	       (u64)mask << NB_ESCR_EVENT_MASK_SHIFT | levels;
}

u64 netburst_cccr(const struct netburst_setting *s)
{
	return (u64)events[s->event].cccr_select << NB_CCCR_ESCR_SELECT_SHIFT |
	       (NB_CCCR_ACTIVE_THREAD & ~s->without) | s->flags;
}

void netburst_program(const struct netburst_setting *s)
{
	msr_write(counters[s->counter].cccr, NB_CCCR_ACTIVE_THREAD);
	msr_write(netburst_escr_msr(s->counter, s->event),
		  escr_value(s->event, s->mask, s->levels));
	msr_write(counters[s->counter].cccr, netburst_cccr(s));
}

static void change(unsigned counter, u64 clear, u64 set)
{
	u32 msr = counters[counter].cccr;

	msr_write(msr, (msr_read(msr) & ~clear) | set);
}

void netburst_start(unsigned counter)
{
	change(counter, 0, NB_CCCR_ENABLE);
}

void netburst_stop(unsigned counter)
{
	change(counter, NB_CCCR_ENABLE, 0);
}

void netburst_write(unsigned counter, u64 value)
{
	msr_write(counters[counter].counter, value & BITS(0, NB_WIDTH - 1));
}

void netburst_preset(unsigned counter, u64 n)
{
	netburst_write(counter, 0 - n);
}

u64 netburst_read(unsigned counter)
{
	return msr_read(counters[counter].counter);
}

bool netburst_overflowed(unsigned counter)
{
	return msr_read(counters[counter].cccr) & NB_CCCR_OVF;
}

void netburst_clear(unsigned counter)
{
	change(counter, NB_CCCR_OVF, 0);
}

u32 netburst_status(void)
{
	u32 status = 0;

	for (unsigned i = 0; i < NB_COUNTERS; i++)
		if (netburst_overflowed(i))
			status |= (u32)BIT(i);
	return status;
}

void netburst_stop_all(void)
{
	for (unsigned i = 0; i < NB_COUNTERS; i++)
		if (msr_read(counters[i].cccr) & NB_CCCR_ENABLE)
			netburst_stop(i);
}

void netburst_clear_all(u32 status)
{
	for (unsigned i = 0; i < NB_COUNTERS; i++)
		if (status & BIT(i))
			netburst_clear(i);
}

/* The ESCR that selects a metric's upstream event. Table 19-33 requires the second of two ESCRs for
 * split loads, and the first one for split stores; Table 19-31 allows either. */
static enum netburst_escr upstream_escr(enum netburst_metric metric, unsigned counter)
{
	enum netburst_event event = metrics[metric].upstream;
	enum netburst_escr same = escr_of(counter, event);

	if (same != NO_ESCR)
		return same;
	return events[event].escr[metric == NB_METRIC_SPLIT_LOAD_RETIRED];
}

/* For tagging too, "at least one of the counters must be enabled" that the ESCR can feed. */
static void tag(enum netburst_metric metric, struct netburst_setting *s)
{
	enum netburst_event event = metrics[metric].upstream;
	enum netburst_escr escr = upstream_escr(metric, s->counter);
	struct netburst_setting companion = { .event = event };
	u64 value = escr_value(event, metrics[metric].upstream_mask, netburst_every_level());

	if (metrics[metric].tag)
		value |= NB_ESCR_TAG_ENABLE | (u64)metrics[metric].tag << NB_ESCR_TAG_VALUE_SHIFT;
	msr_write(escrs[escr].address, value);
	if (escrs[escr].pool == counters[s->counter].pool)
		return;
	while (counters[companion.counter].pool != escrs[escr].pool)
		companion.counter++;
	s->beside = counters[companion.counter].cccr;
	s->beside_cccr = netburst_cccr(&companion);
}

void netburst_beside(const struct netburst_setting *s, bool run)
{
	if (s->beside)
		msr_write(s->beside, s->beside_cccr | (run ? NB_CCCR_ENABLE : 0));
}

struct netburst_setting netburst_metric(enum netburst_metric metric, unsigned counter, u64 levels,
					u64 flags)
{
	struct netburst_setting s = {
		.counter = counter, .event = metrics[metric].event,
		.mask = metrics[metric].downstream_mask, .levels = levels, .flags = flags,
	};

	msr_write(MSR_NB_PEBS_ENABLE, metrics[metric].enable);
	msr_write(MSR_NB_PEBS_MATRIX_VERT, metrics[metric].vert);
	netburst_program(&s);
	if (metrics[metric].upstream != NB_EVENT_COUNT)
		tag(metric, &s);
	return s;
}

void netburst_pebs(bool mine, bool others)
{
	u64 value = msr_read(MSR_NB_PEBS_ENABLE);

	value &= ~(NB_PEBS_ENABLE_MY_THR | NB_PEBS_ENABLE_OTH_THR);
	msr_write(MSR_NB_PEBS_ENABLE, value | (mine ? NB_PEBS_ENABLE_MY_THR : 0) |
					      (others ? NB_PEBS_ENABLE_OTH_THR : 0));
}

static bool reset(struct reset_refusal *refusal)
{
	*refusal = (struct reset_refusal){ "one of NetBurst's registers", 0, 0 };
	return netburst_reset();
}

/* A counter doesn't count without the enable flag of its CCCR. */
static void quiet(void)
{
	(void)netburst_put(MSR_NB_PEBS_ENABLE, 0);
	(void)put_all(cccr_msr, NB_COUNTERS, NB_CCCR_ACTIVE_THREAD);
	(void)netburst_put(MSR_IA32_DS_AREA, 0);
	(void)netburst_put(MSR_NB_DEBUGCTLA, 0);
}

static void interrupted(struct pmi_entry *entry, bool keep_counting)
{
	if (!keep_counting)
		netburst_stop_all();
	entry->status = netburst_status();
}

static void clear(u64 status)
{
	netburst_clear_all((u32)status);
}

const struct pmu_operations netburst_operations = {
	.reset = reset, .quiet = quiet, .interrupted = interrupted, .clear = clear,
};
