/* SPDX-License-Identifier: MIT */
/*
 * Counting in transactions: SDM "Performance Monitoring and Intel TSX". Only differences between
 * two sizes of one transaction are checked, because the manual doesn't say whether XBEGIN and XEND
 * are inside. Windows are repeated until each transaction ends by its own XEND or XABORT.
 */
#include "pmu/counter.h"
#include "pmu/event.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define FEWER	10		/* loads in a transaction; the counts of two sizes are compared */
#define MORE	40
#define STRICT_MORE 20
#define RUNS	4		/* transactions in a window */
#define STRICT_LONG_RUNS 2	/* of long ones; nothing aborts by chance */
#define OUTSIDE	100		/* loads outside of transactions, in addition to the loop's */
#define STRICT_OUTSIDE 25
#define PRESET	1000000ULL	/* value of a counter before; it must not become smaller */
#define FILTER	2u		/* IA32_PMC2, the only one that may have IN_TXCP */

static void begin_window(unsigned counter, u16 event, u64 flags, u64 start)
{
	counter_program(counter, event, COUNT_BOTH | flags);
	counter_write(counter, start);
	counters_enable(pmc_one(counter));
}

/* Returns the counter's value. */
static u64 end_window(unsigned counter)
{
	u64 value;

	counters_disable();
	value = counter_read(counter);
	counter_program_disabled(counter, 0, 0);
	return value;
}

/* A counter that begins at PRESET, after so many transactions, or RUNS, of n loads each.
 * *committed: how many committed. */
static u64 counted_in(unsigned runs, unsigned counter, u16 event, u64 flags,
		      const struct transaction *piece, u64 n, unsigned *committed)
{
	begin_window(counter, event, flags, PRESET);
	*committed = transaction_run(piece, n, runs);
	return end_window(counter);
}

static u64 counted(unsigned counter, u16 event, u64 flags, const struct transaction *piece, u64 n,
		   unsigned *committed)
{
	return counted_in(RUNS, counter, event, flags, piece, n, committed);
}

/* The same of a window in which each transaction ended by its XEND or XABORT. false: the test is
 * INCONCLUSIVE. */
static bool counted_to_end(struct test *t, unsigned counter, u16 event, u64 flags,
			   const struct transaction *piece, u64 n, u64 *value)
{
	for (unsigned i = 0; i < TRANSACTION_WINDOWS; i++) {
		unsigned ended;

		begin_window(counter, event, flags, PRESET);
		ended = transaction_run_ended(piece, n, RUNS);
		*value = end_window(counter);
		if (ended == RUNS)
			return true;
	}
	return transaction_judge_last(t, piece);
}

/* Runs of a piece that accesses many lines, or until another processor stores. */
static unsigned long_runs(const struct test *t)
{
	return (unsigned)test_rounds(t, STRICT_LONG_RUNS, RUNS);
}

/* What IA32_PMC2 with IN_TX alone keeps of so many transactions that abort. Some may abort at once:
 * windows are repeated until it keeps `wanted`. */
static u64 kept_at_best(const struct test *t, unsigned runs, u16 event,
			const struct transaction *piece, u64 n, u64 wanted)
{
	u64 got = 0;

	for (unsigned i = 0; i < (test_is_strict(t) ? 1 : TRANSACTION_WINDOWS) && got < wanted;
	     i++) {
		unsigned committed;

		got = counted_in(runs, FILTER, event, IA32_PERFEVTSEL_IN_TX, piece, n, &committed);
	}
	return got;
}

/* The larger number of loads that is compared with FEWER. */
static u64 more_of(const struct test *t)
{
	return test_rounds(t, STRICT_MORE, MORE);
}

/* The number of an event for each of the n loads of a transaction. */
struct per_load {
	const char *name;
	u16 event;
	u64 n;
};

/* Check the counts of RUNS transactions with more loads, minus those with FEWER loads: where it is
 * exact each load counts, and nothing else; otherwise half of them to twice as many. */
static void check_per_load(struct test *t, struct test_claim claim, unsigned counter,
			   const struct per_load *what, u64 flags, const struct transaction *piece)
{
	const u64 all = what->n * (more_of(t) - FEWER) * RUNS;
	u64 fewer, more;

	if (!counted_to_end(t, counter, what->event, flags, piece, FEWER, &fewer) ||
	    !counted_to_end(t, counter, what->event, flags, piece, more_of(t), &more))
		return;
	if (test_sees_claim(t, &claim))
		test_check_eq(t, claim, all, more - fewer, "%s in %u transactions, %s, IA32_PMC%u",
			      what->name, RUNS, piece->name, counter);
	else
		test_check_range(t, claim, all / 2, 2 * all, more - fewer,
				 "%s in %u transactions, %s, IA32_PMC%u", what->name, RUNS,
				 piece->name, counter);
}

