/* SPDX-License-Identifier: MIT */
/*
 * The logical processor whose events count: SDM "Performance Monitoring Events" of Hyper-Threading,
 * Tables 18-66 and 18-67, typed from the page. Every count must be known with each setting. So a
 * thread is measured either while the other one sleeps in HLT (retired instructions), or while both
 * are busy and only one of them has the event (packed additions).
 */
#include "kernel/output/fmt.h"
#include "kernel/processor/cpuid.h"
#include "kernel/processor/time.h"
#include "pmu/counter.h"
#include "pmu/netburst/caps.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

/* The modes in which a cell of a table counts. */
#define T0_OS	1u
#define T0_USR	2u
#define T1_OS	4u
#define T1_USR	8u
#define ALWAYS	(T0_OS | T0_USR | T1_OS | T1_USR)

#define CELLS	16
#define NAME	64
#define LEVELS	4u	/* CPL 0 or 3, on either thread */
#define ROW(cell) ((cell) / 4)	/* T0_OS/T0_USR: 00, 01, 11, 10, the order of the page */
#define COLUMN(cell) ((cell) % 4)

/* Table 18-66. The cell of row 01, column 10 is printed as "(a) T0 in OS or (b) T1 in OS". */
#define ERRATUM_CELL	(4 * 1 + 3)
#define ERRATUM_PRINTED	(T0_OS | T1_OS)
static const u8 table_18_66[CELLS] = {
	/* T0 = 00 */	0, T1_USR, T1_OS | T1_USR, T1_OS,
	/* T0 = 01 */	T0_USR, T0_USR | T1_USR, T0_USR | T1_OS | T1_USR, T0_USR | T1_OS,
	/* T0 = 11 */	T0_OS | T0_USR, T0_OS | T0_USR | T1_USR, ALWAYS, T0_OS | T0_USR | T1_OS,
	/* T0 = 10 */	T0_OS, T0_OS | T1_USR, T0_OS | T1_OS | T1_USR, T0_OS | T1_OS,
};

/* Table 18-67, thread-independent events. The row of T0 = 10 is labelled "0" there. */
#define ANY_OS	(T0_OS | T1_OS)
#define ANY_USR	(T0_USR | T1_USR)
static const u8 table_18_67[CELLS] = {
	/* T0 = 00 */	0, ANY_USR, ALWAYS, ANY_OS,
	/* T0 = 01 */	ANY_USR, ANY_USR, ALWAYS, ALWAYS,
	/* T0 = 11 */	ALWAYS, ALWAYS, ALWAYS, ALWAYS,
	/* T0 = 10 */	ANY_OS, ALWAYS, ALWAYS, ANY_OS,
};

/* The OS and USR flags of a row or column. */
static u64 flags_of(unsigned place, u64 os, u64 usr)
{
	static const struct {
		bool os, usr;
	} flags[4] = {
		{ false, false },
		{ false, true },
		{ true, true },
		{ true, false },
	};

	return (flags[place].os ? os : 0) | (flags[place].usr ? usr : 0);
}

/* ESCR[3:0] for a cell. */
static u64 setting(unsigned cell)
{
	return flags_of(ROW(cell), NB_ESCR_T0_OS, NB_ESCR_T0_USR) |
	       flags_of(COLUMN(cell), NB_ESCR_T1_OS, NB_ESCR_T1_USR);
}

static const char *const names[4] = { "00", "01", "11", "10" };

static u8 situation(unsigned thread, bool user)
{
	u8 own = user ? T0_USR : T0_OS;

	return (u8)(thread ? own << 2 : own);
}

/* The counts with all sixteen settings, of one thread at one level. */
struct all_cells {
	const struct workload *w;
	struct netburst_setting s;
	bool user, metric;
	bool busy;		/* the other thread is busy, without the event */
	u64 gain[CELLS];
};

static void count_all_cells(void *arg)
{
	struct all_cells *all = arg;

	for (unsigned cell = 0; cell < CELLS; cell++) {
		if (all->metric)
			all->s = netburst_metric(NB_METRIC_PACKED_SP_RETIRED, all->s.counter,
						 setting(cell), 0);
		all->s.levels = setting(cell);
		all->gain[cell] = all->busy ? netburst_gain_once(&all->s, all->w, all->user) :
					      netburst_gain(&all->s, all->w, all->user);
	}
}

