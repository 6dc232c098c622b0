/* SPDX-License-Identifier: MIT */
/*
 * AnyThread by class of event and by level: SDM "Architectural Performance Monitoring Version 3".
 * The numbers of events at CPL 3 are known, and the number of near calls at any level, of which the
 * harness makes only a few while it waits. The number of misses is known to within a half.
 */
#include "spec/event.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/cache_workload.h"
#include "tests/measure/sampling.h"
#include "tests/measure/mem_sample.h"
#include "tests/measure/two_cpus.h"

#define FEWER	40
#define MORE	140
#define CALLS	440
#define STRICT_CALLS 150
#define FEW	64		/* calls by the harness in addition to them */
#define ACCESSES_MADE 64u
#define DEMAND_READ	BIT(0)	/* MSR_OFFCORE_RSP_0: the request; below, every response */
#define ANY_RESPONSE	BIT(16)
#define NHM_RESPONSES	0xf700ULL

/* Errata about two threads concern events D0H to D3H. */
static bool counts_any(struct test *t, unsigned counter, u16 event, u64 level)
{
	const unsigned code = event & IA32_PERFEVTSEL_EVENT;

	return counters_for(event).bits & BIT(counter) &&
	       any_thread_counts_despite_errata(t, counter, level) &&
	       (code < 0xd0 || code > 0xd3 || !test_erratum(t, ERRATUM_MEMORY_THREADS));
}

/* ---- properties of an instruction ---- */

static u16 code_of(enum event_kind kind)
{
	struct event event = { .code = 0 };

	if (kind == EK_BRANCHES)
		return EVENT_BR_INST_RETIRED_ALL_BRANCHES;
	event_get(kind, 0, &event);
	return event.code;
}

/* Both count the same at the same time. `doing`: the side that does more than in `least`. */
static void check_growth(struct test *t, const struct two_cpus_window *least,
			 const struct two_cpus_window *window, u64 want, unsigned doing,
			 const char *name)
{
	for (unsigned side = 0; side < 2; side++)
		FOR_EACH_COUNTER (c, counters_gp().bits)
			if (counts_any(t, c, window->side[0].event, COUNT_USR))
				CHECK_EQ(t, MSR_27, want,
					 window->side[side].value[c] - least->side[side].value[c],
					 "IA32_PMC%u of thread %u, AnyThread = 1: %s of %u more "
					 "rounds at CPL 3 of thread %u",
					 c, side, name, MORE - FEWER, doing);
}

/*
 * MSR-27  With its AnyThread bit set a counter must count the events of all logical processors of
 *         its core.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3
 *
 * Given  both threads of a core do branches, loads, stores and locked ones at CPL 3
 * When   all general-purpose counters of both count one of these events with AnyThread = 1, and one
 *        of the threads does 100 more rounds
 * Then   each counter of either thread grows by the events of these rounds
 */
TEST(count, any_thread_counts_branches_and_accesses_of_both_threads, REQS(MSR_27),
     NEEDS(need_perfmon, need_branches, need_events, need_any_thread, need_sibling_thread))
{
	static const struct {
		enum event_kind kind;
		enum workload_count what;
		const char *name;
	} rows[] = {
		{ EK_BRANCHES, WORKLOAD_BRANCHES, "branches" },
		{ EK_LOADS, WORKLOAD_LOADS, "loads" },
		{ EK_STORES, WORKLOAD_STORES, "stores" },
		{ EK_LOCK_LOADS, WORKLOAD_LOCKS, "locked loads" },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const u16 event = code_of(rows[i].kind);
		const struct two_cpus_side both = {
			.event = event, .counters = counters_for(event),
			.flags = COUNT_USR | COUNT_ANY, .work = &workload_mixed, .n = FEWER,
		};
		const u64 want = workload_declared(&workload_mixed, rows[i].what, MORE) -
				 workload_declared(&workload_mixed, rows[i].what, FEWER);
		struct two_cpus_window least = { .side = { both, both } };

		if (!event)
			continue;
		if (!two_cpus_count(t, &least, smp_sibling()))
			return;
		for (unsigned doing = 0; doing < 2; doing++) {
			struct two_cpus_window window = { .side = { both, both } };

			window.side[doing].n = MORE;
			if (!two_cpus_count(t, &window, smp_sibling()))
				return;
			check_growth(t, &least, &window, want, doing, rows[i].name);
		}
	}
}

