/* SPDX-License-Identifier: MIT */
/*
 * The cycles of the last transaction, in the records that follow it and in those of its abort: SDM
 * Table 18-51. A transaction may also abort for other reasons: then it runs again.
 */
#include "kernel/interrupt/user.h"
#include "pmu/pebs.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define FEW	4	/* loads in a transaction whose number of loads doesn't matter */
#define SHORTER	1	/* loads in transactions whose cycles differ */
#define LONGER	1000
#define STRICT_LONGER 250
#define LONGEST	140000		/* half of it takes more than 16 bits */
/* So do 15 of 16 cycles of these: the reference PMU has one or more for each of the four
 * instructions of a load. */
#define STRICT_LONGEST 17500
#define TRIES	20
#define LOADING_TRIES 5	/* tries of the transactions that load from many lines */
#define STRICT_LOADING_TRIES 1	/* nothing aborts by chance */

static u64 longer_of(const struct test *t)
{
	return test_rounds(t, STRICT_LONGER, LONGER);
}

/* The least clocks of LONGER - SHORTER loads. */
static u64 cycles_more(const struct test *t)
{
	return longer_of(t) / 2;
}

/* What makes the record: a counter, its event, and the level at which all runs. */
struct sampler {
	unsigned counter;
	enum event_kind kind;
	bool user;
};

static const struct sampler usual = { .kind = EK_LOADS };

/* A piece with n loads, what comes after it, and whether the piece has committed. */
struct sequence {
	const struct transaction *piece, *next;	/* next: NULL for loads and stores outside */
	u64 n;
	bool committed;
};

static u64 run_sequence(u64 arg)
{
	struct sequence *sequence = (void *)(uintptr_t)arg;
	volatile u64 *words = transaction_words();

	sequence->committed = sequence->piece->run(transaction_words(), sequence->n) == COMMITTED;
	if (sequence->next)
		sequence->next->run(transaction_words(), 4 * PERIOD);
	for (unsigned k = 0; !sequence->next && k < 4 * PERIOD && !ds_records(); k++)
		words[0]++;
	return 0;
}

/* Run the sequence once while the sampler counts; a record comes after the piece. */
static void sample_sequence(const struct sampler *by, struct sequence *sequence)
{
	const u64 before = by->kind == EK_STORES ? 0 : sequence->n;
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	pebs_arm(by->counter, sampling_event(by->kind), by->user ? COUNT_USR : COUNT_BOTH,
		 before + 2 * PERIOD);
	counters_enable(pmc_one(by->counter));
	if (by->user)
		user_call(run_sequence, (u64)(uintptr_t)sequence);
	else
		run_sequence((u64)(uintptr_t)sequence);
	counters_disable();
	pebs_disarm();
	counter_program_disabled(by->counter, 0, 0);
}

/* Take the record after a committed transaction, or elided lock, with n loads: outside of
 * transactions, or inside of next, which it aborts. B8H is the result. */
static bool record_by(struct test *t, const struct sampler *by, const struct transaction *piece,
		      u64 n, const struct transaction *next, u64 *tx)
{
	for (unsigned i = 0; i < TRIES; i++) {
		struct sequence sequence = { .piece = piece, .next = next, .n = n };
		struct pebs_record record;
		u64 ip;

		sample_sequence(by, &sequence);
		if (!sequence.committed || (next && !ds_records()))
			continue;
		if (!sampling_one_record(t, CONTROL_AT(TSX_09), &record))
			return false;
		*tx = sampling_field(&record, RECORD_tx_abort);
		ip = sampling_field(&record, RECORD_eventing_ip);
		if (!next)
			return HARNESS_CHECK(t, !transaction_holds(piece, ip),
					     "the record is of an instruction after %s",
					     piece->name);
		/* A lock that isn't elided has the same addresses. */
		if (transaction_holds(next, ip) && (!next->elides || *tx & TX_HLE_ABORT))
			return true;
	}
	test_inconclusive(t, "none of %u transactions committed%s", TRIES,
			  next ? " and had a record of the next one" : "");
	return false;
}

static bool record_after(struct test *t, const struct transaction *piece, u64 n, u64 *tx)
{
	return record_by(t, &usual, piece, n, NULL, tx);
}

static bool record_after_a_commit(struct test *t, u64 n, u64 *tx)
{
	return record_after(t, &transaction_commit, n, tx);
}