static bool measure(struct test *t, struct all_cells *all, unsigned thread,
		    enum netburst_other other)
{
	all->busy = other != NETBURST_ASLEEP;
	return netburst_run(t, thread, other, count_all_cells, all);
}

/* The claims of a table's cells: two corners; cells with flags of only one thread; all others. */
struct claims {
	struct test_claim corner, one, both;
};

static const struct test_claim *claim_of(const struct claims *claims, unsigned cell)
{
	if (ROW(cell) == COLUMN(cell) && !(cell & 1))
		return &claims->corner;
	return ROW(cell) && COLUMN(cell) ? &claims->both : &claims->one;
}

/* A cell where the printed text contradicts the rule that the page's text and all other cells
 * follow. It isn't judged; report_erratum() prints its counts. */
static bool is_contradicted(unsigned cell, unsigned now)
{
	return cell == ERRATUM_CELL &&
	       !(ERRATUM_PRINTED & now) != !(table_18_66[ERRATUM_CELL] & now);
}

/* The difference between the longer and the shorter window. */
struct counted {
	u64 least, most;
};

static struct counted exactly(const struct workload *w, enum workload_count what)
{
	const u64 n = netburst_declared(w, what);

	return (struct counted){ n, n };
}

static void check_cells(struct test *t, const struct claims *claims, const u8 table[CELLS],
			const struct all_cells *all, unsigned now, const struct counted *of,
			const char *what)
{
	for (unsigned cell = 0; cell < CELLS; cell++)
		if (table != table_18_66 || !is_contradicted(cell, now))
			test_check_range(t, *claim_of(claims, cell),
					 table[cell] & now ? of->least : 0,
					 table[cell] & now ? of->most : 0, all->gain[cell],
					 "%s, T0_OS/T0_USR = %s, T1_OS/T1_USR = %s", what,
					 names[ROW(cell)], names[COLUMN(cell)]);
}

/* Print the printed cell's meaning, and the counts. */
static void report_erratum(struct test *t, const struct all_cells *all, unsigned now,
			   const char *what)
{
	bool printed = ERRATUM_PRINTED & now, ruled = table_18_66[ERRATUM_CELL] & now;
	bool counted = all->gain[ERRATUM_CELL];

	if (printed != ruled)
		test_note(t,
			  "manual erratum, Table 18-66, T0 = 01, T1 = 10: %s it is printed to "
			  "%s, by the text it must %s, it %s",
			  what, printed ? "count" : "be zero", ruled ? "count" : "be zero",
			  counted ? "counts" : "is zero");
}

static void check_table_18_66(struct test *t, unsigned thread, bool user)
{
	static const char *const what[2][2] = { { "T0 in OS", "T0 in USR" },
						{ "T1 in OS", "T1 in USR" } };
	const struct claims claims = { AT(NB_27), AT(NB_01), AT(NB_07) };
	static const struct {
		unsigned counter;
		enum workload_count what;
		const char *name;
	} of[] = {
		{ NB_IQ_COUNTER0, WORKLOAD_INSTRUCTIONS, "instructions" },
		{ NB_MS_COUNTER0, WORKLOAD_CONDITIONAL, "branches on MSR_MS_COUNTER0" },
		{ NB_MS_COUNTER2, WORKLOAD_CONDITIONAL, "branches on MSR_MS_COUNTER2" },
	};
	static struct all_cells all;
	struct counted counted;
	u8 now = situation(thread, user);
	char name[NAME];

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		all = (struct all_cells){ .w = &workload_load, .user = user,
					  .s = netburst_usual(of[i].counter, 0, 0) };
		if (!measure(t, &all, thread, NETBURST_ASLEEP))
			return;
		fmt_print(name, sizeof(name), "%s, %s", what[thread][user], of[i].name);
		counted = exactly(&workload_load, of[i].what);
		check_cells(t, &claims, table_18_66, &all, now, &counted, name);
		if (!i)
			report_erratum(t, &all, now, what[thread][user]);
	}
}

