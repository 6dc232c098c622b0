/* SPDX-License-Identifier: MIT */
/*
 * The events for the causes of an abort: SDM chapter 19, RTM_RETIRED and TX_MEM of the 4th
 * generation. Each piece has one cause; a processor may also abort for any other reason, so exact
 * counts are required only where they can be observed exactly.
 */
#include "kernel/memory/pages.h"
#include "pmu/pebs.h"
#include "spec/event.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define LOADS_EACH	4u
#define RUNS		2u
#define STRICT_RUNS	1u	/* nothing aborts by chance */
#define COUNTERS	4u

/* The events; a cause has a set of them that must occur. */
enum {
	ANY_CAUSE,
	MEMORY_EVENTS,
	UNFRIENDLY,
	MEMORY_TYPE,
	OTHER,
	CAPACITY_WRITES,
	CONFLICT,
	EVENTS
};

static const struct {
	const char *name;
	u16 code;
} events[EVENTS] = {
	[ANY_CAUSE] = { "RTM_RETIRED.ABORTED", EVENT_RTM_RETIRED_ABORTED },
	[MEMORY_EVENTS] = { "RTM_RETIRED.ABORTED_MISC1", EVENT_RTM_RETIRED_ABORTED_MISC1 },
	[UNFRIENDLY] = { "RTM_RETIRED.ABORTED_MISC3", EVENT_RTM_RETIRED_ABORTED_MISC3 },
	[MEMORY_TYPE] = { "RTM_RETIRED.ABORTED_MISC4", EVENT_RTM_RETIRED_ABORTED_MISC4 },
	[OTHER] = { "RTM_RETIRED.ABORTED_MISC5", EVENT_RTM_RETIRED_ABORTED_MISC5 },
	[CAPACITY_WRITES] = { "TX_MEM.ABORT_CAPACITY_WRITE", EVENT_TX_MEM_ABORT_CAPACITY_WRITE },
	[CONFLICT] = { "TX_MEM.ABORT_CONFLICT", EVENT_TX_MEM_ABORT_CONFLICT },
};

struct cause {
	const struct transaction *piece;
	u64 n;
	bool uncacheable;	/* the piece's memory */
	u64 occur;
};

static const struct cause causes[] = {
	{ &transaction_commit, LOADS_EACH, false, 0 },
	{ &transaction_pause, LOADS_EACH, false, BIT(ANY_CAUSE) | BIT(UNFRIENDLY) },
	{ &transaction_stores, TRANSACTION_LINES, false,
	  BIT(ANY_CAUSE) | BIT(MEMORY_EVENTS) | BIT(CAPACITY_WRITES) },
	{ &transaction_loads, TRANSACTION_LINES, false, BIT(ANY_CAUSE) | BIT(MEMORY_EVENTS) },
	{ &transaction_commit, LOADS_EACH, true, BIT(ANY_CAUSE) | BIT(MEMORY_TYPE) },
	{ &transaction_divide, LOADS_EACH, false, BIT(ANY_CAUSE) | BIT(OTHER) },
	{ &transaction_address, LOADS_EACH, false, BIT(ANY_CAUSE) | BIT(OTHER) },
};

static unsigned runs_of(const struct test *t)
{
	return (unsigned)test_rounds(t, STRICT_RUNS, RUNS);
}

/* Count the event on all four counters. Returns how many of the transactions committed. */
static unsigned count_cause(const struct test *t, const struct cause *cause, u16 code,
			    u64 value[COUNTERS])
{
	u64 *words = cause->uncacheable ? (u64 *)(void *)pages_get()->uncacheable :
					  transaction_words();
	unsigned committed = 0;

	for (unsigned c = 0; c < COUNTERS; c++) {
		counter_program(c, code, COUNT_BOTH);
		counter_write(c, 0);
	}
	counters_enable((struct pmc_mask){ BIT(COUNTERS) - 1 });
	for (unsigned i = 0; i < runs_of(t); i++)
		committed += cause->piece->run(words, cause->n) == COMMITTED;
	counters_disable();
	for (unsigned c = 0; c < COUNTERS; c++) {
		value[c] = counter_read(c);
		counter_program_disabled(c, 0, 0);
	}
	return committed;
}

