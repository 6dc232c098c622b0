/* SPDX-License-Identifier: MIT */
/*
 * Transactions of two logical processors: the events, the filter and the TX abort information of
 * each concern only its own transactions.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/event.h"
#include "pmu/pebs.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/measure/two_cpus.h"
#include "tests/tsx/transaction.h"

#define SHORT		1u	/* loads in transactions whose cycles differ */
#define LONG		300u
#define CYCLES_MORE	150u	/* least clocks of LONG - SHORT loads */
#define TRIES		20u	/* until the record is of XABORT and of no earlier abort */
#define SAMPLER		0u	/* the counter that samples */
#define ABORTS		1u	/* the counter of RTM_RETIRED.ABORTED */
#define INSIDE		2u	/* the counter of loads with IN_TX */
#define ALL		((struct pmc_mask){ BIT(SAMPLER) | BIT(ABORTS) | BIT(INSIDE) })
#define COUNTING	((struct pmc_mask){ BIT(ABORTS) | BIT(INSIDE) })

/* First the first processor runs transactions, then the other one. Then the first one does while
 * the other one loads. */
struct two_transactions {
	struct two_cpus both;
	u64 first, second;		/* loads in each transaction of the first, the second */
	unsigned records, runs;		/* records and runs of the second processor */
	u64 tx;				/* transaction bits of its record */
	u64 status;			/* EAX of its last transaction, which is recorded */
	u64 aborts[2], inside[2];	/* counted, while the second runs its own */
	u64 beside;			/* with IN_TX, by the second while the first runs its own */
	volatile bool stop;
};

static void count(void)
{
	counter_program(ABORTS, EVENT_RTM_RETIRED_ABORTED, COUNT_BOTH);
	counter_program(INSIDE, LOADS, COUNT_BOTH | IA32_PERFEVTSEL_IN_TX);
	counter_write(ABORTS, 0);
	counter_write(INSIDE, 0);
}

/* Run XABORT until there is a record, which must be of a transaction with the intended number of
 * loads. */
static void abort_and_record(struct two_transactions *w)
{
	struct ds_setup setup = sampling_setup(8);
	const unsigned late = sampling_shadow_bound();
	struct pebs_record record = { .format = setup.format };

	count();
	ds_open(&setup);
	pebs_arm(SAMPLER, EVENT_RTM_RETIRED_ABORTED, COUNT_BOTH, PERIOD);
	counters_enable(ALL);
	w->runs = PERIOD - (pebs_may_have_pdist(SAMPLER) ? 1 : 0);
	transaction_run(&transaction_xabort, SHORT, w->runs);
	for (unsigned i = 0; i <= late && !ds_records(); i++, w->runs++)
		w->status = transaction_xabort.run(transaction_words(), w->second);
	counters_disable();
	pebs_disarm();
	counter_program_disabled(SAMPLER, 0, 0);
	w->records = ds_records();
	if (!w->records)
		return;
	record_decode(setup.format, ds_record(0), record_size(setup.format), &record);
	w->tx = sampling_field(&record, RECORD_tx_abort);
}

/* The first processor's last transaction must be one that commits. */
static void commit(u64 n)
{
	for (unsigned i = 0; i < PERIOD; i++)
		if (transaction_commit.run(transaction_words(), n) == COMMITTED)
			return;
}

static void run_in_turn(void *arg)
{
	struct two_transactions *w = arg;
	const unsigned side = two_cpus_side();

	if (!side) {
		commit(w->first);
		count();
	}
	two_cpus_barrier(&w->both);
	if (side)
		abort_and_record(w);
	else
		counters_enable(COUNTING);
	two_cpus_barrier(&w->both);
	counters_disable();
	w->aborts[side] = counter_read(ABORTS);
	w->inside[side] = counter_read(INSIDE);
	counter_write(INSIDE, 0);
	two_cpus_barrier(&w->both);
	if (side) {
		workload_run(&workload_load, LONG, pmc_one(INSIDE));
		w->beside = counter_read(INSIDE);
		w->stop = true;
	}
	while (!side && !w->stop)
		transaction_commit.run(transaction_words(), LONG);
	two_cpus_barrier(&w->both);
	counter_program_disabled(ABORTS, 0, 0);
	counter_program_disabled(INSIDE, 0, 0);
	ds_close();
}