/*
 * NB-07  Each setting of the four OS and USR flags of an ESCR must count what Table 18-66 says (T0
 *        = 01, T1 = 10: T0 in USR or T1 in OS, because the T1 flags have no effect on T0).
 * NB-01  A thread-specific at-retirement event must be counted only on a logical processor whose
 *        OS or USR flag in the ESCR matches its CPL.
 * NB-27  All four OS and USR flags clear must give a zero count, and all four set must count
 *        irrespective of CPL and logical processor.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 *
 * Given  all sixteen settings of the four OS and USR flags for instr_retired, and for
 *        retired_branch_type on either half of the MS group, the other thread in HLT
 * When   this thread runs a workload at CPL 0, and at CPL 3
 * Then   each cell of Table 18-66 counts all of them or none, as it is printed; the cell of
 *        T0 = 01 and T1 = 10, in which the print and the page's text differ, is only reported
 */
TEST(netburst, table_18_66_holds_on_this_thread, REQS(NB_07, NB_01, NB_27),
     NEEDS(need_netburst_threads))
{
	check_table_18_66(t, netburst_thread(), false);
	check_table_18_66(t, netburst_thread(), true);
}

/*
 * NB-07  Each setting of the four OS and USR flags of an ESCR must count what Table 18-66 says (T0
 *        = 01, T1 = 10: T0 in USR or T1 in OS, because the T1 flags have no effect on T0).
 * NB-01  A thread-specific at-retirement event must be counted only on a logical processor whose
 *        OS or USR flag in the ESCR matches its CPL.
 * NB-27  All four OS and USR flags clear must give a zero count, and all four set must count
 *        irrespective of CPL and logical processor.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 *
 * Given  all sixteen settings of the four OS and USR flags for instr_retired, and for
 *        retired_branch_type on either half of the MS group, this thread in HLT
 * When   the other thread runs a workload at CPL 0, and at CPL 3
 * Then   each cell of Table 18-66 counts all of them or none, as it is printed; the cell of
 *        T0 = 01 and T1 = 10, in which the print and the page's text differ, is only reported
 */
TEST(netburst, table_18_66_holds_on_the_other_thread, REQS(NB_07, NB_01, NB_27),
     NEEDS(need_netburst, need_sibling_thread))
{
	check_table_18_66(t, !netburst_thread(), false);
	check_table_18_66(t, !netburst_thread(), true);
}

/* What the two threads do: indexed by the thread with the event, its level, and the other thread's
 * level. */
static const char *const busy[2][2][2] = {
	{ { "by T0 in OS, T1 in OS", "by T0 in OS, T1 in USR" },
	  { "by T0 in USR, T1 in OS", "by T0 in USR, T1 in USR" } },
	{ { "by T1 in OS, T0 in OS", "by T1 in OS, T0 in USR" },
	  { "by T1 in USR, T0 in OS", "by T1 in USR, T0 in USR" } },
};

/* Check tagged micro-operations while the other thread is busy at either level: its flags and its
 * work must change nothing. */
static void check_beside_a_busy_one(struct test *t, unsigned thread)
{
	const struct claims claims = { AT(NB_27), AT(NB_01), AT(NB_26) };
	const struct counted additions = exactly(&workload_packed, WORKLOAD_BRANCHES);
	static struct all_cells all;

	for (unsigned i = 0; i < LEVELS; i++) {
		bool user = i & 2, other = i & 1;

		all = (struct all_cells){ .w = &workload_packed, .user = user, .metric = true,
					  .s = { .counter = NB_IQ_COUNTER4 } };
		if (!measure(t, &all, thread, other ? NETBURST_IN_USR : NETBURST_IN_OS))
			return;
		check_cells(t, &claims, table_18_66, &all, situation(thread, user), &additions,
			    busy[thread][user][other]);
	}
}

/*
 * NB-26  The flags of one logical processor in an ESCR must have no effect on what a
 *        thread-specific event counts of the other.
 *        SDM 18.16.4 Performance Monitoring Events
 * NB-01  A thread-specific at-retirement event must be counted only on a logical processor whose
 *        OS or USR flag in the ESCR matches its CPL.
 * NB-27  All four OS and USR flags clear must give a zero count, and all four set must count
 *        irrespective of CPL and logical processor.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 *
 * Given  all sixteen settings of the four OS and USR flags for tagged packed additions of this
 *        thread; the other one, busy at CPL 0 or 3, has none
 * When   this thread runs a workload at CPL 0, and at CPL 3
 * Then   each cell of Table 18-66 counts all additions or none: the other thread's work changes
 *        nothing
 */
