/* SPDX-License-Identifier: MIT */
/* Steps that the PEBS tests share. This file doesn't judge records. */
#include "tests/measure/sampling.h"

#include "pmu/pmi.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/marked_walk.h"

struct ds_setup sampling_setup(unsigned capacity)
{
	struct ds_setup setup = { .format = counter_caps()->record_format, .capacity = capacity,
				  .threshold = capacity };

	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup.reset[i] = pebs_reset_value(0, NEVER);
	return setup;
}

void sampling_run(const struct ds_setup *setup, unsigned counter, u16 event, u64 flags,
		  const struct workload *w, struct pmc_mask with)
{
	ds_open(setup);
	pebs_arm(counter, event, flags,
		 calibration_period(event, PERIOD) + pebs_has_pdist(counter));
	workload_run(w, PERIOD, pmc_or(pmc_one(counter), with));
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
}

bool sampling_shadow_fits(struct test *t)
{
	const struct calibration *c = calibration_get();

	if (!c->shadow_beyond && (!c->shadow_known || c->shadow_most <= SHADOW_MOST))
		return true;
	test_inconclusive(t, "record shadow of %s %u events",
			  c->shadow_beyond ? "more than" : "up to",
			  c->shadow_beyond ? SAMPLE_MARKS : c->shadow_most);
	return false;
}

bool sampling_records_next_event(struct test *t)
{
	const struct calibration *c = calibration_get();

	if (c->shadow_known && !c->shadow_most)
		return true;
	test_inconclusive(t, "records aren't of the next event");
	return false;
}

bool sampling_may_judge_next_event(struct test *t)
{
	return test_is_strict(t) || !counter_caps()->baseline || sampling_records_next_event(t);
}

unsigned sampling_shadow_bound(void)
{
	enum { MARGIN = 15 };
	const struct calibration *c = calibration_get();

	return (c->shadow_known ? c->shadow_most : 0) + MARGIN;
}

void sampling_open_rounds(struct ds_setup *setup)
{
	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		setup->reset[i] = pebs_reset_value(i, ROUNDS_PERIOD);
	ds_open(setup);
	pebs_arm(0, LOADS, COUNT_BOTH, ROUNDS_PERIOD);
}

void sampling_rounds(struct ds_setup *setup, unsigned records)
{
	sampling_open_rounds(setup);
	workload_run(&workload_load, ROUNDS_FOR(records), pmc_one(0));
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
}

bool sampling_clears_status(struct test *t)
{
	return test_is_strict(t) ||
	       (counter_caps()->generation && !test_erratum(t, ERRATUM_STATUS_STAYS));
}

bool sampling_is_switching(const struct workload *w, u64 rip)
{
	enum { WRITE_BYTES = 32 };	/* SWITCH in tests/measure/workload.inc */
	u64 begin = (u64)(uintptr_t)w->begin, end = (u64)(uintptr_t)w->end;

	return rip == begin || (rip > end && rip <= end + WRITE_BYTES);
}

void sampling_want(struct test *t, unsigned records)
{
	if (ds_records() < records)
		test_missed(t);
}

bool sampling_one_record(struct test *t, struct test_claim claim, struct pebs_record *record)
{
	enum record_format format = counter_caps()->record_format;
	unsigned records = ds_records();

	if (!records && counter_caps()->hypervisor) {
		test_inconclusive(t, "no record under hypervisor \"%s\"",
				  counter_caps()->host.signature);
		return false;
	}
	if (!records && calibration_get()->shadow_beyond)
		return sampling_shadow_fits(t);
	sampling_want(t, 1);
	if (!test_check_eq(t, claim, 1, records,
			   "records of one overflow (the index moved by %ld bytes)",
			   (long)ds_bytes()))
		return false;
	return record_decode(format, ds_record(0), record_size(format), record);
}

u64 sampling_user_loads(void)
{
	counter_program(0, LOADS, COUNT_USR);
	counter_write(0, 0);
	counters_enable(pmc_one(0));
	workload_run_user(&workload_load, 2 * PERIOD);
	counters_disable();
	return counter_read(0);
}