static void check_difference(struct test *t, struct test_claim claim, unsigned counter, u64 flags,
			     const struct transaction *piece)
{
	check_per_load(t, claim, counter, &(struct per_load){ "loads", LOADS, 1 }, flags, piece);
}

/* "Regardless of whether that region was aborted or committed", and at any nesting depth. */
static void check_inside(struct test *t, unsigned c, const struct per_load *what)
{
	static const struct {
		const struct transaction *piece;
		u64 loops;
	} each[] = {
		{ &transaction_commit, 1 },	   { &transaction_xabort, 1 },
		{ &transaction_nested_commit, 1 }, { &transaction_nested_deep, 1 },
		{ &transaction_nested_inside, 2 }, { &transaction_nested_after, 2 },
	};

	for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		check_per_load(t, AT(TSX_06), c,
			       &(struct per_load){ what->name, what->event,
						   what->n * each[i].loops },
			       IA32_PERFEVTSEL_IN_TX, each[i].piece);
}

/*
 * TSX-06  A counter with IN_TX set must count inside transactions only.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  each counter counts loads with IN_TX
 * When   loads run outside of transactions; then transactions with 10 and with 40 loads (20 in
 *        strict runs), which commit, and which XABORT ends; the same where the loads are in the
 *        innermost of two and of three, and in both of two
 * Then   the loads outside count 0; of the others the difference of the two sizes is counted,
 *        "regardless of whether that region was aborted or committed"
 */
TEST(tsx, counter_with_in_tx_counts_only_inside_transactions, REQS(TSX_06),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < 4; c++) {
		u64 outside = 0;

		if (!window_count_one(t, c, LOADS, COUNT_BOTH | IA32_PERFEVTSEL_IN_TX,
				      &workload_load, OUTSIDE, &outside))
			return;
		CHECK_EQ(t, TSX_06, 0, outside, "loads outside of transactions, IA32_PMC%u", c);
		check_inside(t, c, &(struct per_load){ "loads", LOADS, 1 });
	}
}

/*
 * TSX-07  A counter with IN_TXCP set must not keep what an aborted transaction counted.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  IA32_PMC2 counts loads with IN_TXCP, which is for IA32_PERFEVTSEL2 only, from 1000000 on
 * When   transactions with 10 and with 40 loads (20 in strict runs) are ended by XABORT
 * Then   both leave the same count: the value from before, plus the loads outside of the
 *        transactions
 * Control: without IN_TXCP the loads of aborted transactions count; with it those of transactions
 *          that commit
 */
TEST(tsx, in_txcp_takes_back_loads_of_aborted_transactions, REQS(TSX_07),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	unsigned committed;
	u64 fewer, more;

	if (!transaction_works(t))
		return;
	check_difference(t, CONTROL_AT(TSX_07), FILTER, 0, &transaction_xabort);
	check_difference(t, CONTROL_AT(TSX_07), FILTER, IA32_PERFEVTSEL_IN_TXCP,
			 &transaction_commit);
	fewer = counted(FILTER, LOADS, IA32_PERFEVTSEL_IN_TXCP, &transaction_xabort, FEWER,
			&committed);
	more = counted(FILTER, LOADS, IA32_PERFEVTSEL_IN_TXCP, &transaction_xabort, more_of(t),
		       &committed);
	CONTROL_EQ(t, TSX_07, 0, committed, "commits of XABORT");
	/* The loads outside of transactions must stay in the count, and so must the preset
	 * value. */
	CHECK_RANGE(t, TSX_07, PRESET, PRESET + RUNS * (MORE - FEWER), fewer,
		    "IA32_PMC2 with IN_TXCP after %u aborted transactions, from %llu on", RUNS,
		    PRESET);
	if (test_sees_exactly(t, REQ_TSX_07))
		CHECK_EQ(t, TSX_07, fewer, more, "and with %lu loads more in each",
			 more_of(t) - FEWER);
	else
		CHECK_RANGE(t, TSX_07, PRESET, PRESET + RUNS * (MORE - FEWER), more,
			    "and with %u loads more in each", MORE - FEWER);
}