TEST(netburst, thread_specific_count_is_the_same_beside_a_busy_thread, REQS(NB_26, NB_01, NB_27),
     NEEDS(need_netburst, need_sibling_thread))
{
	check_beside_a_busy_one(t, netburst_thread());
}

/*
 * NB-26  The flags of one logical processor in an ESCR must have no effect on what a
 *        thread-specific event counts of the other.
 *        SDM 18.16.4 Performance Monitoring Events
 * NB-01  A thread-specific at-retirement event must be counted only on a logical processor whose
 *        OS or USR flag in the ESCR matches its CPL.
 * NB-27  All four OS and USR flags clear must give a zero count, and all four set must count
 *        irrespective of CPL and logical processor.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 *
 * Given  all sixteen settings of the four OS and USR flags for tagged packed additions of the
 *        other thread; this one, busy at CPL 0 or 3, has none
 * When   the other thread runs a workload at CPL 0, and at CPL 3
 * Then   each cell of Table 18-66 counts all additions or none: this thread's work changes nothing
 */
TEST(netburst, thread_specific_count_of_the_other_is_the_same_beside_this,
     REQS(NB_26, NB_01, NB_27), NEEDS(need_netburst, need_sibling_thread))
{
	check_beside_a_busy_one(t, !netburst_thread());
}

/* Packed additions and page walks of one thread, while both threads are in a known mode. The event
 * is thread-independent, so the thread doesn't matter. A walk may be retried; the INVLPG before it
 * needs CPL 0. */
static void check_table_18_67(struct test *t, struct test_claim claim, unsigned thread)
{
	const struct claims claims = { claim, claim, claim };
	const struct {
		const struct workload *w;
		struct netburst_setting s;
		struct counted counted;
		const char *name;
	} of[] = {
		{ &workload_packed,
		  netburst_usual(thread ? NB_FLAME_COUNTER2 : NB_FLAME_COUNTER0, 0, 0),
		  exactly(&workload_packed, WORKLOAD_BRANCHES), "additions" },
		{ &workload_fresh_page,
		  { .counter = thread ? NB_BPU_COUNTER2 : NB_BPU_COUNTER0,
		    .event = NB_EVENT_PAGE_WALK_TYPE, .mask = NB_PAGE_WALK_TYPE_DTMISS },
		  { (NETBURST_MORE - NETBURST_FEWER) / 2, ~0ULL }, "walks" },
	};
	static struct all_cells all;
	char name[NAME];

	for (unsigned i = 0; i < LEVELS + LEVELS / 2; i++) {
		bool user = i & 2, other = i & 1;
		u8 now = (u8)(situation(thread, user) | situation(!thread, other));
		unsigned k = i / LEVELS;

		all = (struct all_cells){ .w = of[k].w, .user = user, .s = of[k].s };
		if (!measure(t, &all, thread, other ? NETBURST_IN_USR : NETBURST_IN_OS))
			return;
		fmt_print(name, sizeof(name), "%s %s", of[k].name, busy[thread][user][other]);
		check_cells(t, &claims, table_18_67, &all, now, &of[k].counted, name);
	}
}

/*
 * NB-15  A thread-independent event must be qualified by Table 18-67 and not by the thread that
 *        caused it.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-67
 *
 * Given  all sixteen settings of the four OS and USR flags for packed additions and page walks,
 *        thread-independent events, of this thread; the other one is busy
 * When   the two threads are at each pair of CPL 0 and 3
 * Then   each cell of Table 18-67 counts all of them or none, for each pair of levels of the two
 *        threads; walks, which only a thread at CPL 0 has, may be more, or half as many
 */
TEST(netburst, table_18_67_holds_for_an_event_of_this_thread, REQS(NB_15),
     NEEDS(need_netburst, need_sibling_thread))
{
	check_table_18_67(t, AT(NB_15), netburst_thread());
}

/*
 * NB-28  A thread-independent event must be counted whichever logical processor caused it.
 *        SDM 18.16.4 Performance Monitoring Events
 *
 * Given  all sixteen settings of the four OS and USR flags for packed additions and page walks,
 *        thread-independent events, of the other thread; this one is busy
 * When   the two threads are at each pair of CPL 0 and 3
 * Then   each cell of Table 18-67 counts all of them or none, for each pair of levels of the two
 *        threads; walks, which only a thread at CPL 0 has, may be more, or half as many
 */
