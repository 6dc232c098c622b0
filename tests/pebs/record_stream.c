/* SPDX-License-Identifier: MIT */
/*
 * Many records in a row, with a check of every field. This finds errors of a single counter, rare
 * errors, errors at the end of a page, and values that stay from the previous record. SDM Tables
 * 18-23 and 18-44. The manual doesn't give the shadow, so the access of a record isn't known
 * beforehand: the test takes the access that most fields agree with.
 */
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/marked_walk.h"

#define LONG_ROUNDS	380	/* 110 records or more with a shadow of up to 15 events */
#define SHORT_ROUNDS	84	/* 24 records or more */
#define STORE_ROUNDS	28	/* 8 records or more */
#define REACH		(4 * MARKED_WALK_PERIOD)
#define STATUS_MARGIN	64	/* accesses; memory events may be counted twice on a busy core */
#define STATUS_LOOKED_AT (~(IA32_PERF_GLOBAL_STATUS_COND_CHGD | \
			    IA32_PERF_GLOBAL_STATUS_OVF_UNCORE))

/* Each row is a separate check, on processors with this facility (0: all) and field. */
struct field_check {
	enum record_field field;
	struct test_claim claim;
	u64 mask;
	u32 facility;
};

#define FIELD(req, name)	{ RECORD_##name, AT(req), ~0ULL, 0 }
#define LOW_BITS(req, name)	{ RECORD_##name, AT(req), FLAGS_LOOKED_AT, 0 }
#define TX_BITS(req, name)	{ RECORD_##name, AT(req), sampling_tx_mask(), 0 }
#define DATALA(req, name)	{ RECORD_##name, AT(req), ~0ULL, FAC_DATALA }

struct batch {
	struct test *t;
	const struct field_check *checks;
	unsigned count;			/* number of checks */
	unsigned counter;
	unsigned shown;			/* records whose status has the bit of the counter itself */
	bool loads;
	u64 wraps[4];	/* the access on which IA32_PMCx, without PEBS, wraps; 0: never */
	u64 assist;	/* most events that an assist may add */
};

/* An assist makes at most so many stores, and fewer loads. */
#define ASSIST_MOST	28

/* If events are micro-operations, the manual doesn't say whether those of an assist count. */
static u64 assist_events(const struct batch *b)
{
	struct event event;

	return !test_is_strict(b->t) &&
			       event_get(b->loads ? EK_LOADS : EK_STORES, EV_PEBS, &event) &&
			       !(event.flags & EV_INSN) ?
		       ASSIST_MOST :
		       0;
}

/* before: the number of earlier records. */
static void check_status(struct batch *b, const struct pebs_record *record, u64 access,
			 unsigned before)
{
	u64 status = sampling_field(record, RECORD_status) & STATUS_LOOKED_AT;
	u64 certain = BIT(b->counter), possible = certain;

	if (!record_has(record->format, RECORD_status))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		if (!b->wraps[c])
			continue;
		if (access > b->wraps[c] + STATUS_MARGIN)
			certain |= BIT(c);
		if (access + STATUS_MARGIN + before * b->assist > b->wraps[c])
			possible |= BIT(c);
	}
	b->shown += !!(status & BIT(b->counter));
	/* The image may be 0 if an assist races with a write of the status. */
	if (!test_sees_exactly(b->t, REQ_REC_07) && !status)
		return;
	test_check_eq(b->t, AT(REC_07), BIT(b->counter), status & BIT(b->counter),
		      "bit of IA32_PMC%u in the status of its record (0x%lx)", b->counter, status);
	test_check_eq(b->t, AT(REC_07), 0, status & ~possible,
		      "bits of counters that haven't wrapped (0x%lx), access %lu", status, access);
	test_check_eq(b->t, AT(REC_08), certain, status & certain,
		      "bits of counters without PEBS that wrapped (0x%lx), access %lu", status,
		      access);
}

/* The address must be of the access that overflowed, of the one that EventingIP names, or of one
 * between them. */
