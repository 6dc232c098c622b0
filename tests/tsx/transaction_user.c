/* SPDX-License-Identifier: MIT */
/*
 * Transactions at CPL 3, where sampled programs usually run. Their events, and the registers of
 * their records: SDM "Performance Monitoring and Intel TSX", "Intel TSX and PEBS Support".
 */
#include "kernel/interrupt/user.h"
#include "kernel/memory/pages.h"
#include "kernel/output/fmt.h"
#include "pmu/counter.h"
#include "pmu/event.h"
#include "pmu/pebs.h"
#include "spec/x86.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/tsx/transaction.h"

#define FEW	4		/* loads in a transaction whose number of loads doesn't matter */
#define RUNS	8		/* transactions in a window */
#define STRICT_RUNS 2		/* nothing aborts by chance */
#define CPL_3	3u
#define FIRST_WITHOUT_HLE_EVENTS 5u	/* version of Ice Lake */
#define RFLAGS_OF_SUB	(RFLAGS_CF | RFLAGS_ZF | RFLAGS_SF)
#define BELOW_0		(RFLAGS_CF | RFLAGS_SF)	/* the flags after 1 - 2 */

/* A run of a piece. rsp: RSP at its XBEGIN. */
struct user_run {
	const struct transaction *piece;
	u64 status, rsp;
	u64 n;		/* loads, in place of FEW */
	bool uncacheable;	/* the piece's memory */
};

/* When the transaction begins, RFLAGS has the flags of 1 - 2; its loop then changes them. */
static u64 run_once(u64 arg)
{
	struct user_run *run = (struct user_run *)(uintptr_t)arg;
	u64 words = run->uncacheable ? (u64)(uintptr_t)pages_get()->uncacheable :
				       (u64)(uintptr_t)transaction_words();
	u64 status;
	u64 n = run->n ? run->n : FEW;

	__asm__ volatile("lea -8(%%rsp), %[rsp]\n\t"
			 "mov $1, %%eax\n\t"
			 "sub $2, %%eax\n\t"
			 "call *%[piece]"
			 : "=&a"(status), [rsp] "=&r"(run->rsp), "+D"(words), "+S"(n)
			 : [piece] "r"(run->piece->run)
			 : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
	run->status = status;
	return status;
}

static u64 loads_of(const struct transaction *piece)
{
	if (piece == &transaction_stores)
		return TRANSACTION_LINES;
	return piece == &transaction_watch ? WATCHED : FEW;
}

static unsigned run_at(unsigned cpl, struct user_run *run, unsigned times)
{
	unsigned committed = 0;

	while (times--) {
		if (cpl)
			user_call_at(cpl, run_once, (u64)(uintptr_t)run);
		else
			run_once((u64)(uintptr_t)run);
		committed += run->status == COMMITTED;
	}
	return committed;
}

static unsigned runs_of(const struct test *t)
{
	return (unsigned)test_rounds(t, STRICT_RUNS, RUNS);
}

/* The increase of a counter over a window's transactions at a CPL. */
static u64 counted(const struct test *t, unsigned counter, u16 event, u64 level, unsigned cpl,
		   struct user_run run, unsigned *committed)
{
	u64 value;

	run.n = loads_of(run.piece);
	counter_program(counter, event, level);
	counter_write(counter, 0);
	counters_enable(pmc_one(counter));
	*committed = run_at(cpl, &run, runs_of(t));
	counters_disable();
	value = counter_read(counter);
	counter_program_disabled(counter, 0, 0);
	return value;
}

/* Count the three events of the piece's transactions at the level that the counter selects, and at
 * the other level. */
static void check_levels(struct test *t, unsigned c, const struct transaction *piece, unsigned cpl)
{
	static const struct {
		const char *name;
		u16 event;
	} each[] = {
		{ "START", EVENT_RTM_RETIRED_START },
		{ "COMMIT", EVENT_RTM_RETIRED_COMMIT },
		{ "ABORTED", EVENT_RTM_RETIRED_ABORTED },
	};
	const u64 selected = cpl ? COUNT_USR : COUNT_OS, other = COUNT_BOTH & ~selected;
	const struct user_run run = { .piece = piece };

	for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		unsigned committed;
		u64 got = counted(t, c, each[i].event, selected, cpl, run, &committed);
		u64 want = i == 0 ? runs_of(t) : i == 1 ? committed : runs_of(t) - committed;

		if (i == 2)
			CHECK_EQ(t, TSX_01, want, got, "RTM_RETIRED.%s of %s at CPL %u, IA32_PMC%u",
				 each[i].name, piece->name, cpl, c);
		else
			CHECK_EQ(t, TSX_08, want, got, "RTM_RETIRED.%s of %s at CPL %u, IA32_PMC%u",
				 each[i].name, piece->name, cpl, c);
		got = counted(t, c, each[i].event, other, cpl, run, &committed);
		CHECK_EQ(t, CNT_10, 0, got,
			 "RTM_RETIRED.%s of %s at CPL %u with %s alone, IA32_PMC%u", each[i].name,
			 piece->name, cpl, cpl ? "OS" : "USR", c);
	}
}