/* Pieces that commit, with SHORTER, LONGER and again SHORTER loads: the cycles differ. */
static bool check_cycles_by(struct test *t, const struct sampler *by,
			    const struct transaction *piece)
{
	const u64 loads[] = { SHORTER, longer_of(t), SHORTER };
	u64 tx[3];

	transaction_run(piece, SHORTER, 1);	/* its code comes into the caches */
	for (unsigned i = 0; i < 3; i++)
		if (!record_by(t, by, piece, loads[i], NULL, &tx[i]))
			return false;
	for (unsigned i = 0; i < 3; i += 2)
		CHECK_RANGE(t, TSX_09, (tx[i] & TX_CYCLES) + cycles_more(t), TX_CYCLES,
			    tx[1] & TX_CYCLES,
			    "cycles of %s with %lu loads more than the %s one, in a record after "
			    "it of event %#x at CPL %u, IA32_PMC%u",
			    piece->name, loads[1] - SHORTER, i ? "last" : "first",
			    sampling_event(by->kind), by->user ? 3 : 0, by->counter);
	return true;
}

/*
 * TSX-03  The TX abort information must say how the transaction ended: bit 33 for RTM, bit 34 for
 *         an instruction, bits 63:40 0.
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  transactions with 1 load, with 1000 (250 in strict runs), and with 140000 (17500), each
 *        with a taken branch for each load; all commit; "these fields are set for all PEBS events"
 * When   a load after each is recorded
 * Then   bits 31:0 at B8H, the cycles of the last transaction, are larger than those of the first
 *        by at least 500 (125) for the second, and by 70000 (65625) for the third: that is more
 *        than 16 bits. Where every requirement is judged, bits 63:32 are 0, as nothing has
 *        aborted; the manual doesn't say that a commit clears the bits of an earlier abort
 * Control: there is one record
 */