static void check_address(const struct batch *b, const struct pebs_record *record, int64_t previous,
			  u64 access)
{
	u64 got = sampling_field(record, RECORD_data_linear_address);
	bool eligible = false;

	for (u64 a = (u64)(previous + 1); a <= access; a++)
		eligible |= got == marked_walk_field(a, RECORD_data_linear_address);
	test_check(b->t, AT(DLA_02, ADP_47), eligible, "eligible",
		   "address 0x%lx of an access since the record before, IA32_PMC%u", got,
		   b->counter);
	test_check_eq(b->t, AT(DLA_08), marked_walk_field(access, RECORD_data_linear_address), got,
		      "address of the access at EventingIP, IA32_PMC%u", b->counter);
}

/* Check all records except the last: it may be of an instruction that closes the window. */
static void check_records(struct batch *b)
{
	enum record_format format = counter_caps()->record_format;
	unsigned records = ds_records();
	int64_t previous = -1;

	for (unsigned i = 0; i + 1 < records; i++) {
		struct pebs_record record;
		int64_t place;

		record_decode(format, ds_record(i), record_size(format), &record);
		place = marked_walk_place(&record, previous, REACH);
		if (!test_check(b->t, AT(DS_02), place >= 0, "place >= 0",
				"record %u of %u, IA32_PMC%u: of an access after the one before", i,
				records, b->counter))
			return;
		if (i)
			test_check_range(b->t, AT(DS_12), MARKED_WALK_PERIOD - b->assist, REACH,
					 (u64)(place - previous),
					 "accesses from record %u to %u, IA32_PMC%u", i - 1, i,
					 b->counter);
		for (unsigned k = 0; k < b->count; k++) {
			const struct field_check *c = &b->checks[k];
			u64 got;

			if (c->facility & ~counter_caps()->facilities ||
			    !record_get(&record, c->field, &got))
				continue;
			test_check_eq(b->t, c->claim,
				      marked_walk_field((u64)place, c->field) & c->mask,
				      got & c->mask, "%s of record %u of %u, IA32_PMC%u",
				      record_field_name(c->field), i, records, b->counter);
		}
		check_status(b, &record, (u64)place, i);
		if (counter_caps()->facilities & FAC_DATALA)
			check_address(b, &record, previous, (u64)place);
		previous = place;
	}
}

static unsigned crossing(unsigned records)
{
	unsigned count = 0;

	for (unsigned i = 0; i + 1 < records; i++)
		count += ds_record_crosses_page(i);
	return count;
}

static unsigned capacity_of(unsigned rounds)
{
	return rounds * MARKED_WALK_MARKS / MARKED_WALK_PERIOD + 2;
}

/* Run the window; afterwards the batch's records are in the buffer. */
static void record_stream_take(struct batch *b, unsigned rounds)
{
	const struct workload *w = b->loads ? &workload_marked_walk_loads :
					      &workload_marked_walk_stores;
	u16 event = b->loads ? LOADS : STORES;
	struct ds_setup setup = sampling_setup(capacity_of(rounds));
	struct pmc_mask on = pmc_one(b->counter);

	marked_walk_prepare(w, rounds);
	setup.reset[b->counter] = pebs_reset_value(b->counter, MARKED_WALK_PERIOD);
	ds_open(&setup);
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		b->wraps[c] = 0;
		if (c == b->counter || !(counters_gp().bits & BIT(c)))
			continue;
		/* The wraps are in the first, third, fifth and seventh eighth of the window. */
		b->wraps[c] = (2 * (u64)c + 1) * rounds * MARKED_WALK_MARKS / 8 + 5;
		counter_program(c, event, COUNT_BOTH);
		counter_preset(c, b->wraps[c] + 1);
		on = pmc_or(on, pmc_one(c));
	}
	pebs_arm(b->counter, event, COUNT_BOTH, MARKED_WALK_PERIOD);
	workload_run(w, rounds, on);
	pebs_disarm();
	FOR_EACH_COUNTER (c, counters_gp().bits)
		counter_program_disabled(c, 0, 0);
}

