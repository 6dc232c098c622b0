/* SPDX-License-Identifier: MIT */
/*
 * PEBS: SDM "Processor Event Based Sampling" (arm at the overflow, assist at the next event,
 * reload, threshold), "PEBS Record Format", "PEBS Data Address Profiling", "Precise Distribution of
 * Instructions Retired". If events may pass before the assist (a shadow), a record is accepted at
 * the instruction where it was seen.
 */
#include "tests/random/arch/oracle_arch.h"
#include "tests/random/oracle_internal.h"

static u64 counters_that_record(const struct oracle *o)
{
	u64 counters = 0;

	for (unsigned i = 0; i < DRAW_GP; i++)
		if (oracle_exists(o, i) && oracle_records(o, i))
			counters |= BIT(i);
	return counters;
}

static bool has_precise_distribution(const struct oracle *o, unsigned i)
{
	const struct draw_event *event = oracle_event_of(o, i);

	return event && event->flags & EV_PDIR && oracle_records(o, i);
}

static unsigned lowest(u64 counters)
{
	unsigned i = 0;

	while (!(counters >> i & 1))
		i++;
	return i;
}

static void judge_image(struct oracle *o, const struct pebs_record *r)
{
	u64 looked_at = STATUS_COUNTERS | IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	u64 image;

	/* From format 3 on the field has the applicable counters instead: not checked here. */
	if (!record_get(r, RECORD_status, &image))
		return;
	/* On a real processor an assist may race with a write of the status; then the image is
	 * 0. */
	if (!image && !o->env->strict)
		return;
	oracle_expect(o, DRAW_CLAIM_IMAGE, 0, 0, (image ^ o->must) & ~oracle_untold(o) & looked_at,
		      "bits of the status that are wrong in record %lu", o->record);
}

/* ---- when */

const struct pebs_record *oracle_next_record(const struct oracle *o)
{
	if (o->record >= o->seen->records || o->record >= DRAW_RECORDS_SEEN)
		return NULL;
	return &o->seen->record[o->record];
}

/* Is the next record of this instruction? EventingIP decides, if the format has it. */
bool oracle_is_here(const struct oracle *o, unsigned step, const struct pebs_record *r)
{
	u64 ip;

	if (!o->trace->step[step].ip)
		return false;
	if (record_get(r, RECORD_eventing_ip, &ip))
		return ip == o->trace->step[step].ip;
	return r->value[RECORD_rip] == trace_next_ip(o->trace, step);
}

static bool has_room(const struct oracle *o)
{
	return (int64_t)o->index >= 0 &&
	       (int64_t)(o->index + o->env->record_bytes) <= o->c->ds.maximum;
}

/* "After the assist completes": the threshold's interrupt, then the interrupts that waited for the
 * assist. */
static void after_assist(struct oracle *o, u64 served)
{
	o->index += o->env->record_bytes;
	for (unsigned i = 0; i < 4; i++)
		if (served >> i & 1) {
			oracle_load(o, i, o->c->ds.reset[i]);
			o->counter[i].reloaded = true;
		}
	oracle_serve(o, served);
	o->armed &= ~served;
	if ((int64_t)o->index >= o->c->ds.threshold) {
		o->must |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
		oracle_request(o, DRAW_CLAIM_THRESHOLD);
	}
	if (o->held & served) {
		oracle_request(o, DRAW_CLAIM_PMI_GP);
		/* The manual doesn't say whether that interrupt finds its status bit set. */
		o->may |= o->held & served;
		o->held &= ~served;
	}
}

/* Counters of cycles with a condition: the place of their overflow isn't known, so it isn't known
 * which records are theirs. */
static u64 conditions(const struct oracle *o)
{
	u64 found = 0;

	FOR_EACH_COUNTER (i, o->env->general)
		if (oracle_cmask(o->c->select[i]) || o->c->select[i] & IA32_PERFEVTSEL_E)
			found |= BIT(i);
	return found;
}

static void assist(struct oracle *o, unsigned step, u64 due, const struct pebs_record *r)
{
	unsigned counter = lowest(due);
	u64 records = counters_that_record(o);
	u64 served = (o->must & records) | BIT(counter);
	u64 fresh = o->wrapped & records & ~due;
	bool names_counters = record_has(r->format, RECORD_applicable);
	bool alone = !(due & (due - 1)) && !fresh && !(records & conditions(o));

	oracle_expect_field(o, DRAW_CLAIM_RIP, r, RECORD_rip, trace_next_ip(o->trace, step),
			    "R/EIP of record %lu");
	oracle_judge_registers(o, &o->trace->step[step], r);
	judge_image(o, r);
	if (alone)
		oracle_judge_address(o, &o->trace->step[step], counter, r);
	o->record++;
	/* The manual doesn't say whether the assist covers these counters: one that wraps on its
	 * instruction; one whose event isn't precise; one that is due too, but whose overflow bit
	 * the program has cleared; if the record names its counters, one that waits. With a shadow,
	 * another due counter may be the recorded one. */
	if ((!o->env->shadow_exact && due & (due - 1) && due & ~o->must) || fresh ||
	    (served & ~due && names_counters && !o->env->strict) || due & ~served ||
	    o->may & records & ~o->must ||
	    (o->must | o->may) & o->pebs_enable & BITS(0, 3) & ~records) {
		o->vague = true;
		return;
	}
	after_assist(o, served);
}

