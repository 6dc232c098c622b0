/* SPDX-License-Identifier: MIT */
/*
 * Load latency, precise store and off-core events of two logical processors at once, each with its
 * own threshold and registers: SDM Tables 35-13 and 35-18 (scope: Thread).
 */
#include "pmu/event.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"
#include "tests/measure/two_cpus.h"

#define WINDOW		1024	/* loads of a counted window */
#define STRICT_WINDOW	128	/* the reference PMU tags one of some loads */
#define APART		16u	/* bytes between the addresses of the two */
#define STORE_RECORDS	8
#define STORES_BESIDE	4096
#define ROUNDS		64
#define REQUEST		BIT(0)	/* demand data read */
#define NHM_RESPONSES	0xf700
#define ANY_RESPONSE	BIT(16)
#define LATENCY_LEAST	4	/* cycles: more than the threshold of 3 */

struct pair {
	const struct test *t;
	struct two_cpus both;
	unsigned open;		/* the side whose threshold lets loads count */
	unsigned second;	/* 1: MSR_OFFCORE_RSP_1 and its event */
	bool ready[2];
	u64 events[2];
	u64 n[2];		/* loads with load latency */
	unsigned records, right;	/* of side `open` */
	unsigned hits;			/* right records with a hit, by precise store */
};

static struct mem_sample_record records[MEM_SAMPLE_MOST];

static void take_own(struct pair *p, struct mem_sample_setup *setup, const struct cache_workload *h)
{
	setup->wanted = 2;
	p->records = mem_sample_take(setup, h, records);
	for (unsigned i = 0; i < p->records; i++)
		p->right += mem_sample_in_place(h, records[i].address) &&
			    records[i].latency >= LATENCY_LEAST;
}

/* Each side counts its loads of a line; only side `open` has a threshold that lets loads count. */
static void count_latency(void *arg)
{
	struct pair *p = arg;
	const unsigned side = two_cpus_side();
	struct mem_sample_setup setup = mem_sample_loads(p->t);
	struct cache_workload h;
	char reason[96];

	p->ready[side] = cache_workload_get(ACCESS_L1, &h, reason, sizeof(reason));
	two_cpus_barrier(&p->both);
	if (!p->ready[0] || !p->ready[1])
		return;
	cache_workload_shift(&h, side * APART);
	if (side != p->open)
		setup.threshold = LATENCY_THRESHOLD_MOST;
	p->n[side] = test_rounds(p->t, STRICT_WINDOW, WINDOW);
	while (!(p->events[side] = mem_sample_count(&setup, &h, p->n[side])) && side == p->open &&
	       (p->n[side] *= 8) <= MEM_SAMPLE_ROUNDS_MOST)
		;
	two_cpus_barrier(&p->both);
	if (side == p->open)
		take_own(p, &setup, &h);
	else
		mem_sample_count(&setup, &h, p->n[!side]);
	two_cpus_barrier(&p->both);
}

/*
 * MSR-38  Each logical processor must have a latency threshold and off-core response registers of
 *         its own.
 *         SDM Tables 35-13 and 35-18 (scope: Thread) against Linux, which takes them as shared by
 *         the threads of a core
 *
 * Given  both threads of a core load one line, each at a different address, and count the load
 *        latency event; the loads hit the L1
 * When   one has the threshold 3 and the other one FFFFH, then with the roles exchanged; the one
 *        with 3 makes records while the other one loads
 * Then   the one with 3 counts some, the other one none; each record has an address of the thread
 *        that makes it, and a latency of at least 4 cycles
 */
TEST(ll, threads_of_a_core_count_and_record_by_their_own_thresholds, REQS(MSR_38),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_sibling_thread))
{
	const unsigned cpu = smp_sibling();

	for (unsigned open = 0; open < 2; open++) {
		struct pair p = { .t = t, .open = open };

		if (!two_cpus_run(t, &p.both, cpu, count_latency, &p) ||
		    !HARNESS_CHECK(t, p.ready[0] && p.ready[1], "there is a line to load"))
			return;
		CHECK_RANGE(t, MSR_38, 1, ~0ULL, p.events[open],
			    "events of %lu loads of %s, threshold 3", p.n[open],
			    two_cpus_whose(cpu, open));
		CHECK_EQ(t, MSR_38, 0, p.events[!open],
			 "events of %lu loads of %s, threshold FFFFH", p.n[!open],
			 two_cpus_whose(cpu, !open));
		CHECK_RANGE(t, MSR_38, 2, ~0ULL, p.records, "records of %s",
			    two_cpus_whose(cpu, open));
		CHECK_EQ(t, MSR_38, p.records, p.right,
			 "records of %s with its own address and a latency of 4 or more",
			 two_cpus_whose(cpu, open));
	}
}

/* Both sides store to one line, at different addresses; one side makes records. */
static void record_stores(void *arg)
{
	struct pair *p = arg;
	const unsigned side = two_cpus_side();
	struct mem_sample_setup setup = mem_sample_stores(p->t);
	struct cache_workload h;
	char reason[96];

	p->ready[side] = cache_workload_get(ACCESS_STORE_HIT, &h, reason, sizeof(reason));
	two_cpus_barrier(&p->both);
	if (!p->ready[0] || !p->ready[1])
		return;
	cache_workload_shift(&h, side * APART);
	two_cpus_barrier(&p->both);
	if (side == p->open) {
		setup.wanted = STORE_RECORDS;
		p->records = mem_sample_take(&setup, &h, records);
		for (unsigned i = 0; i < p->records; i++) {
			p->right += mem_sample_in_place(&h, records[i].address);
			p->hits += !!(records[i].source & BIT(0));
		}
	} else {
		cache_workload_run(&h, STORES_BESIDE, NO_OTHERS);
	}
	two_cpus_barrier(&p->both);
}

