/* SPDX-License-Identifier: MIT */
/*
 * Records of transactions: SDM "Intel TSX and PEBS Support", Table 18-51. Transactions also abort
 * for other reasons. Software gets a status of each abort, and the tests compare with it.
 */
#include "tests/tsx/transaction.h"

#include "kernel/machine/smp.h"
#include "kernel/processor/time.h"
#include "pmu/event.h"
#include "pmu/pebs.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

#define FEW		1	/* loads in a transaction whose number of loads doesn't matter */
#define TRIES		100
#define STRICT_TRIES	4	/* nothing aborts by chance */
#define WRITE_MS	10000u
#define OVERFLOWN	1000	/* loads around an overflow */
#define OVERFLOWN_STRICT 200
#define WELL		(2 * PERIOD)	/* runs that end well: enough if they counted */
#define SHORT		1		/* loads in transactions whose cycles differ */
#define LONG		1000
#define CYCLES_MORE	500		/* least clocks of LONG - SHORT loads */

u64 *transaction_words(void)
{
	static u64 words[TRANSACTION_LINES * 8] __attribute__((aligned(4096)));

	return words;
}

unsigned transaction_run(const struct transaction *piece, u64 n, unsigned times)
{
	unsigned committed = 0;

	while (times--)
		committed += piece->run(transaction_words(), n) == COMMITTED;
	return committed;
}

bool transaction_ended(u64 status)
{
	return status == COMMITTED || (status & ~EAX_NESTED) == BY_XABORT;
}

unsigned transaction_run_ended(const struct transaction *piece, u64 n, unsigned times)
{
	unsigned ended = 0;

	while (times--)
		ended += transaction_ended(piece->run(transaction_words(), n));
	return ended;
}

bool transaction_judge_last(struct test *t, const struct transaction *piece)
{
	if (!test_is_strict(t))
		test_inconclusive(t, "some of %s aborted early in each of %u windows", piece->name,
				  TRANSACTION_WINDOWS);
	return test_is_strict(t);
}

struct writer {
	volatile u64 *word;
	volatile bool runs, stop;
};

/* Runs on the other processor until its deadline. */
static void write_on(void *arg)
{
	struct writer *writer = arg;

	while (!writer->stop) {
		++*writer->word;
		writer->runs = true;
	}
}

static bool writer_runs(void *arg)
{
	return ((struct writer *)arg)->runs;
}

static struct writer writer;
static unsigned writes_on;	/* the processor that writes */

bool transaction_write_on(struct test *t)
{
	writer = (struct writer){ .word = transaction_words() + TRANSACTION_WATCHED };
	writes_on = smp_second();
	if (!HARNESS_CHECK(t, smp_start(writes_on, write_on, &writer, WRITE_MS),
			   "processor %u stores", writes_on))
		return false;
	wait_until(writer_runs, &writer, WRITE_MS * 1000);
	return true;
}

bool transaction_write_off(struct test *t)
{
	struct guard_report report;

	writer.stop = true;
	return HARNESS_CHECK(t, smp_wait(writes_on, &report) && report.outcome == GUARD_DONE,
			     "processor %u has stored till the end", writes_on);
}

u64 transaction_long(const struct test *t)
{
	const struct calibration *c = calibration_get();

	return c->skid_known && !c->skid_most ? test_rounds(t, OVERFLOWN_STRICT, OVERFLOWN) :
						OVERFLOWN;
}

bool transaction_holds(const struct transaction *piece, u64 address)
{
	return address >= (u64)(uintptr_t)piece->begin && address < (u64)(uintptr_t)piece->end;
}

static bool works(struct test *t, const struct transaction *piece)
{
	const unsigned tries = test_is_strict(t) ? STRICT_TRIES : TRIES;
	unsigned committed = transaction_run(piece, FEW, tries);

	if (committed > tries / 2)
		return true;
	test_inconclusive(t, "%u of %u transactions committed", committed, tries);
	return false;
}

bool transaction_works(struct test *t)
{
	return works(t, &transaction_commit);
}

