/* SPDX-License-Identifier: MIT */
/*
 * Records of instructions inside of transactions; such a record aborts the transaction: SDM "Intel
 * TSX and PEBS Support". Transactions also abort for other reasons. Software gets a status of each
 * abort, and the tests compare with it.
 */
#include "kernel/interrupt/user.h"
#include "pmu/event.h"
#include "pmu/pebs.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define TRIES		100
#define TRIES_TAGGED	(16 * TRIES)	/* tries if few of the loads count */
#define LATENCY		(~0ULL)	/* in place of flags: load latency, on its usual counter */
#define FILTER		2u	/* IA32_PMC2, the only one that may have IN_TXCP */
#define PDIR_PERIOD	(3 * PERIOD)	/* at least 128, a multiple of 64 */

static u64 run_at_cpl_3(u64 inside)
{
	const struct transaction_inside *in = (const void *)(uintptr_t)inside;

	return in->piece->run(transaction_words(), in->period ? in->period : PERIOD / 2);
}

/* true: the record is of the transaction. A piece with an elided lock runs again with the lock
 * taken, so there B8H must show the abort. */
static bool tells_of(const struct transaction_inside *in)
{
	return transaction_holds(in->piece, sampling_field(&in->record, RECORD_eventing_ip)) &&
	       (!in->piece->elides ||
		sampling_field(&in->record, RECORD_tx_abort) & (TX_HLE_ABORT | TX_RTM_ABORT));
}

bool transaction_record_inside(const struct test *t, u16 event, unsigned counter, u64 flags,
			       struct pmc_mask with, struct transaction_inside *in)
{
	const struct mem_sample_setup latency = mem_sample_loads(t);
	const u64 period = flags == LATENCY ? latency.period : in->period ? in->period : PERIOD;
	const unsigned tries = flags == LATENCY ? TRIES_TAGGED : TRIES;
	const bool user = !(flags & COUNT_OS);
	struct ds_setup setup = sampling_setup(8);
	const u64 *words = transaction_words();
	bool found = false;

	setup.reset[counter] = pebs_reset_value(counter, period);
	ds_open(&setup);
	if (flags == LATENCY)
		mem_sample_arm(&latency, period);
	else
		pebs_arm(counter, event, flags, period);
	in->record = (struct pebs_record){ .format = setup.format };
	in->committed = 0;
	for (in->runs = 0; in->runs < tries && !found; in->runs++) {
		u64 before = *words, arg = (u64)(uintptr_t)in;

		/* Stop counting directly after the piece: most events must be inside of it. */
		counters_enable(pmc_or(pmc_one(counter), with));
		in->status = user ? user_call(run_at_cpl_3, arg) : run_at_cpl_3(arg);
		counters_disable();
		in->committed += in->status == COMMITTED;
		in->words = *words - before;
		if (!ds_records())
			continue;
		record_decode(setup.format, ds_record(0), record_size(setup.format), &in->record);
		found = tells_of(in);
		ds_set_index(0);
	}
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	return found;
}

static bool record_inside(const struct test *t, unsigned counter, u64 flags, struct pmc_mask with,
			  struct transaction_inside *in)
{
	in->piece = &transaction_commit;
	return transaction_record_inside(t, LOADS, counter, flags, with, in);
}

/*
 * TSX-01  RTM_RETIRED.ABORTED with PEBS must make a record of an aborted transaction.
 * TSX-02  A PEBS event inside a transaction must abort it before the record is written.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * TSX-11  Retry, Data_Conflict and the capacity bits of the TX abort information must agree with
 *         bits 1, 2 and 3 of EAX after the abort.
 *         SDM Table 18-51 against volume 1, RTM Abort Status Definition
 * ARM-08  A PEBS event inside a transactional region must abort the region before the record is
 *         written.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 *
 * Given  each counter samples loads, nearly all of which are inside of transactions; the next one
 *        counts RTM_RETIRED.ABORTED
 * When   the transactions run until a load inside is recorded
 * Then   that transaction doesn't commit and leaves no store; the record has R/EIP at the fallback
 *        and at B8H bit 33 (RTM_Abort), and bit 36 (Retry) exactly if EAX has bit 1;
 *        RTM_RETIRED.ABORTED counts the transactions that don't commit, on a processor at least one
 */
