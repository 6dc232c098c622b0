/* SPDX-License-Identifier: MIT */
/*
 * Both logical processors of a core have an event at once: SDM "Performance Monitoring Events" of
 * Hyper-Threading, Tables 18-66 and 19-34. The work is at CPL 3 and only USR flags are set, so that
 * the harness' own code isn't counted.
 */
#include "kernel/machine/smp.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/netburst.h"

#define BRANCHES_ALL	(NB_BRANCH_RETIRED_MMNP | NB_BRANCH_RETIRED_MMNM | \
			 NB_BRANCH_RETIRED_MMTP | NB_BRANCH_RETIRED_MMTM)
#define OTHER_MORE	(NETBURST_MORE + 40u)	/* differs from the first thread's number */

static struct {
	struct smp_barrier begin, over;
	struct netburst_setting s;
	const struct workload *w;
	u64 n[2];
	u64 value;
} window;

static void work(void *arg)
{
	unsigned thread = netburst_thread();

	(void)arg;
	if (thread == 0) {
		netburst_program(&window.s);
		netburst_write(window.s.counter, 0);
		netburst_beside(&window.s, true);
		netburst_start(window.s.counter);
	}
	smp_barrier_wait(&window.begin);
	workload_run_user(window.w, window.n[thread]);
	smp_barrier_wait(&window.over);
	if (thread)
		return;
	netburst_stop(window.s.counter);
	netburst_beside(&window.s, false);
	window.value = netburst_read(window.s.counter);
}

/* Count one window with so many rounds on each thread. false: the test has ended. */
static bool count_both(struct test *t, const struct netburst_setting *s, const struct workload *w,
		       u64 n0, u64 n1, u64 *value)
{
	static void (*const fns[2])(void *arg) = { work, work };
	static void *const args[2];

	window.begin = window.over = (struct smp_barrier){ .count = 2 };
	window.s = *s;
	window.w = w;
	window.n[0] = n0;
	window.n[1] = n1;
	if (!netburst_run_both(t, fns, args))
		return false;
	*value = window.value;
	return true;
}

/* How much more is counted if T0 does more work, and if T1 does; the other one works too. */
struct growth {
	u64 of[2];
};

static bool measure(struct test *t, const struct netburst_setting *s, const struct workload *w,
		    struct growth *growth)
{
	u64 least, value[2];

	if (!count_both(t, s, w, NETBURST_FEWER, NETBURST_FEWER, &least) ||
	    !count_both(t, s, w, NETBURST_MORE, NETBURST_FEWER, &value[0]) ||
	    !count_both(t, s, w, NETBURST_FEWER, OTHER_MORE, &value[1]))
		return false;
	for (unsigned thread = 0; thread < 2; thread++)
		growth->of[thread] = value[thread] - least;
	return true;
}

static u64 declared(unsigned thread, const struct workload *w, enum workload_count what)
{
	return workload_declared(w, what, thread ? OTHER_MORE : NETBURST_MORE) -
	       workload_declared(w, what, NETBURST_FEWER);
}

static u64 usr(unsigned thread)
{
	return thread ? NB_ESCR_T1_USR : NB_ESCR_T0_USR;
}

/*
 * NB-07  Each setting of the four OS and USR flags of an ESCR must count what Table 18-66 says (T0
 *        = 01, T1 = 10: T0 in USR or T1 in OS, because the T1 flags have no effect on T0).
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 *
 * Given  instr_retired on each counter of the IQ group with the USR flags of both threads
 * When   both threads run a workload at CPL 3 at once, in one window 20 rounds each, in another
 *        one 60 and 100
 * Then   the two windows differ by the instructions of 40 rounds of T0 and 80 of T1
 */