#define BOTH_FILTERS (IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP)

/* Architectural events, and their number for each load of a transaction. */
static const struct per_load others[] = {
	{ "instructions", EVENT_INST_RETIRED_ANY_P, 4 },
	{ "branches", EVENT_BR_INST_RETIRED_ALL_BRANCHES, 1 },
};
#define OTHERS (sizeof(others) / sizeof(others[0]))

/* The counter must not count outside of transactions, at CPL 0 and 3. */
static void check_outside(struct test *t, unsigned c, const char *name, u16 event, u64 flags)
{
	const u64 rounds = test_rounds(t, STRICT_OUTSIDE, OUTSIDE);

	flags |= COUNT_BOTH | IA32_PERFEVTSEL_IN_TX;
	counter_program(c, event, flags);
	counter_write(c, PRESET);
	counters_enable(pmc_one(c));
	workload_run_uncounted(&workload_mixed, rounds);
	workload_run_user(&workload_mixed, rounds);
	counters_disable();
	CHECK_EQ(t, TSX_06, PRESET, counter_read(c),
		 "IA32_PMC%u with IN_TX after %s outside of transactions, from %llu on", c, name,
		 PRESET);
	counter_program(c, event, flags & ~IA32_PERFEVTSEL_IN_TX);
	counter_write(c, PRESET);
	counters_enable(pmc_one(c));
	workload_run_user(&workload_mixed, rounds);
	counters_disable();
	CONTROL_RANGE(t, TSX_06, PRESET + 1, ~0ULL, counter_read(c),
		      "IA32_PMC%u without IN_TX after %s at CPL 3", c, name);
	counter_program_disabled(c, 0, 0);
}

#define ONE_EACH (1ULL << IA32_PERFEVTSEL_CMASK_SHIFT)
#define MOST_A_CLOCK 16u	/* more loads than any processor retires in a clock */

static const struct {
	const char *name;
	u64 flags;
} conditions[] = {
	{ "clocks with a load", ONE_EACH },
	{ "clocks without 255 loads", 255ULL << IA32_PERFEVTSEL_CMASK_SHIFT | IA32_PERFEVTSEL_INV },
	{ "times that loads begin", ONE_EACH | IA32_PERFEVTSEL_E },
};

/* Check clocks of transactions that commit. */
static void check_clocks_inside(struct test *t, unsigned c, const char *name, u64 flags)
{
	unsigned committed;
	u64 got = counted(c, LOADS, flags | IA32_PERFEVTSEL_IN_TX, &transaction_commit, MORE,
			  &committed);

	CHECK_RANGE(t, TSX_06, PRESET + (u64)committed * MORE / MOST_A_CLOCK, ~0ULL, got,
		    "IA32_PMC%u with IN_TX, %s in %u transactions, from %llu on", c, name,
		    committed, PRESET);
}

/*
 * TSX-06  A counter with IN_TX set must count inside transactions only.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  each counter counts instructions, branches, core cycles, loads, stores or, with CMASK,
 *        clocks with a load, those without (INV), or times that loads begin (E), with IN_TX
 * When   code runs outside of transactions, at CPL 0 and at CPL 3; then, with the first two events,
 *        transactions with 10 and with 40 loads (20 in strict runs), which commit, and which XABORT
 *        ends, some nested; with CMASK those of 40 loads that commit
 * Then   the code outside counts 0; of the others the difference of the two sizes is counted; the
 *        clocks inside are at least those of 40 loads at 16 loads a clock
 * Control: without IN_TX the code at CPL 3 counts
 */
TEST(tsx, in_tx_holds_for_any_event_and_privilege_level, REQS(TSX_06),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_instructions, need_branches,
	   need_cycles, need_events))
{
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < 4; c++) {
		for (unsigned i = 0; i < OTHERS; i++) {
			check_outside(t, c, others[i].name, others[i].event, 0);
			check_inside(t, c, &others[i]);
		}
		check_outside(t, c, "core cycles", EVENT_UNHALTED_CORE_CYCLES, 0);
		check_outside(t, c, "loads", LOADS, 0);
		check_outside(t, c, "stores", STORES, 0);
		for (unsigned i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
			check_outside(t, c, conditions[i].name, LOADS, conditions[i].flags);
		/* With E there may be only one rise. */
		check_clocks_inside(t, c, conditions[0].name, conditions[0].flags);
		check_clocks_inside(t, c, conditions[1].name, conditions[1].flags);
	}
}