/* The highest count of one event for that many aborts, except on the reference PMU. TX_MEM counts
 * each time that an abort "was signaled", and the manual doesn't say that an abort is signaled only
 * once. */
static u64 most_of(unsigned event, u64 aborted)
{
	return aborted && (event == CAPACITY_WRITES || event == CONFLICT) ? ~0ULL : aborted;
}

/* Check an event's counts of the aborts by this cause. */
static void check_values(struct test *t, const struct cause *cause, unsigned event, bool exact,
			 unsigned committed, const u64 value[COUNTERS])
{
	const bool occurs = cause->occur & BIT(event);
	const unsigned runs = runs_of(t);

	for (unsigned c = 0; c < COUNTERS; c++) {
		if (event == MEMORY_TYPE && test_erratum(t, ERRATUM_MEMORY_TYPE))
			continue;
		if (exact)
			CHECK_EQ(t, TSX_18, occurs ? runs : 0, value[c],
				 "%s of %u transactions, %s%s, IA32_PMC%u", events[event].name,
				 runs, cause->piece->name,
				 cause->uncacheable ? " of uncacheable memory" : "", c);
		else
			CHECK_RANGE(t, TSX_18, 0, most_of(event, runs - committed), value[c],
				    "%s of %u aborted transactions, %s, IA32_PMC%u",
				    events[event].name, runs - committed, cause->piece->name, c);
	}
}

static void check_cause(struct test *t, const struct cause *cause, unsigned event, bool exact)
{
	u64 value[COUNTERS];
	unsigned committed = count_cause(t, cause, events[event].code, value);
	const unsigned runs = runs_of(t);

	for (unsigned c = 0; c < COUNTERS && event == ANY_CAUSE; c++)
		CHECK_EQ(t, TSX_01, runs - committed, value[c],
			 "%s, %u of %u committed, %s, IA32_PMC%u", events[event].name, committed,
			 runs, cause->piece->name, c);
	check_values(t, cause, event, exact, committed, value);
}

/*
 * TSX-01  RTM_RETIRED.ABORTED with PEBS must make a record of an aborted transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * TSX-18  RTM_RETIRED.ABORTED_MISC1, MISC3, MISC4 and MISC5 and TX_MEM.ABORT_CONFLICT and
 *         ABORT_CAPACITY_WRITE must count the aborts of their own cause, and no others.
 *         SDM chapter 19, RTM_RETIRED, TX_MEM
 *
 * Given  transactions that commit; that PAUSE, or an exception (#DE, #GP), aborts; that store
 *        to, or load from, more lines than the first-level cache has; whose memory is uncacheable
 * When   each of these events, and RTM_RETIRED.ABORTED, counts on IA32_PMC0 to 3 at once
 * Then   RTM_RETIRED.ABORTED counts the transactions that software sees abort. Each other event
 *        counts those that its cause aborted (MISC5: an exception), on each counter, and no others;
 *        on a processor at most those that aborted, and TX_MEM none where none aborted
 */
TEST(tsx, each_abort_event_counts_aborts_of_its_cause_alone, REQS(TSX_01, TSX_18),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	const bool exact = test_sees_exactly(t, REQ_TSX_18);

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		for (unsigned event = 0; event < EVENTS; event++)
			check_cause(t, &causes[i], event, exact);
}

#define WATCHES 16u	/* transactions that another processor may store into */
#define STRICT_WATCHES 4u
#define STRICT_ALONE 1u	/* without that processor: none aborts */

struct watched {
	unsigned aborted, conflicts;	/* by the status in EAX */
	u64 value[COUNTERS];
};

/* Count four events over so many transactions that load from a line; event i is on counter i +
 * turn. */
