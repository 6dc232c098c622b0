/* SPDX-License-Identifier: MIT */
/*
 * Overflows and interrupts of two logical processors of a core: SDM "Architectural Performance
 * Monitoring Version 3" (AnyThread), volume 3A "Local Vector Table".
 */
#include "kernel/interrupt/fault.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"
#include "tests/measure/two_cpus.h"

#define OWN	64	/* most near calls by the harness while it waits: it has a few */
#define CALLS	440
#define TURNS	8
#define SHARE	100	/* least instructions of the other thread that overlap with a window */

struct overflow_pair {
	struct two_cpus both;
	u16 event;
	unsigned owner;		/* the side whose counter wraps, by the other side's work */
	unsigned counter;	/* IA32_PMC0 counts calls; fixed counter 0 instructions at CPL 3 */
	u64 debugctl, flags;	/* IA32_DEBUGCTL on both; flags of the owner's counter */
	bool goes_on;		/* the counter counts until its interrupt has come */
	u64 value[2];		/* the sides' counters after the calls */
	u64 status[2];		/* each side's: at the handler's entry, or after the overflow */
	u64 control[2];		/* IA32_PERF_GLOBAL_CTRL at the same time, and IA32_DEBUGCTL */
	u64 found[2];
	unsigned count[2];	/* interrupts */
};

/* The levels at which the counter counts. The owner waits at CPL 0, where it makes no calls. */
static u64 levels_of(unsigned counter)
{
	return PMC_IS_FIXED(counter) ? COUNT_USR : COUNT_BOTH;
}

/* The owner's counter counts the other side's calls or instructions, and wraps on one of them. The
 * other side's counter is enabled and counts nothing. */
static void wrap_by_the_other(void *arg)
{
	struct overflow_pair *p = arg;
	const struct pmi_log *log;
	unsigned side = two_cpus_side();

	pmi_open(NULL);
	msr_write(MSR_IA32_DEBUGCTL, p->debugctl);
	if (side == p->owner) {
		counter_program(p->counter, p->event, levels_of(p->counter) | COUNT_ANY | p->flags);
		counter_preset(p->counter, 2 * OWN);
	}
	two_cpus_barrier(&p->both);	/* one side's start isn't counted by the other */
	counters_enable(pmc_one(p->counter));
	two_cpus_barrier(&p->both);
	if (side != p->owner)
		workload_run_user(&workload_call, CALLS);
	two_cpus_barrier(&p->both);
	/* The owner's calls must not be the cause; and the stop of the counter must not be
	 * either. */
	p->value[side] = counter_read(p->counter);
	if (side == p->owner && !p->goes_on)
		counters_disable();
	/* What a side does then isn't counted by the other one. */
	two_cpus_barrier(&p->both);
	log = pmi_settle();
	p->count[side] = log->count;
	p->status[side] = log->count ? log->entry[0].status : counters_status();
	p->control[side] = log->count ? log->entry[0].global_ctrl :
					msr_read(MSR_IA32_PERF_GLOBAL_CTRL);
	p->found[side] = log->count ? log->entry[0].debugctl : msr_read(MSR_IA32_DEBUGCTL);
	two_cpus_barrier(&p->both);
	counters_disable();
	counter_program_disabled(p->counter, 0, 0);	/* the next owner may be the other side */
	msr_write(MSR_IA32_DEBUGCTL, 0);
	pmi_close();
	counters_clear(counters_status());
}

/* false: they didn't run. */
static bool overflow_by_the_other(struct test *t, struct overflow_pair *p)
{
	p->event = sampling_event(EK_NEAR_CALLS);
	return two_cpus_run(t, &p->both, smp_sibling(), wrap_by_the_other, p);
}

