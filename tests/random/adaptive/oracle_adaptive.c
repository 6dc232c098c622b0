/* SPDX-License-Identifier: MIT */
/*
 * Adaptive records, with baseline = 1: the instruction and the counters of each record, and its
 * effects. Any event can make records. The record of an event that isn't precise may be of any
 * instruction after the overflow. So after the overflow the counter is loose: it may be armed. The
 * applicable counters of a record name its counters. Linux, KVM and kvm-unit-tests
 * (docs/READINGS.md); SDM "Processor Event Based Sampling".
 */
#include "spec/adaptive.h"
#include "tests/random/oracle_internal.h"

#define FIXED0	BIT(32)

static u64 sampling(const struct oracle *o)
{
	u64 counters = 0;

	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (oracle_exists(o, i))
			counters |= oracle_bit(i) & o->pebs_enable;
	return counters;
}

/* Counters with a precise event: only this event makes their records. */
static u64 precise(const struct oracle *o)
{
	return oracle_those(o, oracle_records);
}

static u64 adaptive(const struct oracle *o)
{
	u64 counters = 0;

	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (draw_is_adaptive(i < DRAW_GP ? o->select[i] : 0, o->fixed_control, i))
			counters |= oracle_bit(i);
	return counters;
}

/* false: a PEBS counter has INT too. The manual doesn't define that. */
static bool is_told(const struct oracle *o)
{
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (oracle_exists(o, i) && o->pebs_enable & oracle_bit(i) &&
		    oracle_has_interrupt(o, i))
			return false;
	return true;
}

/* There are more records than were kept. */
static bool is_beyond(const struct oracle *o)
{
	return o->record == DRAW_RECORDS_SEEN && o->seen->records > DRAW_RECORDS_SEEN;
}

/* The record's address isn't in the program, so its position in the order of events isn't known. */
static bool is_elsewhere(struct oracle *o)
{
	const struct pebs_record *r = oracle_next_record(o);
	u64 ip;

	if (!r || o->placed > o->record || !record_get(r, RECORD_eventing_ip, &ip))
		return false;
	if (trace_find(o->trace, ip) < 0)
		return true;
	o->placed = o->record + 1;
	return false;
}

void oracle_loosen(struct oracle *o, u64 counters)
{
	o->loose |= counters;
	o->armed &= ~counters;
	o->may |= counters;
	o->must &= ~counters;
}

/* A record, or an assist without room, may have been for these counters too. */
static void lose(struct oracle *o, u64 counters)
{
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (oracle_exists(o, i) && counters & oracle_bit(i))
			o->counter[i].lost = true;
	o->wrapped &= ~counters;
	oracle_loosen(o, counters);
}

/* "Loaded with its reset value", and the overflow bit is cleared. */
static void reload(struct oracle *o, u64 counters)
{
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (oracle_exists(o, i) && counters & oracle_bit(i)) {
			oracle_load(o, i, o->c->ds.reset[i]);
			o->counter[i].reloaded = true;
		}
	oracle_serve(o, counters);
	o->armed &= ~counters;
	o->loose &= ~counters;
	o->wrapped &= ~counters;
	/* Its overflow bit may be set again (Intel's event files, CPU_CLK_UNHALTED.REF_TSC). */
	lose(o, counters & BIT(draw_status_bit(DRAW_GP + FIXED_REF_TSC)));
}

/* ---- room */

static bool has_room(const struct oracle *o, u64 size)
{
	return (int64_t)o->index >= 0 && (int64_t)(o->index + size) <= o->c->ds.maximum;
}

/* The size of a record for these counters: the smallest possible, or the greatest. If only some of
 * them have their Adaptive_Record bit set, it may be either (docs/READINGS.md). */
static u64 size_of(const struct oracle *o, u64 counters, bool greatest)
{
	u64 with = counters & adaptive(o);

	if (greatest ? with != 0 : with == counters)
		return draw_adaptive_bytes(o->c->ds.config);
	return ADAPTIVE_BASIC_BYTES;
}

/* ---- a record */

/* Check the format word: bits 31:0 are MSR_PEBS_DATA_CFG if the Adaptive_Record bit is set, else 0;
 * bits 47:32 are 0 without retire latency; bits 63:48 are the size. Returns the size. */