TEST(netburst, instructions_of_both_threads_at_once_all_count, REQS(NB_07),
     NEEDS(need_netburst, need_sibling_thread))
{
	const struct workload *w = &workload_load;
	u64 few, many,
		want = declared(0, w, WORKLOAD_INSTRUCTIONS) +
		       declared(1, w, WORKLOAD_INSTRUCTIONS);

	for (unsigned counter = NB_IQ_COUNTER0; counter < NB_COUNTERS; counter++) {
		struct netburst_setting s = netburst_instructions(counter, usr(0) | usr(1), 0);

		if (!count_both(t, &s, w, NETBURST_FEWER, NETBURST_FEWER, &few) ||
		    !count_both(t, &s, w, NETBURST_MORE, OTHER_MORE, &many))
			return;
		CHECK_EQ(t, NB_07, want, many - few,
			 "instructions of both at CPL 3, 40 more "
			 "rounds of T0 and 80 of T1 at once, counter %u",
			 counter);
	}
}

/* Thread-specific events of Table 19-34. what: the workload's number of the event; COUNTS: it isn't
 * fixed. */
struct specific {
	enum netburst_event event;
	u32 mask;
	const struct workload *w;
	enum workload_count what;
	const char *name;
};

static const struct specific specific[] = {
	{ NB_EVENT_INSTR_RETIRED, NB_INSTR_RETIRED_NBOGUSNTAG | NB_INSTR_RETIRED_NBOGUSTAG,
	  &workload_branch, WORKLOAD_INSTRUCTIONS, "instr_retired" },
	{ NB_EVENT_INSTR_COMPLETED, NB_INSTR_COMPLETED_NBOGUS, &workload_load,
	  WORKLOAD_INSTRUCTIONS, "instr_completed" },
	{ NB_EVENT_BRANCH_RETIRED, BRANCHES_ALL, &workload_branch, WORKLOAD_BRANCHES,
	  "branch_retired" },
	{ NB_EVENT_RETIRED_BRANCH_TYPE, NB_RETIRED_BRANCH_TYPE_CONDITIONAL, &workload_branch,
	  WORKLOAD_CONDITIONAL, "retired_branch_type" },
	{ NB_EVENT_LOAD_PORT_REPLAY, NB_LOAD_PORT_REPLAY_SPLIT_LD, &workload_split, WORKLOAD_COUNTS,
	  "load_port_replay" },
	{ NB_EVENT_STORE_PORT_REPLAY, NB_STORE_PORT_REPLAY_SPLIT_ST, &workload_split,
	  WORKLOAD_COUNTS, "store_port_replay" },
	{ NB_EVENT_UOPS_RETIRED, NB_UOPS_RETIRED_NBOGUS, &workload_load, WORKLOAD_COUNTS,
	  "uops_retired" },
};

/* The first counter that can count this event. */
static unsigned counter_of(enum netburst_event event)
{
	unsigned c = 0;

	while (c < NB_COUNTERS && !netburst_escr_msr(c, event))
		c++;
	return c;
}

static void check_specific(struct test *t, const struct specific *e)
{
	struct netburst_setting s = { .event = e->event, .mask = e->mask,
				      .counter = counter_of(e->event) };
	struct growth growth;

	for (unsigned counted = 0; counted < 2; counted++) {
		s.levels = usr(counted);
		if (!measure(t, &s, e->w, &growth))
			return;
		if (e->what == WORKLOAD_COUNTS)
			CHECK_RANGE(t, NB_01, 1, ~0ULL, growth.of[counted],
				    "%s of T%u at CPL 3, with its USR flag", e->name, counted);
		else
			CHECK_EQ(t, NB_01, declared(counted, e->w, e->what), growth.of[counted],
				 "%s of T%u at CPL 3, with its USR flag, while both have it",
				 e->name, counted);
		CHECK_EQ(t, NB_26, 0, growth.of[!counted],
			 "%s of T%u at CPL 3, with the USR flag of T%u alone", e->name, !counted,
			 counted);
	}
}