TEST(netburst, table_18_67_holds_for_an_event_of_the_other_thread, REQS(NB_28),
     NEEDS(need_netburst, need_sibling_thread))
{
	check_table_18_67(t, AT(NB_28), !netburst_thread());
}

/* Packed additions of this thread at CPL 1 and 2, with both OS flags and with both USR flags. */
struct between {
	u64 gain[2][2];
};

static void count_between(void *arg)
{
	struct between *b = arg;

	for (unsigned cpl = 1; cpl <= 2; cpl++)
		for (unsigned usr = 0; usr < 2; usr++) {
			const struct netburst_setting
				s = netburst_usual(NB_FLAME_COUNTER0,
						   usr ? NB_ESCR_T0_USR | NB_ESCR_T1_USR :
							 NB_ESCR_T0_OS | NB_ESCR_T1_OS,
						   0);
			u64 fewer = netburst_count_at(cpl, &s, &workload_packed, NETBURST_FEWER);

			b->gain[cpl - 1][usr] = netburst_count_at(cpl, &s, &workload_packed,
								  NETBURST_MORE) -
						fewer;
		}
}

/*
 * NB-15  A thread-independent event must be qualified by Table 18-67 and not by the thread that
 *        caused it.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-67
 *
 * Given  packed additions, a thread-independent event, of this thread at CPL 1 and 2, with the OS
 *        flags of both threads or the USR flags of both; the other one is busy at CPL 0 or 3
 * When   40 more rounds of them run
 * Then   with the USR flags all are counted, for "USR" is CPL 1, 2 and 3; with the OS flags all if
 *        the other thread is at CPL 0, and none if it is at CPL 3
 */
TEST(netburst, thread_independent_event_takes_cpl_1_and_2_as_usr, REQS(NB_15),
     NEEDS(need_netburst, need_sibling_thread))
{
	const u64 all = netburst_declared(&workload_packed, WORKLOAD_BRANCHES);
	static struct between between;

	for (unsigned other = 0; other < 2; other++) {
		if (!netburst_run(t, netburst_thread(), other ? NETBURST_IN_USR : NETBURST_IN_OS,
				  count_between, &between))
			return;
		for (unsigned i = 0; i < 4; i++)
			CHECK_EQ(t, NB_15, i & 1 || !other ? all : 0, between.gain[i / 2][i & 1],
				 "additions at CPL %u, %s flags, the other thread at CPL %u",
				 i / 2 + 1, i & 1 ? "USR" : "OS", other ? 3 : 0);
	}
}

/* On each thread the flags of the thread that bit 0 of its initial APIC ID names must count it, and
 * the other thread's flags must not. */
struct own_flags {
	u32 apic_id;
	u64 own, others;
};

static void count_by_apic_id(void *arg)
{
	struct own_flags *seen = arg;
	struct netburst_setting s = netburst_instructions(NB_IQ_COUNTER2, 0, 0);

	seen->apic_id = cpuid_get(CPUID_INITIAL_APIC_ID);
	s.levels = seen->apic_id & 1 ? NETBURST_T1 : NETBURST_T0;
	seen->own = netburst_gain(&s, &workload_load, false);
	s.levels = seen->apic_id & 1 ? NETBURST_T0 : NETBURST_T1;
	seen->others = netburst_gain(&s, &workload_load, false);
}

static void check_own_flags(struct test *t, unsigned thread)
{
	static struct own_flags seen;

	seen = (struct own_flags){ .apic_id = 0 };
	if (!netburst_run(t, thread, NETBURST_ASLEEP, count_by_apic_id, &seen))
		return;
	CHECK_EQ(t, NB_25, netburst_declared(&workload_load, WORKLOAD_INSTRUCTIONS), seen.own,
		 "initial APIC ID %#x, flags of T%u", seen.apic_id, seen.apic_id & 1);
	CHECK_EQ(t, NB_25, 0, seen.others, "initial APIC ID %#x, flags of T%u", seen.apic_id,
		 !(seen.apic_id & 1));
}

/*
 * NB-25  The logical processor ID that qualifies events must be bit 0 of the initial APIC ID.
 *        SDM 18.16.4 Performance Monitoring Events
 *
 * Given  instr_retired with the flags of the thread that bit 0 of this one's initial APIC ID
 *        names, and with those of the other
 * When   this thread runs a workload, the other one in HLT
 * Then   its own flags count all instructions, the other one's none
 */