/* ---- only the other processor works ---- */

struct beside {
	struct two_cpus both;
	unsigned owner;			/* the side that counts, while it waits at CPL 0 */
	u16 event;
	u64 flags[WINDOW_COUNTERS];	/* of the owner's counters */
	u64 calls;
	unsigned cpl;			/* of the other one's calls */
	u64 off;			/* the owner's counters without their global enable */
	enum access access;		/* its accesses; ACCESSES: calls instead */
	bool ready;
	u64 value[WINDOW_COUNTERS];
};

static void work_beside(const struct beside *b, const struct cache_workload *h)
{
	if (b->access != ACCESSES)
		workload_run_user_at(h->workload, ACCESSES_MADE, &h->at);
	else if (b->cpl)
		workload_run_at_cpl(b->cpl, &workload_call, b->calls);
	else
		workload_run_uncounted(&workload_call, b->calls);
}

/* The owner counts while the other side works. Both have the same value in their registers, because
 * either processor's may take effect. */
static void count_beside(void *arg)
{
	struct beside *b = arg;
	const bool counts = two_cpus_side() == b->owner;
	const bool offcore = b->event == code_of(EK_OFFCORE_0);
	const bool later = counter_caps()->facilities & FAC_OFFCORE_SNB;
	struct cache_workload h;
	char reason[96];

	if (offcore)
		msr_write(MSR_OFFCORE_RSP_0, DEMAND_READ | (later ? ANY_RESPONSE : NHM_RESPONSES));
	if (!counts)
		b->ready = b->access == ACCESSES ||
			   cache_workload_get(b->access, &h, reason, sizeof(reason));
	FOR_EACH_COUNTER (c, counts ? counters_gp().bits : 0) {
		counter_program(c, b->event, b->flags[c]);
		counter_write(c, 0);
	}
	two_cpus_barrier(&b->both);	/* one side's start isn't counted by the other */
	if (counts)
		counters_enable((struct pmc_mask){ counters_gp().bits & ~b->off });
	two_cpus_barrier(&b->both);
	if (!counts && b->ready)
		work_beside(b, &h);
	two_cpus_barrier(&b->both);
	if (counts)
		counters_disable();
	FOR_EACH_COUNTER (c, counts ? counters_gp().bits : 0) {
		b->value[c] = counter_read(c);
		counter_program_disabled(c, 0, 0);
	}
	two_cpus_barrier(&b->both);
	if (offcore)
		msr_write(MSR_OFFCORE_RSP_0, 0);
}

/*
 * MSR-27  With its AnyThread bit set a counter must count the events of all logical processors of
 *         its core.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3
 *
 * Given  one thread of a core waits at CPL 0, the other one loads at CPL 3: a line that its L1 has,
 *        or one that was flushed
 * When   the counters of the first one count hits, misses of the L1 and the L3, last-level cache
 *        misses or off-core reads with AnyThread = 1 and USR
 * Then   each counts at least half of the loads
 */
TEST(count, any_thread_counts_what_the_loads_of_the_other_thread_meet, REQS(MSR_27),
     NEEDS(need_perfmon, need_events, need_any_thread, need_sibling_thread))
{
	static const struct {
		enum event_kind kind;
		enum access access;
		const char *name;
	} rows[] = {
		{ EK_L1_HIT, ACCESS_L1, "loads that hit the L1" },
		{ EK_L1_MISS, ACCESS_MEMORY, "loads that miss the L1" },
		{ EK_L3_MISS, ACCESS_MEMORY, "loads that miss the L3" },
		{ EK_LLC_MISSES, ACCESS_MEMORY, "last-level cache misses" },
		{ EK_OFFCORE_0, ACCESS_MEMORY, "off-core reads" },
	};

	for (unsigned i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct beside b = { .owner = i & 1,
				    .event = code_of(rows[i / 2].kind),
				    .cpl = 3,
				    .access = rows[i / 2].access };

		if (!b.event ||
		    (rows[i / 2].kind == EK_LLC_MISSES && test_erratum(t, ERRATUM_LAST_LEVEL)) ||
		    mem_sample_event_is_short(t, rows[i / 2].kind))
			continue;
		FOR_EACH_COUNTER (c, counters_gp().bits)
			b.flags[c] = COUNT_USR | COUNT_ANY;
		if (!two_cpus_run(t, &b.both, smp_sibling(), count_beside, &b))
			return;
		FOR_EACH_COUNTER (c, b.ready ? counters_gp().bits : 0)
			if (counts_any(t, c, b.event, COUNT_USR))
				CHECK_RANGE(t, MSR_27, ACCESSES_MADE / 2, ~0ULL, b.value[c],
					    "IA32_PMC%u of thread %u, AnyThread = 1: %s of %u at "
					    "CPL 3 of the other one",
					    c, b.owner, rows[i / 2].name, ACCESSES_MADE);
	}
}

