/* SPDX-License-Identifier: MIT */
/*
 * Hardware lock elision: SDM "Performance Monitoring and Intel TSX", "Intel TSX and PEBS Support".
 * What aborts starts again with its lock taken, so that an aborted piece runs twice; XTEST at its
 * end tells software which it was. A processor may also take a lock without eliding it.
 */
#include "pmu/pebs.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define FEWER	10
#define MORE	60
#define RUNS	8
#define TRIES	100

struct ends { u64 started, committed, aborted, rtm; };

/* The four counters over that many elided locks. *elided: how many stayed so. */
static struct ends count_ends(const struct transaction *piece, unsigned *elided)
{
	static const u16 events[4] = { EVENT_HLE_RETIRED_START, EVENT_HLE_RETIRED_COMMIT,
				       EVENT_HLE_RETIRED_ABORTED, EVENT_RTM_RETIRED_ABORTED };
	u64 value[4];

	for (unsigned c = 0; c < 4; c++) {
		counter_program(c, events[c], COUNT_BOTH);
		counter_write(c, 0);
	}
	counters_enable((struct pmc_mask){ 0xf });
	*elided = transaction_run(piece, FEWER, RUNS);
	counters_disable();
	for (unsigned c = 0; c < 4; c++) {
		value[c] = counter_read(c);
		counter_program_disabled(c, 0, 0);
	}
	return (struct ends){ value[0], value[1], value[2], value[3] };
}

static void check_ends(struct test *t, const struct transaction *piece)
{
	unsigned elided;
	struct ends ends = count_ends(piece, &elided);

	CHECK_EQ(t, TSX_13, elided, ends.committed, "HLE_RETIRED.COMMIT, %s, %u of %u elided",
		 piece->name, elided, RUNS);
	CHECK_EQ(t, TSX_13, ends.started - ends.committed, ends.aborted,
		 "HLE_RETIRED.ABORTED, %s: those of %lu that didn't commit", piece->name,
		 ends.started);
	CHECK_EQ(t, TSX_13, 0, ends.rtm, "RTM_RETIRED.ABORTED, %s", piece->name);
	if (test_sees_exactly(t, REQ_TSX_13))
		CHECK_EQ(t, TSX_13, RUNS, ends.started, "HLE_RETIRED.START, %s", piece->name);
	else
		CHECK_RANGE(t, TSX_13, elided, RUNS, ends.started, "HLE_RETIRED.START, %s",
			    piece->name);
}

TEST(tsx, elided_locks_are_counted, REQS(TSX_13), NEEDS(need_perfmon, need_hle))
{
	if (!transaction_elision_works(t))
		return;
	check_ends(t, &transaction_elided);
	check_ends(t, &transaction_elided_pause);
}

TEST(tsx, an_aborted_elision_makes_a_record, REQS(TSX_14),
     NEEDS(need_perfmon, need_pebs, need_hle))
{
	if (!transaction_elision_works(t))
		return;
	for (unsigned c = 0; c < 4; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct transaction_abort abort;
		unsigned elided;

		if (!transaction_record(t, AT(TSX_14), c, &transaction_elided_pause, FEWER,
					&abort))
			return;
		CHECK_EQ(t, TSX_14, TX_HLE_ABORT, abort.tx & (TX_HLE_ABORT | TX_RTM_ABORT),
			 "HLE_Abort and not RTM_Abort, bits 33:32 of B8H, IA32_PMC%u", c);
		CHECK_EQ(t, TSX_14, 0, abort.tx & TX_RESERVED, "bits 63:40 of B8H");
		if (abort.tx & TX_INSTRUCTION && test_sees_exactly(t, REQ_TSX_14))
			CHECK_EQ(t, TSX_14, (u64)(uintptr_t)abort.piece->cause, abort.eventing_ip,
				 "EventingIP: the instruction that aborts");
		/* The control: elisions that end well, but for those that something aborts. */
		ds_open(&setup);
		pebs_arm(c, EVENT_HLE_RETIRED_ABORTED, COUNT_BOTH, PERIOD);
		counters_enable(pmc_one(c));
		elided = transaction_run(&transaction_elided, FEWER, 4 * PERIOD);
		counters_disable();
		pebs_disarm();
		CHECK_RANGE(t, TSX_14, 0, (4 * PERIOD - elided) / PERIOD, ds_records(),
			    "records of %u elisions that end well, IA32_PMC%u", elided, c);
		counter_program_disabled(c, 0, 0);
	}
}