static u64 counted_before(void)
{
	counter_program(1, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(1, 0);
	workload_run(&workload_precise, 0, pmc_or(pmc_one(1), pmc_one(PMC_FIXED(0))));
	counter_program_disabled(1, 0, 0);
	return (u32)workload_memory()[0] - (PRECISE_READ - 1);
}

bool sampling_counted_before(struct test *t, u64 most, u64 *before)
{
	*before = counted_before();
	if (*before == counted_before() && *before <= most)
		return true;
	test_inconclusive(t, "%ld instructions are counted before the window", (long)*before);
	return false;
}

unsigned sampling_rdpmc_misses(const struct test *t)
{
	return test_is_strict(t) ? 0 : 1;
}

u64 sampling_field(const struct pebs_record *record, enum record_field field)
{
	u64 value = 0;

	record_get(record, field, &value);
	return value;
}

u64 sampling_counters(const struct pebs_record *record)
{
	u64 counters;

	if (record_get(record, RECORD_applicable, &counters))
		return counters;
	return sampling_field(record, RECORD_status) & counters_all().bits;
}

u64 sampling_tx_mask(void)
{
	return counter_caps()->tsx ? BITS(32, 63) : ~0ULL;
}

u16 sampling_event(enum event_kind kind)
{
	struct event event = { .code = 0 };

	event_get(kind, EV_PEBS, &event);
	return event.code;
}

u16 sampling_any_event(void)
{
	const u16 loads = LOADS;

	return loads ? loads : EVENT_BR_INST_RETIRED_ALL_BRANCHES;
}

unsigned sampling_gp_counters(void)
{
	char reason[128];
	unsigned n = 0;

	if (!need_branches(reason, sizeof(reason)))
		return PEBS_COUNTERS;
	while (counter_caps()->pebs_mask & BIT(n))
		n++;
	return n;
}

u16 sampling_event_on(unsigned counter)
{
	return counter < PEBS_COUNTERS ? LOADS : EVENT_BR_INST_RETIRED_ALL_BRANCHES;
}

const struct workload *sampling_piece_on(unsigned counter)
{
	return counter < PEBS_COUNTERS ? &workload_sample : &workload_jumps;
}

void sampling_run_on(const struct ds_setup *setup, unsigned counter, u64 flags)
{
	sampling_run(setup, counter, sampling_event_on(counter), flags, sampling_piece_on(counter),
		     NO_OTHERS);
}

void sampling_overflow_on(unsigned counter, u64 flags)
{
	const u16 event = sampling_event_on(counter);

	pebs_arm(counter, event, flags, calibration_period(event, PERIOD));
	workload_run(sampling_piece_on(counter), PERIOD, pmc_one(counter));
}

const struct workload *sampling_any_piece(void)
{
	return LOADS ? &workload_sample : &workload_jumps;
}

const struct workload *sampling_any_registers(void)
{
	return LOADS ? &workload_xmm_sample : &workload_xmm_jumps;
}

u64 sampling_ip(const struct workload *w, const struct pebs_record *record)
{
	u64 ip;

	if (record_get(record, RECORD_eventing_ip, &ip))
		return ip;
	return sampling_field(record, RECORD_rip) - w->mark_length;
}

void sampling_fill(struct sampling_sum sums[], unsigned marks)
{
	u64 *operand = workload_memory() + SAMPLE_OFFSET / 8;
	u64 rax = SAMPLE_RAX;

	workload_memory()[0] = 0x5eed;
	for (unsigned i = 0; i < marks; i++) {
		u64 v = i & 1 ? 0xb000000000001001 + 0x10101 * i : 0 - rax;

		operand[i] = v;
		sums[i].flags = flags_of_add(rax, v);
		sums[i].rax = rax += v;
	}
}

int sampling_mark(const struct workload *w, unsigned marks, const struct pebs_record *record)
{
	return workload_mark_at(w, marks, sampling_ip(w, record));
}

struct sampling_offsets sampling_offsets(void)
{
	static const struct sampling_offsets of_tables = { 0x08, 0x98, 0xa0, 0xa8 };
	static const struct sampling_offsets of_groups = { 0x48, 0x20, 0x28, 0x30 };

	return counter_caps()->record_format == RECORD_ADAPTIVE ? of_groups : of_tables;
}

/* The offsets of Table 18-44, which are also those of Table 18-23 and Figure 17-10; and those of an
 * adaptive record with the memory and the GPR group. */
void sampling_check_registers(struct test *t, struct test_claim claim, const void *record,
			      u64 memory, u64 stack)
{
	const struct {
		unsigned offset, adaptive;
		const char *name;
		u64 value;
	} table[] = {
		{ 0x18, 0x68, "RBX", SAMPLE_RBX }, { 0x20, 0x58, "RCX", SAMPLE_RCX },
		{ 0x28, 0x60, "RDX", SAMPLE_RDX }, { 0x30, 0x80, "RSI", memory },
		{ 0x38, 0x88, "RDI", SAMPLE_RDI }, { 0x40, 0x78, "RBP", SAMPLE_RBP },
		{ 0x48, 0x70, "RSP", stack },
		{ 0x50, 0x90, "R8", SAMPLE_R(8) }, { 0x58, 0x98, "R9", SAMPLE_R(9) },
		{ 0x60, 0xa0, "R10", SAMPLE_R(10) }, { 0x68, 0xa8, "R11", SAMPLE_R(11) },
		{ 0x70, 0xb0, "R12", SAMPLE_R(12) }, { 0x78, 0xb8, "R13", SAMPLE_R(13) },
		{ 0x80, 0xc0, "R14", SAMPLE_R(14) }, { 0x88, 0xc8, "R15", SAMPLE_R(15) },
	};
	bool adaptive = counter_caps()->record_format == RECORD_ADAPTIVE;

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		unsigned offset = adaptive ? table[i].adaptive : table[i].offset;

		test_check_eq(t, claim, table[i].value,
			      *(const volatile u64 *)((uintptr_t)record + offset),
			      "%s at offset 0x%x", table[i].name, offset);
	}
}