static void count_watches(const unsigned counted[COUNTERS], unsigned turn, unsigned times,
			  struct watched *w)
{
	w->aborted = w->conflicts = 0;
	for (unsigned i = 0; i < COUNTERS; i++) {
		counter_program((i + turn) % COUNTERS, events[counted[i]].code, COUNT_BOTH);
		counter_write((i + turn) % COUNTERS, 0);
	}
	counters_enable((struct pmc_mask){ BIT(COUNTERS) - 1 });
	for (unsigned i = 0; i < times; i++) {
		u64 status = transaction_watch.run(transaction_words(), WATCHED);

		w->aborted += status != COMMITTED;
		w->conflicts += status != COMMITTED && status & EAX_CONFLICT;
	}
	counters_disable();
	for (unsigned i = 0; i < COUNTERS; i++) {
		w->value[i] = counter_read((i + turn) % COUNTERS);
		counter_program_disabled((i + turn) % COUNTERS, 0, 0);
	}
}

/*
 * TSX-01  RTM_RETIRED.ABORTED with PEBS must make a record of an aborted transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * TSX-18  RTM_RETIRED.ABORTED_MISC1, MISC3, MISC4 and MISC5 and TX_MEM.ABORT_CONFLICT and
 *         ABORT_CAPACITY_WRITE must count the aborts of their own cause, and no others.
 *         SDM chapter 19, RTM_RETIRED, TX_MEM
 *
 * Given  another processor stores to a line all the time; transactions load from that line
 * When   RTM_RETIRED.ABORTED, ABORTED_MISC1, TX_MEM.ABORT_CONFLICT and ABORT_CAPACITY_WRITE count
 *        at once, each on each counter in turn
 * Then   the first counts the transactions that didn't commit; the second and third count those for
 *        which EAX reports a conflict, and the last counts none. On a processor ABORT_CONFLICT
 *        counts at least one, and ABORTED_MISC1 at most those that aborted
 * Control: there are conflicts; without the other processor there are none
 */
TEST(tsx, conflict_events_count_aborts_by_another_processors_stores, REQS(TSX_01, TSX_18),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events, need_second_processor))
{
	static const unsigned counted[COUNTERS] = { ANY_CAUSE, MEMORY_EVENTS, CONFLICT,
						    CAPACITY_WRITES };
	const bool exact = test_sees_exactly(t, REQ_TSX_18);
	const unsigned watches = (unsigned)test_rounds(t, STRICT_WATCHES, WATCHES);
	struct watched w[COUNTERS + 1];

	if (!transaction_works(t) || !transaction_write_on(t))
		return;
	for (unsigned turn = 0; turn < COUNTERS; turn++)
		count_watches(counted, turn, watches, &w[turn]);
	if (!transaction_write_off(t))
		return;
	count_watches(counted, 0, (unsigned)test_rounds(t, STRICT_ALONE, WATCHES), &w[COUNTERS]);
	for (unsigned k = 0; k <= COUNTERS; k++) {
		const bool alone = k == COUNTERS;
		const u64 conflicts = w[k].conflicts, aborted = w[k].aborted;

		if (alone && exact)
			CONTROL_EQ(t, TSX_18, 0, conflicts, "conflicts, no other processor stores");
		else if (!alone)
			CONTROL_RANGE(t, TSX_18, 1, watches, conflicts, "conflicts, turn %u", k);
		CHECK_EQ(t, TSX_01, aborted, w[k].value[0],
			 "RTM_RETIRED.ABORTED, %lu conflicts, turn %u", conflicts, k);
		for (unsigned i = 1; i < COUNTERS; i++) {
			const char *name = events[counted[i]].name;
			u64 least = counted[i] == CAPACITY_WRITES ? 0 : conflicts;

			if (exact)
				CHECK_EQ(t, TSX_18, least, w[k].value[i],
					 "%s, %lu conflicts, turn %u", name, conflicts, k);
			else
				CHECK_RANGE(t, TSX_18, counted[i] == CONFLICT && conflicts,
					    most_of(counted[i], aborted), w[k].value[i],
					    "%s, %lu conflicts, turn %u", name, conflicts, k);
		}
	}
}

/*
 * TSX-08  RTM_RETIRED.START and RTM_RETIRED.COMMIT must count the transactions that begin and
 *         those that commit.
 *         SDM chapter 19, RTM_RETIRED
 * TSX-13  HLE_RETIRED.START, COMMIT and ABORTED must count the elided locks that begin, that end
 *         and that abort, and RTM_RETIRED none of them.
 *         SDM chapter 19, HLE_RETIRED
 *
 * Given  elided locks that end well and that PAUSE aborts; transactions that commit and that XABORT
 *        ends
 * When   HLE_RETIRED.START, COMMIT, ABORTED and RTM_RETIRED.START, COMMIT count on IA32_PMC0 to 3
 *        at once
 * Then   on each counter those of RTM_RETIRED count none of the locks, and those of HLE_RETIRED
 *        none of the transactions
 * Control: HLE_RETIRED.START counts the locks, RTM_RETIRED.START the transactions
 */