TEST(tsx, pebs_record_aborts_the_transaction_before_it_is_written,
     REQS(TSX_01, TSX_02, TSX_11, ARM_08), NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < 4; c++) {
		const unsigned aborts = (c + 1) % 4;
		struct transaction_inside in = { 0 };
		bool found;

		counter_program(aborts, EVENT_RTM_RETIRED_ABORTED, COUNT_BOTH);
		counter_write(aborts, 0);
		found = record_inside(t, c, COUNT_BOTH, pmc_one(aborts), &in);
		if (!CHECK(t, ARM_08, found,
			   "a load is recorded in one of %u transactions with %u loads each, "
			   "IA32_PMC%u",
			   in.runs, PERIOD / 2, c))
			return;
		CHECK_RANGE(t, TSX_01,
			    test_sees_exactly(t, REQ_TSX_01) ? in.runs - in.committed : 1,
			    in.runs - in.committed, counter_read(aborts),
			    "RTM_RETIRED.ABORTED of %u transactions, one aborted by a record of "
			    "IA32_PMC%u",
			    in.runs, c);
		counter_program_disabled(aborts, 0, 0);
		CHECK(t, TSX_02, in.status != COMMITTED,
		      "the transaction of the record doesn't commit, IA32_PMC%u", c);
		CHECK_EQ(t, TSX_02, 0, in.words, "stores left of it, IA32_PMC%u", c);
		CHECK_EQ(t, ARM_08, (u64)(uintptr_t)transaction_commit.fallback,
			 sampling_field(&in.record, RECORD_rip),
			 "R/EIP of its record, which is made after the abort, IA32_PMC%u", c);
		CHECK_EQ(t, TSX_02, TX_RTM_ABORT,
			 sampling_field(&in.record, RECORD_tx_abort) & TX_RTM_ABORT,
			 "RTM_Abort, bit 33 of B8H, IA32_PMC%u", c);
		CHECK_EQ(t, TSX_11, !!(in.status & EAX_RETRY),
			 !!(sampling_field(&in.record, RECORD_tx_abort) & TX_RETRY),
			 "Retry, bit 36 of B8H, IA32_PMC%u: EAX 0x%lx", c, in.status);
	}
}

/*
 * TSX-02  A PEBS event inside a transaction must abort it before the record is written.
 * ARM-08  A PEBS event inside a transactional region must abort the region before the record is
 *         written.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 *
 * Given  IA32_PMC0 samples loads, nearly all of which are inside of a transaction in another one,
 *        and in two others
 * When   the transactions run until a load inside is recorded
 * Then   the outermost one doesn't commit and leaves no store; the record has R/EIP at its fallback
 * Control: on the reference PMU EAX[5] says that the abort was in a nested transaction
 */
TEST(tsx, pebs_record_in_a_nested_transaction_aborts_the_outermost_one, REQS(TSX_02, ARM_08),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	static const struct transaction *const pieces[] = { &transaction_nested_commit,
							    &transaction_nested_deep };

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < 2; i++) {
		struct transaction_inside in = { .piece = pieces[i] };
		bool found = transaction_record_inside(t, LOADS, 0, COUNT_BOTH, NO_OTHERS, &in);

		if (!CHECK(t, ARM_08, found, "a load is recorded in one of %u runs of %s", in.runs,
			   pieces[i]->name))
			return;
		CHECK(t, TSX_02, in.status != COMMITTED, "the run of the record doesn't commit, %s",
		      pieces[i]->name);
		CHECK_EQ(t, TSX_02, 0, in.words, "stores left of it, %s", pieces[i]->name);
		/* EAX isn't the PMU's: a bit that is wrong there is no failure of TSX-02. */
		if (test_is_strict(t))
			CONTROL_EQ(t, TSX_02, EAX_NESTED, in.status & EAX_NESTED,
				   "EAX[5], the abort was in a nested transaction, %s",
				   pieces[i]->name);
		CHECK_EQ(t, ARM_08, (u64)(uintptr_t)pieces[i]->fallback,
			 sampling_field(&in.record, RECORD_rip),
			 "R/EIP of its record, which is made after the abort, %s", pieces[i]->name);
	}
}