bool transaction_elision_works(struct test *t)
{
	return works(t, &transaction_elided);
}

bool transaction_record(struct test *t, struct test_claim claim, unsigned counter,
			const struct transaction *piece, u64 n, struct transaction_abort *abort)
{
	const struct transaction *first = piece->elides ? &transaction_elided_pause :
							  &transaction_xabort;
	u16 event = piece->elides ? EVENT_HLE_RETIRED_ABORTED : EVENT_RTM_RETIRED_ABORTED;
	struct ds_setup setup = sampling_setup(8);

	*abort = (struct transaction_abort){ .piece = first,
					     .status = piece->elides ? 0 : BY_XABORT };
	ds_open(&setup);
	pebs_arm(counter, event, COUNT_BOTH, PERIOD);
	counters_enable(pmc_one(counter));
	/* The record is of the abort that overflows (PDist) or of the next one. It must be of this
	 * piece, and come directly after an abort of another piece. */
	transaction_run(first, FEW, PERIOD - (pebs_may_have_pdist(counter) ? 1 : 0));
	for (unsigned i = 0; i <= sampling_shadow_bound() && !ds_records(); i++) {
		abort->piece = piece;
		abort->status = piece->run(transaction_words(), n);
	}
	counters_disable();
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	if (!sampling_one_record(t, claim, &abort->record))
		return false;
	abort->eventing_ip = sampling_field(&abort->record, RECORD_eventing_ip);
	abort->rip = sampling_field(&abort->record, RECORD_rip);
	abort->tx = sampling_field(&abort->record, RECORD_tx_abort);
	return true;
}

bool transaction_record_own(struct test *t, struct test_claim claim,
			    const struct transaction *piece, u64 n, struct transaction_abort *abort)
{
	for (unsigned i = 0; i < TRIES; i++) {
		if (!transaction_record(t, claim, 0, piece, n, abort))
			return false;
		if (test_is_strict(t) || (piece->elides ? abort->tx & TX_INSTRUCTION :
							  abort->status != COMMITTED &&
								  transaction_ended(abort->status)))
			return true;
	}
	test_inconclusive(t, "none of %u records is of the abort that %s ends with", TRIES,
			  piece->name);
	return false;
}

/*
 * TSX-01      RTM_RETIRED.ABORTED with PEBS must make a record of an aborted transaction.
 *             SDM 18.11.5.1 Intel TSX and PEBS Support
 * REC-HSW-04  Offset B8H must hold the TX abort information of a transaction that the sampled
 *             event aborted.
 *             SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  each counter samples RTM_RETIRED.ABORTED
 * When   XABORT ends transactions until the counter overflows and there is a record
 * Then   there is one record, with bit 33 (RTM_Abort) of the TX abort information at B8H
 * Control: transactions that commit make no record
 */
TEST(tsx, rtm_abort_record_has_bit_33_set, REQS(TSX_01, REC_HSW_04),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	for (unsigned c = 0; c < 4; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct transaction_abort abort;
		unsigned committed;

		if (!transaction_record(t, AT(TSX_01), c, &transaction_xabort, FEW, &abort))
			return;
		CHECK_EQ(t, REC_HSW_04, TX_RTM_ABORT, abort.tx & TX_RTM_ABORT,
			 "RTM_Abort, bit 33 of B8H, of IA32_PMC%u's record", c);
		/* Transactions that end well, except those that another cause aborts. */
		ds_open(&setup);
		pebs_arm(c, EVENT_RTM_RETIRED_ABORTED, COUNT_BOTH, PERIOD);
		counters_enable(pmc_one(c));
		committed = transaction_run(&transaction_commit, FEW, WELL);
		counters_disable();
		pebs_disarm();
		CONTROL_RANGE(t, TSX_01, 0, (WELL - committed) / PERIOD, ds_records(),
			      "records of %u transactions that end well, IA32_PMC%u", committed, c);
		counter_program_disabled(c, 0, 0);
	}
}

/* Check what holds for every abort, and what holds for this piece's aborts if no other cause aborts
 * it. */
