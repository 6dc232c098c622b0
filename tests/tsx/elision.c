/* SPDX-License-Identifier: MIT */
/*
 * Hardware lock elision: SDM "Performance Monitoring and Intel TSX", "Intel TSX and PEBS Support".
 * After an abort a piece starts again and takes its lock, so it runs twice; XTEST at its end tells
 * software which run it is. A processor may also take a lock without eliding it.
 */
#include "pmu/pebs.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define FEWER	10		/* loads in a piece; the counts of two sizes are compared */
#define MORE	60
#define RUNS	8		/* runs of a piece whose ends are counted */
#define STRICT_MORE 30
#define STRICT_LOADING 4	/* runs of a piece whose loads are counted */
#define FEW	1		/* loads in a piece whose number of loads doesn't matter */
#define WELL	(2 * PERIOD)	/* runs that end well: enough for records if they counted */
#define FILTER	2u		/* IA32_PMC2, the only one that may have IN_TXCP */

struct ends {
	u64 started, committed, aborted, rtm;
};

/* Count four events over so many elided locks; event i is on counter i + turn. *elided: how many
 * were elided to their end. */
static struct ends count_ends(const struct transaction *piece, unsigned turn, unsigned *elided)
{
	static const u16 events[4] = { EVENT_HLE_RETIRED_START, EVENT_HLE_RETIRED_COMMIT,
				       EVENT_HLE_RETIRED_ABORTED, EVENT_RTM_RETIRED_ABORTED };
	u64 value[4];

	for (unsigned i = 0; i < 4; i++) {
		counter_program((i + turn) % 4, events[i], COUNT_BOTH);
		counter_write((i + turn) % 4, 0);
	}
	counters_enable((struct pmc_mask){ 0xf });
	*elided = transaction_run(piece, FEWER, RUNS);
	counters_disable();
	for (unsigned i = 0; i < 4; i++) {
		value[i] = counter_read((i + turn) % 4);
		counter_program_disabled((i + turn) % 4, 0, 0);
	}
	return (struct ends){ value[0], value[1], value[2], value[3] };
}

/* locks: the nesting depth of the piece. If one aborts, it runs again with its lock taken; the
 * manual doesn't say whether a lock inside it may be elided then. */
static void check_ends(struct test *t, const struct transaction *piece, unsigned locks,
		       unsigned turn)
{
	unsigned elided;
	struct ends ends = count_ends(piece, turn, &elided);
	const bool exact = test_sees_exactly(t, REQ_TSX_13);
	const u64 again = exact ? 0 : (locks - 1) * (u64)(RUNS - elided);

	CHECK_RANGE(t, TSX_13, elided, elided + again, ends.committed,
		    "HLE_RETIRED.COMMIT, %s, %u of %u elided", piece->name, elided, RUNS);
	CHECK_EQ(t, TSX_13, ends.started - ends.committed, ends.aborted,
		 "HLE_RETIRED.ABORTED, %s: those of %lu that didn't commit", piece->name,
		 ends.started);
	CHECK_EQ(t, TSX_13, 0, ends.rtm, "RTM_RETIRED.ABORTED, %s", piece->name);
	CHECK_RANGE(t, TSX_13, exact ? RUNS : elided, RUNS + again, ends.started,
		    "HLE_RETIRED.START, %s", piece->name);
}

/*
 * TSX-13  HLE_RETIRED.START, COMMIT and ABORTED must count the elided locks that begin, that end
 *         and that abort, and RTM_RETIRED none of them.
 *         SDM chapter 19, HLE_RETIRED
 *
 * Given  eight elided locks, of which XTEST tells software how many stayed elided; pieces that end
 *        well, and pieces that PAUSE aborts; the same with another lock inside of each
 * When   HLE_RETIRED.START, COMMIT and ABORTED and RTM_RETIRED.ABORTED count at once, each on each
 *        counter in turn
 * Then   START counts the outer locks (at most 8, all of them on the reference PMU), COMMIT those
 *        that stayed elided, ABORTED the others, RTM_RETIRED.ABORTED none
 */