#define TWO_TRIES 3

bool sampling_two_interrupts_stay_two(void)
{
	const struct calibration *c = calibration_get();
	struct ds_setup setup = sampling_setup(8);
	char reason[128];
	bool two = true;

	if (!c->shadow_known || c->shadow_most || c->masked != MASKED_LATCHED ||
	    !need_any_pebs(reason, sizeof(reason)) || !need_events(reason, sizeof(reason)))
		return false;
	setup.threshold = 1;
	for (unsigned i = 0; i < TWO_TRIES && two; i++) {
		pmi_open(NULL);
		counter_program(1, LOADS, COUNT_BOTH | COUNT_INT);
		counter_preset(1, calibration_period(LOADS, PERIOD + 1));
		sampling_run(&setup, 2, LOADS, COUNT_BOTH, &workload_sample, pmc_one(1));
		two = pmi_settle()->count == 2;
		pmi_close();
		counter_reset();
	}
	return two;
}

bool sampling_source_tells_int(void)
{
	const struct generation *g = counter_caps()->generation;

	return g && g->set & GENS_TO_BDW;
}

bool sampling_int_has_source(const struct test *t)
{
	return test_is_strict(t) || sampling_source_tells_int();
}

bool sampling_int_or_skip(struct test *t)
{
	if (sampling_int_has_source(t))
		return true;
	test_skip(t, "no source says when a PEBS counter with INT interrupts on this processor");
	return false;
}

bool sampling_assists_are_prompt(struct test *t)
{
	const struct calibration *c = calibration_get();

	if (c->shadow_known && c->shadow_most == 0)
		return true;
	/* With a shadow two actions aren't due on the same event. */
	if (c->shadow_known)
		test_skip(t, "record shadow %u to %u events", c->shadow_least, c->shadow_most);
	else if (c->shadow_beyond)
		test_skip(t, "record shadow of more than %u events", SAMPLE_MARKS);
	else
		test_inconclusive(t, "the record shadow isn't measurable");
	return false;
}