static void check_information(struct test *t, unsigned counter, const struct transaction *piece,
			      u64 n, u64 want)
{
	struct transaction_abort abort;

	if (!transaction_record(t, AT(TSX_03), counter, piece, n, &abort))
		return;
	CHECK_EQ(t, TSX_03, TX_RTM_ABORT, abort.tx & (TX_RTM_ABORT | TX_HLE_ABORT),
		 "RTM_Abort and not HLE_Abort, bits 33:32 of B8H, %s", piece->name);
	CHECK_EQ(t, TSX_03, 0, abort.tx & TX_RESERVED, "bits 63:40 of B8H, %s", piece->name);
	if (abort.tx & TX_INSTRUCTION)
		CHECK(t, TSX_03, transaction_holds(abort.piece, abort.eventing_ip),
		      "Instruction_Abort, and EventingIP 0x%lx is in the transaction of %s",
		      abort.eventing_ip, abort.piece->name);
	if (test_sees_exactly(t, REQ_TSX_03))
		CHECK_EQ(t, TSX_03, want | TX_RTM_ABORT, abort.tx & ~TX_CYCLES & ~TX_RETRY,
			 "bits 63:32 of B8H without Retry, %s, IA32_PMC%u", piece->name, counter);
}

/*
 * TSX-03  The TX abort information must say how the transaction ended: bit 33 for RTM, bit 34 for
 *         an instruction, bits 63:40 0.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  transactions that end by XABORT, by PAUSE, and by stores to more lines than the L1 has
 * When   each makes a record of RTM_RETIRED.ABORTED on each counter
 * Then   at B8H bit 33 (RTM_Abort) is 1, bit 32 and bits 63:40 are 0. With bit 34
 *        (Instruction_Abort) EventingIP is inside the transaction. Where nothing else aborts, the
 *        first two have bit 34, and the last has bits 35 (Non_Instruction_Abort) and 38
 *        (Capacity_Writes)
 */
TEST(tsx, tx_abort_information_tells_instruction_from_capacity, REQS(TSX_03),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		check_information(t, c, &transaction_xabort, FEW, TX_INSTRUCTION);
		check_information(t, c, &transaction_pause, FEW, TX_INSTRUCTION);
		check_information(t, c, &transaction_stores, TRANSACTION_LINES,
				  TX_NON_INSTRUCTION | TX_CAPACITY_WRITES);
	}
}

/*
 * TSX-03  The TX abort information must say how the transaction ended: bit 33 for RTM, bit 34 for
 *         an instruction, bits 63:40 0.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  another processor stores to a line all the time
 * When   a transaction loads from that line, and its abort makes a record
 * Then   at B8H bit 33 (RTM_Abort) is 1, bit 32 and bits 63:40 are 0; where nothing else aborts,
 *        bits 35 (Non_Instruction_Abort) and 37 (Data_Conflict) are the others
 */
