/* SPDX-License-Identifier: MIT */
/*
 * What aborts a transaction, and what tells of it: SDM Table 18-51 against "RTM Abort Status
 * Definition" and "Runtime Considerations" of volume 1. Where EAX is the measure a processor is
 * free to abort for reasons of its own.
 */
#include "pmu/pebs.h"
#include "pmu/pmi.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define FEW	4	/* loads in a transaction that is only to end */
#define SHORTER	1	/* loads in transactions whose cycles differ */
#define LONGER	1000
#define CYCLES_MORE (LONGER / 2)	/* that LONGER - SHORTER loads take at least */
#define TRIES	20
#define LOADING_TRIES 5	/* of the transactions that load from many lines */
#define XABORT_FIELDS 0xff000001	/* of EAX: its code, and that it was XABORT */

/*
 * TSX-10  Where bit 34 of the TX abort information is set, EventingIP must be the instruction that
 *         aborted the transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  transactions that end by XABORT, by XABORT in a nested one, and by PAUSE
 * When   each makes a record of RTM_RETIRED.ABORTED; where something else may abort too, only
 *        those count of which EAX says that it was XABORT
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

/*
 * TSX-11  Retry, Data_Conflict and the capacity bits of the TX abort information must agree with
 *         bits 1, 2 and 3 of EAX after the abort.
 *         SDM Table 18-51 against volume 1, RTM Abort Status Definition
 *
 * Given  transactions that end by XABORT, by PAUSE, and by stores to more lines than the L1 has;
 *        EAX after each is the measure
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
		{ &transaction_stores, TRANSACTION_LINES },
	};

	for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		struct transaction_abort abort;

		if (!transaction_record(t, AT(TSX_11), 0, each[i].piece, each[i].n, &abort))
			return;
		if (abort.status == COMMITTED)
			continue;
		if (each[i].piece != &transaction_xabort)
			CONTROL_EQ(t, TSX_11, 0, abort.status & EAX_XABORT,
				   "EAX bit 0, \"set if abort caused by XABORT\", %s",
				   abort.piece->name);
		CHECK_EQ(t, TSX_11, !!(abort.status & EAX_RETRY), !!(abort.tx & TX_RETRY),
			 "Retry, bit 36 of B8H, %s: EAX 0x%lx", abort.piece->name, abort.status);
		CHECK_EQ(t, TSX_11, !!(abort.status & EAX_CONFLICT),
			 !!(abort.tx & TX_DATA_CONFLICT),
			 "Data_Conflict, bit 37 of B8H, %s: EAX 0x%lx", abort.piece->name,
			 abort.status);
		CHECK_EQ(t, TSX_11, !!(abort.status & EAX_OVERFLOW),
			 !!(abort.tx & (TX_CAPACITY_WRITES | TX_CAPACITY_READS)),
			 "Capacity_Writes or Capacity_Reads, bits 39:38 of B8H, %s: EAX 0x%lx",
			 abort.piece->name, abort.status);
	}
}

/*
 * TSX-03  The TX abort information must say how the transaction ended: bit 33 for RTM, bit 34 for
 *         an instruction, bits 63:40 0.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  a transaction that loads from more lines than the L1 has and stores nothing; SKIP where
 *        it commits
 * When   its abort makes a record
 * Then   at B8H Capacity_Writes (38) is 0; where EAX tells of an overflow, Capacity_Reads (39) is
 *        1
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

/* B8H of a record of a load after a transaction with n loads that has committed. */
static bool record_after_a_commit(struct test *t, u64 n, u64 *tx)
{
	for (unsigned i = 0; i < TRIES; i++) {
		struct ds_setup setup = sampling_setup(8);
		volatile u64 *words = transaction_words();
		struct pebs_record record;
		bool committed;

		ds_open(&setup);
		pebs_arm(0, LOADS, COUNT_BOTH, n + 2 * PERIOD);
		counters_enable(pmc_one(0));
		committed = transaction_commit.run(transaction_words(), n) == COMMITTED;
		for (unsigned k = 0; k < 4 * PERIOD && !ds_records(); k++)
			(void)words[k];
		counters_disable();
		pebs_disarm();
		counter_program_disabled(0, 0, 0);
		if (!committed)
			continue;
		if (!sampling_one_record(t, CONTROL_AT(TSX_09), &record))
			return false;
		*tx = sampling_field(&record, RECORD_tx_abort);
		return HARNESS_CHECK(t, !transaction_holds(&transaction_commit,
							sampling_field(&record,
								       RECORD_eventing_ip)),
				     "the record is of a load after the transaction");
	}
	test_inconclusive(t, "none of %u transactions committed", TRIES);
	return false;
}

