/* SPDX-License-Identifier: MIT */
/*
 * Aborts of a transaction and the information about them: compares SDM Table 18-51 with "RTM Abort
 * Status Definition" and "Runtime Considerations" of volume 1. The processor may also abort for
 * other reasons: EAX says which abort it was.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/pebs.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define FEW	4	/* loads in a transaction whose number of loads doesn't matter */
#define SHORTER	1	/* loads in transactions whose cycles differ */
#define LONGER	1000
#define LONGEST	140000		/* half of it takes more than 16 bits */
#define CYCLES_MORE (LONGER / 2)	/* least clocks of LONGER - SHORTER loads */
#define TRIES	20
#define FILTER		2u	/* IA32_PMC2, the only one that may have IN_TXCP */
#define LOADING_TRIES 5	/* tries of the transactions that load from many lines */
#define XABORT_FIELDS 0xff000001	/* EAX: the code, and the bit of XABORT */

/*
 * TSX-10  Where bit 34 of the TX abort information is set, EventingIP must be the instruction that
 *         aborted the transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  transactions that end by XABORT, by XABORT in a nested one, and by PAUSE
 * When   each makes a record of RTM_RETIRED.ABORTED; where something else may abort too, only
 *        records are judged for which EAX reports XABORT
 * Then   bit 34 (Instruction_Abort) at B8H is 1, and EventingIP is the XABORT or PAUSE
 */
TEST(tsx, eventing_ip_of_an_instruction_abort_is_that_instruction, REQS(TSX_10),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	static const struct transaction *const pieces[] = {
		&transaction_xabort, &transaction_nested, &transaction_pause,
	};

	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct transaction_abort abort;

		if (!transaction_record(t, AT(TSX_10), i, pieces[i], FEW, &abort))
			return;
		if (test_sees_exactly(t, REQ_TSX_10))
			CHECK_EQ(t, TSX_10, TX_INSTRUCTION, abort.tx & TX_INSTRUCTION,
				 "Instruction_Abort, bit 34 of B8H, %s", abort.piece->name);
		else if (!(abort.tx & TX_INSTRUCTION) ||
			 (abort.status & XABORT_FIELDS) != BY_XABORT)
			continue;
		CHECK_EQ(t, TSX_10, (u64)(uintptr_t)abort.piece->cause, abort.eventing_ip,
			 "EventingIP: the instruction that aborts %s", abort.piece->name);
	}
}

/* Check an abort's record against the status in EAX. */
static void check_against_eax(struct test *t, const struct transaction_abort *abort)
{
	const char *name = abort->piece->name;

	if (abort->status == COMMITTED)
		return;
	if (abort->piece != &transaction_xabort)
		CONTROL_EQ(t, TSX_11, 0, abort->status & EAX_XABORT,
			   "EAX bit 0, \"set if abort caused by XABORT\", %s", name);
	CHECK_EQ(t, TSX_11, !!(abort->status & EAX_RETRY), !!(abort->tx & TX_RETRY),
		 "Retry, bit 36 of B8H, %s: EAX 0x%lx", name, abort->status);
	CHECK_EQ(t, TSX_11, !!(abort->status & EAX_CONFLICT), !!(abort->tx & TX_DATA_CONFLICT),
		 "Data_Conflict, bit 37 of B8H, %s: EAX 0x%lx", name, abort->status);
	CHECK_EQ(t, TSX_11, !!(abort->status & EAX_OVERFLOW),
		 !!(abort->tx & (TX_CAPACITY_WRITES | TX_CAPACITY_READS)),
		 "Capacity_Writes or Capacity_Reads, bits 39:38 of B8H, %s: EAX 0x%lx", name,
		 abort->status);
}

/*
 * TSX-11  Retry, Data_Conflict and the capacity bits of the TX abort information must agree with
 *         bits 1, 2 and 3 of EAX after the abort.
 *         SDM Table 18-51 against volume 1, RTM Abort Status Definition
 *
 * Given  transactions that end by XABORT, by PAUSE, by an exception (#DE, #GP), and by stores to
 *        more lines than the L1 has, also in a nested one; EAX after each gives the expected bits
 * When   each makes a record of RTM_RETIRED.ABORTED
 * Then   at B8H Retry (36), Data_Conflict (37) and Capacity_Writes or Capacity_Reads (38, 39) are
 *        1 exactly if EAX bits 1, 2 and 3 are
 * Control: EAX bit 0 is 0 where no XABORT is executed
 */
