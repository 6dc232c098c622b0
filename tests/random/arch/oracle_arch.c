/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS: Linux intel_pmu_drain_arch_pebs(), handle_pmi_common(). The oracle accepts a
 * record at the instruction where it was seen. The record must be of a counter that has overflowed.
 * A record is missing only if the event that makes it is known. No source defines what happens to a
 * record without room.
 */
#include "tests/random/arch/oracle_arch.h"

#include "pmu/version6/version6.h"

#define THRESHOLD	IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD
#define ENABLE		IA32_PMC_GP0_CFG_C_PEBS_EN
#define FRAGMENTS	0x80u	/* most bytes of further fragments' headers */

static u64 size_of_buffer(const struct oracle *o)
{
	return (u64)ARCH_PEBS_LEAST_BUFFER << o->c->arch.size;
}

void oracle_arch_begin(struct oracle *o)
{
	if (!o->c->arch.used)
		return;
	o->index = o->c->arch.write * (u64)ARCH_PEBS_UNIT;
	o->threshold = o->c->arch.threshold;
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		o->config[i] = o->c->arch.config[i];
}

bool oracle_arch_records(const struct oracle *o, unsigned i)
{
	return o->config[i] & ENABLE && o->env->arch.pebs & oracle_bit(i);
}

static u64 recorders(const struct oracle *o)
{
	return oracle_those(o, oracle_arch_records);
}

/* Counters that may have passed their end. */
static u64 perhaps(const struct oracle *o)
{
	u64 counters = 0;

	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (o->counter[i].cut)
			counters |= oracle_bit(i);
	return counters & recorders(o);
}

u64 oracle_arch_pending(const struct oracle *o)
{
	return o->c->arch.used ? o->armed | perhaps(o) : 0;
}

void oracle_arch_disturb(struct oracle *o, u64 counters)
{
	if (oracle_arch_pending(o) & counters)
		o->vague = true;
	o->changed |= o->c->arch.used ? counters : 0;
}

/* Does the counter have an event that is precise with PEBS (intel/perfmon)? CMASK, INV, E and
 * AnyThread change an event, so that it isn't precise. */
static bool is_precise(const struct oracle *o, unsigned i)
{
	const struct draw_event *event = oracle_event_of(o, i);

	return !oracle_is_fixed(i) && event &&
	       o->env->arch.precise >> (event - o->env->event) & 1 &&
	       !(o->select[i] & (IA32_PERFEVTSEL_E | IA32_PERFEVTSEL_INV | IA32_PERFEVTSEL_ANY)) &&
	       !oracle_cmask(o->select[i]);
}

static u64 precise(const struct oracle *o)
{
	return oracle_those(o, is_precise);
}

/* ---- records */

static const struct draw_arch_record *next_record(const struct oracle *o)
{
	if (o->record >= o->seen->records || o->record >= DRAW_RECORDS_SEEN ||
	    o->run >= DRAW_ARCH_RUNS || o->record >= o->seen->arch.last[o->run])
		return NULL;
	return &o->seen->arch.record[o->record];
}

static bool is_here(const struct oracle *o, unsigned step)
{
	u64 ip;

	return next_record(o) && record_get(&o->seen->record[o->record], RECORD_eventing_ip, &ip) &&
	       ip && ip == o->trace->step[step].ip;
}

/* The greatest size of a record with this CFG_C. */
static u64 most_bytes(const struct oracle *o, u64 config)
{
	u64 bytes = ARCH_PEBS_HEADER_BYTES + ARCH_PEBS_BASIC_BYTES + FRAGMENTS;

	if (config & IA32_PMC_GP0_CFG_C_AUX)
		bytes += ARCH_PEBS_AUX_BYTES;
	if (config & IA32_PMC_GP0_CFG_C_GPR)
		bytes += ARCH_PEBS_GPR_BYTES;
	if (config & IA32_PMC_GP0_CFG_C_XER)
		bytes += ARCH_PEBS_XER_BYTES + ARCH_PEBS_XER_XMM_BYTES;
	if (config & IA32_PMC_GP0_CFG_C_LBR)
		bytes += ARCH_PEBS_LBR_BYTES + o->env->arch.lbr_depth * ARCH_PEBS_LBR_ENTRY_BYTES;
	if (config & (IA32_PMC_GP0_CFG_C_CNTR_GP | IA32_PMC_GP0_CFG_C_CNTR_FIXED))
		bytes += ARCH_PEBS_COUNTERS_BYTES + DRAW_COUNTERS * ARCH_PEBS_COUNTER_BYTES;
	return bytes;
}

