/* SPDX-License-Identifier: MIT */
/*
 * Records of transactions: SDM "Intel TSX and PEBS Support", Table 18-51. Transactions also abort
 * for reasons of their own; software learns of each abort, so that what it saw is the measure.
 * Not looked at: hardware lock elision.
 */
#include "tests/transaction.h"

#include "kernel/smp.h"
#include "kernel/time.h"
#include "pmu/event.h"
#include "pmu/pebs.h"
#include "tests/needs.h"
#include "tests/sampling.h"

#define FEW		4	/* loads in a transaction that is only to end */
#define TRIES		100
#define WATCHED		2000	/* loads of a line that another processor writes to meanwhile */
#define WRITE_MS	10000u
/* Table 18-51. */
#define CYCLES		BITS(0, 31)
#define HLE_ABORT	BIT(32)
#define RTM_ABORT	BIT(33)
#define INSTRUCTION	BIT(34)
#define NON_INSTRUCTION	BIT(35)
#define DATA_CONFLICT	BIT(37)
#define CAPACITY_WRITES	BIT(38)
#define CAPACITY_READS	BIT(39)
#define RESERVED	BITS(40, 63)

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

bool transaction_holds(const struct transaction *piece, u64 address)
{
	return address >= (u64)(uintptr_t)piece->begin && address < (u64)(uintptr_t)piece->end;
}

bool transaction_works(struct test *t)
{
	unsigned committed = transaction_run(&transaction_commit, FEW, TRIES);

	if (committed > TRIES / 2)
		return true;
	test_inconclusive(t, "%u of %u transactions committed", committed, TRIES);
	return false;
}

/*
 * The record of an abort by this piece: PERIOD aborts by XABORT overflow the counter, and the
 * piece is run until there is a record, as often as a shadow can be long.
 */
static bool record_of(struct test *t, struct test_claim claim, unsigned counter,
		      const struct transaction *piece, u64 n, struct pebs_record *record)
{
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	pebs_arm(counter, EVENT_RTM_RETIRED_ABORTED, COUNT_BOTH, PERIOD);
	counters_enable(pmc_one(counter));
	transaction_run(&transaction_explicit, FEW, PERIOD);
	for (unsigned i = 0; i <= SHADOW_MOST && !ds_records(); i++)
		transaction_run(piece, n, 1);
	counters_disable();
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	return sampling_one_record(t, claim, record);
}

TEST(tsx, an_aborted_transaction_makes_a_record, REQS(TSX_01, REC_HSW_04),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	for (unsigned c = 0; c < 4; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct pebs_record record;
		unsigned committed;

		if (!record_of(t, AT(TSX_01), c, &transaction_explicit, FEW, &record))
			return;
		CHECK_EQ(t, REC_HSW_04, RTM_ABORT,
			 sampling_field(&record, RECORD_tx_abort) & RTM_ABORT,
			 "RTM_Abort, bit 33 of B8H, of IA32_PMC%u's record", c);
		/* The control: transactions that end well, but for those that something aborts. */
		ds_open(&setup);
		pebs_arm(c, EVENT_RTM_RETIRED_ABORTED, COUNT_BOTH, PERIOD);
		counters_enable(pmc_one(c));
		committed = transaction_run(&transaction_commit, FEW, 4 * PERIOD);
		counters_disable();
		pebs_disarm();
		CHECK_RANGE(t, TSX_01, 0, (4 * PERIOD - committed) / PERIOD, ds_records(),
			    "records of %u transactions that end well, IA32_PMC%u", committed, c);
		counter_program_disabled(c, 0, 0);
	}
}

/* What is true of every abort, and what is so of this piece's where nothing else aborts it. */
static void check_information(struct test *t, const struct transaction *piece, u64 n, u64 want)
{
	struct pebs_record record;
	u64 tx;

	if (!record_of(t, AT(TSX_03), 0, piece, n, &record))
		return;
	tx = sampling_field(&record, RECORD_tx_abort);
	CHECK_EQ(t, TSX_03, RTM_ABORT, tx & (RTM_ABORT | HLE_ABORT),
		 "RTM_Abort and not HLE_Abort, bits 33:32 of B8H, %s", piece->name);
	CHECK_EQ(t, TSX_03, 0, tx & RESERVED, "bits 63:40 of B8H, %s", piece->name);
	if (tx & INSTRUCTION)
		CHECK(t, TSX_03,
		      transaction_holds(piece, sampling_field(&record, RECORD_eventing_ip)) ||
		      transaction_holds(&transaction_explicit,
					sampling_field(&record, RECORD_eventing_ip)),
		      "Instruction_Abort, and EventingIP 0x%lx is in the transaction of %s",
		      sampling_field(&record, RECORD_eventing_ip), piece->name);
	if (test_sees_exactly(t, REQ_TSX_03))
		CHECK_EQ(t, TSX_03, want | RTM_ABORT, tx & ~CYCLES & ~BIT(36),
			 "bits 63:32 of B8H without Retry, %s", piece->name);
}

TEST(tsx, the_abort_information_says_why, REQS(TSX_03), NEEDS(need_perfmon, need_pebs, need_rtm))
{
	if (!transaction_works(t))
		return;
	check_information(t, &transaction_explicit, FEW, INSTRUCTION);
	check_information(t, &transaction_pause, FEW, INSTRUCTION);
	check_information(t, &transaction_lines, TRANSACTION_LINES,
			  NON_INSTRUCTION | CAPACITY_WRITES);
}

/* ---- another processor ---- */

struct writer {
	volatile u64 *word;
	volatile bool runs, stop;
};