static u64 judge_format(struct oracle *o, const struct pebs_record *r, u64 named)
{
	const u64 config = o->c->ds.config, most = size_of(o, named, true);
	const u64 looked_at = o->env->adaptive.timing ? ADAPTIVE_FORMAT_DATA_CFG :
							~ADAPTIVE_FORMAT_SIZE;
	u64 size = size_of(o, named, false), word = 0;

	record_get(r, RECORD_format, &word);
	if (most != size && word & ADAPTIVE_FORMAT_DATA_CFG)
		size = most;
	oracle_expect(o, DRAW_CLAIM_GROUPS,
		      size == ADAPTIVE_BASIC_BYTES ? 0 : config & ADAPTIVE_FORMAT_DATA_CFG, 0,
		      word & looked_at, "format word of record %lu", o->record);
	oracle_expect(o, DRAW_CLAIM_SIZE, size, 0, word >> ADAPTIVE_FORMAT_SIZE_SHIFT,
		      "size of record %lu", o->record);
	return size;
}

static void after_record(struct oracle *o, u64 size)
{
	o->record++;
	o->index += size;
	if ((int64_t)o->index >= o->c->ds.threshold) {
		o->must |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
		oracle_request(o, DRAW_CLAIM_THRESHOLD);
	}
}

/*
 * "Every counter that overflowed and is PEBS-enabled is loaded": also a counter that the record
 * doesn't name. The manual doesn't say so for a counter that overflows on the record's own
 * instruction, or whose overflow bit the program has cleared.
 */
static void reload_others(struct oracle *o, u64 others)
{
	u64 sure = others & o->must & precise(o) & ~o->wrapped & ~o->loose;

	reload(o, sure);
	lose(o, others & ~sure);
}

/* PEBS counters that have overflowed or may have: an assist may be for them. */
static u64 able_ones(const struct oracle *o)
{
	return (o->must | o->may | o->armed | o->wrapped | o->loose) & sampling(o);
}

static void record(struct oracle *o, unsigned step, u64 *due, u64 may)
{
	const struct pebs_record *r = oracle_next_record(o), *next;
	const u64 able = able_ones(o);
	u64 named = 0, size, rest;

	record_get(r, RECORD_applicable, &named);
	if (!((*due | may) & able)) {
		if (!(o->armed | o->loose))
			oracle_wrong(o, DRAW_CLAIM_NO_RECORD, "record %lu is of no overflow",
				     o->record);
		else if (o->env->strict || o->env->shadow_exact)
			oracle_wrong(o, DRAW_CLAIM_EVENT,
				     "record %lu is of an instruction without the event",
				     o->record);
		o->vague = true;
		return;
	}
	oracle_expect(o, DRAW_CLAIM_APPLICABLE, 0, 0, named & ~able,
		      "counters that record %lu can't be for", o->record);
	if (!(named & (*due | may))) {
		oracle_wrong(o, DRAW_CLAIM_APPLICABLE, "record %lu is for no counter that is due",
			     o->record);
		o->vague = true;
		return;
	}
	size = judge_format(o, r, named);
	if (!has_room(o, size)) {
		oracle_wrong(o, DRAW_CLAIM_FULL, "record %lu is written without room", o->record);
		o->vague = true;
		return;
	}
	oracle_judge_groups(o, step, r, &o->seen->groups[o->record], named);
	after_record(o, size);
	reload(o, named);
	*due &= ~named;
	rest = (*due | may) & able & ~named;
	next = oracle_next_record(o);
	if (next && oracle_is_here(o, step, next))
		return;
	/* If two counters are due on one instruction, one record names both, or two records do if
	 * there is room for the second. */
	if (rest && !has_room(o, size_of(o, able & ~named, true))) {
		o->may |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
		lose(o, rest);
		*due &= ~rest;
	}
	if (*due && o->env->shadow_exact)
		oracle_expect(o, DRAW_CLAIM_APPLICABLE, 0, 0, *due & o->must,
			      "counters that are due beside record %lu, which doesn't name them",
			      o->record - 1);
	reload_others(o, able & ~named & ~o->loose);
	lose(o, able & ~named & o->loose);
	*due = 0;
}

/* ---- no record */

/* A counter that may record the overflow itself needn't be as exact as those that calibration has
 * measured. */
static bool is_exact(const struct oracle *o, u64 due)
{
	return o->env->shadow_exact && (o->env->strict || !(due & o->env->adaptive.soon));
}

/* There is no room: the overflow bits may be cleared (SDM "Enhancements to
 * IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]"), and no counter is reloaded. */
static void full(struct oracle *o, u64 due)
{
	u64 others = sampling(o) & (o->must | o->may) & ~due;

	o->may |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	if (!is_exact(o, due)) {
		oracle_loosen(o, due);
	} else {
		o->armed &= ~due;
		o->must &= ~due;
		o->may |= due;
	}
	lose(o, others);
}

static void none(struct oracle *o, u64 due)
{
	if (!has_room(o, size_of(o, due, false))) {
		full(o, due);
	} else if (!has_room(o, size_of(o, due | able_ones(o), true))) {
		o->may |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
		lose(o, due);
	} else if (is_exact(o, due)) {
		oracle_wrong(o, DRAW_CLAIM_RECORD, "record %lu is missing", o->record);
		o->vague = true;
	}
}