/* false: the check that there is one record has failed, or the test is INCONCLUSIVE. */
static bool take_turns(struct test *t, unsigned cpu, u64 first, u64 second,
		       struct two_transactions *w)
{
	for (unsigned i = 0; i < TRIES; i++) {
		*w = (struct two_transactions){ .first = first, .second = second };
		if (!two_cpus_run(t, &w->both, cpu, run_in_turn, w) ||
		    !CHECK_EQ(t, TSX_01, 1, w->records, "records of aborts of %s",
			      two_cpus_name(cpu)))
			return false;
		if (test_is_strict(t) || w->status == BY_XABORT)
			return true;
	}
	test_inconclusive(t, "none of %u records of %s is of XABORT", TRIES, two_cpus_name(cpu));
	return false;
}

/*
 * TSX-01  RTM_RETIRED.ABORTED with PEBS must make a record of an aborted transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * TSX-03  The TX abort information must say how the transaction ended: bit 33 for RTM, bit 34 for
 *         an instruction, bits 63:40 0.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 * TSX-06  A counter with IN_TX set must count inside transactions only.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  two processors, of which the first has run a transaction that commits: one with 300
 *        loads, and another time with 1
 * When   XABORT ends transactions of the other one until there is a record: with 1 load, and
 *        another time with 300. RTM_RETIRED.ABORTED, and loads with IN_TX, count on both; then
 *        those of the other processor while it loads, and the first one runs transactions
 * Then   the record has RTM_Abort, and in bits 31:0 cycles that are larger by at least 150 for 300
 *        loads. RTM_RETIRED.ABORTED counts the other processor's transactions there and none on the
 *        first; IN_TX counts their loads there and none on the first, and none of the loads outside
 *        while the first is in transactions
 */
TEST(tsx, transactions_of_each_logical_processor_are_its_own,
     REQS(TSX_01, TSX_03, TSX_06, TSX_09),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events, need_partner))
{
	if (!transaction_works(t))
		return;
	FOR_EACH_PARTNER (cpu) {
		struct two_transactions turn[2];
		const char *name = two_cpus_name(cpu);

		if (!take_turns(t, cpu, LONG, SHORT, &turn[0]) ||
		    !take_turns(t, cpu, SHORT, LONG, &turn[1]))
			return;
		CHECK_RANGE(t, TSX_09, (turn[0].tx & TX_CYCLES) + CYCLES_MORE, TX_CYCLES,
			    turn[1].tx & TX_CYCLES,
			    "cycles of a transaction with %u loads more of %s, the first "
			    "processor's having fewer",
			    LONG - SHORT, name);
		for (unsigned i = 0; i < 2; i++) {
			const struct two_transactions *w = &turn[i];

			CHECK_EQ(t, TSX_03, TX_RTM_ABORT, w->tx & (TX_RTM_ABORT | TX_HLE_ABORT),
				 "RTM_Abort and not HLE_Abort, bits 33:32 of B8H, of %s", name);
			CHECK_EQ(t, TSX_01, w->runs, w->aborts[1],
				 "RTM_RETIRED.ABORTED of %s, which has run them", name);
			CHECK_EQ(t, TSX_01, 0, w->aborts[0],
				 "RTM_RETIRED.ABORTED of the first processor meanwhile");
			/* Loads of two threads of a core: HSD29. */
			if (test_erratum(t, ERRATUM_MEMORY_THREADS))
				continue;
			CHECK_RANGE(t, TSX_06, test_sees_exactly(t, REQ_TSX_06) ? w->runs : 0,
				    4 * (w->second + 1) * w->runs, w->inside[1],
				    "loads with IN_TX of %s, in its transactions", name);
			CHECK_EQ(t, TSX_06, 0, w->inside[0],
				 "loads with IN_TX of the first processor meanwhile");
			CHECK_EQ(t, TSX_06, 0, w->beside,
				 "loads with IN_TX of %s while the first runs transactions", name);
		}
	}
}
