/* SPDX-License-Identifier: MIT */
/*
 * Events of the memory hierarchy under the settings that all events have: OS and USR, CMASK, INT.
 * SDM "Architectural Performance Monitoring Version 1 Facilities"; chapter 19.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/event.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/cache_workload.h"
#include "tests/measure/mem_sample.h"
#include "tests/measure/overflow.h"

#define ROUNDS		64u
#define STRICT_ROUNDS	16u	/* of accesses that hit no L2 and no L3 */
#define FEW(rounds)	((rounds) / 4)	/* events that transitions or interrupts may add */
#define LEAST(rounds)	((rounds) / 2)	/* events of one in each round: caches may drop lines */
#define NEXT		8u		/* events before an overflow */
#define PEBS_COUNTERS	4u
#define LEAST_CYCLES(rounds) ((rounds) / 16)	/* more rounds than any processor has in a cycle */
#define CMASK_NEVER	255u		/* no cycle has so many events */
#define NO_CYCLE		(COUNT_BOTH | COUNT_CMASK(CMASK_NEVER))
#define BEGINS		2u		/* rises of a condition that always holds */
#define DEMAND_READ	BIT(0)		/* MSR_OFFCORE_RSP_x: the request; below, every response */
#define ANY_RESPONSE	BIT(16)
#define NHM_RESPONSES	0xf700ULL

/* An event of each class, and accesses with one event a round. */
static const struct row {
	enum event_kind kind;
	enum access access;
} rows[] = {
	{ EK_L1_HIT, ACCESS_L1 },	    { EK_HIT_LFB, ACCESS_PENDING },
	{ EK_L1_MISS, ACCESS_MEMORY },	    { EK_L2_HIT, ACCESS_L2 },
	{ EK_L2_MISS, ACCESS_MEMORY },	    { EK_L3_HIT, ACCESS_L3 },
	{ EK_L3_MISS, ACCESS_MEMORY },	    { EK_LOCK_LOADS, ACCESS_LOCKED },
	{ EK_SPLIT_LOADS, ACCESS_SPLIT },   { EK_SPLIT_STORES, ACCESS_SPLIT },
	{ EK_OFFCORE_0, ACCESS_MEMORY },    { EK_OFFCORE_1, ACCESS_MEMORY },
	{ EK_UNCACHED, ACCESS_UNCACHEABLE },
	{ EK_STLB_MISS_LOADS, ACCESS_PAGE_WALK },
	{ EK_STLB_MISS_STORES, ACCESS_STORE_PAGE_WALK },
	{ EK_DTLB_MISS_LOADS, ACCESS_PAGE_WALK },
	{ EK_DTLB_MISS_STORES, ACCESS_STORE_PAGE_WALK },
};

/* A counter, its event, and the accesses that it counts. */
struct window {
	const char *name;
	unsigned counter;
	u16 code;
	struct cache_workload h;
	u64 rounds;
};

static u64 count(const struct window *w, u64 flags, bool user, u64 n)
{
	u64 value;

	counter_program(w->counter, w->code, flags);
	counter_write(w->counter, 0);
	if (user) {
		counters_enable(pmc_one(w->counter));
		workload_run_user_at(w->h.workload, n, &w->h.at);
		counters_disable();
	} else {
		cache_workload_run(&w->h, n, pmc_one(w->counter));
	}
	value = counter_read(w->counter);
	counter_program_disabled(w->counter, 0, 0);
	return value;
}

/* The increase of the count for as many more rounds. */
static u64 more(const struct window *w, u64 flags, bool user)
{
	const u64 few = count(w, flags, user, w->rounds),
		  many = count(w, flags, user, 2 * w->rounds);

	return many > few ? many - few : 0;
}

static void check_overflow(struct test *t, const struct window *w)
{
	unsigned interrupts;

	pmi_open(NULL);
	counter_program(w->counter, w->code, COUNT_BOTH | COUNT_INT);
	counter_preset(w->counter, NEXT);
	cache_workload_run(&w->h, 2 * w->rounds, pmc_one(w->counter));
	interrupts = pmi_end()->count;
	overflow_off(w->counter);
	CHECK_RANGE(t, PMI_01, 1, overflow_allowed(t, 1, interrupts), interrupts,
		    "interrupts, IA32_PMC%u counts %s of %s and overflows", w->counter, w->name,
		    w->h.name);
}

/* Accesses with page walks execute INVLPG, which CPL 3 can't. */
static bool runs_at_cpl_3(const struct window *w)
{
	return w->h.workload != &workload_fresh_page && w->h.workload != &workload_fresh_page_store;
}