/* Count loads on IA32_PMC2 from this value on, in transactions one of which ends by XABORT. false:
 * none did, and the test is INCONCLUSIVE. */
static bool counted_from(struct test *t, u64 flags, u64 start, u64 *value)
{
	for (unsigned i = 0; i < TRANSACTION_WINDOWS; i++) {
		unsigned ended;

		begin_window(FILTER, LOADS, flags, start);
		ended = transaction_run_ended(&transaction_xabort, MORE, RUNS);
		*value = end_window(FILTER);
		if (ended)
			return true;
	}
	return transaction_judge_last(t, &transaction_xabort);
}

/* IA32_PMC2 begins FEWER below these values, so that the carry occurs within a transaction's loads.
 * The last value is negative, and doesn't overflow. */
static const u64 carries[] = { BIT(32), BIT(40), BIT(47), BITS(20, 47) };

/*
 * TSX-07  A counter with IN_TXCP set must not keep what an aborted transaction counted.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  IA32_PMC2 counts instructions or branches with IN_TX and IN_TXCP; then loads, from 10
 *        below 2^32, 2^40 and 2^47 on, and from a negative value
 * When   transactions with 40 loads are ended by XABORT
 * Then   of instructions and branches no more than two are left of each; of loads none is left, in
 *        the upper half of the counter too
 * Control: with IN_TX alone the counter has passed that value
 */
TEST(tsx, in_txcp_takes_back_counts_of_any_event_and_a_carry, REQS(TSX_07),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_instructions, need_branches,
	   need_events))
{
	static const u64 flags[] = { IA32_PERFEVTSEL_IN_TX, BOTH_FILTERS };
	unsigned committed;

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < OTHERS; i++)
		CHECK_RANGE(t, TSX_07, PRESET, PRESET + 2 * RUNS,
			    counted(FILTER, others[i].event, BOTH_FILTERS, &transaction_xabort,
				    MORE, &committed),
			    "IA32_PMC2 with IN_TX and IN_TXCP after %u aborted transactions, of %s",
			    RUNS, others[i].name);
	for (unsigned i = 0; i < 2 * sizeof(carries) / sizeof(carries[0]); i++) {
		const u64 start = carries[i / 2] - FEWER;
		const bool both = i % 2;
		u64 value;

		counter_write(FILTER, start);
		if (counter_read(FILTER) != start)
			continue;	/* without full-width writes, or with a narrower counter */
		if (!counted_from(t, flags[both], start, &value))
			return;
		if (both)
			CHECK_EQ(t, TSX_07, start, value,
				 "IA32_PMC2 with both after aborts that it passed %#lx in",
				 carries[i / 2]);
		else
			CONTROL_RANGE(t, TSX_07, carries[i / 2], ~0ULL, value,
				      "IA32_PMC2 with IN_TX alone");
	}
}

#define LOOP 1000	/* loads */
#define STRICT_LOOP 200

/*
 * TSX-07  A counter with IN_TXCP set must not keep what an aborted transaction counted.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  IA32_PMC2 counts core cycles with IN_TX and IN_TXCP
 * When   transactions with a loop of 1000 rounds (200 in strict runs) are ended by XABORT
 * Then   less than half of the cycles with IN_TX alone are left
 * Control: with IN_TX alone there are at least as many as these rounds at 16 a cycle have; so there
 *          are with both flags if they commit
 */
TEST(tsx, in_txcp_takes_back_core_cycles_of_aborted_transactions, REQS(TSX_07),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_cycles))
{
	const u64 loop = test_rounds(t, STRICT_LOOP, LOOP), least = RUNS * loop / MOST_A_CLOCK;
	unsigned committed;
	u64 got, most;

	if (!transaction_works(t))
		return;
	if (!counted_to_end(t, FILTER, EVENT_UNHALTED_CORE_CYCLES, IA32_PERFEVTSEL_IN_TX,
			    &transaction_xabort, loop, &got))
		return;
	CONTROL_RANGE(t, TSX_07, PRESET + least, ~0ULL, got,
		      "IA32_PMC2 with IN_TX alone, core cycles of %u aborted transactions", RUNS);
	most = PRESET + (got - PRESET) / 2;
	got = counted(FILTER, EVENT_UNHALTED_CORE_CYCLES, BOTH_FILTERS, &transaction_xabort, loop,
		      &committed);
	CHECK_RANGE(t, TSX_07, PRESET, most, got,
		    "IA32_PMC2 with IN_TX and IN_TXCP, core cycles of %u aborted transactions",
		    RUNS);
	got = counted(FILTER, EVENT_UNHALTED_CORE_CYCLES, BOTH_FILTERS, &transaction_commit, loop,
		      &committed);
	CONTROL_RANGE(t, TSX_07, PRESET + least * committed / RUNS, ~0ULL, got,
		      "and of %u transactions, %u of which committed", RUNS, committed);
}

