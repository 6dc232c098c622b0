/* SPDX-License-Identifier: MIT */
/*
 * Aborts of a transaction and the information about them: compares SDM Table 18-51 with "RTM Abort
 * Status Definition" and "Runtime Considerations" of volume 1. The processor may also abort for
 * other reasons: EAX says which abort it was.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/user.h"
#include "pmu/pebs.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define FEW	4	/* loads in a transaction whose number of loads doesn't matter */
#define TRIES	20
#define FILTER		2u	/* IA32_PMC2, the only one that may have IN_TXCP */
#define LOADING_TRIES 5	/* tries of the transactions that load from many lines */
#define STRICT_LOADING_TRIES 1	/* nothing aborts by chance */
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
	const unsigned tries = (unsigned)test_rounds(t, STRICT_LOADING_TRIES, LOADING_TRIES);
	unsigned committed = transaction_run(&transaction_loads, TRANSACTION_LINES, tries);

	if (committed) {
		test_skip(t, "%u of %u transactions that read %u lines committed", committed, tries,
			  TRANSACTION_LINES);
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

/* What overflows in a transaction, and how. */
struct overflow_setup {
	unsigned counter;
	bool user;	/* everything runs and counts at CPL 3 */
	u64 debugctl;
	u16 event;	/* on a third counter; 0: RTM_RETIRED.ABORTED */
	u64 loads;	/* of the transaction */
};

struct overflowed {
	const struct pmi_log *log;
	bool committed;
	bool shown;		/* the counter's status bit is left: no handler has cleared it */
	u64 stores;		/* stores of the transaction that are still there */
	u64 aborts;		/* the event, on another counter */
	u64 inside, kept; /* IA32_PMC2 of an undisturbed transaction; of this one */
};

static u64 run_long(u64 loads)
{
	return transaction_commit.run(transaction_words(), loads);
}

static bool run_long_at(bool user, u64 loads)
{
	return (user ? user_call(run_long, loads) : run_long(loads)) == COMMITTED;
}

/* The count of IA32_PMC2 over one transaction that commits. */
static u64 count_commit(bool user, u64 loads)
{
	u64 value = 0;

	for (unsigned i = 0; i < TRIES && !value; i++) {
		counter_write(FILTER, 0);
		counters_enable(pmc_one(FILTER));
		if (run_long_at(user, loads))
			value = counter_read(FILTER);
		counters_disable();
	}
	return value;
}

/* The counter, of loads or instructions, overflows half-way through a transaction. IA32_PMC2, if it
 * is another counter, counts loads with IN_TX and IN_TXCP; a third counter counts aborts. */
static struct overflowed overflow_inside(const struct overflow_setup *setup)
{
	const unsigned c = setup->counter, aborts = c == 3 ? 1 : 3;
	const bool fixed = c >= PMC_FIXED(0);
	const u64 level = setup->user ? COUNT_USR : COUNT_BOTH;
	u64 *words = transaction_words(), before;
	struct overflowed o = { .inside = 0 };
	struct pmc_mask on = pmc_or(pmc_one(c), pmc_one(aborts));

	if (c != FILTER) {
		counter_program(FILTER, LOADS,
				level | IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP);
		o.inside = count_commit(setup->user, setup->loads);
		counter_write(FILTER, 0);
		on = pmc_or(on, pmc_one(FILTER));
	}
	counter_program(aborts, setup->event ? setup->event : EVENT_RTM_RETIRED_ABORTED, level);
	counter_write(aborts, 0);
	counter_program(c, fixed ? 0 : LOADS, level | COUNT_INT);
	counter_preset(c, fixed ? setup->loads * 2 : setup->loads / 2);
	pmi_open(NULL);
	msr_write(MSR_IA32_DEBUGCTL, setup->debugctl);
	before = *words;
	counters_enable(on);
	o.committed = run_long_at(setup->user, setup->loads);
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
static bool overflowed_inside(struct test *t, const struct overflow_setup *setup,
			      struct overflowed *o)
{
	for (unsigned i = 0; i < TRIES; i++) {
		*o = overflow_inside(setup);
		if (test_is_strict(t) || o->log->count || o->committed || o->shown)
			return true;
	}
	test_inconclusive(t, "each of %u transactions aborted before counter %u overflowed", TRIES,
			  setup->counter);
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
 *        loads (200 in strict runs where an interrupt comes at once), with INT, at CPL 0, and at
 *        CPL 3 with USR alone; at the same time as each except IA32_PMC2, IA32_PMC2 counts loads
 *        with IN_TX and IN_TXCP, and at the same time as each, IA32_PMC3 or 1 counts
 *        RTM_RETIRED.ABORTED
 * When   its interrupt is delivered: pending until the abort is processed, or too late for the
 *        transaction
 * Then   there is one, outside of the transaction, with the status bit of its counter; the
 *        transaction's store and IA32_PMC2's count are left if and only if it has committed, and
 *        RTM_RETIRED.ABORTED counts it if and only if it hasn't
 * Control: IA32_PMC2 counts the loads of one that nothing interrupts
 */
TEST(tsx, pmi_of_an_overflow_in_a_transaction_comes_outside_of_it, REQS(TSX_01, TSX_12, TSX_07),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events, need_fixed_0_to_2))
{
	static const unsigned counters[] = { 0, 1, 2, 3, PMC_FIXED(0) };
	const bool exact = test_sees_exactly(t, REQ_TSX_07);
	const u64 loads = transaction_long(t);

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < 2 * sizeof(counters) / sizeof(counters[0]); i++) {
		const unsigned c = counters[i / 2], cpl = i % 2 ? 3 : 0;
		const struct overflow_setup setup = { .counter = c, .user = cpl, .loads = loads };
		const u64 bit = BIT(c);
		struct overflowed o;

		if (!overflowed_inside(t, &setup, &o))
			return;
		CHECK_EQ(t, TSX_12, 1, o.log->count,
			 "interrupts of counter %u, which overflowed inside, CPL %u", c, cpl);
		if (o.log->count) {
			CHECK(t, TSX_12,
			      !transaction_holds(&transaction_commit, o.log->entry[0].rip),
			      "0x%lx, where it came, is outside", o.log->entry[0].rip);
			CHECK_EQ(t, TSX_12, bit, o.log->entry[0].status & bit,
				 "status bit of counter %u in its handler", c);
		}
		CHECK_EQ(t, TSX_01, !o.committed, o.aborts,
			 "RTM_RETIRED.ABORTED of one that counter %u overflows in, CPL %u", c, cpl);
		CHECK_EQ(t, TSX_12, o.committed, o.stores, "stores left of a transaction that %s",
			 o.committed ? "committed" : "aborted");
		if (c == FILTER)
			continue;
		CONTROL_RANGE(t, TSX_07, 1, 2 * loads, o.inside,
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
 *        transaction with 1000 loads (200 in strict runs where an interrupt comes at once), with
 *        INT, at CPL 0, and at CPL 3 with USR alone
 * When   the handler reads IA32_PERF_GLOBAL_CTRL
 * Then   it is 0
 * Control: without that bit it is not
 */
TEST(tsx, overflow_in_a_transaction_freezes, REQS(PMI_14),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events, need_fixed_0_to_2,
	   need_legacy_freeze, need_freeze))
{
	static const unsigned counters[] = { 0, 1, 2, 3, PMC_FIXED(0) };
	const u64 loads = transaction_long(t);

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < 4 * sizeof(counters) / sizeof(counters[0]); i++) {
		const unsigned c = counters[i / 4];
		const bool freezes = i % 2;
		const struct overflow_setup setup = {
			.counter = c,
			.user = i & 2,
			.debugctl = freezes ? IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI : 0,
			.loads = loads,
		};
		struct overflowed o;
		u64 control;

		if (!overflowed_inside(t, &setup, &o))
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

/*
 * TSX-18  RTM_RETIRED.ABORTED_MISC1, MISC3, MISC4 and MISC5 and TX_MEM.ABORT_CONFLICT and
 *         ABORT_CAPACITY_WRITE must count the aborts of their own cause, and no others.
 *         SDM chapter 19, RTM_RETIRED, TX_MEM
 *
 * Given  IA32_PMC0 overflows half-way through a transaction with 1000 loads (200 in strict runs
 *        where an interrupt comes at once), with INT; IA32_PMC3 counts RTM_RETIRED.ABORTED_MISC5,
 *        which is about causes like an interrupt, another time MISC1, MISC3 or MISC4, at CPL 0,
 *        and at CPL 3
 * When   its interrupt aborts the transaction, or comes too late
 * Then   where nothing else aborts, MISC5 counts it if and only if it hasn't committed, and the
 *        others count nothing; on a processor none of them counts one that commits
 * Control: where counts must be exact, the interrupt has aborted the transaction
 */
TEST(tsx, misc5_alone_counts_a_transaction_that_an_interrupt_aborts, REQS(TSX_18),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	static const struct {
		const char *name;
		u16 event;
		bool counts;
	} each[] = {
		{ "MISC5", EVENT_RTM_RETIRED_ABORTED_MISC5, true },
		{ "MISC1", EVENT_RTM_RETIRED_ABORTED_MISC1, false },
		{ "MISC3", EVENT_RTM_RETIRED_ABORTED_MISC3, false },
		{ "MISC4", EVENT_RTM_RETIRED_ABORTED_MISC4, false },
	};
	const bool exact = test_sees_exactly(t, REQ_TSX_18);
	const u64 loads = transaction_long(t);

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < 2 * sizeof(each) / sizeof(each[0]); i++) {
		const bool counts = each[i / 2].counts;
		const struct overflow_setup setup = { .user = i % 2, .event = each[i / 2].event,
						      .loads = loads };
		struct overflowed o;

		if (each[i / 2].event == EVENT_RTM_RETIRED_ABORTED_MISC4 &&
		    test_erratum(t, ERRATUM_MEMORY_TYPE))
			continue;
		if (!overflowed_inside(t, &setup, &o))
			return;
		if (exact)
			CONTROL(t, TSX_18, !o.committed, "the interrupt has aborted it");
		CHECK_RANGE(t, TSX_18, exact && counts ? !o.committed : 0,
			    exact && !counts ? 0 : !o.committed, o.aborts,
			    "RTM_RETIRED.ABORTED_%s of one that IA32_PMC0 overflows in, which %s, "
			    "CPL %u",
			    each[i / 2].name, o.committed ? "committed" : "aborted", i % 2 ? 3 : 0);
	}
}

#define PAIR_TRIES 16	/* transactions in which the second of two counters has its record */
#define RELOAD	1000000u	/* times the counter's number plus 1: never reached */
#define RECORD_TRIES 100

/* How a counter samples loads until one inside is recorded, which aborts its transaction. */
struct record_setup {
	unsigned counter;
	u64 interrupt;		/* COUNT_INT or 0 */
	unsigned threshold;	/* in records */
	bool pair;		/* the next counter samples with the same start */
};

/* The counters' reset values; what followed the record. */
struct record_left {
	u64 start[2], value[2];
	const struct pmi_log *log;
};

static unsigned paired(unsigned c)
{
	return (c + 1) % PEBS_COUNTERS;
}

/* Has one of the two overflowed, and isn't loaded yet? */
static bool waits(unsigned c, unsigned other)
{
	return counter_read(c) <= RELOAD / 2 || counter_read(other) <= RELOAD / 2;
}

/* One try. With PDist a period always ends on the same load: later ones need another period. */
static bool record_once(const struct record_setup *how, u64 period, struct record_left *left)
{
	const struct transaction *piece = &transaction_commit;
	const unsigned c[] = { how->counter, paired(how->counter) };
	struct ds_setup setup = sampling_setup(8);
	const unsigned armed = how->pair ? 2 : 1;
	struct pebs_record record;

	setup.threshold = how->threshold;
	for (unsigned k = 0; k < 2; k++) {
		setup.reset[c[k]] = pebs_reset_value(c[k], RELOAD * (c[k] + 1));
		left->start[k] = setup.reset[c[k]] & (BIT(counter_width(c[k])) - 1);
	}
	ds_open(&setup);
	pmi_open(NULL);
	for (unsigned k = 0; k < armed; k++)
		pebs_arm(c[k], LOADS, COUNT_BOTH | how->interrupt, period);
	counters_enable(how->pair ? pmc_or(pmc_one(c[0]), pmc_one(c[1])) : pmc_one(c[0]));
	for (unsigned k = 0; k < TRIES && !ds_records(); k++)
		piece->run(transaction_words(), PERIOD / 2);
	for (unsigned k = 0; k < PAIR_TRIES && how->pair && waits(c[0], c[1]); k++)
		piece->run(transaction_words(), PERIOD / 2);
	left->log = pmi_end();
	counters_disable();
	pebs_disarm();
	for (unsigned k = 0; k < 2; k++)
		left->value[k] = counter_read(c[k]);
	for (unsigned k = 0; k < 2; k++)
		counter_program_disabled(c[k], 0, 0);
	if (!ds_records())
		return false;
	record_decode(setup.format, ds_record(0), record_size(setup.format), &record);
	return transaction_holds(piece, sampling_field(&record, RECORD_eventing_ip));
}

static bool record_that_aborts(const struct record_setup *how, struct record_left *left)
{
	for (unsigned i = 0; i < RECORD_TRIES; i++)
		if (record_once(how, PERIOD + i, left))
			return true;
	return false;
}

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
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		const struct record_setup how = { .counter = c, .threshold = 1 };
		struct record_left left;
		const struct pmi_log *log;

		if (!CONTROL(t, IDS(DS_05, DS_12, DS_21, DS_22), record_that_aborts(&how, &left),
			     "a load inside is recorded, IA32_PMC%u", c))
			return;
		log = left.log;
		CHECK_RANGE(t, DS_12, left.start[0], left.start[0] + RELOAD / 2, left.value[0],
			    "IA32_PMC%u after a record that aborts, whose reset value is %#lx", c,
			    left.start[0]);
		if (!CHECK_EQ(t, DS_05, 1, log->count, "interrupts at the threshold, IA32_PMC%u",
			      c))
			continue;
		CHECK(t, DS_05, !transaction_holds(&transaction_commit, log->entry[0].rip),
		      "%#lx, where it came, is outside", log->entry[0].rip);
		CHECK_EQ(t, DS_21, IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			 log->entry[0].status & IA32_PERF_GLOBAL_STATUS_OVF_BUF,
			 "OvfBuf in its handler, IA32_PMC%u", c);
		if (sampling_clears_status(t))
			CHECK_EQ(t, DS_22, 0, log->entry[0].status & BIT(c),
				 "status bit of IA32_PMC%u after its record", c);
	}
}

/*
 * PRIO-10  The threshold interrupt and the overflow interrupt of one counter must be two separate
 *          interrupts.
 *          SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 * PMI-01   The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *          through the local APIC's LVTPC.
 *          SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each counter samples loads with INT, nearly all of which are inside of transactions; the
 *        threshold is after one record, another time out of reach
 * When   the transactions run until a load inside is recorded, which aborts its transaction
 * Then   there are two interrupts where the threshold is met, the first with OvfBuf; where two of
 *        one record may be lost or come as one, there may be one. Where the threshold is out of
 *        reach, there is one
 * Control: EventingIP of the record is inside
 */
TEST(tsx, record_that_aborts_leaves_the_overflow_interrupt_of_its_counter, REQS(PRIO_10, PMI_01),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	bool exact;

	if (!transaction_works(t) || !sampling_int_or_skip(t))
		return;
	exact = test_sees_exactly(t, REQ_PRIO_10) && sampling_two_interrupts_stay_two();
	for (unsigned i = 0; i < 2 * PEBS_COUNTERS; i++) {
		const unsigned c = i / 2;
		const struct record_setup how = {
			.counter = c, .interrupt = COUNT_INT, .threshold = i % 2 ? 1 : 8,
		};
		struct record_left left;

		if (!CONTROL(t, IDS(PRIO_10, PMI_01), record_that_aborts(&how, &left),
			     "a load inside is recorded, IA32_PMC%u with INT", c))
			return;
		if (i % 2 == 0) {
			CHECK_RANGE(t, PMI_01, 1, overflow_allowed(t, 1, left.log->count),
				    left.log->count,
				    "interrupts of a record that aborts, IA32_PMC%u, INT = 1, "
				    "threshold out of reach",
				    c);
			continue;
		}
		if (CHECK_RANGE(t, PRIO_10, exact ? 2 : 1,
				overflow_allowed(t, 2, left.log->count), left.log->count,
				"interrupts of a record that aborts, IA32_PMC%u, INT = 1, which "
				"meets the threshold",
				c))
			CHECK_EQ(t, PRIO_10, IA32_PERF_GLOBAL_STATUS_OVF_BUF,
				 left.log->entry[0].status & IA32_PERF_GLOBAL_STATUS_OVF_BUF,
				 "OvfBuf at the entry of the first, IA32_PMC%u", c);
	}
}

/*
 * DS-13  After a record every counter that overflowed and is PEBS-enabled must be loaded with its
 *        reset value.
 *        SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  two counters, each and its next one, sample loads from the same start, nearly all of which
 *        are inside of transactions; their reset values differ
 * When   the transactions run until a load inside is recorded, which aborts its transaction
 * Then   each holds its own reset value plus at most the events after it. A counter may have a
 *        record of its own, so further transactions run until both have been loaded
 * Control: EventingIP of the first record is inside
 */
TEST(tsx, record_that_aborts_reloads_both_counters_that_have_overflowed, REQS(DS_13),
     NEEDS(need_perfmon, need_pebs, need_rtm, need_events))
{
	if (!transaction_works(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		const struct record_setup how = { .counter = c, .threshold = 8, .pair = true };
		struct record_left left;

		if (!CONTROL(t, DS_13, record_that_aborts(&how, &left),
			     "a load inside is recorded, IA32_PMC%u and IA32_PMC%u", c, paired(c)))
			return;
		for (unsigned k = 0; k < 2; k++)
			CHECK_RANGE(t, DS_13, left.start[k], left.start[k] + RELOAD / 2,
				    left.value[k],
				    "IA32_PMC%u after a record that aborts, whose reset value is "
				    "%#lx",
				    k ? paired(c) : c, left.start[k]);
	}
}