/*
 * PMI-22  The interrupt of a counter must go to the local APIC of the logical processor whose
 *         counter it is, and to no other.
 *         SDM volume 3A, Local Vector Table; 18.2 Architectural Performance Monitoring
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-03  When its interrupt is taken, an overflow must be shown in IA32_PERF_GLOBAL_STATUS.
 * PMI-02  The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *         LVTPC.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 *
 * Given  IA32_PMC0 of the first thread, then of the second, counts near calls with AnyThread = 1,
 *        with INT and without; its owner waits while its sibling makes the calls. The same with
 *        fixed counter 0 and instructions at CPL 3
 * When   it overflows on a call of the sibling, or on an instruction
 * Then   the owner has one interrupt with INT, the sibling none; the status bit of the counter is
 *        set on the owner, at its handler's entry or without INT, and 0 on the sibling
 */
TEST(pmi, any_thread_overflow_interrupts_the_owner_of_the_counter,
     REQS(PMI_22, PMI_01, PMI_03, PMI_02),
     NEEDS(need_perfmon, need_events, need_fixed_0_to_2, need_any_thread, need_sibling_thread))
{
	for (unsigned turn = 0; turn < 8; turn++) {
		const unsigned owner = turn & 1, quiet = turn >> 1 & 1;
		struct overflow_pair p = { .owner = owner, .flags = quiet ? 0 : COUNT_INT,
					   .counter = turn < 4 ? 0 : PMC_FIXED(0) };
		const u64 bit = BIT(p.counter);
		const bool any = any_thread_counts_despite_errata(t, p.counter,
								  levels_of(p.counter));

		if (!overflow_by_the_other(t, &p))
			return;
		if (any && turn < 4)
			CHECK_RANGE(t, PMI_01, !quiet, overflow_allowed(t, !quiet, p.count[owner]),
				    p.count[owner],
				    "interrupts of the counter's owner, thread %u, AnyThread = 1, "
				    "%u "
				    "calls of its sibling thread, overflow on call %u%s",
				    owner, CALLS, 2 * OWN, quiet ? ", without INT" : "");
		else if (any)
			CHECK_RANGE(t, PMI_02, !quiet, overflow_allowed(t, !quiet, p.count[owner]),
				    p.count[owner],
				    "interrupts of the owner of fixed counter 0, thread %u, "
				    "AnyThread "
				    "= 1, overflow on instruction %u of its sibling thread%s",
				    owner, 2 * OWN, quiet ? ", without PMI" : "");
		if (any)
			CHECK_EQ(t, PMI_03, bit, p.status[owner] & bit,
				 "status bit %u of the counter's owner, thread %u%s", p.counter,
				 owner, quiet ? ", without INT" : "");
		CHECK_EQ(t, PMI_22, 0, p.count[!owner], "interrupts of the sibling thread");
		CHECK_EQ(t, PMI_03, 0, p.status[!owner] & bit,
			 "status bit %u of the sibling thread%s", p.counter,
			 quiet ? ", without INT" : "");
	}
}

/*
 * PMI-14  With FREEZE_PERFMON_ON_PMI set, a PMI-generating overflow must clear
 *         IA32_PERF_GLOBAL_CTRL.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 * PMI-23  Freezing on a PMI must stop the counters of the logical processor that has it, and no
 *         others.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Table 35-13 (scope: Thread)
 * PMI-19  With FREEZE_LBRS_ON_PMI set, a performance-monitoring interrupt must stop branch
 *         recording: versions 2 and 3 clear IA32_DEBUGCTL.LBR, version 4 sets LBR_FRZ.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  IA32_DEBUGCTL[12], [11] and [0] are 1 on both threads of a core; IA32_PMC0 of the first
 *        one, then of the second, counts near calls with AnyThread = 1 and INT
 * When   it overflows on a call of the sibling
 * Then   IA32_PERF_GLOBAL_CTRL and IA32_DEBUGCTL[0] read 0 at the entry of its owner's handler, and
 *        IA32_PMC0 goes on for less than the sibling's other calls; both registers of the sibling
 *        are unchanged
 * Control: the calls made it wrap, there is one interrupt, and without IA32_DEBUGCTL[12] and [11]
 *          the registers aren't 0 there
 */