TEST(tsx, hle_retired_counts_begins_commits_and_aborts_of_elisions, REQS(TSX_13),
     NEEDS(need_perfmon, need_four_counters, need_hle))
{
	if (!transaction_elision_works(t))
		return;
	for (unsigned turn = 0; turn < 4; turn++) {
		check_ends(t, &transaction_elided, 1, turn);
		check_ends(t, &transaction_elided_pause, 1, turn);
		check_ends(t, &transaction_elided_well, 2, turn);
		check_ends(t, &transaction_elided_nested, 2, turn);
	}
}

/* The record must be of an elision that PAUSE has ended. */
static void check_instruction(struct test *t, const struct transaction_abort *abort)
{
	if (test_sees_exactly(t, REQ_TSX_14))
		CHECK_EQ(t, TSX_14, TX_INSTRUCTION,
			 abort->tx & (TX_INSTRUCTION | TX_NON_INSTRUCTION),
			 "Instruction_Abort and not Non_Instruction_Abort, bits 35:34 of B8H, %s",
			 abort->piece->name);
}

/*
 * TSX-14  HLE_RETIRED.ABORTED with PEBS must make a record of an aborted elision, with bit 32 of
 *         the TX abort information and not bit 33.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  each counter samples HLE_RETIRED.ABORTED
 * When   elided locks are aborted by PAUSE until the counter overflows and there is a record
 * Then   there is one record. In the TX abort information at B8H bit 32 (HLE_Abort) is 1, bit 33
 *        (RTM_Abort) 0 and bits 63:40 are 0. Where bit 34 says that an instruction aborted,
 *        EventingIP is the PAUSE; where nothing else aborts, bit 34 is 1, and bit 35 is 0
 * Control: elisions that end well make no record
 */
TEST(tsx, hle_abort_record_has_bit_32_and_not_bit_33, REQS(TSX_14),
     NEEDS(need_perfmon, need_pebs, need_hle))
{
	if (!transaction_elision_works(t))
		return;
	for (unsigned c = 0; c < 4; c++) {
		struct ds_setup setup = sampling_setup(8);
		struct transaction_abort abort;
		unsigned elided;

		if (!transaction_record(t, AT(TSX_14), c, &transaction_elided_pause, FEWER, &abort))
			return;
		CHECK_EQ(t, TSX_14, TX_HLE_ABORT, abort.tx & (TX_HLE_ABORT | TX_RTM_ABORT),
			 "HLE_Abort and not RTM_Abort, bits 33:32 of B8H, IA32_PMC%u", c);
		CHECK_EQ(t, TSX_14, 0, abort.tx & TX_RESERVED, "bits 63:40 of B8H");
		check_instruction(t, &abort);
		if (abort.tx & TX_INSTRUCTION && test_sees_exactly(t, REQ_TSX_14))
			CHECK_EQ(t, TSX_14, (u64)(uintptr_t)abort.piece->cause, abort.eventing_ip,
				 "EventingIP: the instruction that aborts");
		/* Elisions that end well, except those that another cause aborts. */
		ds_open(&setup);
		pebs_arm(c, EVENT_HLE_RETIRED_ABORTED, COUNT_BOTH, PERIOD);
		counters_enable(pmc_one(c));
		elided = transaction_run(&transaction_elided, FEW, WELL);
		counters_disable();
		pebs_disarm();
		CONTROL_RANGE(t, TSX_14, 0, (WELL - elided) / PERIOD, ds_records(),
			      "records of %u elisions that end well, IA32_PMC%u", elided, c);
		counter_program_disabled(c, 0, 0);
	}
}

#define LONG		1000	/* loads in an elided lock; 1 in a short one */
#define STRICT_LONG	250

/*
 * TSX-09  Bits 31:0 of the TX abort information must hold the cycles of the last transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  elided locks that PAUSE aborts: one with 1 load, one with 1000 (250 in strict runs), and
 *        one with 1 again
 * When   each makes a record of HLE_RETIRED.ABORTED
 * Then   bits 31:0 at B8H, the cycles of the last region, are larger by at least 500 (125) for the
 *        second than for the first, and than for the third
 * Control: each has made one record
 */