/*
 * TSX-03  The TX abort information must say how the transaction ended: bit 33 for RTM, bit 34 for
 *         an instruction, bits 63:40 0.
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  a transaction with 1 load, and one with 1000; both commit; "these fields are set for all
 *        PEBS events"
 * When   a load after each is recorded
 * Then   bits 31:0 at B8H, the cycles of the last transaction, are larger by at least 500 for the
 *        second; bits 63:32 are 0, as nothing has aborted
 */
TEST(tsx, record_after_a_commit_holds_the_cycles_of_that_transaction, REQS(TSX_03, TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	u64 shorter, longer;

	if (!transaction_works(t) || !record_after_a_commit(t, SHORTER, &shorter) ||
	    !record_after_a_commit(t, LONGER, &longer))
		return;
	CHECK_RANGE(t, TSX_09, (shorter & TX_CYCLES) + CYCLES_MORE, TX_CYCLES, longer & TX_CYCLES,
		    "cycles of a committed transaction with %u loads more, in the record of a "
		    "load after it",
		    LONGER - SHORTER);
	CHECK_EQ(t, TSX_03, 0, longer & ~TX_CYCLES, "bits 63:32 of B8H, which tell of no abort");
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

	if (!transaction_works(t) || !record_after_a_commit(t, LONGER, &longer) ||
	    !record_after_a_commit(t, SHORTER, &shorter))
		return;
	CHECK_RANGE(t, TSX_09, (shorter & TX_CYCLES) + CYCLES_MORE, TX_CYCLES, longer & TX_CYCLES,
		    "cycles of a committed transaction with %u loads more, the one with fewer "
		    "being the later one",
		    LONGER - SHORTER);
}

/*
 * TSX-12  The interrupt of a counter that overflows inside a transaction must come after the abort
 *         or the commit, and its overflow must be shown.
 *         SDM volume 1, Runtime Considerations (of Intel TSX); 18.11.5 Performance Monitoring and
 *         Intel TSX
 *
 * Given  each counter overflows half-way through a transaction with 1000 loads, with INT
 * When   its interrupt arrives: pended until the abort is processed, or too late for the
 *        transaction
 * Then   there is one, outside of the transaction, with the status bit of its counter; the
 *        transaction leaves its store exactly if it has committed
 */
TEST(tsx, pmi_of_an_overflow_in_a_transaction_comes_outside_of_it, REQS(TSX_12),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < 4; c++) {
		const struct pmi_log *log;
		u64 *words = transaction_words(), before = *words;
		bool committed;

		counter_program(c, LOADS, COUNT_BOTH | COUNT_INT);
		counter_preset(c, LONGER / 2);
		pmi_open(NULL);
		counters_enable(pmc_one(c));
		committed = transaction_commit.run(words, LONGER) == COMMITTED;
		log = pmi_settle();
		counters_disable();
		counter_program_disabled(c, 0, 0);
		CHECK_EQ(t, TSX_12, 1, log->count,
			 "interrupts of IA32_PMC%u, which overflowed inside", c);
		if (log->count) {
			CHECK(t, TSX_12,
			      !transaction_holds(&transaction_commit, log->entry[0].rip),
			      "0x%lx, where it came, is outside", log->entry[0].rip);
			CHECK_EQ(t, TSX_12, BIT(c), log->entry[0].status & BIT(c),
				 "status bit of IA32_PMC%u in its handler", c);
		}
		CHECK_EQ(t, TSX_12, committed, *words - before,
			 "stores left of a transaction that %s",
			 committed ? "committed" : "aborted");
		pmi_close();
	}
}