TEST(pmi, any_thread_overflow_freezes_the_owner_of_the_counter_only, REQS(PMI_14, PMI_23, PMI_19),
     NEEDS(need_perfmon, need_events, need_any_thread, need_sibling_thread, need_legacy_freeze,
	   need_freeze))
{
	const bool any = any_thread_counts_despite_errata(t, 0, COUNT_BOTH);

	for (unsigned turn = 0; turn < 4; turn++) {
		const unsigned freezes = turn & 1, owner = turn >> 1;
		struct overflow_pair p = { .owner = owner, .flags = COUNT_INT, .goes_on = true };

		p.debugctl = IA32_DEBUGCTL_LBR | (freezes ? BOTH_FREEZES : 0);
		if (!overflow_by_the_other(t, &p))
			return;
		CHECK_EQ(t, PMI_23, 1, p.control[!owner],
			 "IA32_PERF_GLOBAL_CTRL of the sibling thread, IA32_DEBUGCTL[12] = %u",
			 freezes);
		CHECK_EQ(t, PMI_23, p.debugctl, p.found[!owner],
			 "IA32_DEBUGCTL of the sibling thread");
		if (!any)
			continue;
		CONTROL_RANGE(t, PMI_14, 0, CALLS, p.value[owner],
			      "IA32_PMC0 of the counter's owner, which has wrapped by calls of its "
			      "sibling");
		CONTROL_RANGE(t, PMI_14, 1, overflow_allowed(t, 1, p.count[owner]), p.count[owner],
			      "interrupts of the counter's owner");
		if (!freezes) {
			CONTROL_EQ(t, PMI_14, 1, p.control[owner],
				   "IA32_PERF_GLOBAL_CTRL of the counter's owner, not frozen");
			CONTROL_EQ(t, PMI_19, p.debugctl, p.found[owner],
				   "IA32_DEBUGCTL of the counter's owner, not frozen");
			continue;
		}
		CHECK_EQ(t, PMI_14, 0, p.control[owner],
			 "IA32_PERF_GLOBAL_CTRL of the counter's owner, thread %u, frozen by a "
			 "call of its sibling",
			 owner);
		CHECK_RANGE(t, PMI_14, 0, overflow_before_freeze(t, CALLS - 2 * OWN),
			    p.value[owner],
			    "IA32_PMC0 of the counter's owner, thread %u, frozen, %u calls of its "
			    "sibling after its overflow",
			    owner, CALLS - 2 * OWN);
		CHECK_EQ(t, PMI_19, BOTH_FREEZES, p.found[owner],
			 "IA32_DEBUGCTL of the counter's owner, thread %u, frozen by a call of its "
			 "sibling",
			 owner);
	}
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
     NEEDS(need_perfmon, need_branches, need_partner))
{
	FOR_EACH_PARTNER (cpu)
		for (unsigned turn = 0; turn < TURNS; turn++) {
			struct overflow_pair p = { .event = 0 };

			if (!two_cpus_run(t, &p.both, cpu, wrap_at_once, &p))
				return;
			for (unsigned side = 0; side < 2; side++)
				CHECK_EQ(t, PMI_22, overflow_allowed(t, 1, p.count[side]),
					 p.count[side],
					 "interrupts of %s, both have wrapped, turn %u",
					 two_cpus_whose(cpu, side), turn);
		}
}

/*
 * MSR-27  With its AnyThread bit set a counter must count the events of all logical processors of
 *         its core.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3
 *
 * Given  both threads of a core run the same number of instructions at CPL 3, and both are there
 *        most of the time. So some of the sibling's instructions count, whether its own level or
 *        the counter's thread's level decides
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
	FOR_EACH_COUNTER (c, counters_gp().bits)
		if (any_thread_counts_despite_errata(t, c, COUNT_USR))
			CHECK_RANGE(t, MSR_27, own + SHARE, ~0ULL, window.side[0].value[c],
				    "IA32_PMC%u, AnyThread = 1: instructions at CPL 3, %lu of its "
				    "own and "
				    "as many of its sibling thread's",
				    c, own);
}