/*
 * TSX-02  A PEBS event inside a transaction must abort it before the record is written.
 * ARM-08  A PEBS event inside a transactional region must abort the region before the record is
 *         written.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 *
 * Given  each counter samples branches, and IA32_PMC1 instructions too, with PDIR where there is
 *        one, if CPUID has these events; nearly all of them are inside of transactions
 * When   the transactions run until one inside is recorded
 * Then   that transaction doesn't commit and leaves no store; the record has R/EIP at the fallback
 *        and bit 33 (RTM_Abort) at B8H
 */
TEST(tsx, pebs_record_of_any_precise_event_aborts_the_transaction, REQS(TSX_02, ARM_08),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	struct event pdir = { .code = 0 };
	u16 branch = 0;
	char reason[96];

	if (!transaction_works(t))
		return;
	if (need_branches(reason, sizeof(reason)))
		branch = sampling_event(EK_BRANCHES);
	if (need_instructions(reason, sizeof(reason)))
		event_get(EK_INSTRUCTIONS, EV_PEBS | EV_PDIR, &pdir);
	if (!branch && !pdir.code)
		test_skip(t, "no event of branches, and none of instructions with PDIR");
	for (unsigned i = 0; i <= PEBS_COUNTERS; i++) {
		const bool branches = i < PEBS_COUNTERS;
		const unsigned c = branches ? i : 1;
		const u16 event = branches ? branch : pdir.code;
		struct transaction_inside in = { .piece = &transaction_commit,
						 .period = branches ? PERIOD : PDIR_PERIOD };
		bool found;

		if (!event)
			continue;
		found = transaction_record_inside(t, event, c, COUNT_BOTH, NO_OTHERS, &in);
		if (!CHECK(t, ARM_08, found,
			   "event %#x is recorded in one of %u transactions, IA32_PMC%u", event,
			   in.runs, c))
			return;
		CHECK(t, TSX_02, in.status != COMMITTED,
		      "the transaction of the record doesn't commit, event %#x, IA32_PMC%u", event,
		      c);
		CHECK_EQ(t, TSX_02, 0, in.words, "stores left of it, IA32_PMC%u", c);
		CHECK_EQ(t, ARM_08, (u64)(uintptr_t)transaction_commit.fallback,
			 sampling_field(&in.record, RECORD_rip),
			 "R/EIP of its record, event %#x, IA32_PMC%u", event, c);
		CHECK_EQ(t, TSX_02, TX_RTM_ABORT,
			 sampling_field(&in.record, RECORD_tx_abort) & TX_RTM_ABORT,
			 "RTM_Abort, bit 33 of B8H, event %#x, IA32_PMC%u", event, c);
	}
}

/*
 * TSX-02  A PEBS event inside a transaction must abort it before the record is written.
 * ARM-08  A PEBS event inside a transactional region must abort the region before the record is
 *         written.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 *
 * Given  load latency samples loads, nearly all of which are inside of transactions
 * When   the transactions run until a load inside is recorded
 * Then   that transaction doesn't commit and leaves no store; the record has R/EIP at the fallback
 *        and bit 33 (RTM_Abort) at B8H
 */
TEST(tsx, latency_record_aborts_the_transaction_before_it_is_written, REQS(TSX_02, ARM_08),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_load_latency, need_events))
{
	const unsigned c = mem_sample_loads(t).counter;
	struct transaction_inside in = { 0 };
	bool found;

	if (!transaction_works(t))
		return;
	found = record_inside(t, c, LATENCY, NO_OTHERS, &in);
	if (!found && !test_is_strict(t)) {
		test_inconclusive(t, "no load is recorded in one of %u transactions", in.runs);
		return;
	}
	if (!CHECK(t, ARM_08, found, "a load is recorded in one of %u transactions", in.runs))
		return;
	CHECK(t, TSX_02, in.status != COMMITTED, "the transaction of the record doesn't commit");
	CHECK_EQ(t, TSX_02, 0, in.words, "stores left of it");
	CHECK_EQ(t, ARM_08, (u64)(uintptr_t)transaction_commit.fallback,
		 sampling_field(&in.record, RECORD_rip),
		 "R/EIP of its record, which is made after the abort");
	CHECK_EQ(t, TSX_02, TX_RTM_ABORT,
		 sampling_field(&in.record, RECORD_tx_abort) & TX_RTM_ABORT,
		 "RTM_Abort, bit 33 of B8H");
}

static bool need_pebs_of_fixed_0(char *reason, size_t size)
{
	return need_baseline(reason, size) && need_fixed_0_to_2(reason, size);
}