static bool check_batch(struct batch *b, unsigned rounds)
{
	u64 accesses = (u64)rounds * MARKED_WALK_MARKS;
	/* With PDist a record needs no more than its period, and the window has other accesses
	 * too. */
	u64 most = accesses / MARKED_WALK_PERIOD + pebs_has_pdist(b->counter);
	u64 size = record_size(counter_caps()->record_format), least;
	int64_t offset = 0;
	unsigned records;

	b->assist = assist_events(b);
	if (b->assist)
		most = capacity_of(rounds);
	if (!sampling_shadow_fits(b->t))
		return false;
	record_stream_take(b, rounds);
	records = ds_records();
	if (!records && counter_caps()->hypervisor) {
		test_inconclusive(b->t, "no record under hypervisor \"%s\"",
				  counter_caps()->host.signature);
		return false;
	}
	least = accesses / (MARKED_WALK_PERIOD + 1 + sampling_shadow_bound());
	test_check_range(b->t, AT(DS_12), least, most, records,
			 "records of %lu accesses with a period of %u, IA32_PMC%u", accesses,
			 MARKED_WALK_PERIOD, b->counter);
	test_check_range(b->t, AT(DS_03), size * least, size * most, (u64)ds_bytes(),
			 "bytes by which the index moved, IA32_PMC%u", b->counter);
	test_check(b->t, AT(REC_13), !ds_written_outside(0, records, &offset), "nothing else",
		   "a byte at offset %ld, after %u records of IA32_PMC%u", (long)offset, records,
		   b->counter);
	b->shown = 0;
	check_records(b);
	if (records > 1 && record_has(counter_caps()->record_format, RECORD_status))
		test_check_range(b->t, AT(REC_07), 1, records, b->shown,
				 "of %u records show the bit of IA32_PMC%u", records, b->counter);
	counters_clear(counters_status());
	return true;
}

/*
 * Decides REC-03, REC-04, REC-07, REC-08, REC-11, REC-12, REC-13, REC-14, REC-HSW-02, REC-HSW-03,
 * REC-HSW-06, REC-HSW-10, DLA-02, DLA-05, DLA-08, ADP-47, DS-02, DS-03, DS-12
 * (claims/requirement.def has their sentences).
 *
 * Given  a walk of loads, each of which has an address and registers of its own. PEBS is on for
 *        each counter, reloaded every MARKED_WALK_PERIOD loads; the other counters wrap at known
 *        loads without PEBS
 * When   more than a hundred consecutive records are taken on IA32_PMC0, and some on each other
 *        counter
 * Then   each record is of a load after that of the previous record, by a period or by a shadow.
 *        Each of its fields has the walk's value for that load. The index moves by whole records
 *        and nothing else is written. The status shows each overflow once it has happened
 */
TEST(record, every_field_of_every_load_record_is_right,
     REQS(REC_03, REC_04, REC_07, REC_08, REC_11, REC_12, REC_13, REC_14, REC_HSW_02, REC_HSW_03,
	  REC_HSW_06, REC_HSW_10, DLA_02, DLA_05, DLA_08, ADP_47, DS_02, DS_03, DS_12),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	const struct field_check checks[] = {
		LOW_BITS(REC_11, rflags),
		FIELD(REC_03, rip),
		DATALA(REC_HSW_03, rip),
		FIELD(REC_04, rax),
		FIELD(REC_HSW_10, rax),
		FIELD(REC_HSW_10, rbx),
		FIELD(REC_HSW_10, rcx),
		FIELD(REC_HSW_10, rdx),
		FIELD(REC_HSW_10, rsi),
		FIELD(REC_HSW_10, rdi),
		FIELD(REC_HSW_10, rbp),
		FIELD(REC_HSW_10, rsp),
		FIELD(REC_12, rsp),
		FIELD(REC_HSW_10, r8),
		FIELD(REC_HSW_10, r9),
		FIELD(REC_HSW_10, r10),
		FIELD(REC_HSW_10, r11),
		FIELD(REC_HSW_10, r12),
		FIELD(REC_HSW_10, r13),
		FIELD(REC_HSW_10, r14),
		FIELD(REC_HSW_10, r15),
		DATALA(DLA_05, latency),
		DATALA(REC_HSW_06, latency),
		FIELD(REC_HSW_02, eventing_ip),
		TX_BITS(REC_14, tx_abort),
	};
	struct batch b = {
		.t = t, .checks = checks, .count = sizeof(checks) / sizeof(checks[0]), .loads = true
	};

	for (b.counter = 0; b.counter < 4; b.counter++) {
		if (!check_batch(&b, b.counter ? SHORT_ROUNDS : LONG_ROUNDS))
			return;
		if (!b.counter)
			HARNESS_CHECK(t, ds_records() < 110 || crossing(ds_records()) >= 3,
				      "%u of %u records lie across a page's end",
				      crossing(ds_records()), ds_records());
	}
}

