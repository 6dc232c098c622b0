/* SPDX-License-Identifier: MIT */
/*
 * Loads of lines that are in another core's cache. SDM Table 18-24: codes 01H to 04H are of loads
 * that need no other core; 05H and 06H are of loads that need one. Table 18-45:
 * MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HIT and XSNP_HITM, for one package. Another processor loads
 * from a line of each of some pages, or stores to it, and then the first one loads from it, in
 * turns. Two processors of one core share its caches, so nothing is judged with them.
 */
#include "kernel/machine/smp.h"
#include "kernel/memory/pages.h"
#include "kernel/memory/paging.h"
#include "tests/frame/needs.h"
#include "tests/measure/mem_sample.h"

#define LINE		64
#define LINES		PAGES_SMALL	/* one in each page, evenly over the sets of a cache */
/* Distance from one line to the next. A line that a prefetcher has fetched is already in this
 * core's caches at its load. No prefetcher follows so long a stride, and there is only one line in
 * each page. */
#define STRIDE		(100 * PAGE_SIZE + LINE)
#define MASK		(LINES * PAGE_SIZE - 1)
#define TURNS_MOST	400
#define TURNS_SILENT	100	/* turns without a record: there won't be any */
#define DEADLINE_MS	2000u
#define CODES_UNSNOOPED	BITS(0x1, 0x4)
#define AT_ADDRESS	0x98	/* in a record: Data Linear Address, Data Source */
#define AT_SOURCE	0xa0
#define RECORDER	2u	/* the counter of data-address records here */
#define RECORDS_ENOUGH	2	/* of these records */

enum work { OTHER_LOADS, OTHER_STORES };	/* accesses of the other core to the lines */
enum package { ANY_PACKAGE, SAME_PACKAGE };

struct visit {
	u8 *memory;
	enum work work;
	const struct test *t;
};

/* Runs on the other processor. A counter samples its memory accesses too, because a model may track
 * accesses only while a counter counts them. The flush makes the line exclusive to that core:
 * otherwise both cores may share it. */
static void visit(void *arg)
{
	const struct visit *v = arg;
	struct mem_sample_setup setup = mem_sample_loads(v->t);

	latency_set_threshold(setup.threshold);
	counter_program(setup.counter, setup.event, COUNT_BOTH);
	counters_enable(pmc_one(setup.counter));
	for (unsigned i = 0; i < LINES; i++) {
		volatile u64 *word = (volatile u64 *)(void *)(v->memory + (i * STRIDE & MASK));

		if (v->work == OTHER_STORES)
			*word = i;
		else
			__asm__ volatile("clflush %0; mfence; movq %0, %%rax" ::"m"(*word)
					 : "rax", "memory");
	}
	counters_disable();
	counter_program_disabled(setup.counter, 0, 0);
	counter_write(setup.counter, 0);
}

/* Another core, of this package or of any. 0: there is none, and the test has ended. */
static unsigned neighbour(struct test *t, enum package package)
{
	struct topology first = smp_topology(CPU_BOOT);

	for (unsigned cpu = 1; cpu < smp_count(); cpu++) {
		struct topology other = smp_topology(cpu);

		if (smp_is_idle(cpu) && !topology_same_core(&first, &other) &&
		    topology_same_kind(&first, &other) &&
		    (package == ANY_PACKAGE || topology_same_package(&first, &other)))
			return cpu;
	}
	test_skip(t, "no other core%s among %u processors (CPUID.0BH, 04H)",
		  package == SAME_PACKAGE ? " of this package" : "", smp_count());
	return 0;
}

/* Take turns until there are enough records. Returns their number. */
static unsigned snoop_take(struct test *t, unsigned cpu, enum work work,
			   const struct mem_sample_setup *setup, const struct cache_workload *h)
{
	struct visit v = { h->at.memory, work, t };
	struct ds_setup ds = sampling_setup(MEM_SAMPLE_MOST);
	struct guard_report report;

	ds.reset[setup->counter] = pebs_reset_value(setup->counter, setup->period);
	ds_open(&ds);
	mem_sample_arm(setup, setup->period);
	for (unsigned i = 0; i < TURNS_MOST && ds_records() < setup->wanted; i++) {
		if (!HARNESS_CHECK(t,
				   smp_start(cpu, visit, &v, DEADLINE_MS) &&
					   smp_wait(cpu, &report) && report.outcome == GUARD_DONE,
				   "processor %u works on the lines", cpu))
			break;
		cache_workload_run(h, LINES, pmc_one(setup->counter));
		if (i == TURNS_SILENT && !ds_records())
			break;
	}
	mem_sample_off(setup);
	return ds_records();
}

static bool lines(struct test *t, enum work work, struct cache_workload *h)
{
	if (!mem_sample_prepare(t, ACCESS_L1, h))
		return false;
	h->workload = &workload_stride;
	h->name = work == OTHER_STORES ? "loads of lines that another core has modified" :
					 "loads of lines that another core has";
	h->at = (struct workload_place){ pages_get()->small, STRIDE, MASK };
	h->first = (u64)(uintptr_t)h->at.memory;
	h->last = h->first + MASK;
	return true;
}

static u64 snoop_at(unsigned record, unsigned offset)
{
	return *(const volatile u64 *)((uintptr_t)ds_record(record) + offset);
}

