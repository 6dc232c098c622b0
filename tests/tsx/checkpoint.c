/* SPDX-License-Identifier: MIT */
/*
 * The counts that IN_TXCP restores, at each privilege level and with each condition of a counter:
 * SDM "Performance Monitoring and Intel TSX".
 */
#include "kernel/interrupt/user.h"
#include "pmu/counter.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define N	500		/* loads in a transaction */
#define STRICT_N 128
#define PRESET	1000000ULL	/* value of the counter before */
#define FILTER	2u		/* IA32_PMC2, the only one that may have IN_TXCP */
#define CPL_3	3u
#define MOST_A_CLOCK 16u	/* more loads than any processor retires in a clock */
#define CMASK(n) ((u64)(n) << IA32_PERFEVTSEL_CMASK_SHIFT)

struct loads {
	const struct transaction *piece;
	u64 n;
};

static u64 run_loads(u64 arg)
{
	const struct loads *loads = (void *)(uintptr_t)arg;

	return loads->piece->run(transaction_words(), loads->n);
}

/* Run a transaction at a CPL, until it ends by its XEND or XABORT. *value: IA32_PMC2 of that run.
 * false: the test is INCONCLUSIVE. */
static bool counted(struct test *t, u64 select, unsigned cpl, const struct transaction *piece,
		    u64 *value)
{
	const struct loads loads = { piece, test_rounds(t, STRICT_N, N) };
	const u64 arg = (u64)(uintptr_t)&loads;

	for (unsigned i = 0; i < TRANSACTION_WINDOWS; i++) {
		u64 status;

		counter_program(FILTER, LOADS, select);
		counter_write(FILTER, PRESET);
		counters_enable(pmc_one(FILTER));
		status = cpl ? user_call_at(cpl, run_loads, arg) : run_loads(arg);
		counters_disable();
		*value = counter_read(FILTER);
		counter_program_disabled(FILTER, 0, 0);
		if (transaction_ended(status))
			return true;
	}
	return transaction_judge_last(t, piece);
}

/*
 * TSX-07  A counter with IN_TXCP set must not keep what an aborted transaction counted.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  IA32_PMC2 counts with IN_TX and IN_TXCP, at CPL 0 with OS alone, at CPL 3 with USR alone:
 *        loads; clocks with a load (CMASK 1); those without 255 loads (INV); times that loads
 *        begin (E)
 * When   a transaction with 500 loads (128 in strict runs) is ended by XABORT
 * Then   no load is left; of clocks with a load, and of times that loads begin, at most two; of all
 *        clocks at most half of that number
 * Control: with IN_TX alone more is left; with both flags the events of a transaction that commits
 *        are left
 */
TEST(tsx, in_txcp_takes_back_counts_at_each_level_and_under_each_condition, REQS(TSX_07),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	const u64 n = test_rounds(t, STRICT_N, N);
	const struct {
		const char *name;
		u64 flags, left;	/* the most that stays of the transaction */
		u64 least;		/* the least with IN_TX alone; E may see one rise */
	} each[] = {
		{ "loads", 0, 0, n },
		{ "clocks with a load", CMASK(1), 2, n / MOST_A_CLOCK },
		{ "clocks without 255 loads", CMASK(255) | IA32_PERFEVTSEL_INV, n / 2,
		  n / MOST_A_CLOCK },
		{ "times that loads begin", CMASK(1) | IA32_PERFEVTSEL_E, 2, 1 },
	};

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < 2 * sizeof(each) / sizeof(each[0]); i++) {
		const unsigned k = i / 2, cpl = i % 2 ? CPL_3 : 0;
		const u64 one = (cpl ? COUNT_USR : COUNT_OS) | each[k].flags |
				IA32_PERFEVTSEL_IN_TX;
		const u64 both = one | IA32_PERFEVTSEL_IN_TXCP;
		u64 aborted, kept, committed;

		if (!counted(t, both, cpl, &transaction_xabort, &aborted) ||
		    !counted(t, one, cpl, &transaction_xabort, &kept) ||
		    !counted(t, both, cpl, &transaction_commit, &committed))
			return;
		CHECK_RANGE(t, TSX_07, PRESET, PRESET + each[k].left, aborted,
			    "IA32_PMC2 with IN_TX and IN_TXCP, %s of an aborted transaction, CPL "
			    "%u",
			    each[k].name, cpl);
		CONTROL_RANGE(t, TSX_07, PRESET + each[k].least, ~0ULL, kept,
			      "with IN_TX alone, %s, CPL %u", each[k].name, cpl);
		CONTROL_RANGE(t, TSX_07, PRESET + each[k].least, ~0ULL, committed,
			      "with both, %s of a committed transaction, CPL %u", each[k].name,
			      cpl);
	}
}