/*
 * TSX-06  A counter with IN_TX set must count inside transactions only.
 * TSX-07  A counter with IN_TXCP set must not keep what an aborted transaction counted.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  IA32_PMC2 counts loads with IN_TX and IN_TXCP
 * When   loads run outside of transactions; in transactions that commit; in transactions that
 *        XABORT ends
 * Then   only the second count
 */
TEST(tsx, in_tx_and_in_txcp_together_count_only_committed_loads, REQS(TSX_06, TSX_07),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	u64 outside = 0, aborted;
	unsigned committed;

	if (!transaction_works(t) || !window_count_one(t, FILTER, LOADS, COUNT_BOTH | BOTH_FILTERS,
						       &workload_load, OUTSIDE, &outside))
		return;
	CHECK_EQ(t, TSX_06, 0, outside, "loads outside of transactions, IN_TX and IN_TXCP");
	check_difference(t, AT(TSX_06), FILTER, BOTH_FILTERS, &transaction_commit);
	aborted = counted(FILTER, LOADS, BOTH_FILTERS, &transaction_xabort, MORE, &committed);
	CHECK_EQ(t, TSX_07, PRESET, aborted, "IA32_PMC2 with both after %u aborted transactions",
		 RUNS - committed);
}

/*
 * TSX-06  A counter with IN_TX set must count inside transactions only.
 * TSX-07  A counter with IN_TXCP set must not keep what an aborted transaction counted.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  IA32_PMC2 with IN_TX and IN_TXCP counts loads, or stores
 * When   transactions are aborted by XABORT, by PAUSE, by an exception (#UD, #DE, #GP), by stores
 *        to more lines than the L1 has, and by loads of as many where that aborts each
 * Then   the counter keeps its value: "when a transactional region aborts, the value for that
 *        counter is restored"
 * Control: with IN_TX alone it counts at least one a transaction
 */
TEST(tsx, in_txcp_takes_back_counts_of_any_kind_of_abort, REQS(TSX_06, TSX_07),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	static const struct {
		const struct transaction *piece;
		bool stores;
		u64 n;
	} each[] = {
		{ &transaction_xabort, false, MORE },
		{ &transaction_pause, false, MORE },
		{ &transaction_undefined, false, MORE },
		{ &transaction_divide, false, MORE },
		{ &transaction_address, false, MORE },
		{ &transaction_stores, true, TRANSACTION_LINES },
		{ &transaction_loads, false, TRANSACTION_LINES },
	};

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		const unsigned runs = each[i].n == TRANSACTION_LINES ? long_runs(t) : RUNS;
		u16 event = each[i].stores ? STORES : LOADS;
		unsigned committed;
		u64 got;

		got = counted_in(runs, FILTER, event, BOTH_FILTERS, each[i].piece, each[i].n,
				 &committed);
		if (committed && each[i].piece == &transaction_loads)
			continue;
		CHECK_EQ(t, TSX_07, PRESET, got,
			 "IA32_PMC2 with IN_TX and IN_TXCP after %s, %u "
			 "of %u committed",
			 each[i].piece->name, committed, runs);
		got = kept_at_best(t, runs, event, each[i].piece, each[i].n, PRESET + runs);
		CHECK_RANGE(t, TSX_06, PRESET + runs, ~0ULL, got,
			    "IA32_PMC2 with IN_TX alone after %s", each[i].piece->name);
	}
}

/* With both bits IA32_PMC2 keeps its value, except for transactions that commit; with IN_TX alone
 * it counts. */