/* On the other processor, up to its deadline. */
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

/* "another logical processor conflicted with a memory address that was part of the transactional
 * region" */
TEST(tsx, a_conflict_is_told_from_other_aborts, REQS(TSX_03),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_second_processor))
{
	static struct writer writer;
	struct guard_report report;
	unsigned cpu = smp_second();

	if (!transaction_works(t))
		return;
	writer = (struct writer){ .word = transaction_words() + TRANSACTION_WATCHED };
	if (!HARNESS_CHECK(t, smp_start(cpu, write_on, &writer, WRITE_MS),
			   "processor %u stores", cpu))
		return;
	wait_until(writer_runs, &writer, WRITE_MS * 1000);
	check_information(t, &transaction_watch, WATCHED, NON_INSTRUCTION | DATA_CONFLICT);
	writer.stop = true;
	HARNESS_CHECK(t, smp_wait(cpu, &report) && report.outcome == GUARD_DONE,
		      "processor %u has stored till the end", cpu);
}

/* Bits 31:0, the cycles of the last transaction, with very different ones. */
TEST(tsx, the_record_tells_how_long_it_was, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	struct pebs_record shorter, longer;

	if (!record_of(t, AT(TSX_09), 0, &transaction_explicit, 1, &shorter) ||
	    !record_of(t, AT(TSX_09), 0, &transaction_explicit, 1000, &longer))
		return;
	CHECK_RANGE(t, TSX_09, (sampling_field(&shorter, RECORD_tx_abort) & CYCLES) + 500, CYCLES,
		    sampling_field(&longer, RECORD_tx_abort) & CYCLES,
		    "cycles of a transaction with 999 loads more");
}

TEST(tsx, the_record_names_the_fallback, REQS(TSX_05), NEEDS(need_perfmon, need_pebs, need_rtm))
{
	static const struct transaction *const pieces[] = {
		&transaction_explicit, &transaction_pause, &transaction_nested,
	};

	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		u64 fallback = (u64)(uintptr_t)pieces[i]->fallback;
		struct pebs_record record;

		if (!record_of(t, AT(TSX_05), i, pieces[i], FEW, &record))
			return;
		/* A shadow may have ended within the aborts before. */
		if (sampling_field(&record, RECORD_rip) ==
		    (u64)(uintptr_t)transaction_explicit.fallback)
			fallback = (u64)(uintptr_t)transaction_explicit.fallback;
		CHECK_EQ(t, TSX_05, fallback, sampling_field(&record, RECORD_rip),
			 "R/EIP: the fallback of %s", pieces[i]->name);
	}
}

struct inside {
	unsigned runs;		/* up to the first record of an instruction inside */
	u64 status, words;	/* of the run that it came in; stores that are left of it */
	struct pebs_record record;
};

/* Loads in transactions, most of all that there are, till one of them is recorded. */
static bool record_inside(unsigned counter, u64 flags, struct inside *in)
{
	struct ds_setup setup = sampling_setup(8);
	u64 *words = transaction_words();
	bool found = false;

	setup.reset[counter] = pebs_reset_value(counter, PERIOD);
	ds_open(&setup);
	pebs_arm(counter, LOADS, COUNT_BOTH | flags, PERIOD);
	counters_enable(pmc_one(counter));
	for (in->runs = 0; in->runs < TRIES && !found; in->runs++) {
		u64 before = *words;

		in->status = transaction_commit.run(words, PERIOD / 2);
		in->words = *words - before;
		if (!ds_records())
			continue;
		record_decode(setup.format, ds_record(0), record_size(setup.format), &in->record);
		found = transaction_holds(&transaction_commit,
					  sampling_field(&in->record, RECORD_eventing_ip));
		ds_set_index(0);
	}
	counters_disable();
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	return found;
}

TEST(tsx, a_record_aborts_the_transaction, REQS(TSX_02, ARM_08),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < 4; c++) {
		struct inside in = { 0 };
		bool found = record_inside(c, 0, &in);

		if (!CHECK(t, ARM_08, found,
			   "a load is recorded in one of %u transactions with %u loads each, "
			   "IA32_PMC%u", in.runs, PERIOD / 2, c))
			return;
		CHECK(t, TSX_02, in.status != COMMITTED,
		      "the transaction of the record doesn't commit, IA32_PMC%u", c);
		CHECK_EQ(t, TSX_02, 0, in.words, "stores left of it, IA32_PMC%u", c);
		CHECK_EQ(t, ARM_08, (u64)(uintptr_t)transaction_commit.fallback,
			 sampling_field(&in.record, RECORD_rip),
			 "R/EIP of its record, which is made behind the abort, IA32_PMC%u", c);
		CHECK_EQ(t, TSX_02, RTM_ABORT,
			 sampling_field(&in.record, RECORD_tx_abort) & RTM_ABORT,
			 "RTM_Abort, bit 33 of B8H, IA32_PMC%u", c);
	}
}

TEST(tsx, in_tx_holds_for_records, REQS(ARM_07),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < 4; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct inside in = { 0 };
		bool found;

		sampling_run(&setup, c, LOADS, COUNT_BOTH | IA32_PERFEVTSEL_IN_TX,
			     &workload_sample, NO_OTHERS);
		CHECK_EQ(t, ARM_07, 0, ds_records(),
			 "records outside of transactions, IA32_PMC%u with IN_TX", c);
		found = record_inside(c, IA32_PERFEVTSEL_IN_TX, &in);
		CHECK(t, ARM_07, found,
		      "and a record inside, in %u runs, IA32_PMC%u", in.runs, c);
	}
}