/*
 * MSR-27  With its AnyThread bit set a counter must count the events of all logical processors of
 *         its core.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3
 * CNT-47  The USR and OS bits of a counter with AnyThread must go by the privilege level of the
 *         logical processor that has the event.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3; 18.2.1.1 (USR, OS)
 * CNT-11  A counter must count only while both its own enable and its bit of IA32_PERF_GLOBAL_CTRL
 *         are set.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  one thread of a core waits at CPL 0, the other one makes near calls, at CPL 0, 1, 2 or 3;
 *        the harness makes a few; where the calls are at CPL 1 or 2 the bit of one counter of
 *        IA32_PERF_GLOBAL_CTRL is 0
 * When   the counters of the first one count them with AnyThread = 1, and with OS, USR or both,
 *        each with each
 * Then   those with the bit of the level of the calls count them, and the others none but the
 *        handful of the harness at CPL 0; the one that isn't enabled counts none
 */
TEST(count, any_thread_counts_calls_of_the_other_thread_at_each_level,
     REQS(MSR_27, CNT_47, CNT_11),
     NEEDS(need_perfmon, need_events, need_any_thread, need_sibling_thread))
{
	static const u64 levels[] = { COUNT_BOTH, COUNT_OS, COUNT_USR };
	static const unsigned cpls[] = { 0, 3, 1, 2 };
	const u64 rounds = test_rounds(t, STRICT_CALLS, CALLS);
	const u64 calls = workload_declared(&workload_call, WORKLOAD_CALLS, rounds);

	for (unsigned turn = 0; turn < 24; turn++) {
		struct beside b = { .owner = turn & 1, .calls = rounds, .cpl = cpls[turn >> 1 & 3],
				    .access = ACCESSES, .event = code_of(EK_NEAR_CALLS) };

		if (b.cpl == 1 || b.cpl == 2)
			b.off = BIT((turn + turn / 8) % counters_gp_number());

		FOR_EACH_COUNTER (c, counters_gp().bits)
			b.flags[c] = levels[(c + turn / 8) % 3] | COUNT_ANY;
		if (!two_cpus_run(t, &b.both, smp_sibling(), count_beside, &b))
			return;
		FOR_EACH_COUNTER (c, counters_gp().bits) {
			const u64 level = b.flags[c] & COUNT_BOTH;
			const u64 want = level & (b.cpl ? COUNT_USR : COUNT_OS) ? calls : 0;
			const u64 most = want || level & COUNT_OS ? want + FEW : 0;

			if (b.off & BIT(c))
				CHECK_EQ(t, CNT_11, 0, b.value[c],
					 "IA32_PMC%u of thread %u, AnyThread = 1, its bit of "
					 "IA32_PERF_GLOBAL_CTRL 0: calls of the other one",
					 c, b.owner);
			if (b.off & BIT(c) || !any_thread_counts_despite_errata(t, c, level))
				continue;
			if (level == COUNT_BOTH)
				CHECK_RANGE(t, MSR_27, want, most, b.value[c],
					    "IA32_PMC%u of thread %u, AnyThread = 1: %lu calls at "
					    "CPL %u of the other one",
					    c, b.owner, calls, b.cpl);
			else
				CHECK_RANGE(t, CNT_47, want, most, b.value[c],
					    "IA32_PMC%u of thread %u, AnyThread = 1, %s alone: %lu "
					    "calls at CPL %u of the other one",
					    c, b.owner, level == COUNT_OS ? "OS" : "USR", calls,
					    b.cpl);
		}
	}
}