/*
 * TSX-01  RTM_RETIRED.ABORTED with PEBS must make a record of an aborted transaction.
 *         SDM 18.11.5.1 Intel TSX and PEBS Support
 * TSX-08  RTM_RETIRED.START and RTM_RETIRED.COMMIT must count the transactions that begin and
 *         those that commit.
 *         SDM chapter 19, RTM_RETIRED
 * CNT-10  A counter must count only at the privilege levels that its OS and USR bits select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: USR, OS
 *
 * Given  each counter counts RTM_RETIRED.START, COMMIT or ABORTED, with USR alone or OS alone
 * When   eight transactions (two in strict runs) that commit, and as many that XABORT ends, run
 *        at CPL 3, and at CPL 0
 * Then   the counter that selects their level counts those that begin, commit and abort; the
 *        other one counts 0
 * Control: the same counter, with the other flag
 */
TEST(tsx, rtm_retired_counts_at_the_selected_privilege_levels, REQS(TSX_01, TSX_08, CNT_10),
     NEEDS(need_perfmon, need_four_counters, need_rtm))
{
	for (unsigned c = 0; c < 4; c++)
		for (unsigned cpl = 0; cpl <= CPL_3; cpl += CPL_3) {
			check_levels(t, c, &transaction_commit, cpl);
			check_levels(t, c, &transaction_xabort, cpl);
		}
}

/* An event, the transactions or elided locks that cause it, and which of these it counts. */
struct level_row {
	const char *name;
	u16 event;
	const struct transaction *piece;
	/* OF_SIGNALS: of aborts, each of which may be signaled several times */
	enum { OF_ALL, OF_COMMITS, OF_ABORTS, OF_SIGNALS } of;
};

/* Is the memory of the piece uncacheable? It is for the event that counts such aborts. */
static bool is_uncacheable(const struct level_row *row)
{
	return row->event == EVENT_RTM_RETIRED_ABORTED_MISC4;
}

/* The least and the most count over so many transactions, of which so many committed. */
static void bounds_of(const struct level_row *row, bool exact, unsigned runs, unsigned committed,
		      u64 *least, u64 *most)
{
	*most = row->of == OF_ALL ? runs : row->of == OF_COMMITS ? committed : runs - committed;
	*least = exact || row->of == OF_COMMITS ? *most : row->of == OF_ALL ? committed : 0;
	if (row->of == OF_SIGNALS && *most && !exact)
		*most = ~0ULL;
}

/* Count the event at a CPL with each flag. Returns the count with the flag of the other level. */
static u64 check_row(struct test *t, struct test_claim claim, const struct level_row *row,
		     unsigned c, unsigned cpl)
{
	const u64 selected = cpl ? COUNT_USR : COUNT_OS, other = COUNT_BOTH & ~selected;
	const struct user_run run = { .piece = row->piece, .uncacheable = is_uncacheable(row) };
	unsigned committed;
	u64 got = counted(t, c, row->event, selected, cpl, run, &committed), least, most;

	bounds_of(row, test_sees_claim(t, &claim), runs_of(t), committed, &least, &most);
	test_check_range(t, claim, least, most, got,
			 "%s of %s at CPL %u, %u of %u committed, "
			 "IA32_PMC%u",
			 row->name, row->piece->name, cpl, committed, runs_of(t), c);
	return counted(t, c, row->event, other, cpl, run, &committed);
}