TEST(tsx, hle_and_rtm_events_are_apart_on_each_counter, REQS(TSX_08, TSX_13),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_hle))
{
	static const u16 hle[] = { EVENT_HLE_RETIRED_START, EVENT_HLE_RETIRED_COMMIT,
				   EVENT_HLE_RETIRED_ABORTED };
	static const u16 rtm[] = { EVENT_RTM_RETIRED_START, EVENT_RTM_RETIRED_COMMIT };
	static const struct cause locks[] = { { &transaction_elided, LOADS_EACH, false, 0 },
					      { &transaction_elided_pause, LOADS_EACH, false, 0 } };
	static const struct cause regions[] = { { &transaction_commit, LOADS_EACH, false, 0 },
						{ &transaction_xabort, LOADS_EACH, false, 0 } };
	u64 value[COUNTERS];

	if (!transaction_works(t) || !transaction_elision_works(t))
		return;
	for (unsigned k = 0; k < 2; k++) {
		for (unsigned e = 0; e < sizeof(rtm) / sizeof(rtm[0]); e++) {
			count_cause(t, &locks[k], rtm[e], value);
			for (unsigned c = 0; c < COUNTERS; c++)
				CHECK_EQ(t, TSX_08, 0, value[c],
					 "event %#x of elided locks, %s, IA32_PMC%u", rtm[e],
					 locks[k].piece->name, c);
		}
		for (unsigned e = 0; e < sizeof(hle) / sizeof(hle[0]); e++) {
			count_cause(t, &regions[k], hle[e], value);
			for (unsigned c = 0; c < COUNTERS; c++)
				CHECK_EQ(t, TSX_13, 0, value[c],
					 "event %#x of transactions, %s, IA32_PMC%u", hle[e],
					 regions[k].piece->name, c);
		}
		count_cause(t, &locks[k], EVENT_HLE_RETIRED_START, value);
		for (unsigned c = 0; c < COUNTERS; c++)
			CONTROL_RANGE(t, TSX_13, 1, runs_of(t), value[c],
				      "HLE_RETIRED.START, %s, IA32_PMC%u", locks[k].piece->name, c);
		count_cause(t, &regions[k], EVENT_RTM_RETIRED_START, value);
		for (unsigned c = 0; c < COUNTERS; c++)
			CONTROL_RANGE(t, TSX_08, 1, runs_of(t), value[c],
				      "RTM_RETIRED.START, %s, IA32_PMC%u", regions[k].piece->name,
				      c);
	}
}

/*
 * TSX-13  HLE_RETIRED.START, COMMIT and ABORTED must count the elided locks that begin, that end
 *         and that abort, and RTM_RETIRED none of them.
 *         SDM chapter 19, HLE_RETIRED
 * TSX-18  RTM_RETIRED.ABORTED_MISC1, MISC3, MISC4 and MISC5 and TX_MEM.ABORT_CONFLICT and
 *         ABORT_CAPACITY_WRITE must count the aborts of their own cause, and no others.
 *         SDM chapter 19, RTM_RETIRED, TX_MEM
 *
 * Given  elided locks that PAUSE aborts, and elided locks with stores to more lines than the L1 has
 * When   each event of an abort's cause counts on IA32_PMC0 to 3 at once
 * Then   the events of RTM_RETIRED count none. Those of TX_MEM, which are of locks too, count the
 *        aborts of their cause alone, on a processor at most all aborts
 * Control: HLE_RETIRED.ABORTED counts those that were aborted
 */