TEST(tsx, tx_abort_information_agrees_with_eax, REQS(TSX_11),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	static const struct {
		const struct transaction *piece;
		u64 n;
	} each[] = {
		{ &transaction_xabort, FEW },
		{ &transaction_pause, FEW },
		{ &transaction_divide, FEW },
		{ &transaction_address, FEW },
		{ &transaction_stores, TRANSACTION_LINES },
		{ &transaction_nested_stores, TRANSACTION_LINES },
	};

	for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		struct transaction_abort abort;

		if (!transaction_record(t, AT(TSX_11), 0, each[i].piece, each[i].n, &abort))
			return;
		check_against_eax(t, &abort);
	}
}

/*
 * TSX-11  Retry, Data_Conflict and the capacity bits of the TX abort information must agree with
 *         bits 1, 2 and 3 of EAX after the abort.
 *         SDM Table 18-51 against volume 1, RTM Abort Status Definition
 *
 * Given  another processor stores to a line all the time
 * When   a transaction loads from that line, and its abort makes a record
 * Then   at B8H Retry (36), Data_Conflict (37) and Capacity_Writes or Capacity_Reads (38, 39) are
 *        1 exactly if EAX bits 1, 2 and 3 are
 * Control: EAX bit 0 is 0; where nothing else aborts, bit 2 is 1
 */
TEST(tsx, tx_abort_information_of_a_conflict_agrees_with_eax, REQS(TSX_11),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_second_processor))
{
	struct transaction_abort abort;
	bool recorded;

	if (!transaction_works(t) || !transaction_write_on(t))
		return;
	recorded = transaction_record(t, AT(TSX_11), 0, &transaction_watch, WATCHED, &abort);
	transaction_write_off(t);
	if (!recorded)
		return;
	if (test_sees_exactly(t, REQ_TSX_11))
		CONTROL_EQ(t, TSX_11, EAX_CONFLICT, abort.status & EAX_CONFLICT,
			   "EAX bit 2, a data conflict, %s", abort.piece->name);
	check_against_eax(t, &abort);
}

/*
 * TSX-03  The TX abort information must say how the transaction ended: bit 33 for RTM, bit 34 for
 *         an instruction, bits 63:40 0.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  a transaction that loads from more lines than the L1 has and stores nothing; SKIP where
 *        it commits
 * When   its abort makes a record
 * Then   at B8H Capacity_Writes (38) is 0; where EAX reports an overflow, Capacity_Reads (39) is 1
 * Control: a transaction that stores to as many lines has Capacity_Writes alone, where nothing
 *          else aborts
 */
TEST(tsx, capacity_abort_of_loads_has_no_capacity_writes_bit, REQS(TSX_03),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	struct transaction_abort abort;
	unsigned committed = transaction_run(&transaction_loads, TRANSACTION_LINES, LOADING_TRIES);

	if (committed) {
		test_skip(t, "%u of %u transactions that read %u lines committed", committed,
			  LOADING_TRIES, TRANSACTION_LINES);
		return;
	}
	if (!transaction_record(t, AT(TSX_03), 0, &transaction_loads, TRANSACTION_LINES, &abort))
		return;
	CHECK_EQ(t, TSX_03, 0, abort.tx & TX_CAPACITY_WRITES, "Capacity_Writes, bit 38 of B8H, %s",
		 abort.piece->name);
	if (abort.status & EAX_OVERFLOW)
		CHECK_EQ(t, TSX_03, TX_CAPACITY_READS, abort.tx & TX_CAPACITY_READS,
			 "Capacity_Reads, bit 39 of B8H, %s: EAX 0x%lx", abort.piece->name,
			 abort.status);
	if (!transaction_record(t, CONTROL_AT(TSX_03), 0, &transaction_stores, TRANSACTION_LINES,
				&abort))
		return;
	if (test_sees_exactly(t, REQ_TSX_03))
		CONTROL_EQ(t, TSX_03, TX_CAPACITY_WRITES,
			   abort.tx & (TX_CAPACITY_WRITES | TX_CAPACITY_READS),
			   "Capacity_Writes alone, bit 38 of B8H, %s", abort.piece->name);
}