static void check_taken_back(struct test *t, const struct transaction *piece, u64 n)
{
	const unsigned runs = long_runs(t);
	unsigned committed;
	u64 got = counted_in(runs, FILTER, LOADS, BOTH_FILTERS, piece, n, &committed);

	CHECK_RANGE(t, TSX_07, PRESET, PRESET + 2 * n * committed, got,
		    "IA32_PMC2 with IN_TX and IN_TXCP after %s, %u of %u committed", piece->name,
		    committed, runs);
	got = kept_at_best(t, runs, LOADS, piece, n, PRESET + 1);
	CONTROL_RANGE(t, TSX_07, PRESET + 1, ~0ULL, got, "IA32_PMC2 with IN_TX alone after %s",
		      piece->name);
}

/*
 * TSX-07  A counter with IN_TXCP set must not keep what an aborted transaction counted.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  IA32_PMC2 with IN_TX and IN_TXCP counts loads
 * When   transactions load from more lines than the L1 has; then, where there is another processor,
 *        from a line that it stores to all the time
 * Then   the counter keeps its value, except for the loads of those that commit
 * Control: with IN_TX alone it counts
 */
TEST(tsx, in_txcp_takes_back_loads_of_aborts_by_memory, REQS(TSX_07),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	char reason[64];

	if (!transaction_works(t))
		return;
	check_taken_back(t, &transaction_loads, TRANSACTION_LINES);
	if (!need_second_processor(reason, sizeof(reason)) || !transaction_write_on(t))
		return;
	check_taken_back(t, &transaction_watch, WATCHED);
	transaction_write_off(t);
}

/*
 * TSX-07  A counter with IN_TXCP set must not keep what an aborted transaction counted.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  IA32_PMC2 with IN_TX and IN_TXCP counts loads; transactions have loads before a
 *        nested one and in it
 * When   XABORT is in the nested one, or after its XEND
 * Then   the counter keeps the value that it had before the outermost XBEGIN
 * Control: with IN_TX alone it counts at least one a transaction
 */
TEST(tsx, in_txcp_takes_nested_transactions_back_to_the_outermost_xbegin, REQS(TSX_07),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	static const struct transaction *const pieces[] = { &transaction_nested_inside,
							    &transaction_nested_after };

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		unsigned committed;
		u64 got = counted(FILTER, LOADS, BOTH_FILTERS, pieces[i], MORE, &committed);

		CHECK_EQ(t, TSX_07, PRESET, got,
			 "IA32_PMC2 with IN_TX and IN_TXCP after %u transactions, %s", RUNS,
			 pieces[i]->name);
		got = kept_at_best(t, RUNS, LOADS, pieces[i], MORE, PRESET + RUNS);
		CONTROL_RANGE(t, TSX_07, PRESET + RUNS, ~0ULL, got,
			      "IA32_PMC2 with IN_TX alone after them");
	}
}

/*
 * TSX-01  RTM_RETIRED.ABORTED with PEBS must make a record of an aborted transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * TSX-08  RTM_RETIRED.START and RTM_RETIRED.COMMIT must count the transactions that begin and
 *         those that commit.
 *         SDM chapter 19, RTM_RETIRED
 *
 * Given  four transactions, each with one nested in it that XABORT ends
 * When   each counter counts RTM_RETIRED.ABORTED; RTM_RETIRED.COMMIT
 * Then   the first counts 4, the second 0
 * Control: none of the transactions commits
 */
TEST(tsx, abort_of_nested_transactions_counts_once, REQS(TSX_01, TSX_08),
     NEEDS(need_perfmon, need_four_counters, need_rtm), .under_every_fault = true)
{
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < 4; c++) {
		unsigned committed;
		u64 got = counted(c, EVENT_RTM_RETIRED_ABORTED, 0, &transaction_nested, FEWER,
				  &committed);

		CONTROL_EQ(t, TSX_01, 0, committed, "nested transactions with XABORT that commit");
		CHECK_EQ(t, TSX_01, RUNS, got - PRESET,
			 "RTM_RETIRED.ABORTED of %u nested transactions, IA32_PMC%u", RUNS, c);
		got = counted(c, EVENT_RTM_RETIRED_COMMIT, 0, &transaction_nested, FEWER,
			      &committed);
		CHECK_EQ(t, TSX_08, 0, got - PRESET, "RTM_RETIRED.COMMIT of them, IA32_PMC%u", c);
	}
}