TEST(tsx, abort_events_of_rtm_count_no_elided_locks_and_those_of_memory_do, REQS(TSX_13, TSX_18),
     NEEDS(need_perfmon, need_four_counters, need_hle, need_events))
{
	static const struct cause locks[] = {
		{ &transaction_elided_pause, LOADS_EACH, false, 0 },
		{ &transaction_elided_stores, TRANSACTION_LINES, false, BIT(CAPACITY_WRITES) },
	};
	const bool exact = test_sees_exactly(t, REQ_TSX_18);
	u64 value[COUNTERS];

	if (!transaction_elision_works(t))
		return;
	for (unsigned i = 0; i < 2; i++) {
		unsigned aborted = runs_of(t) -
				   count_cause(t, &locks[i], EVENT_HLE_RETIRED_ABORTED, value);

		for (unsigned c = 0; c < COUNTERS; c++)
			CONTROL_RANGE(t, TSX_13, exact ? aborted : 0, aborted, value[c],
				      "HLE_RETIRED.ABORTED, %s, IA32_PMC%u", locks[i].piece->name,
				      c);
		for (unsigned event = 0; event < EVENTS; event++) {
			unsigned well = count_cause(t, &locks[i], events[event].code, value);

			if (event == CONFLICT || event == CAPACITY_WRITES) {
				check_values(t, &locks[i], event, exact, well, value);
				continue;
			}
			for (unsigned c = 0; c < COUNTERS; c++)
				CHECK_EQ(t, TSX_13, 0, value[c],
					 "%s of elided locks, %s, IA32_PMC%u", events[event].name,
					 locks[i].piece->name, c);
		}
	}
}

#define LINES		48u	/* fewer than any processor's capacity for stores */
#define TRIES		200u
#define WORDS_A_LINE	8u

/* The contents of each line's words before a transaction. */
static u64 word_before(unsigned line, unsigned word)
{
	return 0x5a00000000000000ULL | line << 8 | word;
}

/* The number of words in the lines that have changed. */
static unsigned words_changed(const u64 *words)
{
	unsigned changed = 0;

	for (unsigned i = 0; i < LINES * WORDS_A_LINE; i++)
		changed += words[i] != word_before(i / WORDS_A_LINE, i % WORDS_A_LINE);
	return changed;
}

/*
 * TSX-02  A PEBS event inside a transaction must abort it before the record is written.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 *
 * Given  each counter samples stores; transactions store to the first word of each of many lines,
 *        whose words are known
 * When   they run until some of them were aborted by a record
 * Then   no word of the lines of an aborted transaction has changed
 * Control: a transaction that commits has changed a word of each line; some were aborted, and there
 *          is a record with RTM_Abort
 */
TEST(tsx, record_of_a_store_takes_back_all_stores_of_its_transaction, REQS(TSX_02),
     NEEDS(need_perfmon, need_four_counters, need_pebs, need_rtm, need_events))
{
	u64 *words = transaction_words();

	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < COUNTERS; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record = { .format = setup.format };
		unsigned aborted = 0, left = 0, written = LINES;
		bool found = false;

		setup.reset[c] = pebs_reset_value(c, PERIOD);
		ds_open(&setup);
		pebs_arm(c, STORES, COUNT_BOTH, PERIOD);
		for (unsigned i = 0; i < TRIES && !found; i++) {
			u64 status;

			for (unsigned k = 0; k < LINES * WORDS_A_LINE; k++)
				words[k] = word_before(k / WORDS_A_LINE, k % WORDS_A_LINE);
			counters_enable(pmc_one(c));
			status = transaction_stores.run(words, LINES);
			counters_disable();
			aborted += status != COMMITTED;
			if (status != COMMITTED)
				left += words_changed(words);
			else
				written = words_changed(words);
			if (!ds_records())
				continue;
			record_decode(setup.format, ds_record(0), record_size(setup.format),
				      &record);
			found = sampling_field(&record, RECORD_tx_abort) & TX_RTM_ABORT;
			ds_set_index(0);
		}
		pebs_disarm();
		counter_program_disabled(c, 0, 0);
		CONTROL(t, TSX_02, found && aborted, "a record with RTM_Abort, IA32_PMC%u", c);
		CONTROL_EQ(t, TSX_02, LINES, written, "words that a committed one changes");
		CHECK_EQ(t, TSX_02, 0, left, "words changed by %u aborted ones, IA32_PMC%u",
			 aborted, c);
	}
}