/* Is there certainly room for one record of each of these counters? */
static bool has_room(const struct oracle *o, u64 counters)
{
	u64 bytes = 0;

	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (counters & oracle_bit(i))
			bytes += most_bytes(o, o->config[i]);
	return o->index + bytes <= size_of_buffer(o);
}

/* "When WR reaches THRESH" bit 54 is set and an interrupt is raised. No source says whether a
 * later record interrupts too while WR stays above THRESH, nor what happens while the bit is
 * already set. */
static void reach(struct oracle *o, u64 before)
{
	const u64 threshold = o->threshold * ARCH_PEBS_UNIT;
	bool shown = (o->must | o->may) & THRESHOLD;

	if (o->index < threshold)
		return;
	if (before < threshold && !shown) {
		oracle_request(o, DRAW_CLAIM_THRESHOLD);
	} else {
		o->most++;
		o->vague = o->vague || o->c->freeze;
	}
	if (before < threshold)
		o->must |= THRESHOLD;
	else
		o->may |= THRESHOLD;
}

/* The counter is loaded with CFG_C[31:0] and ones above it. If the record isn't of the first event,
 * events between the record and its instruction may be counted after the reload. */
static void reload(struct oracle *o, unsigned i, unsigned step)
{
	struct counter *k = &o->counter[i];
	u64 passed = k->cut ? k->room : k->least + k->room;

	oracle_load(o, i, o->config[i] | ~(u64)IA32_PMC_GP0_CFG_C_RELOAD);
	k->reloaded = true;
	k->reloaded_at = step + 1;
	if (!o->env->strict)
		oracle_advance(o, i, (struct span){ 0, passed });
}

/* May counter i make a record of this step? */
static bool may_record(const struct oracle *o, unsigned i, const struct trace_step *step,
		       u64 before)
{
	u64 bit = oracle_bit(i);

	if ((perhaps(o) | o->wrapped_by_now | before) & bit)
		return true;
	/* A record of the overflowing instruction itself: with PDist, or if the instruction has
	 * several such events. */
	return o->armed & bit && (o->env->arch.pdist & bit || !is_precise(o, i) ||
				  !o->env->arch.exact || oracle_counted(o, i, step).most > 1);
}

/* false: the record can't be of this instruction. */
static bool is_justified(struct oracle *o, const struct draw_arch_record *r, unsigned step,
			 u64 before)
{
	const u64 hit = o->hit | o->may_hit;
	u64 may = 0;

	oracle_expect(o, DRAW_CLAIM_APPLICABLE, 0, 0,
		      !r->applicable || r->applicable & ~recorders(o),
		      "applicable counters of record %lu are counters that record", o->record);
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (oracle_exists(o, i) && recorders(o) & oracle_bit(i) &&
		    may_record(o, i, &o->trace->step[step], before))
			may |= oracle_bit(i);
	if (r->applicable & recorders(o) & ~may)
		oracle_wrong(o, DRAW_CLAIM_NO_RECORD, "record %lu is of no overflow", o->record);
	else if (r->applicable & may & precise(o) & ~hit)
		oracle_wrong(o, DRAW_CLAIM_EVENT,
			     "record %lu is of an instruction without the event", o->record);
	else if (r->applicable && !(r->applicable & ~recorders(o)))
		return true;
	return false;
}

static void take(struct oracle *o, unsigned step, u64 before)
{
	const struct draw_arch_record *r = next_record(o);
	u64 index = o->index;

	if (!is_justified(o, r, step, before)) {
		o->vague = true;
		return;
	}
	oracle_arch_judge(o, step, r, &o->seen->record[o->record]);
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (r->applicable & oracle_bit(i))
			reload(o, i, step);
	oracle_serve(o, r->applicable);
	o->armed &= ~r->applicable;
	o->sure &= ~r->applicable;
	o->index += (r->bytes + ARCH_PEBS_UNIT - 1) & ~(u64)(ARCH_PEBS_UNIT - 1);
	o->record++;
	reach(o, index);
}