/* The events of elided locks are in the manual up to Skylake. */
static bool need_hle_events(char *reason, size_t size)
{
	if (!need_hle(reason, size))
		return false;
	if (counter_caps()->version < FIRST_WITHOUT_HLE_EVENTS)
		return true;
	fmt_print(reason, size, "version %u, whose HLE_RETIRED the manual doesn't describe",
		  counter_caps()->version);
	return false;
}

/*
 * TSX-13  HLE_RETIRED.START, COMMIT and ABORTED must count the elided locks that begin, that end
 *         and that abort, and RTM_RETIRED none of them.
 *         SDM chapter 19, HLE_RETIRED
 * CNT-10  A counter must count only at the privilege levels that its OS and USR bits select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: USR, OS
 *
 * Given  each counter counts HLE_RETIRED.START, COMMIT or ABORTED, with USR alone or OS alone
 * When   eight elided locks (two in strict runs) that end well, and as many that PAUSE aborts, run
 *        at CPL 3, and at CPL 0
 * Then   the counter that selects their level counts those that begin, that stay elided and that
 *        don't; the other one counts 0
 * Control: the same counter, with the other flag
 */
TEST(tsx, hle_retired_counts_at_the_selected_privilege_levels, REQS(TSX_13, CNT_10),
     NEEDS(need_perfmon, need_four_counters, need_hle_events))
{
	static const struct level_row rows[] = {
		{ "HLE_RETIRED.START", EVENT_HLE_RETIRED_START, &transaction_elided, OF_ALL },
		{ "HLE_RETIRED.COMMIT", EVENT_HLE_RETIRED_COMMIT, &transaction_elided, OF_COMMITS },
		{ "HLE_RETIRED.ABORTED", EVENT_HLE_RETIRED_ABORTED, &transaction_elided_pause,
		  OF_ABORTS },
	};

	if (!transaction_elision_works(t))
		return;
	for (unsigned i = 0; i < 2 * 4 * sizeof(rows) / sizeof(rows[0]); i++) {
		const struct level_row *row = &rows[i / 8];
		const unsigned c = i % 4, cpl = i & 4 ? CPL_3 : 0;
		u64 other = check_row(t, AT(TSX_13), row, c, cpl);

		CHECK_EQ(t, CNT_10, 0, other, "%s at CPL %u with %s alone, IA32_PMC%u", row->name,
			 cpl, cpl ? "OS" : "USR", c);
	}
}

/*
 * TSX-18  RTM_RETIRED.ABORTED_MISC1, MISC3, MISC4 and MISC5 and TX_MEM.ABORT_CONFLICT and
 *         ABORT_CAPACITY_WRITE must count the aborts of their own cause, and no others.
 *         SDM chapter 19, RTM_RETIRED, TX_MEM
 * CNT-10  A counter must count only at the privilege levels that its OS and USR bits select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: USR, OS
 *
 * Given  each counter counts RTM_RETIRED.ABORTED_MISC3, MISC4 (memory is uncacheable) or MISC5, one
 *        of them MISC1, and one TX_MEM.ABORT_CAPACITY_WRITE, with USR alone or OS alone
 * When   eight transactions (two in strict runs) that such a cause aborts run at CPL 3, and at
 *        CPL 0
 * Then   the counter that selects their level counts them, on a processor none that commits, and
 *        TX_MEM none where none aborts; the other one counts 0
 * Control: where nothing else aborts, the same counter, with the other flag
 */