/*
 * Decides REC-07, REC-08, REC-13, REC-14, REC-HSW-02, REC-HSW-03, REC-HSW-10, DLA-02, DLA-03,
 * DLA-04, DLA-05, DLA-06, DLA-08, ADP-47, DS-02, DS-03, DS-12 (claims/requirement.def has their
 * sentences).
 *
 * Given  a walk of stores, each with a different address, to lines that were written just before.
 *        They hit the L1 data cache, except where a line was evicted meanwhile. RAX and the flags
 *        are those of a loop
 * When   several consecutive records are taken on each counter
 * Then   each field has the walk's value for that store, as for loads. Where there is data address
 *        profiling, bits 63:1 of A0H are 0, and bit 0 is 1 in most records; a strict run requires
 *        it in seven of eight
 */
TEST(record, every_field_of_every_store_record_is_right,
     REQS(REC_07, REC_08, REC_13, REC_14, REC_HSW_02, REC_HSW_03, REC_HSW_10, DLA_02, DLA_03,
	  DLA_04, DLA_05, DLA_06, DLA_08, ADP_47, DS_02, DS_03, DS_12),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	const struct field_check checks[] = {
		DATALA(REC_HSW_03, rip),
		FIELD(REC_HSW_10, rax),
		FIELD(REC_HSW_10, rbx),
		FIELD(REC_HSW_10, rsi),
		FIELD(REC_HSW_10, rdi),
		FIELD(REC_HSW_10, rsp),
		FIELD(REC_HSW_10, r15),
		DATALA(DLA_05, latency),
		DATALA(DLA_06, data_linear_address),
		FIELD(REC_HSW_02, eventing_ip),
		TX_BITS(REC_14, tx_abort),
	};
	struct batch b = { .t = t, .checks = checks, .count = sizeof(checks) / sizeof(checks[0]) };

	for (b.counter = 0; b.counter < 4; b.counter++) {
		unsigned hits = 0, records, most;	/* most: may have lost their line */

		if (!check_batch(&b, STORE_ROUNDS))
			return;
		/* The manual doesn't define the memory group of an adaptive record for stores. */
		if (!(counter_caps()->facilities & FAC_DATALA) || counter_caps()->baseline)
			continue;
		records = ds_records();
		for (unsigned i = 0; i < records; i++) {
			u64 source = *(const volatile u64 *)((uintptr_t)ds_record(i) + 0xa0);

			hits += (unsigned)(source & 1);
			CHECK_EQ(t, DLA_04, 0, source & ~BIT(0),
				 "bits 63:1 at A0H of record %u of %u, IA32_PMC%u", i, records,
				 b.counter);
		}
		most = test_is_strict(t) ? records / 8 : (records - 1) / 2;
		CHECK_RANGE(t, DLA_03, records - most, records, hits,
			    "of %u stores to lines just written hit the L1, IA32_PMC%u", records,
			    b.counter);
	}
}