/* Take the record of a load after a committed transaction, or elided lock, with n loads: outside of
 * transactions, or inside the next one. B8H is the result. */
static bool record_after(struct test *t, const struct transaction *piece, u64 n, bool inside,
			 u64 *tx)
{
	for (unsigned i = 0; i < TRIES; i++) {
		struct ds_setup setup = sampling_setup(8);
		volatile u64 *words = transaction_words();
		struct pebs_record record;
		bool committed, holds;

		ds_open(&setup);
		pebs_arm(0, LOADS, COUNT_BOTH, n + 2 * PERIOD);
		counters_enable(pmc_one(0));
		committed = piece->run(transaction_words(), n) == COMMITTED;
		if (inside)
			transaction_commit.run(transaction_words(), 4 * PERIOD);
		for (unsigned k = 0; !inside && k < 4 * PERIOD && !ds_records(); k++)
			(void)words[k];
		counters_disable();
		pebs_disarm();
		counter_program_disabled(0, 0, 0);
		if (!committed || (inside && !ds_records()))
			continue;
		if (!sampling_one_record(t, CONTROL_AT(TSX_09), &record))
			return false;
		*tx = sampling_field(&record, RECORD_tx_abort);
		holds = transaction_holds(&transaction_commit,
					  sampling_field(&record, RECORD_eventing_ip));
		if (inside && !holds)
			continue;
		return HARNESS_CHECK(t, holds == inside,
				     "the record is of a load after the transaction");
	}
	test_inconclusive(t, "none of %u transactions committed%s", TRIES,
			  inside ? " and had a record of the next one" : "");
	return false;
}

static bool record_after_a_commit(struct test *t, u64 n, bool inside, u64 *tx)
{
	return record_after(t, &transaction_commit, n, inside, tx);
}

/*
 * TSX-03  The TX abort information must say how the transaction ended: bit 33 for RTM, bit 34 for
 *         an instruction, bits 63:40 0.
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  transactions with 1 load, with 1000, and with 140000, in a loop with a taken branch for
 *        each load; all commit; "these fields are set for all PEBS events"
 * When   a load after each is recorded
 * Then   bits 31:0 at B8H, the cycles of the last transaction, are larger than those of the first
 *        by at least 500 for the second, and by 70000 for the third. Where every requirement is
 *        judged, bits 63:32 are 0, as nothing has aborted; the manual doesn't say that a commit
 *        clears the bits of an earlier abort
 */
