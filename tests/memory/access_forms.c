/* SPDX-License-Identifier: MIT */
/*
 * Each event of retired loads and stores against each form of an access: locked, split across a
 * line's end, in two pages, with a page walk, missing the L1, and two of these at once. SDM chapter
 * 19, MEM_UOPS_RETIRED and MEM_INST_RETIRED.
 */
#include "kernel/memory/pages.h"
#include "kernel/memory/paging.h"
#include "kernel/output/fmt.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

#define ROUNDS		64u
#define STRICT_ROUNDS	16u
#define FIRST_ROUNDS	8u	/* whose count is subtracted */
#define SLACK(rounds)	((rounds) / 8)	/* tolerance of a count: interrupts */
#define COUNTER		2u
#define LINE		64u
#define PAGE_END	(PAGE_SIZE - LINE)	/* splits from here on are in two pages */
#define STORE_PAGE_END	(PAGE_SIZE - 2 * LINE)	/* the same for workload_split's store */
#define LOCKED		BIT(5)	/* in A0H: Table 18-34 */
#define RECORDS_FEW	3u

/* The events, in the order of a form's columns. */
enum column { ALL_LOADS, ALL_STORES, LOCK_LOADS, SPLIT_LOADS, SPLIT_STORES, STLB_LOADS,
	      STLB_STORES, COLUMNS };
static const enum event_kind kinds[COLUMNS] = {
	EK_LOADS, EK_STORES, EK_LOCK_LOADS, EK_SPLIT_LOADS, EK_SPLIT_STORES, EK_STLB_MISS_LOADS,
	EK_STLB_MISS_STORES,
};

/* Not checked: an event of all loads or stores may count INVLPG or CLFLUSH; the store of a locked
 * access finds the line that its load has fetched, and may be split before it executes. */
#define OPEN 0xff
/* Checked in strict runs only: microcode may execute the loads and stores of a locked access across
 * a line's end; the store of a locked access may walk before its load does. */
#define STRICT(n) (0x80 | (n))