TEST(tsx, hle_abort_record_holds_the_cycles_of_its_elision, REQS(TSX_09),
     NEEDS(need_perfmon, need_pebs, need_hle))
{
	const u64 n[] = { 1, test_rounds(t, STRICT_LONG, LONG), 1 };
	u64 cycles[3];

	if (!transaction_elision_works(t))
		return;
	for (unsigned i = 0; i < 3; i++) {
		struct transaction_abort abort;

		if (!transaction_record_own(t, CONTROL_AT(TSX_09), &transaction_elided_pause, n[i],
					    &abort))
			return;
		cycles[i] = abort.tx & TX_CYCLES;
	}
	for (unsigned i = 0; i < 3; i += 2)
		CHECK_RANGE(t, TSX_09, cycles[i] + n[1] / 2, TX_CYCLES, cycles[1],
			    "cycles of an elided lock with %lu loads more than the %s one",
			    n[1] - 1, i ? "last" : "first");
}

/*
 * TSX-14  HLE_RETIRED.ABORTED with PEBS must make a record of an aborted elision, with bit 32 of
 *         the TX abort information and not bit 33.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  an elided lock inside another one, which PAUSE aborts
 * When   each counter makes a record of HLE_RETIRED.ABORTED
 * Then   in the TX abort information at B8H bit 32 (HLE_Abort) is 1 and bit 33 (RTM_Abort) 0, as
 *        for a single one; where nothing else aborts, bit 34 is 1 and bit 35 is 0
 */