TEST(tsx, record_after_a_commit_holds_the_cycles_of_that_transaction, REQS(TSX_03, TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	u64 shorter, longer, longest;

	if (!transaction_works(t) || !record_after_a_commit(t, SHORTER, false, &shorter) ||
	    !record_after_a_commit(t, LONGEST, false, &longest) ||
	    !record_after_a_commit(t, LONGER, false, &longer))
		return;
	CHECK_RANGE(t, TSX_09, (shorter & TX_CYCLES) + LONGEST / 2, TX_CYCLES, longest & TX_CYCLES,
		    "cycles of a committed transaction with %u loads more, in the record of a "
		    "load after it",
		    LONGEST - SHORTER);
	CHECK_RANGE(t, TSX_09, (shorter & TX_CYCLES) + CYCLES_MORE, TX_CYCLES, longer & TX_CYCLES,
		    "cycles of a committed transaction with %u loads more, in the record of a "
		    "load after it",
		    LONGER - SHORTER);
	if (test_is_strict(t))
		CHECK_EQ(t, TSX_03, 0, longer & ~TX_CYCLES,
			 "bits 63:32 of B8H, which tell of no abort");
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  a transaction with 1000 loads, then one with 1; both commit
 * When   a load after each is recorded
 * Then   bits 31:0 at B8H, the cycles of the last transaction, are smaller by at least 500 for the
 *        second: those of the first one aren't in them
 */
TEST(tsx, record_after_a_commit_does_not_hold_the_cycles_of_earlier_transactions, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	u64 longer, shorter;

	if (!transaction_works(t) || !record_after_a_commit(t, LONGER, false, &longer) ||
	    !record_after_a_commit(t, SHORTER, false, &shorter))
		return;
	CHECK_RANGE(t, TSX_09, (shorter & TX_CYCLES) + CYCLES_MORE, TX_CYCLES, longer & TX_CYCLES,
		    "cycles of a committed transaction with %u loads more, the one with fewer "
		    "being the later one",
		    LONGER - SHORTER);
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  elided locks with 1 load, with 1000, and with 1 again; none aborts
 * When   a load after each is recorded
 * Then   bits 31:0 at B8H, "the number of cycles in the last TSX region", are larger by at least
 *        500 for the second than for the first, and than for the third
 */
TEST(tsx, record_after_an_elided_lock_holds_the_cycles_of_that_elision, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_hle, need_events))
{
	static const u64 loads[] = { SHORTER, LONGER, SHORTER };
	u64 tx[3];

	if (!transaction_elision_works(t))
		return;
	for (unsigned i = 0; i < 3; i++)
		if (!record_after(t, &transaction_elided, loads[i], false, &tx[i]))
			return;
	for (unsigned i = 0; i < 3; i += 2)
		CHECK_RANGE(t, TSX_09, (tx[i] & TX_CYCLES) + CYCLES_MORE, TX_CYCLES,
			    tx[1] & TX_CYCLES,
			    "cycles of an elided lock with %u loads more than the %s one, in the "
			    "record of a load after it",
			    LONGER - SHORTER, i ? "last" : "first");
}

#define MANY	(40 * PERIOD)	/* loads: more than the 4 * PERIOD of a record's transaction */

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  a transaction with 2560 loads that commits; then one in which a load is recorded, from the
 *        128th on; a record of a load outside after the first reports its cycles
 * When   the record has aborted the second one
 * Then   bits 31:0 at B8H are less than half of the cycles of the first, and 64 at least
 * Control: EventingIP is inside
 */
TEST(tsx, record_that_aborts_holds_the_cycles_of_the_transaction_it_aborted, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	u64 before, aborted;

	if (!transaction_works(t) || !record_after_a_commit(t, MANY, false, &before) ||
	    !record_after_a_commit(t, MANY, true, &aborted))
		return;
	CHECK_RANGE(t, TSX_09, PERIOD, (before & TX_CYCLES) / 2, aborted & TX_CYCLES,
		    "cycles of a transaction that a record aborts, after one with %llu cycles",
		    before & TX_CYCLES);
}

#define LINES_CYCLES (TRANSACTION_LINES / 8)	/* before lines with stores exceed the capacity */

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  short transactions that XABORT ends, then one that stores to more lines than the L1 has
 * When   its abort makes a record, on each counter
 * Then   where Capacity_Writes (38) reports it, bits 31:0 at B8H are 128 at least
 * Control: where nothing else aborts, bit 38 is 1
 */
TEST(tsx, capacity_abort_record_holds_the_cycles_of_its_transaction, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct transaction_abort shorter, abort;

		if (!transaction_record(t, CONTROL_AT(TSX_09), c, &transaction_xabort, SHORTER,
					&shorter) ||
		    !transaction_record(t, CONTROL_AT(TSX_09), c, &transaction_stores,
					TRANSACTION_LINES, &abort))
			return;
		if (test_sees_exactly(t, REQ_TSX_03))
			CONTROL_EQ(t, TSX_09, TX_CAPACITY_WRITES, abort.tx & TX_CAPACITY_WRITES,
				   "Capacity_Writes, bit 38 of B8H, IA32_PMC%u", c);
		if (abort.tx & TX_CAPACITY_WRITES)
			CHECK_RANGE(t, TSX_09, LINES_CYCLES, TX_CYCLES, abort.tx & TX_CYCLES,
				    "cycles of a transaction that stores to too many lines, after "
				    "one with %llu cycles, IA32_PMC%u",
				    shorter.tx & TX_CYCLES, c);
	}
}

#define CONFLICT_TRIES	4u	/* the writer has a deadline; a shadow may be longer */
#define MORE_THAN_WATCHED (8 * WATCHED)	/* loads, four instructions each */

/* Take a record of RTM_RETIRED.ABORTED on IA32_PMC0 for transaction_watch. Before each run of it a
 * transaction with many loads commits. */
static bool record_of_a_conflict(struct test *t, struct pebs_record *record)
{
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	pebs_arm(0, EVENT_RTM_RETIRED_ABORTED, COUNT_BOTH, PERIOD);
	counters_enable(pmc_one(0));
	transaction_run(&transaction_xabort, FEW, PERIOD - (pebs_may_have_pdist(0) ? 1 : 0));
	for (unsigned i = 0; i < CONFLICT_TRIES && !ds_records(); i++) {
		transaction_run(&transaction_commit, MORE_THAN_WATCHED, 1);
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
 * Given  another processor stores to a line all the time; a transaction with 16000 loads commits,
 *        then one loads 2000 times from that line
 * When   the abort of the second makes a record
 * Then   where Data_Conflict (37) reports it, bits 31:0 at B8H are 48000 at most: they aren't those
 *        of the first
 * Control: where nothing else aborts, bit 37 is 1. INCONCLUSIVE where the shadow is longer than a
 *          few transactions
 */
TEST(tsx, conflict_abort_record_holds_the_cycles_of_its_transaction, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_second_processor))
{
	struct pebs_record record;
	bool recorded;
	u64 tx;

	if (!transaction_works(t) || !transaction_write_on(t))
		return;
	recorded = record_of_a_conflict(t, &record);
	transaction_write_off(t);
	if (!recorded)
		return;
	tx = sampling_field(&record, RECORD_tx_abort);
	if (test_sees_exactly(t, REQ_TSX_03))
		CONTROL_EQ(t, TSX_09, TX_DATA_CONFLICT, tx & TX_DATA_CONFLICT,
			   "Data_Conflict, bit 37 of B8H");
	if (tx & TX_DATA_CONFLICT)
		CHECK_RANGE(t, TSX_09, 1, 3 * MORE_THAN_WATCHED, tx & TX_CYCLES,
			    "cycles of a transaction that a conflict aborts, after a longer one");
	else
		test_inconclusive(t, "the record isn't of a conflict");
}

struct overflowed {
	const struct pmi_log *log;
	bool committed;
	bool shown;		/* the counter's status bit is left: no handler has cleared it */
	u64 stores;		/* stores of the transaction that are still there */
	u64 aborts;		/* RTM_RETIRED.ABORTED, on another counter */
	u64 inside, kept; /* IA32_PMC2 of an undisturbed transaction; of this one */
};

/* The count of IA32_PMC2 over one transaction that commits. */
static u64 count_commit(void)
{
	u64 value = 0;

	for (unsigned i = 0; i < TRIES && !value; i++) {
		counter_write(FILTER, 0);
		counters_enable(pmc_one(FILTER));
		if (transaction_commit.run(transaction_words(), LONGER) == COMMITTED)
			value = counter_read(FILTER);
		counters_disable();
	}
	return value;
}

/* The counter, of loads or instructions, overflows half-way through a transaction. IA32_PMC2, if it
 * is another counter, counts loads with IN_TX and IN_TXCP; a third counter counts aborts. */
static struct overflowed overflow_inside(unsigned c, u64 debugctl)
{
	const bool fixed = c >= PMC_FIXED(0);
	const unsigned aborts = c == 3 ? 1 : 3;
	u64 *words = transaction_words(), before;
	struct overflowed o = { .inside = 0 };
	struct pmc_mask on = pmc_or(pmc_one(c), pmc_one(aborts));

	if (c != FILTER) {
		counter_program(FILTER, LOADS,
				COUNT_BOTH | IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP);
		o.inside = count_commit();
		counter_write(FILTER, 0);
		on = pmc_or(on, pmc_one(FILTER));
	}
	counter_program(aborts, EVENT_RTM_RETIRED_ABORTED, COUNT_BOTH);
	counter_write(aborts, 0);
	counter_program(c, fixed ? 0 : LOADS, COUNT_BOTH | COUNT_INT);
	counter_preset(c, fixed ? LONGER * 2 : LONGER / 2);
	pmi_open(NULL);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	before = *words;
	counters_enable(on);
	o.committed = transaction_commit.run(words, LONGER) == COMMITTED;
	o.log = pmi_settle();
	counters_disable();
	o.shown = counters_status() & BIT(c);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	o.stores = *words - before;
	o.kept = c == FILTER ? 0 : counter_read(FILTER);
	o.aborts = counter_read(aborts);
	counter_program_disabled(c, 0, 0);
	counter_program_disabled(aborts, 0, 0);
	counter_program_disabled(FILTER, 0, 0);
	pmi_close();
	return o;
}

/* The same, until the counter has overflowed: a transaction may abort for a reason of its own
 * before that. false: it never did, and the test is INCONCLUSIVE. */
static bool overflowed_inside(struct test *t, unsigned c, u64 debugctl, struct overflowed *o)
{
	for (unsigned i = 0; i < TRIES; i++) {
		*o = overflow_inside(c, debugctl);
		if (test_is_strict(t) || o->log->count || o->committed || o->shown)
			return true;
	}
	test_inconclusive(t, "each of %u transactions aborted before counter %u overflowed", TRIES,
			  c);
	return false;
}

/*
 * TSX-01  RTM_RETIRED.ABORTED with PEBS must make a record of an aborted transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * TSX-12  The interrupt of a counter that overflows inside a transaction must come after the abort
 *         or the commit, and its overflow must be shown.
 *         SDM volume 1, Runtime Considerations (of Intel TSX); 18.11.5 Performance Monitoring and
 *         Intel TSX
 * TSX-07  A counter with IN_TXCP set must not keep what an aborted transaction counted.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  IA32_PMC0 to 3 and fixed counter 0 overflow half-way through a transaction with 1000
 *        loads, with INT; at the same time as each except IA32_PMC2, IA32_PMC2 counts loads with
 *        IN_TX and IN_TXCP, and at the same time as each, IA32_PMC3 or 1 counts RTM_RETIRED.ABORTED
 * When   its interrupt is delivered: pending until the abort is processed, or too late for the
 *        transaction
 * Then   there is one, outside of the transaction, with the status bit of its counter; the
 *        transaction's store and IA32_PMC2's count are left if and only if it has committed, and
 *        RTM_RETIRED.ABORTED counts it if and only if it hasn't
 * Control: IA32_PMC2 counts the loads of one that nothing interrupts
 */
TEST(tsx, pmi_of_an_overflow_in_a_transaction_comes_outside_of_it, REQS(TSX_01, TSX_12, TSX_07),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events, need_fixed))
{
	static const unsigned counters[] = { 0, 1, 2, 3, PMC_FIXED(0) };
	const bool exact = test_sees_exactly(t, REQ_TSX_07);

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		const unsigned c = counters[i];
		const u64 bit = BIT(c);
		struct overflowed o;

		if (!overflowed_inside(t, c, 0, &o))
			return;
		CHECK_EQ(t, TSX_12, 1, o.log->count,
			 "interrupts of counter %u, which overflowed inside", c);
		if (o.log->count) {
			CHECK(t, TSX_12,
			      !transaction_holds(&transaction_commit, o.log->entry[0].rip),
			      "0x%lx, where it came, is outside", o.log->entry[0].rip);
			CHECK_EQ(t, TSX_12, bit, o.log->entry[0].status & bit,
				 "status bit of counter %u in its handler", c);
		}
		CHECK_EQ(t, TSX_01, !o.committed, o.aborts,
			 "RTM_RETIRED.ABORTED of one that counter %u overflows in", c);
		CHECK_EQ(t, TSX_12, o.committed, o.stores, "stores left of a transaction that %s",
			 o.committed ? "committed" : "aborted");
		if (c == FILTER)
			continue;
		CONTROL_RANGE(t, TSX_07, 1, 2 * LONGER, o.inside,
			      "loads that IA32_PMC2 with IN_TX and IN_TXCP counts of one alone");
		CHECK_RANGE(t, TSX_07, o.committed && exact ? o.inside : 0,
			    o.committed ? o.inside : 0, o.kept,
			    "and of one that counter %u overflows in, which %s", c,
			    o.committed ? "committed" : "aborted");
	}
}