static void arm(struct oracle *o, u64 fresh, u64 late)
{
	/* No source says whether the overflow bit is set before the record. */
	o->must &= ~(fresh | late);
	o->may |= fresh | late;
	o->armed |= fresh | late;
	if (o->env->arch.exact)
		o->sure |= fresh & precise(o);
}

static u64 with_interrupt(const struct oracle *o)
{
	return oracle_those(o, oracle_has_interrupt);
}

/* Is the outcome of this step defined for the counters whose record is due? */
static bool is_told(const struct oracle *o, unsigned step)
{
	const u64 pending = oracle_arch_pending(o);
	const struct trace_step *at = &o->trace->step[step == NO_STEP ? 0 : step];

	/* Not defined: INT together with PEBS, and the CFG_C that an overflow of a write uses. */
	if (pending & (with_interrupt(o) | o->changed) || o->seen->arch.overlap)
		return false;
	/* The opening write's address isn't in the program. */
	if (step == NO_STEP)
		return !(pending & (o->env->arch.pdist | ~precise(o)));
	/* Nor are the addresses of the return from CPL 3. */
	if (!at->ip || at->row->flags & ROW_TO_KERNEL)
		return !(pending & (~precise(o) | o->hit | o->may_hit));
	return true;
}

#define ENTRY_EVENTS	16	/* more than the code around a program has of any event */

/* The code before the program may have the last events before an overflow. Then the record is of an
 * instruction outside of the program. */
static bool begins_outside(const struct oracle *o)
{
	const struct draw_arch_record *r = next_record(o);
	u64 ip;

	if (!r || !record_get(&o->seen->record[o->record], RECORD_eventing_ip, &ip) ||
	    trace_find(o->trace, ip) >= 0)
		return false;
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (r->applicable & recorders(o) & oracle_bit(i) &&
		    o->counter[i].least > oracle_width_mask(o, i) - ENTRY_EVENTS)
			return true;
	return false;
}

void oracle_arch_assists(struct oracle *o, unsigned step)
{
	const u64 before = o->armed, due = o->sure & o->hit;

	arm(o, o->wrapped & recorders(o), o->wrapped_by_now & recorders(o));
	o->vague = o->vague || !is_told(o, step);
	o->changed = 0;
	if (step == NO_STEP) {
		o->vague = o->vague || begins_outside(o);
		return;
	}
	while (!o->vague && is_here(o, step))
		take(o, step, before);
	/* There may be more records than were kept. */
	o->vague = o->vague || o->record == DRAW_RECORDS_SEEN;
	if (o->vague)
		return;
	/* If a record freezes the counters, no source defines the other records that are due. */
	if (due & o->armed && !o->freezes && has_room(o, oracle_arch_pending(o)))
		oracle_wrong(o, DRAW_CLAIM_RECORD, "record %lu is missing", o->record);
	/* A due record may not have room. */
	o->vague = due & o->armed || !has_room(o, oracle_arch_pending(o));
}

/* ---- registers */

/* The counter whose CFG_C this is; DRAW_COUNTERS: none. */
static unsigned counter_of_config(u32 msr)
{
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (version6_cfg_c(draw_status_bit(i)) == msr)
			return i;
	return DRAW_COUNTERS;
}

static void write_index(struct oracle *o, u64 value)
{
	oracle_expect(o, DRAW_CLAIM_NO_RECORD, o->record, 0, o->seen->arch.last[o->run],
		      "records before a write of IA32_PEBS_INDEX, after %lu", o->record);
	o->index = value & IA32_PEBS_INDEX_WR;
	o->threshold = (value & IA32_PEBS_INDEX_THRESH) >> IA32_PEBS_INDEX_THRESH_SHIFT;
	if (++o->run >= o->seen->arch.runs || o->run >= DRAW_ARCH_RUNS)
		o->vague = true;
}

void oracle_arch_write(struct oracle *o, u32 msr, u64 value)
{
	unsigned i;

	if (!o->c->arch.used)
		return;
	i = counter_of_config(msr);
	if (i < DRAW_COUNTERS) {
		oracle_arch_disturb(o, oracle_bit(i));
		o->config[i] = value;
	}
	if (msr == MSR_IA32_PEBS_INDEX && !o->vague)
		write_index(o, value);
	if (msr == MSR_IA32_FIXED_CTR_CTRL)
		oracle_arch_disturb(o, STATUS_COUNTERS & ~BITS(0, 31));
	/* No source says whether an armed counter stays armed after these writes. */
	if ((msr == MSR_IA32_PERF_GLOBAL_CTRL || msr == MSR_IA32_PERF_GLOBAL_OVF_CTRL) &&
	    !o->env->strict)
		o->sure = 0;
}