/*
 * ARM-08  A PEBS event inside a transactional region must abort the region before the record is
 *         written.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 *
 * Given  fixed counter 0 samples instructions, nearly all of which are inside of transactions
 * When   the transactions run until an instruction inside is recorded
 * Then   that transaction doesn't commit and leaves no store, and the record has R/EIP at the
 *        fallback
 */
TEST(tsx, pebs_record_of_fixed_counter_0_aborts_the_transaction, REQS(ARM_08),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_pebs_of_fixed_0))
{
	const unsigned c = PMC_FIXED(0);
	struct transaction_inside in = { 0 };
	bool found;

	if (!transaction_works(t))
		return;
	found = record_inside(t, c, COUNT_BOTH, NO_OTHERS, &in);
	if (!CHECK(t, ARM_08, found,
		   "an instruction is recorded in one of %u transactions with %u loads each",
		   in.runs, PERIOD / 2))
		return;
	CHECK(t, ARM_08, in.status != COMMITTED, "the transaction of the record doesn't commit");
	CHECK_EQ(t, ARM_08, 0, in.words, "stores left of it");
	CHECK_EQ(t, ARM_08, (u64)(uintptr_t)transaction_commit.fallback,
		 sampling_field(&in.record, RECORD_rip),
		 "R/EIP of its record, which is made after the abort");
}

/*
 * TSX-07  A counter with IN_TXCP set must not keep what an aborted transaction counted.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  IA32_PMC2 counts loads with IN_TX and IN_TXCP; its count for one transaction that commits
 *        is measured first
 * When   IA32_PMC0 samples loads until a record aborts a transaction
 * Then   IA32_PMC2 has counted the loads that committed, and none of those that were aborted
 * Control: the first transaction's loads are counted, and a load inside a transaction is recorded
 */
TEST(tsx, in_txcp_takes_back_loads_of_a_record_abort, REQS(TSX_07),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events), .under_every_fault = true)
{
	u64 filters = IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP, each, got;
	struct transaction_inside in = { 0 };
	bool found;

	if (!transaction_works(t))
		return;
	counter_program(FILTER, LOADS, COUNT_BOTH | filters);
	counter_write(FILTER, 0);
	counters_enable(pmc_one(FILTER));
	for (in.runs = 0; in.runs < TRIES && in.status != COMMITTED; in.runs++)
		in.status = transaction_commit.run(transaction_words(), PERIOD / 2);
	counters_disable();
	each = counter_read(FILTER);
	CONTROL_RANGE(t, TSX_07, PERIOD / 2, PERIOD, each,
		      "loads of one transaction that commits, with %u in its loop", PERIOD / 2);
	counter_write(FILTER, 0);
	found = record_inside(t, 0, COUNT_BOTH, pmc_one(FILTER), &in);
	got = counter_read(FILTER);
	counter_program_disabled(FILTER, 0, 0);
	if (!CONTROL(t, TSX_07, found, "a load is recorded in one of %u transactions", in.runs))
		return;
	if (test_sees_exactly(t, REQ_TSX_07))
		CHECK_EQ(t, TSX_07, in.committed * each, got,
			 "IA32_PMC2 after %u transactions, %u of which committed", in.runs,
			 in.committed);
	else
		CHECK_RANGE(t, TSX_07, 0, in.committed * each, got,
			    "IA32_PMC2 after %u transactions, %u of which committed", in.runs,
			    in.committed);
}

#define OUTSIDE (PERIOD + SHADOW_MOST)	/* loads: if they counted, there would be a record */

/* A transaction with a record inside has aborted before it: it leaves no store, except where its
 * lock isn't elided in a second run. */
static void check_aborted(struct test *t, const struct transaction_inside *in, unsigned c)
{
	const struct transaction *piece = in->piece;
	const u64 abort = piece->elides ? TX_HLE_ABORT : TX_RTM_ABORT;

	CHECK(t, ARM_08, in->status != COMMITTED,
	      "the run of %s with the record doesn't commit, IA32_PMC%u", piece->name, c);
	CHECK_EQ(t, ARM_08, piece->elides, in->words, "stores left of it, %s, IA32_PMC%u",
		 piece->name, c);
	CHECK_EQ(t, ARM_08, (u64)(uintptr_t)piece->fallback,
		 sampling_field(&in->record, RECORD_rip),
		 "R/EIP of its record, which is made after the abort, %s, IA32_PMC%u", piece->name,
		 c);
	CHECK_EQ(t, ARM_08, abort,
		 sampling_field(&in->record, RECORD_tx_abort) & (TX_RTM_ABORT | TX_HLE_ABORT),
		 "RTM_Abort or HLE_Abort, bits 33:32 of B8H, %s, IA32_PMC%u", piece->name, c);
}