/*
 * MSR-37  Each logical processor must have event selects, counters, global control and status,
 *         IA32_PEBS_ENABLE, IA32_DS_AREA and IA32_DEBUGCTL of its own.
 *         SDM Tables 35-13, 35-18 and 35-22 (scope: Thread)
 * PS-04   Offset 98H must hold the linear address of the store's destination.
 * PS-05   Bit 0 of A0H must be 1 for a store that hit the L1 data cache and 0 for one that missed
 *         it.
 *         SDM 18.9.4.3 Precise Store Facility, Table 18-34
 *
 * Given  both threads of a core store to one line, each at a different address; the stores hit the
 *        L1
 * When   one makes eight precise-store records while the other one stores, with PEBS off; then with
 *        the roles exchanged
 * Then   each record has an address of the thread that makes it, and at least half of them have
 *        bit 0 of A0H
 */
TEST(ps, threads_of_a_core_record_their_own_stores, REQS(MSR_37, PS_04, PS_05),
     NEEDS(need_perfmon, need_pebs, need_precise_store, need_sibling_thread))
{
	const unsigned cpu = smp_sibling();

	for (unsigned open = 0; open < 2; open++) {
		const struct cache_workload stores = { .name = "stores of one thread" };
		struct pair p = { .t = t, .open = open };

		if (!two_cpus_run(t, &p.both, cpu, record_stores, &p) ||
		    !HARNESS_CHECK(t, p.ready[0] && p.ready[1], "there is a line to store to") ||
		    !mem_sample_enough(t, AT(PS_04), &stores, p.records, STORE_RECORDS))
			return;
		CHECK_EQ(t, IDS(MSR_37, PS_04), p.records, p.right,
			 "records of %s with its own address", two_cpus_whose(cpu, open));
		CHECK_RANGE(t, PS_05, (p.records + 1) / 2, p.records, p.hits,
			    "of %u records of %s with bit 0 of A0H", p.records,
			    two_cpus_whose(cpu, open));
	}
}

/* Both sides load flushed lines; the register of one side selects them. */
static void count_off_core(void *arg)
{
	struct pair *p = arg;
	const unsigned side = two_cpus_side();
	const u64 all = counter_caps()->facilities & FAC_OFFCORE_SNB ? REQUEST | ANY_RESPONSE :
								       REQUEST | NHM_RESPONSES;
	struct event event = { .code = 0 };
	struct cache_workload h;
	char reason[96];

	p->ready[side] = cache_workload_get(ACCESS_MEMORY, &h, reason, sizeof(reason)) &&
			 event_get(EK_OFFCORE_0 + p->second, 0, &event);
	msr_write(MSR_OFFCORE_RSP_0 + p->second, side == p->open ? all : 0);
	counter_program(0, event.code, COUNT_BOTH);
	counter_write(0, 0);
	two_cpus_barrier(&p->both);
	if (p->ready[0] && p->ready[1])
		cache_workload_run(&h, ROUNDS, pmc_one(0));
	p->events[side] = counter_read(0);
	two_cpus_barrier(&p->both);
	counter_program_disabled(0, 0, 0);
	msr_write(MSR_OFFCORE_RSP_0 + p->second, 0);
}

/*
 * MSR-38  Each logical processor must have a latency threshold and off-core response registers of
 *         its own.
 *         SDM Tables 35-13 and 35-18 (scope: Thread) against Linux, which takes them as shared by
 *         the threads of a core
 *
 * Given  both threads of a core load flushed lines, and count the first off-core event, then
 *        the second where it exists
 * When   its MSR_OFFCORE_RSP_x of one names a demand read of data and every response, that of the
 *        other one nothing; then with the roles exchanged
 * Then   the one whose register names them counts at least half of its loads, the other one none
 */
TEST(offcore, threads_of_a_core_count_by_their_own_off_core_registers, REQS(MSR_38),
     NEEDS(need_perfmon, need_offcore, need_sibling_thread))
{
	const unsigned cpu = smp_sibling();
	struct event event;

	for (unsigned i = 0; i < 4 && event_get(EK_OFFCORE_0 + (i >> 1), 0, &event); i++) {
		const unsigned open = i & 1;
		struct pair p = { .t = t, .open = open, .second = i >> 1 };

		if (!two_cpus_run(t, &p.both, cpu, count_off_core, &p) ||
		    !HARNESS_CHECK(t, p.ready[0] && p.ready[1], "there are loads and an event"))
			return;
		CHECK_RANGE(t, MSR_38, ROUNDS / 2, ~0ULL, p.events[open],
			    "%s of %u loads of %s, whose register names them", event.name, ROUNDS,
			    two_cpus_whose(cpu, open));
		CHECK_EQ(t, MSR_38, 0, p.events[!open], "%s of %s, whose register is 0", event.name,
			 two_cpus_whose(cpu, !open));
	}
}