static void check_settings(struct test *t, const struct window *w)
{
	const unsigned c = w->counter;

	CONTROL_RANGE(t, IDS(CNT_09, CNT_10, CNT_35, PMI_01), LEAST(w->rounds), ~0ULL,
		      more(w, COUNT_BOTH, false), "%s in %lu rounds of %s, IA32_PMC%u", w->name,
		      w->rounds, w->h.name, c);
	if (level_counts_despite_errata(t, c, COUNT_USR))
		CHECK_EQ(t, CNT_10, 0, count(w, COUNT_USR, false, w->rounds),
			 "%s of %s at CPL 0, IA32_PMC%u, USR alone", w->name, w->h.name, c);
	if (runs_at_cpl_3(w) && level_counts_despite_errata(t, c, COUNT_USR) &&
	    level_counts_despite_errata(t, c, COUNT_OS)) {
		CHECK_RANGE(t, CNT_10, LEAST(w->rounds), ~0ULL, more(w, COUNT_USR, true),
			    "%s in %lu rounds of %s at CPL 3, IA32_PMC%u, USR alone", w->name,
			    w->rounds, w->h.name, c);
		CHECK_RANGE(t, CNT_10, 0, FEW(w->rounds), more(w, COUNT_OS, true),
			    "%s in %lu rounds of %s at CPL 3, IA32_PMC%u, OS alone", w->name,
			    w->rounds, w->h.name, c);
	}
	CHECK_EQ(t, CNT_35, 0, count(w, NO_CYCLE, false, w->rounds),
		 "cycles with %u of %s or more, of %s, IA32_PMC%u", CMASK_NEVER, w->name, w->h.name,
		 c);
	CHECK_RANGE(t, CNT_08, LEAST_CYCLES(w->rounds), ~0ULL,
		    count(w, NO_CYCLE | COUNT_INV, false, w->rounds),
		    "cycles with fewer than %u of %s, %lu rounds of %s, IA32_PMC%u", CMASK_NEVER,
		    w->name, w->rounds, w->h.name, c);
	CHECK_RANGE(t, CNT_09, 0, BEGINS,
		    count(w, NO_CYCLE | COUNT_INV | COUNT_EDGE, false, w->rounds),
		    "begins of cycles with fewer than %u of %s, of %s, IA32_PMC%u", CMASK_NEVER,
		    w->name, w->h.name, c);
	check_overflow(t, w);
}

/* false: this processor doesn't have the event, or an erratum makes its counts useless. */
static bool prepare(struct test *t, unsigned i, struct window *w)
{
	const bool off_core = rows[i].kind == EK_OFFCORE_0 || rows[i].kind == EK_OFFCORE_1;
	struct event event;
	char reason[96];

	if (!event_get(rows[i].kind, off_core ? 0 : EV_PEBS, &event))
		return false;
	if (mem_sample_event_is_short(t, rows[i].kind) ||
	    (rows[i].access == ACCESS_L3 && test_erratum(t, ERRATUM_VICTIM_L3)) ||
	    ((rows[i].kind == EK_L3_HIT || rows[i].kind == EK_L3_MISS) &&
	     test_erratum(t, ERRATUM_LLC_EVENTS)))
		return false;
	w->rounds = rows[i].access == ACCESS_L2 || rows[i].access == ACCESS_L3 ?
			    ROUNDS :
			    test_rounds(t, STRICT_ROUNDS, ROUNDS);
	w->name = event.name;
	w->code = event.code;
	for (unsigned turn = 0; turn < PEBS_COUNTERS; turn++) {
		w->counter = (i + turn) % PEBS_COUNTERS;
		if (counters_for(event.code).bits & BIT(w->counter))
			break;
	}
	return cache_workload_get(rows[i].access, &w->h, reason, sizeof(reason));
}

static void set_off_core(bool on)
{
	const struct pmu_caps *caps = counter_caps();
	const u64 all = DEMAND_READ |
			(caps->facilities & FAC_OFFCORE_SNB ? ANY_RESPONSE : NHM_RESPONSES);

	if (caps->facilities & FAC_OFFCORE)
		msr_try_write(MSR_OFFCORE_RSP_0, on ? all : 0);
	if (caps->facilities & FAC_OFFCORE_2)
		msr_try_write(MSR_OFFCORE_RSP_1, on ? all : 0);
}

/*
 * CNT-08  With INV set and CMASK = n > 0 a counter must count the cycles in which fewer than n
 *         events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: INV
 * CNT-09  With the edge bit set a counter must count the deasserted to asserted transitions of its
 *         condition.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: E
 * CNT-10  A counter must count only at the privilege levels that its OS and USR bits select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: USR, OS
 * CNT-35  With a CMASK that no cycle can reach a counter must count nothing.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: CMASK
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  an event of each class of the memory hierarchy that this processor has: of retired loads
 *        by the level that answered, of locked and split accesses and of page walks, of uncacheable
 *        loads, of off-core responses; accesses that cause the event; one counter after the other
 * When   the event is counted at CPL 0 with USR alone; at CPL 3, where that is possible, with USR
 *        alone and with OS alone; at CPL 0 with CMASK = 255, alone, with INV, and with INV and E;
 *        and up to an overflow, with INT
 * Then   it counts 0 at CPL 0 with USR. At CPL 3 it counts half of the rounds or more with USR, and
 *        few with OS. With that CMASK it counts 0, with INV a cycle or more in 16 rounds, and with
 *        E too at most 2. The overflow interrupts once
 * Control: at CPL 0 with OS and USR it counts half of the rounds or more
 */
TEST(count, memory_events_go_by_levels_conditions_and_int,
     REQS(CNT_08, CNT_09, CNT_10, CNT_35, PMI_01), NEEDS(need_perfmon, need_pebs, need_events))
{
	set_off_core(true);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct window w;

		if (prepare(t, i, &w))
			check_settings(t, &w);
	}
	set_off_core(false);
}