TEST(tsx, abort_events_count_at_the_selected_privilege_levels, REQS(TSX_18, CNT_10),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events))
{
	static const struct level_row rows[] = {
		{ "RTM_RETIRED.ABORTED_MISC1", EVENT_RTM_RETIRED_ABORTED_MISC1, &transaction_stores,
		  OF_ABORTS },
		{ "RTM_RETIRED.ABORTED_MISC3", EVENT_RTM_RETIRED_ABORTED_MISC3, &transaction_pause,
		  OF_ABORTS },
		{ "RTM_RETIRED.ABORTED_MISC5", EVENT_RTM_RETIRED_ABORTED_MISC5,
		  &transaction_divide, OF_ABORTS },
		{ "TX_MEM.ABORT_CAPACITY_WRITE", EVENT_TX_MEM_ABORT_CAPACITY_WRITE,
		  &transaction_stores, OF_SIGNALS },
		{ "RTM_RETIRED.ABORTED_MISC4", EVENT_RTM_RETIRED_ABORTED_MISC4, &transaction_commit,
		  OF_ABORTS },
	};

	if (!transaction_works(t))
		return;
	for (unsigned i = 0; i < 2 * 4 * sizeof(rows) / sizeof(rows[0]); i++) {
		const struct level_row *row = &rows[i / 8];
		const unsigned c = i % 4, cpl = i & 4 ? CPL_3 : 0;
		u64 other;

		/* Transactions with many stores take long: test them on one counter only. */
		if (row->piece == &transaction_stores && c != i / 8)
			continue;
		if (is_uncacheable(row) && test_erratum(t, ERRATUM_MEMORY_TYPE))
			continue;
		other = check_row(t, AT(TSX_18), row, c, cpl);
		CHECK_EQ(t, CNT_10, 0, other, "%s at CPL %u with %s alone, IA32_PMC%u", row->name,
			 cpl, cpl ? "OS" : "USR", c);
	}
}

/*
 * TSX-18  RTM_RETIRED.ABORTED_MISC1, MISC3, MISC4 and MISC5 and TX_MEM.ABORT_CONFLICT and
 *         ABORT_CAPACITY_WRITE must count the aborts of their own cause, and no others.
 *         SDM chapter 19, RTM_RETIRED, TX_MEM
 * CNT-10  A counter must count only at the privilege levels that its OS and USR bits select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: USR, OS
 *
 * Given  another processor stores to a line all the time; TX_MEM.ABORT_CONFLICT, or
 *        RTM_RETIRED.ABORTED_MISC1, counts on IA32_PMC0 or 1, with USR alone or OS alone
 * When   eight transactions (two in strict runs) with loads from that line run at CPL 3, and at
 *        CPL 0
 * Then   the counter that selects their level counts those that abort, on a processor none that
 *        commits; the other one counts 0
 * Control: where nothing else aborts, the same counter, with the other flag
 */
TEST(tsx, conflict_events_count_at_the_selected_privilege_levels, REQS(TSX_18, CNT_10),
     NEEDS(need_perfmon, need_four_counters, need_rtm, need_events, need_second_processor))
{
	static const struct level_row rows[] = {
		{ "TX_MEM.ABORT_CONFLICT", EVENT_TX_MEM_ABORT_CONFLICT, &transaction_watch,
		  OF_SIGNALS },
		{ "RTM_RETIRED.ABORTED_MISC1", EVENT_RTM_RETIRED_ABORTED_MISC1, &transaction_watch,
		  OF_ABORTS },
	};

	if (!transaction_works(t) || !transaction_write_on(t))
		return;
	for (unsigned i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const struct level_row *row = &rows[i / 2];
		const unsigned cpl = i % 2 ? CPL_3 : 0;
		u64 other = check_row(t, AT(TSX_18), row, i / 2, cpl);

		CHECK_EQ(t, CNT_10, 0, other, "%s at CPL %u with %s alone", row->name, cpl,
			 cpl ? "OS" : "USR");
	}
	transaction_write_off(t);
}

/* Take one record of an abort of the piece at a CPL; *run: the transaction before the record. */
static bool record_at(struct test *t, struct test_claim claim, unsigned counter, unsigned cpl,
		      struct user_run *run, struct pebs_record *record)
{
	struct ds_setup setup = sampling_setup(8);

	ds_open(&setup);
	pebs_arm(counter, EVENT_RTM_RETIRED_ABORTED, cpl ? COUNT_USR : COUNT_OS, PERIOD);
	counters_enable(pmc_one(counter));
	for (unsigned i = 0; i <= PERIOD + sampling_shadow_bound() && !ds_records(); i++) {
		if (cpl)
			user_call_at(cpl, run_once, (u64)(uintptr_t)run);
		else
			run_once((u64)(uintptr_t)run);
	}
	counters_disable();
	pebs_disarm();
	counter_program_disabled(counter, 0, 0);
	return sampling_one_record(t, claim, record);
}