/* There is no room, so there is no record. The manual says nothing else, and nothing about other
 * counters that a record would have covered. */
static void full(struct oracle *o, u64 due)
{
	u64 others = counters_that_record(o) & (o->must | o->may) & ~due;

	/* With a shadow the assist may come with any later event. */
	if (o->env->shadow_exact)
		o->armed &= ~due;
	o->may |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	if (o->held & due || (o->armed | o->wrapped) & others)
		o->vague = true;
}

/* The interrupt of a PEBS counter with INT, which overflowed, comes after its assist. */
static void hold_interrupt(struct oracle *o, unsigned i)
{
	if (!oracle_has_interrupt(o, i))
		return;
	o->held |= BIT(i);
	o->vague = o->vague || o->env->int_open;
}

/* Arm the counters that overflowed on this instruction, without those with precise distribution,
 * which are due on this instruction. */
static void arm(struct oracle *o, u64 precise)
{
	for (unsigned i = 0; i < DRAW_GP; i++) {
		if (!(o->wrapped >> i & 1) || precise >> i & 1 || !oracle_records(o, i))
			continue;
		o->armed |= BIT(i);
		hold_interrupt(o, i);
	}
}

void oracle_assists(struct oracle *o, unsigned step)
{
	const struct pebs_record *r = oracle_next_record(o);
	u64 precise = 0, due, may;
	bool here = r && step != NO_STEP && oracle_is_here(o, step, r);

	if (o->c->arch.used)
		oracle_arch_assists(o, step);
	if (!o->c->ds.used)
		return;
	if (o->env->adaptive.baseline) {
		oracle_adaptive_assists(o, step);
		return;
	}
	for (unsigned i = 0; i < DRAW_GP; i++)
		if (o->wrapped >> i & 1 && has_precise_distribution(o, i)) {
			precise |= BIT(i);
			hold_interrupt(o, i);
		}
	if (step == NO_STEP) {
		/* The opening write's address isn't in the program. */
		o->vague = o->vague || precise;
		arm(o, precise);
		return;
	}
	due = (o->armed & o->hit) | precise;
	may = o->armed & o->may_hit;
	/* The step is on the return from CPL 3, where addresses aren't known. */
	if ((!o->trace->step[step].ip || o->trace->step[step].row->flags & ROW_TO_KERNEL) &&
	    (due | may)) {
		o->vague = true;
		return;
	}
	if (here && !(due | may)) {
		oracle_wrong(o, o->armed ? DRAW_CLAIM_EVENT : DRAW_CLAIM_NO_RECORD,
			     o->armed ? "record %lu is of an instruction without the event" :
					"record %lu is of no overflow",
			     o->record);
		o->vague = true;
		return;
	}
	if (here && !has_room(o)) {
		oracle_wrong(o, DRAW_CLAIM_FULL, "record %lu is written without room", o->record);
		o->vague = true;
		return;
	}
	if (here) {
		assist(o, step, due ? due : may, r);
	} else if (due && !has_room(o)) {
		full(o, due);
	} else if (precise || (due && o->env->shadow_exact)) {
		oracle_wrong(o, precise ? DRAW_CLAIM_PDIR : DRAW_CLAIM_RECORD,
			     "record %lu is missing", o->record);
		o->vague = true;
		return;
	} else if (may && !due) {
		o->vague = true;
		return;
	}
	if (!o->vague)
		arm(o, precise);
}

void oracle_end_records(struct oracle *o)
{
	oracle_arch_end(o);
	if (!o->c->ds.used || o->vague)
		return;
	oracle_expect(o, DRAW_CLAIM_INDEX, o->index, 0, o->seen->index,
		      "PEBS index after record %lu", o->record);
	oracle_expect(o, DRAW_CLAIM_NO_RECORD, o->record, 0, o->seen->records,
		      "records in the end, after %lu", o->record);
	oracle_expect(o, DRAW_CLAIM_OUTSIDE, 0, 0, o->seen->outside,
		      "bytes written outside the %lu records", o->record);
	oracle_expect(o, DRAW_CLAIM_AREA, 0, 0, o->seen->area_changed,
		      "fields of the DS area changed, after record %lu", o->record);
	if (!o->record)
		return;
	o->verdict->looked[DRAW_CLAIM_RECORD] = true;
	o->verdict->looked[DRAW_CLAIM_EVENT] = true;
	o->verdict->looked[DRAW_CLAIM_FULL] = true;
}