TEST(tsx, hle_abort_record_of_nested_elisions_has_bit_32_and_not_bit_33, REQS(TSX_14),
     NEEDS(need_perfmon, need_pebs, need_hle))
{
	if (!transaction_elision_works(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct transaction_abort abort;

		if (!transaction_record(t, AT(TSX_14), c, &transaction_elided_nested, FEWER,
					&abort))
			return;
		CHECK_EQ(t, TSX_14, TX_HLE_ABORT, abort.tx & (TX_HLE_ABORT | TX_RTM_ABORT),
			 "HLE_Abort and not RTM_Abort, bits 33:32 of B8H, of %s, IA32_PMC%u",
			 abort.piece->name, c);
		check_instruction(t, &abort);
	}
}

/*
 * TSX-15  R/EIP of an HLE abort record must be the instruction following the outermost XACQUIRE.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 *
 * Given  elided locks that PAUSE aborts: a single one, and one inside another
 * When   each makes a record of HLE_RETIRED.ABORTED
 * Then   R/EIP is the instruction after the outer XACQUIRE: there the processor continues, without
 *        elision
 */
TEST(tsx, rip_of_an_hle_abort_record_follows_the_outermost_xacquire, REQS(TSX_15),
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

/*
 * TSX-14  HLE_RETIRED.ABORTED with PEBS must make a record of an aborted elision, with bit 32 of
 *         the TX abort information and not bit 33.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 * TSX-15  R/EIP of an HLE abort record must be the instruction following the outermost XACQUIRE.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * REC-04  The register fields must hold the values after the causing instruction retired, a
 *         register that it loaded included.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 *
 * Given  stores to more lines than the L1 has, with a lock elided
 * When   each counter makes a record of HLE_RETIRED.ABORTED
 * Then   in the TX abort information at B8H bit 32 is 1, bits 33 and 63:40 are 0, and R/EIP follows
 *        the XACQUIRE. Where nothing else aborts, bits 35 (Non_Instruction_Abort) and 38
 *        (Capacity_Writes) are the others; where all is judged, RCX and RDI are what they were at
 *        the XACQUIRE, though both were changed inside, and RAX has its value from before the
 *        XACQUIRE or the lock's value: unlike a transaction, an elision leaves no status there
 */
TEST(tsx, hle_abort_record_of_too_many_stores_tells_of_the_capacity, REQS(TSX_14, TSX_15, REC_04),
     NEEDS(need_perfmon, need_pebs, need_hle))
{
	if (!transaction_elision_works(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct transaction_abort abort;

		if (!transaction_record(t, AT(TSX_14), c, &transaction_elided_stores,
					TRANSACTION_LINES, &abort))
			return;
		CHECK_EQ(t, TSX_14, TX_HLE_ABORT,
			 abort.tx & (TX_HLE_ABORT | TX_RTM_ABORT | TX_RESERVED),
			 "HLE_Abort alone of bits 33:32 and 63:40 of B8H, IA32_PMC%u", c);
		CHECK_EQ(t, TSX_15, (u64)(uintptr_t)abort.piece->fallback, abort.rip,
			 "R/EIP: what follows the XACQUIRE of %s", abort.piece->name);
		if (!test_is_strict(t))
			continue;
		CHECK_EQ(t, TSX_14, TX_HLE_ABORT | TX_NON_INSTRUCTION | TX_CAPACITY_WRITES,
			 abort.tx & ~TX_CYCLES & ~TX_RETRY,
			 "bits 63:32 of B8H without Retry, IA32_PMC%u", c);
		CHECK_RANGE(t, REC_04, 0, 1, sampling_field(&abort.record, RECORD_rax),
			    "RAX: what is stored in the lock, or what was in it");
		CHECK_EQ(t, REC_04, TRANSACTION_LINES, sampling_field(&abort.record, RECORD_rcx),
			 "RCX, as at the XACQUIRE");
		CHECK_EQ(t, REC_04, (u64)(uintptr_t)transaction_words(),
			 sampling_field(&abort.record, RECORD_rdi), "RDI, as at the XACQUIRE");
	}
}

/* The counters of TX_MEM.ABORT_CONFLICT and HLE_RETIRED.ABORTED. */
enum { CONFLICTS, ABORTS, COUNTED };

/* Count both while the piece runs. Returns how often the lock was no longer elided. */
static unsigned count_aborts(const struct transaction *piece, u64 n, u64 value[COUNTED])
{
	static const u16 codes[COUNTED] = { EVENT_TX_MEM_ABORT_CONFLICT,
					    EVENT_HLE_RETIRED_ABORTED };
	unsigned elided;

	for (unsigned c = 0; c < COUNTED; c++) {
		counter_program(c, codes[c], COUNT_BOTH);
		counter_write(c, 0);
	}
	counters_enable((struct pmc_mask){ BITS(0, COUNTED - 1) });
	elided = transaction_run(piece, n, RUNS);
	counters_disable();
	for (unsigned c = 0; c < COUNTED; c++) {
		value[c] = counter_read(c);
		counter_program_disabled(c, 0, 0);
	}
	return RUNS - elided;
}

/*
 * TSX-18  RTM_RETIRED.ABORTED_MISC1, MISC3, MISC4 and MISC5 and TX_MEM.ABORT_CONFLICT and
 *         ABORT_CAPACITY_WRITE must count the aborts of their own cause, and no others.
 *         SDM chapter 19, RTM_RETIRED, TX_MEM
 * TSX-14  HLE_RETIRED.ABORTED with PEBS must make a record of an aborted elision, with bit 32 of
 *         the TX abort information and not bit 33.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  another processor stores to a line all the time; elided locks with loads from that line
 * When   TX_MEM.ABORT_CONFLICT and HLE_RETIRED.ABORTED count them; then an abort makes a record
 * Then   the first counts at least one, where nothing else aborts every lock that is no longer
 *        elided. At B8H bit 32 (HLE_Abort) is 1, bits 33 and 63:40 are 0; where nothing else
 *        aborts, bits 35 (Non_Instruction_Abort) and 37 (Data_Conflict) are the others
 * Control: some are no longer elided; HLE_RETIRED.ABORTED counts these
 */
TEST(tsx, conflict_of_an_elided_lock_is_counted_and_told_of, REQS(TSX_18, TSX_14),
     NEEDS(need_perfmon, need_pebs, need_hle, need_events, need_second_processor))
{
	struct transaction_abort abort;
	u64 value[COUNTED];
	unsigned aborted;
	bool recorded;

	if (!transaction_elision_works(t) || !transaction_write_on(t))
		return;
	aborted = count_aborts(&transaction_elided_watch, WATCHED, value);
	recorded = transaction_record(t, AT(TSX_14), 0, &transaction_elided_watch, WATCHED, &abort);
	transaction_write_off(t);
	CONTROL_RANGE(t, TSX_18, 1, RUNS, aborted, "locks that are no longer elided");
	CONTROL_EQ(t, TSX_18, aborted, value[ABORTS], "HLE_RETIRED.ABORTED");
	CHECK_RANGE(t, TSX_18, test_sees_exactly(t, REQ_TSX_18) ? aborted : 1, ~0ULL,
		    value[CONFLICTS], "TX_MEM.ABORT_CONFLICT of %u aborted elisions", aborted);
	if (!recorded)
		return;
	CHECK_EQ(t, TSX_14, TX_HLE_ABORT, abort.tx & (TX_HLE_ABORT | TX_RTM_ABORT | TX_RESERVED),
		 "HLE_Abort alone of bits 33:32 and 63:40 of B8H");
	if (test_is_strict(t))
		CHECK_EQ(t, TSX_14, TX_HLE_ABORT | TX_NON_INSTRUCTION | TX_DATA_CONFLICT,
			 abort.tx & ~TX_CYCLES & ~TX_RETRY, "bits 63:32 of B8H without Retry");
}

/* Runs of a piece whose loads are counted, and the larger number of loads. */
static unsigned loading_of(const struct test *t)
{
	return (unsigned)test_rounds(t, STRICT_LOADING, RUNS);
}

static u64 more_of(const struct test *t)
{
	return test_rounds(t, STRICT_MORE, MORE);
}

/* Loads that IA32_PMC2 counts in these pieces with n loads. */
static u64 loads_of(const struct test *t, u64 flags, const struct transaction *piece, u64 n)
{
	u64 value;

	counter_program(FILTER, LOADS, COUNT_BOTH | flags);
	counter_write(FILTER, 0);
	counters_enable(pmc_one(FILTER));
	transaction_run(piece, n, loading_of(t));
	counters_disable();
	value = counter_read(FILTER);
	counter_program_disabled(FILTER, 0, 0);
	return value;
}

/* With more loads, minus those with FEWER. */
static u64 difference(const struct test *t, u64 flags, const struct transaction *piece)
{
	u64 fewer = loads_of(t, flags, piece, FEWER);

	return loads_of(t, flags, piece, more_of(t)) - fewer;
}

/*
 * TSX-16  IN_TX and IN_TXCP must hold for elided locks as for transactions.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  elided locks, alone or with another one inside, with 10 and with 60 loads each (30 in
 *        strict runs); those that PAUSE aborts run twice: elided, and again with the lock taken
 * When   IA32_PMC2 counts loads with no filter, IN_TX, IN_TXCP and both; the difference of the two
 *        sizes is judged
 * Then   the loads of elisions that end well count once. Those of aborted ones count twice without
 *        a filter, once with IN_TX (the elided run) or IN_TXCP (the other), never with both; where
 *        every load is judged, with both nothing is left of them, whatever their size
 */
TEST(tsx, in_tx_and_in_txcp_hold_for_elided_locks, REQS(TSX_16),
     NEEDS(need_perfmon, need_four_counters, need_hle, need_events))
{
	static const struct {
		u64 flags;
		const char *name;
		u64 well, aborted;
	} each[] = {
		{ 0, "no filter", 1, 2 },
		{ IA32_PERFEVTSEL_IN_TX, "IN_TX", 1, 1 },
		{ IA32_PERFEVTSEL_IN_TXCP, "IN_TXCP", 1, 1 },
		{ IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP, "both", 1, 0 },
	};
	static const struct {
		const struct transaction *well, *aborted;
	} pieces[] = {
		{ &transaction_elided, &transaction_elided_pause },
		{ &transaction_elided_well, &transaction_elided_nested },
	};
	const u64 once = (more_of(t) - FEWER) * loading_of(t);

	if (!transaction_elision_works(t))
		return;
	for (unsigned k = 0; k < 2 * sizeof(each) / sizeof(each[0]); k++) {
		const unsigned i = k / 2;
		const struct transaction *fails = pieces[k % 2].aborted;
		const char *name = pieces[k % 2].well->name;
		u64 well = difference(t, each[i].flags, pieces[k % 2].well);
		u64 aborted = difference(t, each[i].flags, fails);

		if (test_sees_exactly(t, REQ_TSX_16)) {
			CHECK_EQ(t, TSX_16, each[i].well * once, well, "loads of %s, %s", name,
				 each[i].name);
			CHECK_EQ(t, TSX_16, each[i].aborted * once, aborted, "loads of %s, %s",
				 fails->name, each[i].name);
			if (!each[i].aborted)
				CHECK_EQ(t, TSX_16, 0,
					 loads_of(t, each[i].flags, fails, more_of(t)),
					 "all loads of %s, %s", fails->name, each[i].name);
			continue;
		}
		CHECK_RANGE(t, TSX_16, once / 2, 2 * once, well, "loads of %s, %s", name,
			    each[i].name);
		CHECK_RANGE(t, TSX_16, 0, each[i].aborted * once, aborted, "loads of %s, %s",
			    fails->name, each[i].name);
	}
}

/*
 * TSX-13  HLE_RETIRED.START, COMMIT and ABORTED must count the elided locks that begin, that end
 *         and that abort, and RTM_RETIRED none of them.
 *         SDM chapter 19, HLE_RETIRED
 * TSX-17  A PEBS event while a lock is elided must abort the elision before the record is written.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * TSX-14  HLE_RETIRED.ABORTED with PEBS must make a record of an aborted elision, with bit 32 of
 *         the TX abort information and not bit 33.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support, Table 18-51
 *
 * Given  each counter samples loads, nearly all of which are inside of elided locks: a single one,
 *        or one in another one; IA32_PMC2 and IA32_PMC3 at CPL 3, with USR alone. The next counter
 *        counts HLE_RETIRED.ABORTED
 * When   the locks run until a record of a load inside shows an abort
 * Then   XTEST finds that lock no longer elided, and the run has stored once, whether it was
 *        aborted or not. The record has HLE_Abort and not RTM_Abort, and R/EIP after the outermost
 *        XACQUIRE. Where nothing else aborts, B8H says that no instruction has: bits 34 and 39:37
 *        are 0, 35 is 1. HLE_RETIRED.ABORTED counts the locks that are no longer elided, on a
 *        processor at least one
 */
TEST(tsx, pebs_record_aborts_the_elision_before_it_is_written, REQS(TSX_13, TSX_17, TSX_14),
     NEEDS(need_perfmon, need_pebs, need_hle, need_events), .under_every_fault = true)
{
	if (!transaction_elision_works(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		struct transaction_inside in = { .piece = c % 2 ? &transaction_elided_well :
								  &transaction_elided };
		const char *name = in.piece->name;
		const unsigned aborts = (c + 1) % PEBS_COUNTERS;
		u64 flags = c & 2 ? COUNT_USR : COUNT_BOTH, tx;
		bool found;

		counter_program(aborts, EVENT_HLE_RETIRED_ABORTED, COUNT_BOTH);
		counter_write(aborts, 0);
		found = transaction_record_inside(t, LOADS, c, flags, pmc_one(aborts), &in);
		if (!CHECK(t, TSX_17, found,
			   "a load is recorded that has aborted one of %u runs of %s, with %u "
			   "loads each, IA32_PMC%u",
			   in.runs, name, PERIOD / 2, c))
			return;
		CHECK_RANGE(t, TSX_13,
			    test_sees_exactly(t, REQ_TSX_13) ? in.runs - in.committed : 1,
			    in.runs - in.committed, counter_read(aborts),
			    "HLE_RETIRED.ABORTED of %u elisions, one aborted by a record of "
			    "IA32_PMC%u",
			    in.runs, c);
		counter_program_disabled(aborts, 0, 0);
		tx = sampling_field(&in.record, RECORD_tx_abort);
		CHECK(t, TSX_17, in.status != COMMITTED,
		      "the lock of the record isn't elided at its end, %s", name);
		CHECK_EQ(t, TSX_17, 1, in.words, "stores of the run of the record, %s", name);
		CHECK_EQ(t, TSX_17, TX_HLE_ABORT, tx & (TX_HLE_ABORT | TX_RTM_ABORT),
			 "HLE_Abort and not RTM_Abort, bits 33:32 of B8H, %s", name);
		CHECK_EQ(t, TSX_17, (u64)(uintptr_t)in.piece->fallback,
			 sampling_field(&in.record, RECORD_rip),
			 "R/EIP of its record: what follows the outermost XACQUIRE of %s", name);
		if (test_sees_exactly(t, REQ_TSX_14))
			CHECK_EQ(t, TSX_14, TX_HLE_ABORT | TX_NON_INSTRUCTION,
				 tx & ~TX_CYCLES & ~TX_RETRY,
				 "bits 63:32 of B8H without Retry, %s, IA32_PMC%u", name, c);
	}
}