TEST(tsx, tx_abort_information_tells_a_data_conflict, REQS(TSX_03),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_second_processor))
{
	if (!transaction_works(t) || !transaction_write_on(t))
		return;
	check_information(t, 0, &transaction_watch, WATCHED, TX_NON_INSTRUCTION | TX_DATA_CONFLICT);
	transaction_write_off(t);
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  transactions that XABORT ends, one with 1 load and one with 1000 loads
 * When   each makes a record of RTM_RETIRED.ABORTED
 * Then   bits 31:0 at B8H of the second are larger by at least 500 cycles
 * Control: each transaction has made one record
 */
TEST(tsx, rtm_abort_record_holds_the_cycles_of_the_transaction, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	struct transaction_abort shorter, longer;

	if (!transaction_record_own(t, CONTROL_AT(TSX_09), &transaction_xabort, SHORT, &shorter) ||
	    !transaction_record_own(t, CONTROL_AT(TSX_09), &transaction_xabort, LONG, &longer))
		return;
	CHECK_RANGE(t, TSX_09, (shorter.tx & TX_CYCLES) + CYCLES_MORE, TX_CYCLES,
		    longer.tx & TX_CYCLES, "cycles of a transaction with %u loads more",
		    LONG - SHORT);
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  transactions that XABORT ends, one with 1000 loads, then one with 1
 * When   each makes a record of RTM_RETIRED.ABORTED
 * Then   bits 31:0 at B8H of the second are smaller by at least 500 cycles: those of the first one
 *        aren't in them
 * Control: each transaction has made one record
 */
TEST(tsx, rtm_abort_record_does_not_hold_the_cycles_of_earlier_transactions, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	struct transaction_abort longer, shorter;

	if (!transaction_record_own(t, CONTROL_AT(TSX_09), &transaction_xabort, LONG, &longer) ||
	    !transaction_record_own(t, CONTROL_AT(TSX_09), &transaction_xabort, SHORT, &shorter))
		return;
	CHECK_RANGE(t, TSX_09, (shorter.tx & TX_CYCLES) + CYCLES_MORE, TX_CYCLES,
		    longer.tx & TX_CYCLES,
		    "cycles of a transaction with %u loads more, the one with fewer being the "
		    "later one",
		    LONG - SHORT);
}

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  a transaction of 4000 loads (500 in strict runs) that XABORT ends; one of as many loads
 *        with a nested one of as many, which XABORT ends
 * When   each makes a record of RTM_RETIRED.ABORTED
 * Then   bits 31:0 at B8H of the second are larger by at least 2000 (250) cycles: a transaction
 *        begins with the outermost XBEGIN
 * Control: each transaction has made one record
 */
TEST(tsx, rtm_abort_record_holds_the_cycles_since_the_outermost_xbegin, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	const u64 loads = test_rounds(t, LONG / 2, 4 * LONG);
	struct transaction_abort one, nested;

	if (!transaction_record_own(t, CONTROL_AT(TSX_09), &transaction_xabort, loads, &one) ||
	    !transaction_record_own(t, CONTROL_AT(TSX_09), &transaction_nested_inside, loads,
				    &nested))
		return;
	CHECK_RANGE(t, TSX_09, (one.tx & TX_CYCLES) + loads / 2, TX_CYCLES, nested.tx & TX_CYCLES,
		    "cycles with a nested transaction of %lu loads", loads);
}

/*
 * TSX-05  R/EIP of an RTM abort record must be the fallback address.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * REC-04  The register fields must hold the values after the causing instruction retired, a
 *         register that it loaded included.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  transactions that end by XABORT, by PAUSE, and by XABORT in a nested one
 * When   each makes a record of RTM_RETIRED.ABORTED
 * Then   R/EIP is the fallback address of the outermost XBEGIN. Where every requirement is judged,
 *        EAX reports the abort, and RCX and RDI have their values from before it, though RCX was
 *        changed inside: the manual calls none of them valid in such a record (TSX-04)
 */
TEST(tsx, rip_of_an_rtm_abort_record_is_the_fallback_address, REQS(TSX_05, REC_04),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	static const struct transaction *const pieces[] = {
		&transaction_xabort, &transaction_pause, &transaction_nested,
	};

	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct transaction_abort abort;

		if (!transaction_record(t, AT(TSX_05), i, pieces[i], FEW, &abort))
			return;
		CHECK_EQ(t, TSX_05, (u64)(uintptr_t)abort.piece->fallback, abort.rip,
			 "R/EIP: the fallback of %s", abort.piece->name);
		if (!test_is_strict(t))
			continue;
		CHECK_EQ(t, REC_04, (u32)abort.status,
			 (u32)sampling_field(&abort.record, RECORD_rax), "EAX after %s",
			 abort.piece->name);
		CHECK_EQ(t, REC_04, (u64)(uintptr_t)transaction_words(),
			 sampling_field(&abort.record, RECORD_rdi), "RDI, as before %s",
			 abort.piece->name);
		CHECK_EQ(t, REC_04, FEW, sampling_field(&abort.record, RECORD_rcx),
			 "RCX, as before %s", abort.piece->name);
	}
}
