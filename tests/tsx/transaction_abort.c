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
#define LONGER	1000	/* loads in one that is to take its time */
#define TRIES	20

/* "the abort was associated with the instruction corresponding to the eventing IP". That XABORT has
 * aborted it is said by EAX; that PAUSE has is so where nothing else aborts. */
TEST(tsx, an_abort_by_an_instruction_names_it, REQS(TSX_10),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	static const struct transaction *const pieces[] = {
		&transaction_explicit, &transaction_nested, &transaction_pause,
	};

	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct transaction_abort abort;

		if (!transaction_record(t, AT(TSX_10), i, pieces[i], FEW, &abort))
			return;
		if (test_sees_exactly(t, REQ_TSX_10))
			CHECK_EQ(t, TSX_10, TX_INSTRUCTION, abort.tx & TX_INSTRUCTION,
				 "Instruction_Abort, bit 34 of B8H, %s", abort.piece->name);
		else if (!(abort.tx & TX_INSTRUCTION) || (abort.status & 0xff000001) != BY_XABORT)
			continue;
		CHECK_EQ(t, TSX_10, (u64)(uintptr_t)abort.piece->cause, abort.eventing_ip,
			 "EventingIP: the instruction that aborts %s", abort.piece->name);
	}
}

/* Bits 1 to 3 of EAX are worded like Retry, Data_Conflict and the two of capacity. */
TEST(tsx, the_record_agrees_with_eax, REQS(TSX_11), NEEDS(need_perfmon, need_pebs, need_rtm))
{
	static const struct { const struct transaction *piece; u64 n; } each[] = {
		{ &transaction_explicit, FEW }, { &transaction_pause, FEW },
		{ &transaction_lines, TRANSACTION_LINES },
	};

	for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		struct transaction_abort abort;

		if (!transaction_record(t, AT(TSX_11), 0, each[i].piece, each[i].n, &abort))
			return;
		if (abort.status == COMMITTED)
			continue;
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

/* A transaction without a store can't have exceeded what there is for stores. */
TEST(tsx, reads_are_told_from_writes, REQS(TSX_03), NEEDS(need_perfmon, need_pebs, need_rtm))
{
	struct transaction_abort abort;
	unsigned committed = transaction_run(&transaction_reads, TRANSACTION_LINES, TRIES);

	if (committed) {
		test_skip(t, "%u of %u transactions that read %u lines committed", committed,
			  TRIES, TRANSACTION_LINES);
		return;
	}
	if (!transaction_record(t, AT(TSX_03), 0, &transaction_reads, TRANSACTION_LINES, &abort))
		return;
	CHECK_EQ(t, TSX_03, 0, abort.tx & TX_CAPACITY_WRITES,
		 "Capacity_Writes, bit 38 of B8H, %s", abort.piece->name);
	if (abort.status & EAX_OVERFLOW)
		CHECK_EQ(t, TSX_03, TX_CAPACITY_READS, abort.tx & TX_CAPACITY_READS,
			 "Capacity_Reads, bit 39 of B8H, %s: EAX 0x%lx", abort.piece->name,
			 abort.status);
	/* The control: the one that stores. */
	if (!transaction_record(t, AT(TSX_03), 0, &transaction_lines, TRANSACTION_LINES, &abort))
		return;
	if (test_sees_exactly(t, REQ_TSX_03))
		CHECK_EQ(t, TSX_03, TX_CAPACITY_WRITES,
			 abort.tx & (TX_CAPACITY_WRITES | TX_CAPACITY_READS),
			 "Capacity_Writes alone, bit 38 of B8H, %s", abort.piece->name);
}

/* B8H of a record of a load after a transaction with n loads that has committed. */
static bool behind_a_commit(struct test *t, u64 n, u64 *tx)
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
		if (!sampling_one_record(t, AT(TSX_09), &record))
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

/* "These fields are set for all PEBS events"; "the number of cycles in the last TSX region,
 * regardless of whether that region had aborted or committed". */
TEST(tsx, a_later_record_tells_how_long_it_was, REQS(TSX_03, TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	u64 shorter, longer;

	if (!transaction_works(t) || !behind_a_commit(t, 1, &shorter) ||
	    !behind_a_commit(t, LONGER, &longer))
		return;
	CHECK_RANGE(t, TSX_09, (shorter & TX_CYCLES) + LONGER / 2, TX_CYCLES, longer & TX_CYCLES,
		    "cycles of a committed transaction with %u loads more, in the record of a "
		    "load after it", LONGER - 1);
	CHECK_EQ(t, TSX_03, 0, longer & ~TX_CYCLES, "bits 63:32 of B8H, which tell of no abort");
}

/* "The asynchronous events will be pended and handled after the transactional abort is processed."
 * An interrupt may also be too late for the transaction. */
TEST(tsx, an_interrupt_inside_comes_behind_the_abort, REQS(TSX_12),
     NEEDS(need_perfmon, need_rtm, need_events))
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