/* The opening write, or the return from CPL 3: a record of an instruction there has an address
 * outside of the program, and the instruction isn't known. */
static void away(struct oracle *o, u64 counters)
{
	oracle_loosen(o, counters);
	if (counters && is_elsewhere(o))
		o->vague = true;
}

void oracle_adaptive_assists(struct oracle *o, unsigned step)
{
	const struct trace_step *at = step == NO_STEP ? NULL : &o->trace->step[step];
	const u64 exact = precise(o);
	const u64 soon = o->wrapped & exact & o->env->adaptive.soon;
	u64 due = o->armed & o->hit, may;

	if (!is_told(o) || is_beyond(o)) {
		o->vague = true;
		return;
	}
	oracle_loosen(o, o->wrapped & sampling(o) & ~exact);
	/* A record of fixed counter 0 may be of the next instruction, at any level. */
	may = (o->armed & (o->may_hit | FIXED0)) | soon |
	      (o->loose & (~exact | FIXED0 | o->may_hit));
	if (o->loose && !has_room(o, size_of(o, able_ones(o), true)))
		o->may |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	if (at && at->ip) {
		const struct pebs_record *r = oracle_next_record(o);

		for (; !o->vague && r && oracle_is_here(o, step, r); r = oracle_next_record(o))
			record(o, step, &due, may);
	}
	if (o->wrapped & soon && !has_room(o, size_of(o, able_ones(o), true))) {
		o->may |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
		oracle_loosen(o, o->wrapped & soon);
	}
	if (!at || !at->ip || at->row->flags & ROW_TO_KERNEL)
		away(o, (due | may) & (o->armed | o->wrapped | o->loose));
	else if (!o->vague && due)
		none(o, due);
	o->armed |= o->wrapped & exact & ~o->loose;
}

/* ---- at the beginning, in a handler, and in the end */

void oracle_adaptive_begin(struct oracle *o)
{
	if (!o->c->ds.used)
		return;
	oracle_expect(o, DRAW_CLAIM_SIZE, o->seen->index, 0, o->seen->walked,
		      "where the sizes of %lu records lead", o->seen->records);
	/* If the sizes in the format words don't lead to the index, the records can't be judged. */
	o->vague = o->seen->index != o->seen->walked;
}

/* Does the program have a return from CPL 3, or another handler? A record outside of the program
 * may be of those. */
static bool is_elsewhere_twice(const struct oracle *o)
{
	for (unsigned i = 0; i < o->trace->steps; i++)
		if (!o->trace->step[i].ip || o->trace->step[i].row->flags & ROW_TO_KERNEL)
			return true;
	return o->seen->interrupts > 1;
}

/* A record of an instruction of the handler. Neither the instruction is known, nor whether the
 * record was written before the handler read the status. */
static void record_of_handler(struct oracle *o)
{
	const struct pebs_record *r = oracle_next_record(o);
	const u64 able = able_ones(o);
	u64 named = 0, size;

	record_get(r, RECORD_applicable, &named);
	if (named & ~able && is_elsewhere_twice(o)) {
		o->vague = true;
		return;
	}
	oracle_expect(o, DRAW_CLAIM_APPLICABLE, 0, 0, named & ~able,
		      "counters that record %lu can't be for, in a handler", o->record);
	if (!named)
		oracle_wrong(o, DRAW_CLAIM_APPLICABLE, "record %lu is for no counter", o->record);
	size = judge_format(o, r, named);
	if (!has_room(o, size))
		oracle_wrong(o, DRAW_CLAIM_FULL, "record %lu is written without room", o->record);
	oracle_judge_groups(o, NO_STEP, r, &o->seen->groups[o->record], named);
	o->record++;
	o->index += size;
	if ((int64_t)o->index >= o->c->ds.threshold) {
		o->may |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
		o->most++;
	}
	reload(o, named);
	lose(o, able & ~named);
	oracle_count_handler(o, named);
	o->may |= named;
}

void oracle_adaptive_handler(struct oracle *o)
{
	oracle_loosen(o, o->armed & o->may_hit);
	/* A record of an earlier handler may instead be of this one. */
	if (o->handlers && sampling(o) & o->may_hit)
		o->may |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	while (!o->vague && o->loose && is_elsewhere(o)) {
		record_of_handler(o);
		o->handlers = true;
	}
	/* Records that weren't kept may have reached the threshold. */
	if (is_beyond(o))
		o->vague = true;
}

void oracle_adaptive_end(struct oracle *o)
{
	if (o->loose && is_elsewhere(o))
		o->vague = true;
}