/*
 * PMI-14  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must clear
 *         IA32_PERF_GLOBAL_CTRL.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_DEBUGCTL[12] = 1; IA32_PMC0 to 3 and fixed counter 0 overflow half-way through a
 *        transaction with 1000 loads, with INT
 * When   the handler reads IA32_PERF_GLOBAL_CTRL
 * Then   it is 0
 * Control: without that bit it is not
 */
TEST(tsx, overflow_in_a_transaction_freezes, REQS(PMI_14),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events, need_fixed, need_legacy_freeze,
	   need_freeze))
{
	static const unsigned counters[] = { 0, 1, 2, 3, PMC_FIXED(0) };

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < 2 * sizeof(counters) / sizeof(counters[0]); i++) {
		const unsigned c = counters[i / 2];
		const bool freezes = i % 2;
		const u64 debugctl = freezes ? IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI : 0;
		struct overflowed o;
		u64 control;

		if (!overflowed_inside(t, c, debugctl, &o))
			return;
		control = o.log->entry[0].global_ctrl;
		if (!CONTROL_EQ(t, PMI_14, 1, o.log->count,
				"interrupts of counter %u, which overflowed inside", c))
			return;
		if (freezes)
			CHECK_EQ(t, PMI_14, 0, control,
				 "IA32_PERF_GLOBAL_CTRL in the handler of counter %u, frozen", c);
		else
			CONTROL(t, PMI_14, control,
				"IA32_PERF_GLOBAL_CTRL in the handler of counter %u", c);
	}
}