/*
 * LL-36  A load of a line that another core has modified must not be reported as a hit of this
 *        core's caches or as an L3 hit without a snoop, 01H to 04H.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  another processor, on another core, stores to each of 256 lines, in turns with this one;
 *        they are in as many pages, and no prefetcher knows their order
 * When   records are made of this processor's loads of them
 * Then   fewer than half have a code that needs no other core, 01H to 04H, in bits 3:0 at A0H
 */
TEST(ll, line_modified_by_another_core_has_no_unsnooped_source, REQS(LL_36),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_second_processor))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	unsigned cpu, count, unsnooped = 0;
	struct cache_workload h;

	if (!lines(t, OTHER_STORES, &h) || !(cpu = neighbour(t, ANY_PACKAGE)))
		return;
	count = snoop_take(t, cpu, OTHER_STORES, &setup, &h);
	if (!mem_sample_enough(t, AT(LL_36), &h, count, setup.wanted))
		return;
	for (unsigned i = 0; i < count; i++)
		unsnooped += (unsigned)(CODES_UNSNOOPED >> (snoop_at(i, AT_SOURCE) & 0xf) & 1);
	CHECK_RANGE(t, LL_36, 0, (count - 1) / 2, unsnooped,
		    "of %u records have codes 01H to 04H (A0H of the first is 0x%lx)", count,
		    snoop_at(0, AT_SOURCE));
}

/*
 * LL-37  A load that another core of the package serves without a modified copy must be reported
 *        with code 05H.
 *        SDM 18.8.1.2 Load Latency Performance Monitoring Facility, Table 18-24 Data Source
 *        Encoding for Load Latency Record
 *
 * Given  another core of this package loads each of 256 lines, in turns with this one; they are in
 *        as many pages, and no prefetcher knows their order
 * When   records are made of this processor's loads of them
 * Then   most have code 05H in bits 3:0 at A0H. On silicon 04H to 06H are right: where the L3 knows
 *        that a copy can't be modified no snoop is needed, and Linux reads 06H of Sandy Bridge and
 *        later so
 * Control: there are records of such loads
 */
TEST(ll, line_read_by_another_core_has_data_source_05h, REQS(LL_37),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_second_processor))
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	u64 codes = test_sees_exactly(t, REQ_LL_37) ? BIT(0x5) : BITS(0x4, 0x6);
	unsigned cpu, count, good = 0;
	struct cache_workload h;

	if (!lines(t, OTHER_LOADS, &h) || !(cpu = neighbour(t, SAME_PACKAGE)))
		return;
	count = snoop_take(t, cpu, OTHER_LOADS, &setup, &h);
	if (!mem_sample_enough(t, CONTROL_AT(LL_37), &h, count, setup.wanted))
		return;
	for (unsigned i = 0; i < count; i++)
		good += (unsigned)(codes >> (snoop_at(i, AT_SOURCE) & 0xf) & 1);
	CHECK_RANGE(t, LL_37, count / 2 + 1, count, good,
		    "of %u records have one of the codes "
		    "0x%lx (A0H of the first is 0x%lx)",
		    count, codes, snoop_at(0, AT_SOURCE));
}

static void check_addresses(struct test *t, struct test_claim claim, enum event_kind kind,
			    enum work work)
{
	struct mem_sample_setup setup;
	struct event event;
	struct cache_workload h;
	unsigned cpu, count;

	if (!lines(t, work, &h) || !(cpu = neighbour(t, SAME_PACKAGE)) ||
	    !HARNESS_CHECK(t, event_get(kind, EV_DLA, &event), "the event is in the table"))
		return;
	setup = (struct mem_sample_setup){ .counter = RECORDER,
					   .event = event.code,
					   .period = mem_sample_period(t),
					   .enable = pmc_one(RECORDER),
					   .wanted = RECORDS_ENOUGH };
	count = snoop_take(t, cpu, work, &setup, &h);
	if (!count && work == OTHER_LOADS && !test_sees_exactly(t, REQ_DLA_10)) {
		test_skip(t, "no %s of %s: the L3 may know that they aren't modified", event.name,
			  h.name);
		return;
	}
	if (!mem_sample_enough(t, claim, &h, count, setup.wanted))
		return;
	for (unsigned i = 0; i < count; i++)
		test_check_range(t, claim, h.first, h.last, snoop_at(i, AT_ADDRESS),
				 "address of record %u of %s", i, event.name);
}

/*
 * DLA-10  Every event of Table 18-45 must yield a data address when PEBS is enabled for it.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-45
 *
 * Given  another core of this package stores to each of 256 lines, in turns with this one
 * When   IA32_PMC2 makes two records of MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HITM from this
 *        processor's loads of them
 * Then   the address at 98H of each is one of the loads'
 */
TEST(dla, xsnp_hitm_record_holds_the_data_address, REQS(DLA_10),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address, need_second_processor))
{
	check_addresses(t, AT(DLA_10), EK_XSNP_HITM, OTHER_STORES);
}

/*
 * DLA-10  Every event of Table 18-45 must yield a data address when PEBS is enabled for it.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-45
 *
 * Given  another core of this package loads each of 256 lines, in turns with this one
 * When   IA32_PMC2 makes two records of MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HIT from this
 *        processor's loads of them; SKIP where there is none and the L3 may know that the copies
 *        aren't modified
 * Then   the address at 98H of each is one of the loads'
 */
TEST(dla, xsnp_hit_record_holds_the_data_address, REQS(DLA_10),
     NEEDS(need_perfmon, need_eventing_ip, need_data_address, need_second_processor))
{
	check_addresses(t, AT(DLA_10), EK_XSNP_HIT, OTHER_LOADS);
}