/*
 * NB-01  A thread-specific at-retirement event must be counted only on a logical processor whose
 *        OS or USR flag in the ESCR matches its CPL.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 * NB-26  The flags of one logical processor in an ESCR must have no effect on what a
 *        thread-specific event counts of the other.
 *        SDM 18.16.4 Performance Monitoring Events
 *
 * Given  seven thread-specific events of Table 19-34, with the USR flag of one thread alone
 * When   both threads have the event at CPL 3 at once; one window has more of it by T0, another
 *        window more by T1
 * Then   the additional events of the flag's thread are counted exactly (micro-operations and
 *        replays: at least one); those of the other thread aren't counted
 */
TEST(netburst, thread_specific_event_counts_one_of_two_busy_threads, REQS(NB_01, NB_26),
     NEEDS(need_netburst, need_sibling_thread))
{
	for (unsigned i = 0; i < sizeof(specific) / sizeof(specific[0]); i++)
		check_specific(t, &specific[i]);
}

/*
 * NB-01  A thread-specific at-retirement event must be counted only on a logical processor whose
 *        OS or USR flag in the ESCR matches its CPL.
 *        SDM 18.16.4 Performance Monitoring Events, Table 18-66
 * NB-26  The flags of one logical processor in an ESCR must have no effect on what a
 *        thread-specific event counts of the other.
 *        SDM 18.16.4 Performance Monitoring Events
 *
 * Given  tagged loads, tagged stores and tagged packed additions, and replays of loads and
 *        stores across a line's end and of loads that wait for a store, on an IQ counter, with
 *        the USR flag of one thread alone
 * When   both threads have them at CPL 3 at once; one window has more of them by T0, another window
 *        more by T1
 * Then   the additional events of the flag's thread are counted exactly (replays: and up to a
 *        quarter more); those of the other thread aren't counted
 */
TEST(netburst, tagged_event_counts_one_of_two_busy_threads, REQS(NB_01, NB_26),
     NEEDS(need_netburst, need_sibling_thread))
{
	static const struct {
		enum netburst_metric metric;
		const struct workload *w;
		enum workload_count what;
		const char *name;
		bool nearly;	/* other accesses may have a few */
	} metrics[] = {
		{ NB_METRIC_MEMORY_LOADS, &workload_load, WORKLOAD_LOADS, "memory_loads",
		  false },
		{ NB_METRIC_MEMORY_STORES, &workload_store, WORKLOAD_STORES, "memory_stores",
		  false },
		{ NB_METRIC_PACKED_SP_RETIRED, &workload_packed, WORKLOAD_BRANCHES,
		  "packed_SP_retired", false },
		{ NB_METRIC_SPLIT_LOAD_RETIRED, &workload_split, WORKLOAD_LOADS,
		  "split_load_retired", true },
		{ NB_METRIC_SPLIT_STORE_RETIRED, &workload_split, WORKLOAD_STORES,
		  "split_store_retired", true },
		{ NB_METRIC_MOB_LOAD_REPLAY_RETIRED, &workload_partial, WORKLOAD_LOADS,
		  "MOB_load_replay_retired", true },
	};
	struct growth growth;

	for (unsigned i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		for (unsigned counted = 0; counted < 2; counted++) {
			struct netburst_setting s = netburst_metric(metrics[i].metric,
								    NB_IQ_COUNTER1, usr(counted),
								    0);
			const u64 want = declared(counted, metrics[i].w, metrics[i].what);

			if (!measure(t, &s, metrics[i].w, &growth))
				return;
			CHECK_RANGE(t, NB_01, want, want + (metrics[i].nearly ? want / 4 : 0),
				    growth.of[counted], "%s of T%u at CPL 3, with its USR flag",
				    metrics[i].name, counted);
			CHECK_EQ(t, NB_26, 0, growth.of[!counted],
				 "%s of T%u at CPL 3, with the USR flag of T%u alone",
				 metrics[i].name, !counted, counted);
		}
}