#define RELOAD	1000000u	/* times the counter's number plus 1: never reached */
#define RECORD_TRIES 100

/*
 * DS-05  A threshold interrupt must be raised when the index has reached the threshold after a
 *        record.
 * DS-12  After a record the counter that caused it must be loaded with its reset value.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 * DS-21  When a record has brought the index to the threshold, OvfBuf
 *        (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *        SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 * DS-22  An assist must clear the overflow bits of the counters that overflowed and are enabled
 *        for PEBS, and no others.
 *        SDM 18.9.4.1 PEBS Record Format
 *
 * Given  each counter samples loads, nearly all of which are inside of transactions; the threshold
 *        is after one record, and each counter has a different reset value
 * When   the transactions run until a load inside is recorded, which aborts its transaction
 * Then   there is one interrupt, outside of the transaction, with OvfBuf and, where that is judged,
 *        without the counter's status bit; the counter holds its reset value plus at most the
 *        events after it
 * Control: EventingIP of the record is inside
 */
TEST(tsx, record_that_aborts_reloads_its_counter_and_meets_the_threshold,
     REQS(DS_05, DS_12, DS_21, DS_22), NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	const struct transaction *piece = &transaction_commit;

	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		const u64 reset = pebs_reset_value(c, RELOAD * (c + 1));
		const u64 start = reset & (BIT(counter_width(c)) - 1);
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;
		const struct pmi_log *log = NULL;
		bool found = false;
		u64 value = 0;

		setup.threshold = 1;
		setup.reset[c] = reset;
		for (unsigned i = 0; i < RECORD_TRIES && !found; i++) {
			ds_open(&setup);
			pmi_open(NULL);
			/* With PDist a period always ends on the same load. */
			pebs_arm(c, LOADS, COUNT_BOTH, PERIOD + i);
			counters_enable(pmc_one(c));
			for (unsigned k = 0; k < TRIES && !ds_records(); k++)
				piece->run(transaction_words(), PERIOD / 2);
			log = pmi_end();
			counters_disable();
			pebs_disarm();
			value = counter_read(c);
			counter_program_disabled(c, 0, 0);
			if (!ds_records())
				continue;
			record_decode(setup.format, ds_record(0), record_size(setup.format),
				      &record);
			found = transaction_holds(piece,
						  sampling_field(&record, RECORD_eventing_ip));
		}
		if (!CONTROL(t, IDS(DS_05, DS_12, DS_21, DS_22), found,
			     "a load inside is recorded, IA32_PMC%u", c))
			return;
		CHECK_RANGE(t, DS_12, start, start + RELOAD / 2, value,
			    "IA32_PMC%u after a record that aborts, its reset slot being %#lx", c,
			    reset);
		if (!CHECK_EQ(t, DS_05, 1, log->count, "interrupts at the threshold, IA32_PMC%u",
			      c))
			continue;
		CHECK(t, DS_05, !transaction_holds(piece, log->entry[0].rip),
		      "%#lx, where it came, is outside", log->entry[0].rip);
		CHECK_EQ(t, DS_21, IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			 "OvfBuf in its handler, IA32_PMC%u", c);
		if (sampling_clears_status(t))
			CHECK_EQ(t, DS_22, 0, log->entry[0].status & BIT(c),
				 "status bit of IA32_PMC%u after its record", c);
	}
}