/* For each event, its number in a round. */
static const struct form {
	const char *name;
	const struct workload *workload;
	unsigned memory;	/* offset from the beginning of a page */
	u8 each[COLUMNS];
} forms[] = {
	{ "loads", &workload_load, 0, { 1, 0, 0, 0, 0, 0, 0 } },
	{ "stores", &workload_store, 0, { 0, 1, 0, 0, 0, 0, 0 } },
	{ "bytes", &workload_bytes, 1, { 1, 1, 0, 0, 0, 0, 0 } },
	{ "sixteen bytes", &workload_sixteen, 0, { 1, 1, 0, 0, 0, 0, 0 } },
	{ "CMPSQ", &workload_kind_compare, 0, { 2, 0, 0, 0, 0, 0, 0 } },
	{ "locked additions", &workload_lock, 0, { 1, 1, 1, 0, 0, 0, 0 } },
	{ "exchanges", &workload_exchange, 0, { 1, 1, 1, 0, 0, 0, 0 } },
	{ "locked additions across a line's end", &workload_split_lock, 0,
	  { STRICT(1), STRICT(1), STRICT(1), STRICT(1), OPEN, 0, 0 } },
	{ "locked additions across a page's end", &workload_split_lock, PAGE_END,
	  { STRICT(1), STRICT(1), STRICT(1), STRICT(1), OPEN, 0, 0 } },
	{ "locked additions to a flushed line", &workload_missed_lock, 0,
	  { OPEN, OPEN, 1, 0, 0, 0, 0 } },
	{ "locked additions after INVLPG", &workload_fresh_page_lock, 0,
	  { OPEN, OPEN, 1, 0, 0, STRICT(1), OPEN } },
	{ "accesses across a line's end", &workload_split, 0, { 1, 1, 0, 1, 1, 0, 0 } },
	{ "loads across a page's end", &workload_split, PAGE_END, { 1, 1, 0, 1, 1, 0, 0 } },
	{ "stores across a page's end", &workload_split, STORE_PAGE_END, { 1, 1, 0, 1, 1, 0, 0 } },
	{ "loads after INVLPG", &workload_fresh_page, 0, { OPEN, OPEN, 0, 0, 0, 1, 0 } },
	{ "stores after INVLPG", &workload_fresh_page_store, 0, { OPEN, OPEN, 0, 0, 0, 0, 1 } },
	{ "loads across a line's end after INVLPG", &workload_split_fresh_load, 0,
	  { OPEN, OPEN, 0, 1, 0, 1, 0 } },
	{ "stores across a line's end after INVLPG", &workload_split_fresh_store, 0,
	  { OPEN, OPEN, 0, 0, 1, 0, 1 } },
	{ "loads across a page's end after INVLPG", &workload_split_fresh_load, PAGE_END,
	  { OPEN, OPEN, 0, 1, 0, 1, 0 } },
	{ "stores across a page's end after INVLPG", &workload_split_fresh_store, PAGE_END,
	  { OPEN, OPEN, 0, 0, 1, 0, 1 } },
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static struct cache_workload place_of(const struct form *f)
{
	return (struct cache_workload){
		.name = f->name,
		.workload = f->workload,
		.at = { .memory = (u8 *)pages_get()->small + f->memory },
	};
}

/* The increase of the count for more rounds: a window's other events are in both counts. */
static u64 more_events(const struct mem_sample_setup *setup, const struct cache_workload *h,
		       u64 rounds)
{
	u64 few, many;

	few = mem_sample_count(setup, h, FIRST_ROUNDS);
	many = mem_sample_count(setup, h, FIRST_ROUNDS + rounds);
	return many > few ? many - few : 0;
}

/*
 * CNT-49  An event of retired loads or stores must count each that its name is about, whatever
 *         else it is: locked, split, in two pages, with a page walk, one of several of an
 *         instruction.
 *         SDM chapter 19: MEM_UOPS_RETIRED of Sandy Bridge to Broadwell, MEM_INST_RETIRED
 *
 * Given  loops of accesses of each form, which say how many of each kind a round has
 * When   64 rounds more (16 in strict runs) are counted by each event of all loads, all stores,
 *        locked loads, split loads and stores, and STLB misses of loads and stores that this
 *        processor has
 * Then   each counts what a round has of its kind, within an eighth; an event of instructions
 *        counts one with two loads once. With an erratum it may count too few locked loads
 */
TEST(count, each_event_of_accesses_counts_each_form_of_an_access, REQS(CNT_49),
     NEEDS(need_perfmon, need_pebs, need_events), .deadline_ms = 5000)
{
	const u64 rounds = test_rounds(t, STRICT_ROUNDS, ROUNDS);

	for (unsigned column = 0; column < COLUMNS; column++) {
		struct mem_sample_setup setup = { .counter = COUNTER, .enable = pmc_one(COUNTER) };
		struct event event;

		if (!event_get(kinds[column], EV_PEBS, &event))
			continue;
		setup.event = event.code;
		for (unsigned f = 0; f < FORMS; f++) {
			const struct cache_workload h = place_of(&forms[f]);
			unsigned each = forms[f].each[column];

			if (each == OPEN || (each & STRICT(0) && !test_is_strict(t)))
				continue;
			each &= ~(unsigned)STRICT(0);
			if (each > 1 && event.flags & EV_INSN)
				each = 1;
			CHECK_RANGE(t, CNT_49,
				    each && !mem_sample_event_is_short(t, kinds[column]) ?
					    each * rounds - SLACK(rounds) :
					    0,
				    each * rounds + SLACK(rounds), more_events(&setup, &h, rounds),
				    "%s in %lu rounds of %s", event.name, rounds, h.name);
		}
	}
}

static bool need_stores_by_instruction(char *reason, size_t size)
{
	struct event event = { .name = "no event of all stores" };

	if (event_get(EK_STORES, EV_PEBS | EV_INSN, &event))
		return true;
	event_get(EK_STORES, EV_PEBS, &event);
	fmt_print(reason, size, "stores are counted one by one: %s", event.name);
	return false;
}

#define FEWER_ACCESSES	8u	/* of one instruction */
#define MORE_ACCESSES	72u

/*
 * SKL-13  MEM_INST_RETIRED must count an instruction once however many loads or stores it has.
 *         SDM 18.13.1 6th Generation Intel Core: Processor Event Based Sampling (PEBS) Facility,
 *         Table 18-56, note 4; intel/perfmon
 *
 * Given  MEM_INST_RETIRED.ALL_STORES on each general-purpose counter on which it counts; where an
 *        erratum counts REP STOSB more than once, MEM_INST_RETIRED.ALL_LOADS and REP LODSB
 * When   one REP STOSB stores 8 bytes, and 72; or one REP LODSB loads as many
 * Then   both count the same
 * Control: 64 instructions more with one access each count 64 more
 */
TEST(count, instruction_with_many_accesses_of_a_kind_counts_once, REQS(SKL_13),
     NEEDS(need_perfmon, need_events, need_stores_by_instruction))
{
	const bool loads = test_erratum(t, ERRATUM_FAST_STRINGS);
	const u16 event = loads ? LOADS : STORES;
	const struct workload *rep = loads ? &workload_kind_rep_load : &workload_rep;
	const struct workload *single = loads ? &workload_load : &workload_store;

	FOR_EACH_COUNTER (c, counters_for(event).bits) {
		u64 counted;

		if (!window_difference_one(t, c, event, COUNT_BOTH, rep, FEWER_ACCESSES,
					   MORE_ACCESSES, &counted))
			return;
		CHECK_EQ(t, SKL_13, 0, counted,
			 "instructions that %s, in one REP %s with %u accesses more, IA32_PMC%u",
			 loads ? "load" : "store", loads ? "LODSB" : "STOSB",
			 MORE_ACCESSES - FEWER_ACCESSES, c);
		if (!window_difference_one(t, c, event, COUNT_BOTH, single, FEWER_ACCESSES,
					   MORE_ACCESSES, &counted))
			return;
		CONTROL_EQ(t, SKL_13, MORE_ACCESSES - FEWER_ACCESSES, counted,
			   "instructions that %s, in %u with one access each, IA32_PMC%u",
			   loads ? "load" : "store", MORE_ACCESSES - FEWER_ACCESSES, c);
	}
}

/* The stores of precise-store records. */
static const struct {
	const char *name;
	const struct workload *workload;
	unsigned memory;
	bool locked;
	bool beside;		/* a CLFLUSH or INVLPG, which may be recorded too, isn't locked */
} stores[] = {
	{ "stores", &workload_store, 0, false, false },
	{ "bytes", &workload_bytes, 1, false, false },
	{ "sixteen bytes", &workload_sixteen, 0, false, false },
	{ "stores across a page's end after INVLPG", &workload_split_fresh_store, PAGE_END, false,
	  false },
	{ "locked additions", &workload_lock, 0, true, false },
	{ "exchanges", &workload_exchange, 0, true, false },
	{ "locked additions to a flushed line", &workload_missed_lock, 0, true, true },
	{ "locked additions after INVLPG", &workload_fresh_page_lock, 0, true, true },
};
#define STORE_FORMS (sizeof(stores) / sizeof(stores[0]))

/*
 * PS-07  Bit 5 of A0H must be 1 for a store that is part of a locked access and 0 for a plain
 *        store.
 *        SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  plain stores and locked additions of several forms: of one and of sixteen bytes, across a
 *        page's end with page walks; of a flushed line, with a page walk
 * When   IA32_PMC3 makes precise-store records of each
 * Then   bit 5 at A0H is 1 in each record of the locked ones, and 0 in each of the others. Beside a
 *        CLFLUSH or INVLPG, which may be recorded too, it is 1 in one record at least, and in each
 *        where every requirement is judged
 */
TEST(ps, lock_bit_of_a_precise_store_record_is_right_for_each_form_of_a_store, REQS(PS_07),
     NEEDS(need_perfmon, need_pebs, need_precise_store), .deadline_ms = 5000)
{
	static struct mem_sample_record records[MEM_SAMPLE_MOST];

	for (unsigned s = 0; s < STORE_FORMS; s++) {
		struct mem_sample_setup setup = mem_sample_stores(t);
		const struct cache_workload h = {
			.name = stores[s].name,
			.workload = stores[s].workload,
			.at = { .memory = (u8 *)pages_get()->small + stores[s].memory },
		};
		unsigned count, with_lock = 0;

		setup.wanted = RECORDS_FEW;
		count = mem_sample_take(&setup, &h, records);
		if (!mem_sample_enough(t, AT(PS_07), &h, count, RECORDS_FEW))
			return;
		for (unsigned i = 0; i < count; i++)
			with_lock += !!(records[i].source & LOCKED);
		CHECK_RANGE(t, PS_07,
			    !stores[s].locked			  ? 0 :
			    stores[s].beside && !test_is_strict(t) ? 1 :
								     count,
			    stores[s].locked ? count : 0, with_lock,
			    "of %u records of %s have bit 5 at A0H", count, h.name);
	}
}