/* With IN_TX at these levels there must be no record outside of transactions, and one inside, which
 * aborts. */
static void check_in_tx(struct test *t, struct test_claim claim, const struct transaction *piece,
			u64 level)
{
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct transaction_inside in = { .piece = piece };
		bool found;

		ds_open(&setup);
		pebs_arm(c, LOADS, level | IA32_PERFEVTSEL_IN_TX, PERIOD);
		if (level & COUNT_OS) {
			workload_run(&workload_load, OUTSIDE, pmc_one(c));
		} else {
			counters_enable(pmc_one(c));
			workload_run_user(&workload_load, OUTSIDE);
			counters_disable();
		}
		pebs_disarm();
		test_check_eq(t, claim, 0, ds_records(),
			      "records outside of transactions, IA32_PMC%u with IN_TX", c);
		found = transaction_record_inside(t, LOADS, c, level | IA32_PERFEVTSEL_IN_TX,
						  NO_OTHERS, &in);
		if (test_check(t, claim, found, "found",
			       "and a record inside of %s, in %u runs, IA32_PMC%u", piece->name,
			       in.runs, c))
			check_aborted(t, &in, c);
	}
}

/*
 * ARM-07  The IN_TX and IN_TXCP filters of a counter must hold for its PEBS records too.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 * ARM-08  A PEBS event inside a transactional region must abort the region before the record is
 *         written.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 *
 * Given  each counter samples loads with IN_TX
 * When   enough loads for a record run outside of transactions; then transactions run
 * Then   there is no record; then there is one of a load inside a transaction, which doesn't commit
 *        and leaves no store; the record has R/EIP at the fallback, and bit 33 (RTM_Abort) at B8H
 */
TEST(tsx, counter_with_in_tx_records_only_inside_transactions, REQS(ARM_07, ARM_08),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	if (transaction_works(t))
		check_in_tx(t, AT(ARM_07), &transaction_commit, COUNT_BOTH);
}

/*
 * ARM-07  The IN_TX and IN_TXCP filters of a counter must hold for its PEBS records too.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 * ARM-08  A PEBS event inside a transactional region must abort the region before the record is
 *         written.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 *
 * Given  each counter samples loads with IN_TX and USR, without OS; everything runs at CPL 3, as
 *        sampled software usually does
 * When   enough loads for a record run outside of transactions; then transactions run
 * Then   there is no record; then there is one of a load inside a transaction, which doesn't commit
 *        and leaves no store; the record has R/EIP at the fallback, and bit 33 (RTM_Abort) at B8H
 */
TEST(tsx, counter_with_in_tx_records_only_inside_transactions_of_cpl_3, REQS(ARM_07, ARM_08),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	if (transaction_works(t))
		check_in_tx(t, AT(ARM_07), &transaction_commit, COUNT_USR);
}

/*
 * ARM-07  The IN_TX and IN_TXCP filters of a counter must hold for its PEBS records too.
 * TSX-16  IN_TX and IN_TXCP must hold for elided locks as for transactions.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 * ARM-08  A PEBS event inside a transactional region must abort the region before the record is
 *         written.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 *
 * Given  each counter samples loads with IN_TX
 * When   enough loads for a record run outside of transactions; then locks are elided
 * Then   there is no record; then there is one of a load inside an elided lock, with bit 32
 *        (HLE_Abort) at B8H and R/EIP after the XACQUIRE. XTEST finds that lock no longer elided,
 *        and the run has stored once
 */
TEST(tsx, counter_with_in_tx_records_inside_elided_locks, REQS(ARM_07, TSX_16, ARM_08),
     NEEDS(need_perfmon, need_pebs, need_hle, need_events))
{
	if (transaction_elision_works(t))
		check_in_tx(t, AT(ARM_07, TSX_16), &transaction_elided, COUNT_BOTH);
}