#define FEWER	10		/* loads in a transaction; the counts of two sizes are compared */
#define MORE	40
#define RUNS	4u		/* transactions that commit, and as many that abort */

/*
 * The manual's example has three counters of one event. IA32_PMC0 with IN_TX counts inside
 * transactions, IA32_PMC1 counts everything, and IA32_PMC2 with IN_TXCP leaves out aborted
 * transactions. Each transaction ends by its XEND or XABORT. false: the test is INCONCLUSIVE.
 */
static bool three_counters(struct test *t, u64 n, u64 value[3])
{
	static const u64 flags[3] = { IA32_PERFEVTSEL_IN_TX, 0, IA32_PERFEVTSEL_IN_TXCP };

	for (unsigned i = 0; i < TRANSACTION_WINDOWS; i++) {
		unsigned ended;

		for (unsigned c = 0; c < 3; c++) {
			counter_program(c, LOADS, COUNT_BOTH | flags[c]);
			counter_write(c, 0);
		}
		counters_enable((struct pmc_mask){ 7 });
		ended = transaction_run_ended(&transaction_commit, n, RUNS) +
			transaction_run_ended(&transaction_xabort, n, RUNS);
		counters_disable();
		for (unsigned c = 0; c < 3; c++) {
			value[c] = counter_read(c);
			counter_program_disabled(c, 0, 0);
		}
		if (ended == 2 * RUNS)
			return true;
	}
	return transaction_judge_last(t, &transaction_xabort);
}

/*
 * TSX-06  A counter with IN_TX set must count inside transactions only.
 * TSX-07  A counter with IN_TXCP set must not keep what an aborted transaction counted.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  the manual's example: IA32_PMC0 with IN_TX, IA32_PMC1 without a filter and IA32_PMC2 with
 *        IN_TXCP count loads
 * When   the same number of transactions commit and are ended by XABORT, with 10 and with 40 loads
 *        each
 * Then   by the difference of the two sizes IA32_PMC0 counts the loads of all transactions, and
 *        IA32_PMC2 those of transactions that commit
 * Control: IA32_PMC1 counts all of them
 */
TEST(tsx, three_filtered_counters_split_loads_by_transaction_outcome, REQS(TSX_06, TSX_07),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	u64 fewer[3], more[3], each = (MORE - FEWER) * (u64)RUNS;

	if (!transaction_works(t) || !three_counters(t, FEWER, fewer) ||
	    !three_counters(t, MORE, more))
		return;
	if (!test_sees_exactly(t, REQ_TSX_07)) {
		CHECK_RANGE(t, TSX_06, 0, more[1], more[0], "IA32_PMC0 with IN_TX, of IA32_PMC1");
		CHECK_RANGE(t, TSX_07, 0, more[1] - each / 2, more[2],
			    "IA32_PMC2 with IN_TXCP, half of %u transactions committed", 2 * RUNS);
		return;
	}
	CHECK_EQ(t, TSX_06, 2 * each, more[0] - fewer[0], "loads in transactions");
	CONTROL_EQ(t, TSX_06, 2 * each, more[1] - fewer[1], "all loads");
	CHECK_EQ(t, TSX_07, each, more[2] - fewer[2], "loads but those of aborted transactions");
}
