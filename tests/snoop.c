/* SPDX-License-Identifier: MIT */
/*
 * Lines that another core has modified: SDM Table 18-24, of which codes 01H to 04H are about what
 * needs no other core, and MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HITM of Table 18-45, for one package.
 * Another processor stores to a few pages, then the first one loads from them, turn about. Two
 * processors of one core share what is nearest: nothing is judged there.
 */
#include "kernel/smp.h"
#include "tests/needs.h"
#include "tests/tagged.h"

#define LINE		64
#define LINES		256		/* 16 KiB of the workloads' memory */
#define TURNS_MOST	400
#define TURNS_SILENT	100	/* without a record: there won't be any */
#define DEADLINE_MS	2000u
#define CODES_UNSNOOPED	BITS(0x1, 0x4)

_Static_assert(LINES * LINE <= 8 * WORKLOAD_WORDS, "the lines are in the workloads' memory");

/* On the other processor, which looks at its memory accesses as well: a model may follow them only
 * while somebody does. */
static void modify(void *arg)
{
	volatile u64 *memory = arg;
	struct tagged_setup setup = tagged_loads();

	latency_set_threshold(setup.threshold);
	counter_program(setup.counter, setup.event, COUNT_BOTH);
	counters_enable(pmc_one(setup.counter));
	for (unsigned i = 0; i < LINES; i++)
		memory[i * LINE / sizeof(*memory)] = i;
	counters_disable();
	counter_program_disabled(setup.counter, 0, 0);
	counter_write(setup.counter, 0);
}

/* Another core, of this package or of any. 0: there is none, and the test has ended. */
static unsigned neighbour(struct test *t, bool of_package)
{
	struct topology first = smp_topology(CPU_BOOT);

	for (unsigned cpu = 1; cpu < smp_count(); cpu++) {
		struct topology other = smp_topology(cpu);

		if (smp_is_idle(cpu) && !topology_same_core(&first, &other) &&
		    (!of_package || topology_same_package(&first, &other)))
			return cpu;
	}
	test_skip(t, "no other core%s among %u processors (CPUID.0BH, 04H)",
		  of_package ? " of this package" : "", smp_count());
	return 0;
}

/* Turns until there are records enough; how many. */
static unsigned take(struct test *t, unsigned cpu, const struct tagged_setup *setup,
		     const struct hierarchy *h)
{
	struct ds_setup ds = sampling_setup(TAGGED_MOST);
	struct guard_report report;

	ds.reset[setup->counter] = pebs_reset_value(setup->counter, setup->period);
	ds_open(&ds);
	tagged_arm(setup, setup->period);
	for (unsigned i = 0; i < TURNS_MOST && ds_records() < setup->wanted; i++) {
		if (!HARNESS_CHECK(t, smp_start(cpu, modify, h->at.memory, DEADLINE_MS) &&
				   smp_wait(cpu, &report) && report.outcome == GUARD_DONE,
				   "processor %u stores", cpu))
			break;
		hierarchy_run(h, LINES, pmc_one(setup->counter));
		if (i == TURNS_SILENT && !ds_records())
			break;
	}
	tagged_off(setup);
	return ds_records();
}

static bool lines(struct test *t, struct hierarchy *h)
{
	if (!tagged_prepare(t, ACCESS_L1, h))
		return false;
	h->workload = &workload_stride;
	h->name = "loads of lines that another core has modified";
	h->at.stride = LINE;
	h->at.mask = LINES * LINE - 1;
	h->last = h->first + h->at.mask;
	return true;
}

static u64 at(unsigned record, unsigned offset)
{
	return *(const volatile u64 *)((uintptr_t)ds_record(record) + offset);
}

TEST(ll, a_line_that_another_core_has_modified_is_snooped, REQS(LL_36),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_second_processor))
{
	struct tagged_setup setup = tagged_loads();
	unsigned cpu, count, unsnooped = 0;
	struct hierarchy h;

	if (!lines(t, &h) || !(cpu = neighbour(t, false)))
		return;
	count = take(t, cpu, &setup, &h);
	if (!tagged_enough(t, AT(LL_36), &h, count, setup.wanted))
		return;
	for (unsigned i = 0; i < count; i++)
		unsnooped += (unsigned)(CODES_UNSNOOPED >> (at(i, 0xa0) & 0xf) & 1);
	CHECK_RANGE(t, LL_36, 0, (count - 1) / 2, unsnooped,
		    "of %u records have codes 01H to 04H (A0H of the first is 0x%lx)", count,
		    at(0, 0xa0));
}

TEST(dla, a_line_that_another_core_has_modified_has_its_address, REQS(DLA_10),
     NEEDS(need_perfmon, need_format2, need_haswell, need_second_processor))
{
	struct tagged_setup setup = tagged_loads();
	struct event event;
	struct hierarchy h;
	unsigned cpu, count;

	if (!lines(t, &h) || !(cpu = neighbour(t, true)) ||
	    !HARNESS_CHECK(t, event_get(EK_XSNP_HITM, EV_DLA, &event), "the event is in the table"))
		return;
	setup = (struct tagged_setup){ .counter = 2, .event = event.code, .period = TAGGED_PERIOD,
				       .enable = pmc_one(2), .wanted = 2 };
	count = take(t, cpu, &setup, &h);
	if (!tagged_enough(t, AT(DLA_10), &h, count, setup.wanted))
		return;
	for (unsigned i = 0; i < count; i++)
		CHECK_RANGE(t, DLA_10, h.first, h.last, at(i, 0x98),
			    "address of record %u of %s", i, event.name);
}