TEST(tsx, record_after_a_commit_holds_the_cycles_of_that_transaction, REQS(TSX_03, TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	const u64 n = test_rounds(t, STRICT_LONGEST, LONGEST);
	const u64 least = test_is_strict(t) ? 4 * n - n / 4 : n / 2;
	u64 shorter, longer, longest;

	if (!transaction_works(t) || !record_after_a_commit(t, SHORTER, &shorter) ||
	    !record_after_a_commit(t, n, &longest) ||
	    !record_after_a_commit(t, longer_of(t), &longer))
		return;
	CHECK_RANGE(t, TSX_09, (shorter & TX_CYCLES) + least, TX_CYCLES, longest & TX_CYCLES,
		    "cycles of a committed transaction with %lu loads more, in the record of a "
		    "load after it",
		    n - SHORTER);
	CHECK_RANGE(t, TSX_09, (shorter & TX_CYCLES) + cycles_more(t), TX_CYCLES,
		    longer & TX_CYCLES,
		    "cycles of a committed transaction with %lu loads more, in the record of a "
		    "load after it",
		    longer_of(t) - SHORTER);
	if (test_is_strict(t))
		CHECK_EQ(t, TSX_03, 0, longer & ~TX_CYCLES,
			 "bits 63:32 of B8H, which tell of no abort");
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  a transaction with 1000 loads (250 in strict runs), then one with 1; both commit
 * When   a load after each is recorded
 * Then   bits 31:0 at B8H, the cycles of the last transaction, are smaller by at least 500 (125)
 *        for the second: those of the first one aren't in them
 * Control: there is one record each time
 */
TEST(tsx, record_after_a_commit_does_not_hold_the_cycles_of_earlier_transactions, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	u64 longer, shorter;

	if (!transaction_works(t) || !record_after_a_commit(t, longer_of(t), &longer) ||
	    !record_after_a_commit(t, SHORTER, &shorter))
		return;
	CHECK_RANGE(t, TSX_09, (shorter & TX_CYCLES) + cycles_more(t), TX_CYCLES,
		    longer & TX_CYCLES,
		    "cycles of a committed transaction with %lu loads more, the one with fewer "
		    "being the later one",
		    longer_of(t) - SHORTER);
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  elided locks, alone and with one in another, with 1 load, with 1000 (250 in strict runs),
 *        and with 1 again; none aborts
 * When   a load after each is recorded
 * Then   bits 31:0 at B8H, "the number of cycles in the last TSX region", are larger by at least
 *        500 (125) for the second than for the first, and than for the third
 * Control: there is one record each time
 */
TEST(tsx, record_after_an_elided_lock_holds_the_cycles_of_that_elision, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_hle, need_events))
{
	static const struct transaction *const pieces[] = { &transaction_elided,
							    &transaction_elided_well };

	if (!transaction_elision_works(t))
		return;
	for (unsigned i = 0; i < 2; i++)
		if (!check_cycles_by(t, &usual, pieces[i]))
			return;
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  transactions with others nested in them, which all end by XEND: with loads in the inner
 *        one of two, in that of three, before an inner one, and after it
 * When   a load after each is recorded, for 1 load, for 1000 (250 in strict runs), and for 1 again
 * Then   bits 31:0 at B8H, the cycles of the last transaction, from the outermost XBEGIN to its
 *        XEND, are larger by at least 500 (125) for the second than for the first, and than for
 *        the third
 * Control: there is one record each time
 */
TEST(tsx, record_after_nested_transactions_holds_the_cycles_of_the_outermost_one, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	static const struct transaction *const pieces[] = {
		&transaction_nested_commit,
		&transaction_nested_deep,
		&transaction_nested_first,
		&transaction_nested_last,
	};

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		if (!check_cycles_by(t, &usual, pieces[i]))
			return;
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  each counter samples loads, stores, or branches, at CPL 0, or at CPL 3; transactions with
 *        1 load, with 1000 (250 in strict runs), and with 1 again, which commit
 * When   an instruction after each is recorded
 * Then   bits 31:0 at B8H, which are "set for all PEBS events", are larger by at least 500 (125)
 *        for the second than for the first, and than for the third
 * Control: there is one record each time
 */
TEST(tsx, record_after_a_commit_holds_its_cycles_for_each_counter_event_and_level, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events, need_branches))
{
	static const struct sampler each[] = {
		{ 1, EK_LOADS, false }, { 2, EK_STORES, false }, { 3, EK_BRANCHES, false },
		{ 0, EK_STORES, false }, { 0, EK_LOADS, true }, { 1, EK_STORES, true },
		{ 2, EK_LOADS, true }, { 3, EK_LOADS, true },
	};

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		if (!check_cycles_by(t, &each[i], &transaction_commit))
			return;
}

/* Loads: more than twice the 4 * PERIOD of a record's transaction. */
#define MANY	(40 * PERIOD)
#define STRICT_MANY (10 * PERIOD)

/* A run of the piece with many loads, then one that a record aborts. */
static void check_aborted_by_a_record(struct test *t, const struct transaction *piece)
{
	const u64 many = test_rounds(t, STRICT_MANY, MANY);
	u64 before, aborted;

	if (!record_after(t, piece, many, &before) ||
	    !record_by(t, &usual, piece, many, piece, &aborted))
		return;
	CHECK_RANGE(t, TSX_09, PERIOD, (before & TX_CYCLES) / 2, aborted & TX_CYCLES,
		    "cycles of %s that a record aborts, after one with %llu cycles", piece->name,
		    before & TX_CYCLES);
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  a transaction with 2560 loads (640 in strict runs) that commits; then one in which a load
 *        is recorded, from the 128th on; a record of a load outside after the first reports its
 *        cycles
 * When   the record has aborted the second one
 * Then   bits 31:0 at B8H are less than half of the cycles of the first, and 64 at least
 * Control: EventingIP is inside
 */
TEST(tsx, record_that_aborts_holds_the_cycles_of_the_transaction_it_aborted, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	if (transaction_works(t))
		check_aborted_by_a_record(t, &transaction_commit);
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  an elided lock with 2560 loads (640 in strict runs) that ends well; then one in which a
 *        load is recorded, from the 128th on; a record of a load outside after the first reports
 *        its cycles
 * When   the record has aborted the second elision
 * Then   bits 31:0 at B8H are less than half of the cycles of the first, and 64 at least
 * Control: EventingIP is inside, and bit 32 (HLE_Abort) is 1
 */
TEST(tsx, record_that_aborts_an_elision_holds_the_cycles_of_that_elision, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_hle, need_events))
{
	if (transaction_elision_works(t))
		check_aborted_by_a_record(t, &transaction_elided);
}

#define LINES_CYCLES (TRANSACTION_LINES / 8)	/* before lines with stores exceed the capacity */
#define STRICT_DIVIDE (2 * LINES_CYCLES)	/* loads before #DE */

/* Is the record of the abort that the piece is made for, after all or many of its accesses? */
static bool is_own(const struct transaction_abort *abort)
{
	if (abort->piece == &transaction_divide)
		return abort->tx & TX_INSTRUCTION &&
		       abort->eventing_ip == (u64)(uintptr_t)abort->piece->cause;
	return abort->tx &
	       (abort->piece == &transaction_loads ? TX_CAPACITY_READS : TX_CAPACITY_WRITES);
}

/* The record of an abort of this piece, which follows short transactions. false: there is none. */
static bool check_cycles_of(struct test *t, const struct transaction *piece, u64 n, unsigned c,
			    unsigned *judged)
{
	struct transaction_abort shorter, abort;

	if (!transaction_record(t, CONTROL_AT(TSX_09), c, &transaction_xabort, SHORTER, &shorter) ||
	    !transaction_record(t, CONTROL_AT(TSX_09), c, piece, n, &abort))
		return false;
	if (test_sees_exactly(t, REQ_TSX_03))
		CONTROL(t, TSX_09, is_own(&abort),
			"the record of %s is of that abort, B8H is 0x%lx, IA32_PMC%u", piece->name,
			abort.tx, c);
	if (!is_own(&abort))
		return true;
	++*judged;
	CHECK_RANGE(t, TSX_09, LINES_CYCLES, TX_CYCLES, abort.tx & TX_CYCLES,
		    "cycles of %s, after a transaction with %llu cycles, IA32_PMC%u", piece->name,
		    shorter.tx & TX_CYCLES, c);
	return true;
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  short transactions that XABORT ends, then one that stores to more lines than the L1 has;
 *        another time one that loads from as many, where each of these aborts, and one with 1024
 *        loads (256 in strict runs) and #DE after them
 * When   its abort makes a record, on each counter
 * Then   where the record is of that abort (Capacity_Writes, bit 38; Capacity_Reads, bit 39;
 *        EventingIP at DIV), bits 31:0 at B8H are 128 at least
 * Control: where nothing else aborts, it is of that abort
 */
TEST(tsx, record_of_a_capacity_abort_or_exception_holds_the_cycles_of_its_transaction, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	static const struct transaction *const pieces[] = {
		&transaction_stores,
		&transaction_divide,
		&transaction_loads,
	};
	unsigned n = 3, judged = 0;

	if (!transaction_works(t))
		return;
	if (transaction_run(&transaction_loads, TRANSACTION_LINES,
			    (unsigned)test_rounds(t, STRICT_LOADING_TRIES, LOADING_TRIES)))
		n--;
	for (unsigned i = 0; i < n * PEBS_COUNTERS; i++) {
		const struct transaction *piece = pieces[i / PEBS_COUNTERS];
		const u64 few = piece == &transaction_divide ? STRICT_DIVIDE : TRANSACTION_LINES;

		if (!check_cycles_of(t, piece, test_rounds(t, few, TRANSACTION_LINES),
				     i % PEBS_COUNTERS, &judged))
			return;
	}
	if (!judged)
		test_inconclusive(t, "no record is of the abort that its transaction is made for");
}

#define CONFLICT_TRIES	4u	/* the writer has a deadline; a shadow may be longer */
#define MORE_THAN_WATCHED (8 * WATCHED)	/* loads, four instructions each */
#define STRICT_MORE (4 * WATCHED)	/* WATCHED loads take 24000 cycles at most */

/* Take a record of RTM_RETIRED.ABORTED on IA32_PMC0 for transaction_watch. Before each run of it a
 * transaction with that many loads commits. */
static bool record_of_a_conflict(struct test *t, u64 more, struct pebs_record *record)
{
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	pebs_arm(0, EVENT_RTM_RETIRED_ABORTED, COUNT_BOTH, PERIOD);
	counters_enable(pmc_one(0));
	transaction_run(&transaction_xabort, FEW, PERIOD - (pebs_may_have_pdist(0) ? 1 : 0));
	for (unsigned i = 0; i < CONFLICT_TRIES && !ds_records(); i++) {
		transaction_run(&transaction_commit, more, 1);
		transaction_run(&transaction_watch, WATCHED, 1);
	}
	counters_disable();
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
	if (!ds_records()) {
		test_inconclusive(t, "no record of %u transactions", CONFLICT_TRIES);
		return false;
	}
	return sampling_one_record(t, CONTROL_AT(TSX_09), record);
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  another processor stores to a line all the time; a transaction with 16000 loads (8000 in
 *        strict runs) commits, then one loads 2000 times from that line
 * When   the abort of the second makes a record
 * Then   where Data_Conflict (37) reports it, bits 31:0 at B8H are 48000 (24000) at most: they
 *        aren't those of the first
 * Control: where nothing else aborts, bit 37 is 1. INCONCLUSIVE where the shadow is longer than a
 *          few transactions
 */
TEST(tsx, conflict_abort_record_holds_the_cycles_of_its_transaction, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_second_processor))
{
	const u64 more = test_rounds(t, STRICT_MORE, MORE_THAN_WATCHED);
	struct pebs_record record;
	bool recorded;
	u64 tx;

	if (!transaction_works(t) || !transaction_write_on(t))
		return;
	recorded = record_of_a_conflict(t, more, &record);
	transaction_write_off(t);
	if (!recorded)
		return;
	tx = sampling_field(&record, RECORD_tx_abort);
	if (test_sees_exactly(t, REQ_TSX_03))
		CONTROL_EQ(t, TSX_09, TX_DATA_CONFLICT, tx & TX_DATA_CONFLICT,
			   "Data_Conflict, bit 37 of B8H");
	if (tx & TX_DATA_CONFLICT)
		CHECK_RANGE(t, TSX_09, 1, 3 * more, tx & TX_CYCLES,
			    "cycles of a transaction that a conflict aborts, after a longer one");
	else
		test_inconclusive(t, "the record isn't of a conflict");
}