/* The lock is taken again, without elision, when the record is made. */
TEST(tsx, an_aborted_elision_names_its_lock, REQS(TSX_15),
     NEEDS(need_perfmon, need_pebs, need_hle))
{
	static const struct transaction *const pieces[] = {
		&transaction_elided_pause, &transaction_elided_nested,
	};

	if (!transaction_elision_works(t))
		return;
	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct transaction_abort abort;

		if (!transaction_record(t, AT(TSX_15), i, pieces[i], FEWER, &abort))
			return;
		CHECK_EQ(t, TSX_15, (u64)(uintptr_t)abort.piece->fallback, abort.rip,
			 "R/EIP: what follows the outermost XACQUIRE of %s", abort.piece->name);
	}
}

/* Loads that IA32_PMC2 counts in RUNS pieces with MORE loads, less those with FEWER. */
static u64 difference(u64 flags, const struct transaction *piece)
{
	u64 value[2];

	for (unsigned i = 0; i < 2; i++) {
		counter_program(2, LOADS, COUNT_BOTH | flags);
		counter_write(2, 0);
		counters_enable(pmc_one(2));
		transaction_run(piece, i ? MORE : FEWER, RUNS);
		counters_disable();
		value[i] = counter_read(2);
		counter_program_disabled(2, 0, 0);
	}
	return value[1] - value[0];
}

/* What aborts has run twice: with its lock elided, and without. */
TEST(tsx, filters_hold_for_elided_locks, REQS(TSX_16),
     NEEDS(need_perfmon, need_hle, need_events))
{
	static const struct { u64 flags; const char *name; u64 well, aborted; } each[] = {
		{ 0, "no filter", 1, 2 },
		{ IA32_PERFEVTSEL_IN_TX, "IN_TX", 1, 1 },
		{ IA32_PERFEVTSEL_IN_TXCP, "IN_TXCP", 1, 1 },
		{ IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP, "both", 1, 0 },
	};
	u64 once = (MORE - FEWER) * (u64)RUNS;

	if (!transaction_elision_works(t))
		return;
	for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		u64 well = difference(each[i].flags, &transaction_elided);
		u64 aborted = difference(each[i].flags, &transaction_elided_pause);

		if (test_sees_exactly(t, REQ_TSX_16)) {
			CHECK_EQ(t, TSX_16, each[i].well * once, well,
				 "loads of elided locks, %s", each[i].name);
			CHECK_EQ(t, TSX_16, each[i].aborted * once, aborted,
				 "loads of elided locks that abort, %s", each[i].name);
			continue;
		}
		CHECK_RANGE(t, TSX_16, once / 2, 2 * once, well, "loads of elided locks, %s",
			    each[i].name);
		CHECK_RANGE(t, TSX_16, 0, each[i].aborted * once, aborted,
			    "loads of elided locks that abort, %s", each[i].name);
	}
}

/* Loads with an elided lock are most of all there are; one of them is recorded. */
TEST(tsx, a_record_aborts_the_elision, REQS(TSX_17),
     NEEDS(need_perfmon, need_pebs, need_hle, need_events), .under_every_fault = true)
{
	struct ds_setup setup = sampling_setup(8);
	u64 *words = transaction_words(), before, status = COMMITTED;
	struct pebs_record record = { .format = setup.format };
	bool found = false;
	unsigned runs;

	if (!transaction_elision_works(t))
		return;
	setup.reset[0] = pebs_reset_value(0, PERIOD);
	ds_open(&setup);
	pebs_arm(0, LOADS, COUNT_BOTH, PERIOD);
	counters_enable(pmc_one(0));
	before = *words;
	for (runs = 0; runs < TRIES && !found; runs++) {
		status = transaction_elided.run(words, PERIOD / 2);
		if (!ds_records())
			continue;
		record_decode(setup.format, ds_record(0), record_size(setup.format), &record);
		found = sampling_field(&record, RECORD_tx_abort) & (TX_HLE_ABORT | TX_RTM_ABORT);
		ds_set_index(0);
	}
	counters_disable();
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
	if (!CHECK(t, TSX_17, found, "a load is recorded that has aborted one of %u elisions, with "
		   "%u loads each", runs, PERIOD / 2))
		return;
	CHECK(t, TSX_17, status != COMMITTED, "the lock of the record isn't elided at its end");
	CHECK_EQ(t, TSX_17, runs, *words - before, "stores: one for each run, aborted or not");
	CHECK_EQ(t, TSX_17, TX_HLE_ABORT,
		 sampling_field(&record, RECORD_tx_abort) & (TX_HLE_ABORT | TX_RTM_ABORT),
		 "HLE_Abort and not RTM_Abort, bits 33:32 of B8H");
	CHECK_EQ(t, TSX_17, (u64)(uintptr_t)transaction_elided.fallback,
		 sampling_field(&record, RECORD_rip),
		 "R/EIP of its record: what follows the outermost XACQUIRE");
	CHECK(t, TSX_17,
	      transaction_holds(&transaction_elided, sampling_field(&record, RECORD_eventing_ip)),
	      "EventingIP 0x%lx is inside", sampling_field(&record, RECORD_eventing_ip));
}