/* Check the abort information of the record. */
static void check_told(struct test *t, unsigned cpl, const struct user_run *run,
		       const struct pebs_record *r)
{
	const u64 tx = sampling_field(r, RECORD_tx_abort);
	const char *name = run->piece->name;

	CHECK_EQ(t, TSX_03, TX_RTM_ABORT, tx & (TX_RTM_ABORT | TX_HLE_ABORT),
		 "RTM_Abort and not HLE_Abort, bits 33:32 of B8H, %s at CPL %u", name, cpl);
	/* A transaction that aborts before its first instruction may have no cycle. */
	CHECK_RANGE(t, TSX_09, test_is_strict(t) || run->status == BY_XABORT ? 1 : 0, TX_CYCLES,
		    tx & TX_CYCLES, "cycles of %s at CPL %u", name, cpl);
	if (test_sees_exactly(t, REQ_TSX_03))
		CHECK_EQ(t, TSX_03, TX_RTM_ABORT | TX_INSTRUCTION, tx & ~(TX_CYCLES | TX_RETRY),
			 "Instruction_Abort (34) and no other cause, at B8H, %s at CPL %u", name,
			 cpl);
	if (test_sees_exactly(t, REQ_TSX_10) || (tx & TX_INSTRUCTION && run->status == BY_XABORT))
		CHECK_EQ(t, TSX_10, (u64)(uintptr_t)run->piece->cause,
			 sampling_field(r, RECORD_eventing_ip),
			 "EventingIP: the instruction that aborts %s at CPL %u", name, cpl);
}

/*
 * Decides TSX-01, TSX-03, TSX-05, TSX-09, TSX-10, REC-04, REC-11 (claims/requirement.def has their
 * sentences).
 *
 * Given  each counter samples RTM_RETIRED.ABORTED with the flag of one level alone; transactions
 *        begin with CF and SF set, ZF clear and a known RSP; their loop leaves ZF set, SF clear
 * When   XABORT, or PAUSE, ends them at CPL 0, and at CPL 3, until there is a record
 * Then   R/EIP is the fallback address; at B8H RTM_Abort (33) is 1, HLE_Abort (32) 0, and there are
 *        cycles. Where nothing else aborts, Instruction_Abort (34) is 1, the bits of other causes
 *        are 0, and EventingIP is the XABORT or PAUSE. Where every requirement is judged, EAX
 *        reports the abort, and RSP, RDI, RCX, CF, ZF and SF have their values from XBEGIN: the
 *        manual calls none of them valid in such a record (TSX-04)
 * Control: EAX shows each abort to software
 */
TEST(tsx, rtm_abort_record_has_the_registers_of_xbegin_at_each_level,
     REQS(TSX_01, TSX_03, TSX_05, TSX_09, TSX_10, REC_04, REC_11),
     NEEDS(need_perfmon, need_pebs, need_rtm))
{
	static const struct transaction *const pieces[] = { &transaction_xabort,
							    &transaction_pause };

	for (unsigned i = 0; i < 2 * 4; i++) {
		const unsigned c = i / 2, cpl = i % 2 ? CPL_3 : 0;
		struct user_run run = { .piece = pieces[(c + cpl) % 2] };
		const char *name = run.piece->name;
		struct pebs_record r;

		if (!record_at(t, AT(TSX_01), c, cpl, &run, &r))
			return;
		CHECK_EQ(t, TSX_05, (u64)(uintptr_t)run.piece->fallback,
			 sampling_field(&r, RECORD_rip), "R/EIP: the fallback of %s at CPL %u",
			 name, cpl);
		check_told(t, cpl, &run, &r);
		if (!test_is_strict(t))
			continue;
		CHECK_EQ(t, REC_04, run.status, sampling_field(&r, RECORD_rax),
			 "RAX after %s at CPL %u", name, cpl);
		CHECK_EQ(t, REC_04, run.rsp, sampling_field(&r, RECORD_rsp),
			 "RSP, as before %s at CPL %u", name, cpl);
		CHECK_EQ(t, REC_04, (u64)(uintptr_t)transaction_words(),
			 sampling_field(&r, RECORD_rdi), "RDI, as before %s at CPL %u", name, cpl);
		CHECK_EQ(t, REC_04, FEW, sampling_field(&r, RECORD_rcx),
			 "RCX, as before %s at CPL %u", name, cpl);
		CHECK_EQ(t, REC_11, BELOW_0, sampling_field(&r, RECORD_rflags) & RFLAGS_OF_SUB,
			 "CF, ZF and SF, as before %s at CPL %u", name, cpl);
	}
}
