/* SPDX-License-Identifier: MIT */
/*
 * Overflows and interrupts of two logical processors of a core: SDM "Architectural Performance
 * Monitoring Version 3" (AnyThread), volume 3A "Local Vector Table".
 */
#include "pmu/pmi.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"
#include "tests/measure/two_cpus.h"

#define OWN	64	/* near calls that the harness may have while it waits: it has a handful */
#define CALLS	440
#define TURNS	8
#define SHARE	100	/* instructions of the other thread that overlap with a window, at least */

struct overflow_pair {
	struct two_cpus both;
	u16 event;
	u64 status[2];		/* of the sides */
	unsigned count[2];	/* interrupts */
};

/* The first one's counter sees the calls of the other one, and wraps on one of them. */
static void wrap_by_the_other(void *arg)
{
	struct overflow_pair *p = arg;
	unsigned side = two_cpus_side();

	pmi_open(NULL);
	if (side == 0) {
		counter_program(0, p->event, COUNT_BOTH | COUNT_ANY | COUNT_INT);
		counter_preset(0, 2 * OWN);
		counters_enable(pmc_one(0));
	}
	two_cpus_barrier(&p->both);
	if (side == 1)
		workload_run_user(&workload_call, CALLS);
	two_cpus_barrier(&p->both);
	if (side == 0)
		counters_disable();
	p->count[side] = pmi_settle()->count;
	pmi_close();
	counters_clear(counters_status());
}

/*
 * PMI-22  The interrupt of a counter must go to the local APIC of the logical processor whose
 *         counter it is, and to no other.
 *         SDM volume 3A, Local Vector Table; 18.2 Architectural Performance Monitoring
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  IA32_PMC0 of the first thread counts near calls with AnyThread = 1 and INT; it waits
 *        while its sibling calls
 * When   it overflows on a call of the sibling
 * Then   the first thread is interrupted once, the sibling isn't
 */
TEST(pmi, any_thread_overflow_interrupts_the_owner_of_the_counter, REQS(PMI_22, PMI_01),
     NEEDS(need_perfmon, need_events, need_any_thread, need_sibling_thread))
{
	struct overflow_pair p = { .event = sampling_event(EK_NEAR_CALLS) };

	if (!two_cpus_run(t, &p.both, smp_sibling(), wrap_by_the_other, &p))
		return;
	if (window_counts_any(t, 0, COUNT_BOTH))
		CHECK_EQ(t, PMI_01, 1, p.count[0],
			 "interrupts of the counter's owner, AnyThread = 1, %u "
			 "calls of its sibling thread, overflow on call %u",
			 CALLS, 2 * OWN);
	CHECK_EQ(t, PMI_22, 0, p.count[1], "interrupts of the sibling thread");
}

/* Both count branches, wrap at about the same time, and are interrupted. */
static void wrap_at_once(void *arg)
{
	struct overflow_pair *p = arg;
	unsigned side = two_cpus_side();

	pmi_open(NULL);
	overflow_prepare(0, COUNT_INT);
	two_cpus_barrier(&p->both);
	workload_run(&workload_sled, PERIOD, pmc_one(0));
	p->count[side] = pmi_settle()->count;
	pmi_close();
	counters_clear(counters_status());
	two_cpus_barrier(&p->both);
}

/*
 * PMI-22  The interrupt of a counter must go to the local APIC of the logical processor whose
 *         counter it is, and to no other.
 *         SDM volume 3A, Local Vector Table; 18.2 Architectural Performance Monitoring
 *
 * Given  IA32_PMC0 of two processors, started together
 * When   both overflow at about the same time, TURNS times
 * Then   each processor is interrupted once
 */
TEST(pmi, overflows_of_two_processors_at_once_interrupt_both, REQS(PMI_22),
     NEEDS(need_perfmon, need_branches, need_second_processor))
{
	FOR_EACH_PARTNER (cpu)
		for (unsigned turn = 0; turn < TURNS; turn++) {
			struct overflow_pair p = { .event = 0 };

			if (!two_cpus_run(t, &p.both, cpu, wrap_at_once, &p))
				return;
			for (unsigned side = 0; side < 2; side++)
				CHECK_EQ(t, PMI_22, 1, p.count[side],
					 "interrupts of %s, both have wrapped, turn %u",
					 two_cpus_whose(cpu, side), turn);
		}
}

/*
 * MSR-27  With its AnyThread bit set a counter must count the events of all logical processors of
 *         its core.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3
 *
 * Given  both threads of a core run as many instructions at CPL 3, where both are most of the
 *        time: whichever one's level decides, some of the other one's count
 * When   the first thread's counters count instructions retired with AnyThread = 1 and USR
 * Then   each counts its own and at least SHARE more
 */
TEST(count, any_thread_holds_for_architectural_events, REQS(MSR_27),
     NEEDS(need_perfmon, need_instructions, need_any_thread, need_sibling_thread))
{
	struct two_cpus_window window = { .side = {
		{ .counters = counters_gp(), .event = EVENT_INST_RETIRED_ANY_P,
		  .flags = COUNT_USR | COUNT_ANY, .work = &workload_load, .n = CALLS },
						  { .work = &workload_load, .n = CALLS },
					  } };
	u64 own = workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, CALLS);

	if (!two_cpus_count(t, &window, smp_sibling()))
		return;
	for (unsigned c = 0; c < counter_caps()->gp; c++)
		if (window_counts_any(t, c, COUNT_USR))
			CHECK_RANGE(t, MSR_27, own + SHARE, ~0ULL, window.side[0].value[c],
				    "IA32_PMC%u, AnyThread = 1: instructions at CPL 3, %lu of its "
				    "own and "
				    "as many of its sibling thread's",
				    c, own);
}