/*
 * TSX-01  RTM_RETIRED.ABORTED with PEBS must make a record of an aborted transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * TSX-08  RTM_RETIRED.START and RTM_RETIRED.COMMIT must count the transactions that begin and
 *         those that commit.
 *         SDM chapter 19, RTM_RETIRED
 *
 * Given  four transactions with others nested in them: of two and of three that end by XEND, of
 *        two where XABORT is in the inner one, or after its XEND
 * When   each counter counts RTM_RETIRED.START, COMMIT or ABORTED, each piece on another one
 * Then   START counts 4, COMMIT those that software sees commit, ABORTED the others
 * Control: some of the first two commit, none of the others
 */
TEST(tsx, nested_transactions_start_and_end_once, REQS(TSX_01, TSX_08),
     NEEDS(need_perfmon, need_four_counters, need_rtm))
{
	static const struct {
		const struct transaction *piece;
		bool commits;
	} each[] = {
		{ &transaction_nested_commit, true },
		{ &transaction_nested_deep, true },
		{ &transaction_nested, false },
		{ &transaction_nested_after, false },
	};

	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < sizeof(each) / sizeof(each[0]); c++) {
		const struct transaction *piece = each[c].piece;
		unsigned committed;
		u64 got;

		got = counted(c, EVENT_RTM_RETIRED_START, 0, piece, FEWER, &committed);
		CONTROL_RANGE(t, IDS(TSX_01, TSX_08), each[c].commits, each[c].commits ? RUNS : 0,
			      committed, "%s that commit", piece->name);
		CHECK_EQ(t, TSX_08, RUNS, got - PRESET, "RTM_RETIRED.START, %s, IA32_PMC%u",
			 piece->name, c);
		got = counted(c, EVENT_RTM_RETIRED_COMMIT, 0, piece, FEWER, &committed);
		CHECK_EQ(t, TSX_08, committed, got - PRESET, "RTM_RETIRED.COMMIT, %s, IA32_PMC%u",
			 piece->name, c);
		got = counted(c, EVENT_RTM_RETIRED_ABORTED, 0, piece, FEWER, &committed);
		CHECK_EQ(t, TSX_01, RUNS - committed, got - PRESET,
			 "RTM_RETIRED.ABORTED, %s, IA32_PMC%u", piece->name, c);
	}
}

/*
 * TSX-01  RTM_RETIRED.ABORTED with PEBS must make a record of an aborted transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * TSX-08  RTM_RETIRED.START and RTM_RETIRED.COMMIT must count the transactions that begin and
 *         those that commit.
 *         SDM chapter 19, RTM_RETIRED
 *
 * Given  four transactions that software sees commit or abort; four that XABORT ends
 * When   each counter counts RTM_RETIRED.START, COMMIT and ABORTED
 * Then   of the first START counts 4, COMMIT those that commit and ABORTED the others; of the
 *        second ABORTED counts 4 and COMMIT 0
 */
TEST(tsx, rtm_retired_counts_starts_commits_and_aborts, REQS(TSX_01, TSX_08),
     NEEDS(need_perfmon, need_four_counters, need_rtm))
{
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < 4; c++) {
		unsigned committed;
		u64 got;

		got = counted(c, EVENT_RTM_RETIRED_START, 0, &transaction_commit, FEWER,
			      &committed);
		CHECK_EQ(t, TSX_08, RUNS, got - PRESET, "RTM_RETIRED.START, IA32_PMC%u", c);
		got = counted(c, EVENT_RTM_RETIRED_COMMIT, 0, &transaction_commit, FEWER,
			      &committed);
		CHECK_EQ(t, TSX_08, committed, got - PRESET, "RTM_RETIRED.COMMIT, IA32_PMC%u", c);
		got = counted(c, EVENT_RTM_RETIRED_ABORTED, 0, &transaction_commit, FEWER,
			      &committed);
		CHECK_EQ(t, TSX_01, RUNS - committed, got - PRESET,
			 "RTM_RETIRED.ABORTED, XEND, IA32_PMC%u", c);
		got = counted(c, EVENT_RTM_RETIRED_ABORTED, 0, &transaction_xabort, FEWER,
			      &committed);
		CHECK_EQ(t, TSX_01, RUNS, got - PRESET, "RTM_RETIRED.ABORTED, XABORT, IA32_PMC%u",
			 c);
		got = counted(c, EVENT_RTM_RETIRED_COMMIT, 0, &transaction_xabort, FEWER,
			      &committed);
		CHECK_EQ(t, TSX_08, 0, got - PRESET, "RTM_RETIRED.COMMIT, XABORT, IA32_PMC%u", c);
	}
}