/* An earlier handler may have made records too. */
static void read_index(struct oracle *o, u64 got)
{
	if (!o->most)
		oracle_expect(o, DRAW_CLAIM_INDEX,
			      draw_arch_index(o->index / ARCH_PEBS_UNIT, o->threshold), 0, got,
			      "IA32_PEBS_INDEX (%#lx) in the program", MSR_IA32_PEBS_INDEX);
}

bool oracle_arch_read(struct oracle *o, u32 msr, u64 got)
{
	unsigned i = counter_of_config(msr);

	if (!o->c->arch.used)
		return false;
	if (i < DRAW_COUNTERS)
		oracle_expect(o, DRAW_CLAIM_REGISTER, o->config[i], 0, got,
			      "IA32_PMC_x_CFG_C (%#lx)", msr);
	else if (msr == MSR_IA32_PEBS_INDEX)
		read_index(o, got);
	else if (msr == MSR_IA32_PEBS_BASE)
		oracle_expect(o, DRAW_CLAIM_REGISTER,
			      o->env->arch.memory + (u64)o->c->arch.place * ARCH_PEBS_LEAST_BUFFER +
				      o->c->arch.size,
			      0, got, "IA32_PEBS_BASE (%#lx)", msr);
	else
		return false;
	return true;
}

/* ---- interrupts, the status, the end */

/* SDM "Freezing LBR and Performance Counters on PMI". A processor may freeze a little later, and no
 * source says whether an interrupt that is masked in LVTPC freezes. */
void oracle_arch_freeze(struct oracle *o)
{
	o->frozen = true;
	o->must |= IA32_PERF_GLOBAL_STATUS_CTR_FRZ;
	if (!o->env->strict || o->masked)
		o->vague = true;
}

void oracle_arch_interrupt(struct oracle *o, const struct draw_interrupt *seen)
{
	if (o->c->arch.used && !o->vague)
		oracle_expect(o, DRAW_CLAIM_INDEX, o->index, 0,
			      seen->arch_index & IA32_PEBS_INDEX_WR, "bytes of WR at interrupt %lu",
			      o->interrupt);
}

void oracle_arch_status(struct oracle *o, u64 status, const char *what)
{
	if (!o->c->arch.used)
		return;
	oracle_expect(o, DRAW_CLAIM_THRESHOLD_BIT, 0, 0, (status ^ o->must) & ~o->may & THRESHOLD,
		      what, status);
	oracle_expect(o, DRAW_CLAIM_FREEZE, 0, 0,
		      (status ^ o->must) & ~o->may & IA32_PERF_GLOBAL_STATUS_CTR_FRZ, what, status);
	oracle_expect(o, DRAW_CLAIM_NO_OVF_BUF, 0, 0, status & IA32_PERF_GLOBAL_STATUS_OVF_BUF,
		      what, status);
}

void oracle_arch_always(struct oracle *o)
{
	if (o->c->arch.used)
		oracle_expect(o, DRAW_CLAIM_BEYOND, 0, 0, o->seen->arch.beyond,
			      "bytes written outside the buffer, which has %lu bytes",
			      size_of_buffer(o));
}

void oracle_arch_end(struct oracle *o)
{
	if (!o->c->arch.used || o->vague)
		return;
	oracle_expect(o, DRAW_CLAIM_INDEX, draw_arch_index(o->index / ARCH_PEBS_UNIT, o->threshold),
		      0, o->seen->arch.index, "IA32_PEBS_INDEX after record %lu", o->record);
	oracle_expect(o, DRAW_CLAIM_NO_RECORD, o->record, 0, o->seen->records,
		      "records in the end, after %lu", o->record);
	oracle_expect(o, DRAW_CLAIM_OUTSIDE, 0, 0, o->seen->arch.outside,
		      "bytes written outside the %lu records", o->record);
	if (o->record)
		o->verdict->looked[DRAW_CLAIM_RECORD] = o->verdict->looked[DRAW_CLAIM_EVENT] = true;
}