TEST(netburst, bit_0_of_the_apic_id_names_this_thread, REQS(NB_25), NEEDS(need_netburst_threads),
     .under_every_fault = true)
{
	check_own_flags(t, netburst_thread());
}

/*
 * NB-25  The logical processor ID that qualifies events must be bit 0 of the initial APIC ID.
 *        SDM 18.16.4 Performance Monitoring Events
 *
 * Given  instr_retired with the flags of the thread that bit 0 of the other one's initial APIC ID
 *        names, and with those of this one
 * When   the other thread runs a workload, this one in HLT
 * Then   its own flags count all instructions, the other one's none
 */
TEST(netburst, bit_0_of_the_apic_id_names_the_other_thread, REQS(NB_25),
     NEEDS(need_netburst, need_sibling_thread))
{
	check_own_flags(t, !netburst_thread());
}

#define WINDOWS	3u
#define LONG_US	20000	/* long enough for the other thread to run, if it isn't in HLT */

/* Clocks of this thread with its own flags; and the least and most of several windows with the
 * other thread's flags, because the other thread may fall asleep late. */
struct clocks {
	u64 own, least, most;
};

static void count_clocks(void *arg)
{
	struct clocks *seen = arg;
	unsigned thread = netburst_thread();
	struct netburst_setting s = netburst_usual(NB_BPU_COUNTER0, netburst_both(thread), 0);

	*seen = (struct clocks){ .own = netburst_gain(&s, &workload_load, false), .least = ~0ULL };
	if (!netburst_caps()->threads)
		return;
	s.levels = netburst_both(!thread);
	for (unsigned i = 0; i < WINDOWS; i++) {
		u64 others;

		netburst_program(&s);
		netburst_write(s.counter, 0);
		netburst_start(s.counter);
		time_stall(LONG_US);
		netburst_stop(s.counter);
		others = netburst_read(s.counter);
		seen->least = others < seen->least ? others : seen->least;
		seen->most = others > seen->most ? others : seen->most;
	}
}

static struct clocks clocks;

/*
 * NB-46  Global_power_events must count the clocks of a logical processor that runs, and none
 *        while it is halted.
 *        SDM Table 19-28
 *
 * Given  global_power_events with bit RUNNING and the flags of this thread
 * When   40 more rounds of a workload run, of three instructions each
 * Then   there are at least as many more clocks as rounds: at most three micro-operations retire in
 *        a clock
 */
TEST(netburst, global_power_events_counts_clocks_of_a_running_thread, REQS(NB_46),
     NEEDS(need_netburst))
{
	count_clocks(&clocks);
	/* At most three micro-operations in a clock, and three instructions in a round. */
	CHECK(t, NB_46, clocks.own >= NETBURST_MORE - NETBURST_FEWER, "clocks of %u rounds: %lu",
	      NETBURST_MORE - NETBURST_FEWER, clocks.own);
}

/*
 * NB-46  Global_power_events must count the clocks of a logical processor that runs, and none
 *        while it is halted.
 *        SDM Table 19-28
 *
 * Given  global_power_events with bit RUNNING and the flags of the other thread, T0 and T1 in both
 *        roles
 * When   the other thread is in HLT for some windows of 20 ms. It may halt late, so the window with
 *        the least count decides
 * Then   there is no clock of it
 * Control: the thread that runs has clocks, and so has the other one when it is busy
 */
TEST(netburst, global_power_events_counts_no_clock_of_a_halted_thread, REQS(NB_46),
     NEEDS(need_netburst, need_sibling_thread))
{
	for (unsigned thread = 0; thread < 2; thread++) {
		if (!netburst_run(t, thread, NETBURST_ASLEEP, count_clocks, &clocks))
			return;
		CHECK_EQ(t, NB_46, 0, clocks.least, "clocks of T%u, which is in HLT", !thread);
		CONTROL(t, NB_46, clocks.own > 0, "clocks of T%u, which runs: %lu", thread,
			clocks.own);
		if (!netburst_run(t, thread, NETBURST_IN_OS, count_clocks, &clocks))
			return;
		CONTROL(t, NB_46, clocks.most > 0, "clocks of T%u, which is busy: %lu", !thread,
			clocks.most);
	}
}
