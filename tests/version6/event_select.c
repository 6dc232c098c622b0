/* SPDX-License-Identifier: MIT */
/* IA32_PERFEVTSELx[47:40], the second unit mask, and [36], the Equal flag: CPUID.(23H,0):EBX. */
#include "kernel/interrupt/fault.h"
#include "pmu/event.h"
#include "pmu/pebs.h"
#include "pmu/version6/arch_pebs.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/measure/window.h"
#include "tests/version6/version6.h"

#define COUNTERS	8u	/* the first: >= 1; the last: >= 7; the others: = 1 to 6 */
#define ROUNDS		512u
#define SLOTS_EVENT	7u	/* architectural event: top-down slots */
#define SLOTS		0x01a4u

static bool need_eight_counters(char *reason, size_t size)
{
	return need_equal(reason, size) &&
	       version6_need(counters_gp_number() >= COUNTERS, "eight counters", reason, size);
}

static void check_equal(struct test *t, u16 event, const struct workload *work, unsigned first)
{
	const u64 hidden = counter_caps()->v6.rdpmc_user_disable ?
				   IA32_PERFEVTSEL_RDPMC_USER_DISABLE :
				   0;
	u64 all, parts = 0;

	for (unsigned n = 0; n < COUNTERS; n++) {
		const unsigned c = counter_from(first, n);
		const bool equal = n && n < COUNTERS - 1;

		msr_write(MSR_IA32_PERFEVTSEL0 + c, event | COUNT_BOTH | IA32_PERFEVTSEL_EN |
							    COUNT_CMASK(n ? n : 1) | hidden |
							    (equal ? IA32_PERFEVTSEL_EQ : 0));
		counter_write(c, 0);
	}
	workload_run(work, ROUNDS, counters_gp());
	all = counter_read(first);
	for (unsigned n = 1; n < COUNTERS; n++)
		parts += counter_read(counter_from(first, n));
	CONTROL_RANGE(t, V6_09, 1, ~0ULL, all, "cycles with event %#x once or more, IA32_PMC%u",
		      event, first);
	CHECK_EQ(t, V6_09, all, parts,
		 "cycles with event %#x exactly 1 to 6 times, and 7 times or more, from IA32_PMC%u "
		 "on",
		 event, first);
	for (unsigned n = 0; n < COUNTERS; n++)
		counter_program_disabled(counter_from(first, n), 0, 0);
}

/* No cycle has so many instructions: bits 4 to 7 of CMASK are compared too. */
static void check_more_than_a_cycle_has(struct test *t, unsigned first)
{
	static const u8 cmasks[] = { 1, 0x11, 0x21, 0x41, 0x81 };

	for (unsigned n = 0; n < sizeof(cmasks); n++) {
		counter_program(counter_from(first, n), EVENT_INST_RETIRED_ANY_P,
				COUNT_BOTH | COUNT_CMASK(cmasks[n]) | (n ? IA32_PERFEVTSEL_EQ : 0));
		counter_write(counter_from(first, n), 0);
	}
	workload_run(&workload_load, ROUNDS, counters_gp());
	for (unsigned n = 0; n < sizeof(cmasks); n++) {
		const unsigned c = counter_from(first, n);

		if (n)
			CHECK_EQ(t, V6_09, 0, counter_read(c),
				 "cycles with exactly %u instructions, IA32_PMC%u", cmasks[n], c);
		else
			CONTROL_RANGE(t, V6_09, 1, ~0ULL, counter_read(c),
				      "cycles with an instruction, IA32_PMC%u", c);
		counter_program_disabled(c, 0, 0);
	}
}

/*
 * V6-09  With IA32_PERFEVTSELx[36] a counter with CMASK must count the cycles whose events are
 *        CMASK, not those with more.
 *        its name: Equal flag
 *
 * Given  eight counters of retired instructions, then of slots if that event is there, then of
 *        loads, two of an instruction, if all count them; CMASK = 1, CMASK = 1 to 6 with the Equal
 *        flag, CMASK = 7; each counter has each part in turn, and bit 37, RDPMC user disable, where
 *        that is there; then instructions and CMASK = 21H, 41H and 81H with the Equal flag
 * When   they count one window together
 * Then   cycles with exactly 1 to 6 and those with 7 or more add up to those with 1 or more; the
 *        last three count 0, as no cycle has so many instructions
 * Control: there are cycles with 1 or more
 */
TEST(version6, equal_flag_counts_cycles_with_exactly_cmask_events, REQS(V6_09),
     NEEDS(need_perfmon, need_eight_counters, need_instructions))
{
	const struct pmu_caps *caps = counter_caps();
	struct event loads;

	FOR_EACH_COUNTER (first, counters_gp().bits) {
		check_equal(t, EVENT_INST_RETIRED_ANY_P, &workload_load, first);
		check_more_than_a_cycle_has(t, first);
		/* Each cycle has several slots, if the event exists. */
		if (!(caps->events_absent & BIT(SLOTS_EVENT)))
			check_equal(t, SLOTS, &workload_load, first);
		if (event_get(EK_LOADS, 0, &loads) &&
		    !(counters_gp().bits & ~counters_for(loads.code).bits))
			check_equal(t, loads.code, &workload_kind_compare, first);
	}
}

static const struct {
	u32 generations;
	enum event_kind kind;
	u32 code;		/* 23:16: the second unit mask */
	u64 counters;
} rows[] = {
#define EVENT_UMASK2(gens, name, event, umask, umask2, kind, flags, counters, source) \
	{ gens, kind, EVENT2_##name, counters },
#include "spec/event.def"
};

/*
 * An event of far branches, or of taken conditional branches that go forward, by a second unit
 * mask: a loop has none of these. 0: no such event of this processor is known.
 */
static u32 branches_outside_loops(void)
{
	const struct generation *g = counter_caps()->generation;

	for (unsigned i = 0; g && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].generations & g->set &&
		    (rows[i].kind == EK_FAR_BRANCHES || rows[i].kind == EK_COND_TAKEN_FORWARD))
			return rows[i].code;
	return 0;
}

static bool need_branches_outside_loops(char *reason, size_t size)
{
	return version6_need(counter_caps()->v6.umask2 && branches_outside_loops(),
			     "event with a second unit mask that is known", reason, size);
}

static bool need_recording(char *reason, size_t size)
{
	return counter_caps()->arch_pebs || need_pebs(reason, size);
}

/*
 * V6-07  IA32_PERFEVTSELx[47:40] must be part of the event: with them another one is counted.
 *        intel/perfmon; Linux
 *
 * Given  an event that counts far branches, or taken conditional ones that go forward, with a
 *        second unit mask, and all branches without it; with CMASK = 0 and 1
 * When   a loop whose branches go backward runs, with 512 rounds and with 1024
 * Then   with the mask it counts none of them; with CMASK = 1 fewer than one in 32 rounds
 * Control: without it each one; with CMASK = 1 the cycles with any, at least one in sixteen rounds
 */
TEST(version6, second_unit_mask_is_part_of_the_event, REQS(V6_07),
     NEEDS(need_perfmon, need_branches_outside_loops, need_branches))
{
	const u64 mask = (u64)(branches_outside_loops() >> 16) << IA32_PERFEVTSEL_UMASK2_SHIFT;
	const u16 event = (u16)branches_outside_loops();

	for (unsigned cmask = 0; cmask < 2; cmask++) {
		const u64 flags = COUNT_BOTH | (u64)cmask << IA32_PERFEVTSEL_CMASK_SHIFT;
		/* Cycles aren't the same in each window. */
		const unsigned slack = cmask && !test_is_strict(t) ? ROUNDS / 32 : 0;

		FOR_EACH_COUNTER (c, counter_caps()->gp_mask) {
			u64 value;

			if (!window_difference_one(t, c, event, flags, &workload_load, ROUNDS,
						   2 * ROUNDS, &value))
				return;
			CONTROL_RANGE(t, V6_07, cmask ? ROUNDS / 16 : ROUNDS, ROUNDS + slack, value,
				      "branches, IA32_PMC%u, event %#x, CMASK %u", c, event, cmask);
			if (!window_difference_one(t, c, event, flags | mask, &workload_load,
						   ROUNDS, 2 * ROUNDS, &value))
				return;
			CHECK_RANGE(t, V6_07, slack, 3 * slack, value + 2 * slack,
				    "branches that aren't the loop's, and %u, IA32_PMC%u, UMASK2 "
				    "%#lx, CMASK %u",
				    2 * slack, c, mask >> IA32_PERFEVTSEL_UMASK2_SHIFT, cmask);
		}
	}
}

/* The least and most count of such an event in a window; 0 and 0: no such event. */
struct expected {
	u64 least, most, value;
	const char *of;
};

/* One far branch enters CPL 3 and another one leaves it; a loop has none. */
static bool far_branches(struct test *t, unsigned counter, u64 mask, u16 event, struct expected *e)
{
	(void)t;
	*e = (struct expected){ .least = 1, .most = ROUNDS / 2, .of = "far branches" };
	counter_program(counter, event, COUNT_BOTH | mask);
	counter_write(counter, 0);
	counters_enable(pmc_one(counter));
	workload_run_user(&workload_load, ROUNDS);
	counters_disable();
	e->value = counter_read(counter);
	counter_program_disabled(counter, 0, 0);
	return true;
}

/* Half of the random branches are taken; they go forward. */
static bool forward_branches(struct test *t, unsigned counter, u64 mask, u16 event,
			     struct expected *e)
{
	*e = (struct expected){ .least = ROUNDS / 8, .most = ROUNDS - ROUNDS / 8,
				.of = "taken conditional branches that go forward" };
	return window_difference_one(t, counter, event, COUNT_BOTH | mask, &workload_random, ROUNDS,
				     2 * ROUNDS, &e->value);
}

/* A round has three branches, two of them conditional; the loop's branch is taken. */
static bool conditional_branches(struct test *t, unsigned counter, u64 mask, u16 event, u64 each,
				 struct expected *e)
{
	*e = (struct expected){ .least = each * ROUNDS, .most = each * ROUNDS,
				.of = "conditional branches" };
	return window_difference_one(t, counter, event, COUNT_BOTH | mask, &workload_branch, ROUNDS,
				     2 * ROUNDS, &e->value);
}

/* Each round loads a line that stays in L1. */
static bool hits(struct test *t, unsigned counter, u64 mask, u16 event, struct expected *e)
{
	*e = (struct expected){ .least = ROUNDS - ROUNDS / 8, .most = ROUNDS + ROUNDS / 8,
				.of = "loads that hit L1" };
	return window_difference_one(t, counter, event, COUNT_BOTH | mask, &workload_load, ROUNDS,
				     2 * ROUNDS, &e->value);
}

/* false: the event isn't one of these kinds, or no window could be measured. */
static bool count_kind(struct test *t, unsigned counter, enum event_kind kind, u32 code,
		       struct expected *e)
{
	const u64 mask = (u64)(code >> 16) << IA32_PERFEVTSEL_UMASK2_SHIFT;
	const u16 event = (u16)code;

	switch (kind) {
	case EK_FAR_BRANCHES:
		return far_branches(t, counter, mask, event, e);
	case EK_COND_TAKEN_FORWARD:
		return forward_branches(t, counter, mask, event, e);
	case EK_COND_BRANCHES:
		return conditional_branches(t, counter, mask, event, 2, e);
	case EK_COND_TAKEN:
		return conditional_branches(t, counter, mask, event, 1, e);
	case EK_L1_HIT:
		return hits(t, counter, mask, event, e);
	default:
		return false;
	}
}

/*
 * V6-07  IA32_PERFEVTSELx[47:40] must be part of the event: with them another one is counted.
 *        intel/perfmon; Linux
 *
 * Given  each general-purpose counter with each event that has a second unit mask on this
 *        processor: far branches, conditional ones, taken ones of these, those that go forward,
 *        hits of L1
 * When   a loop runs at CPL 3; loops with a random branch, with two conditional branches a round,
 *        and with a load of one line run 512 rounds and 1024
 * Then   far branches are counted, fewer than half of the rounds; of the random branches between
 *        one in eight and seven in eight; in each round of the next loop two branches, one of them
 *        taken; of the last loop one hit a round, within an eighth
 */
TEST(version6, event_with_a_second_unit_mask_counts_what_it_names, REQS(V6_07),
     NEEDS(need_perfmon, need_branches_outside_loops, need_branches))
{
	const struct generation *g = counter_caps()->generation;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct expected e;

		if (!(rows[i].generations & g->set))
			continue;
		FOR_EACH_COUNTER (c, counter_caps()->gp_mask & rows[i].counters)
			if (count_kind(t, c, rows[i].kind, rows[i].code, &e))
				CHECK_RANGE(t, V6_07, e.least, e.most, e.value,
					    "%s, IA32_PMC%u, event %#x with UMASK2 %#x", e.of, c,
					    (u16)rows[i].code, rows[i].code >> 16);
	}
}

/* Does a counter of that event make any record for a loop's branches? */
static bool records_loop(unsigned counter, u16 event, u64 flags)
{
	const struct ds_setup setup = sampling_setup(1);
	bool any;

	if (counter_caps()->arch_pebs) {
		arch_pebs_open(0, ARCH_PEBS_NEVER);
		arch_pebs_arm(counter, event, flags, PERIOD, 0, NEVER);
		workload_run(&workload_load, ROUNDS, pmc_one(counter));
		any = arch_pebs_written();
		arch_pebs_close();
	} else {
		ds_open(&setup);
		pebs_arm(counter, event, flags, PERIOD);
		workload_run(&workload_load, ROUNDS, pmc_one(counter));
		pebs_disarm();
		any = ds_records();
		ds_close();
	}
	counter_program_disabled(counter, 0, 0);
	return any;
}

/*
 * V6-07  IA32_PERFEVTSELx[47:40] must be part of the event: with them another one is counted.
 *        intel/perfmon; Linux
 *
 * Given  each general-purpose counter that can record, with an event that counts far branches, or
 *        taken conditional ones that go forward, and with all branches: with a second unit mask,
 *        and without it
 * When   a loop whose branches go backward runs 512 rounds, and the period is 64
 * Then   with the mask there is no record
 * Control: without it there is one
 */
TEST(version6, second_unit_mask_is_part_of_the_event_that_is_recorded, REQS(V6_07),
     NEEDS(need_perfmon, need_branches_outside_loops, need_branches, need_recording))
{
	const u64 mask = (u64)(branches_outside_loops() >> 16) << IA32_PERFEVTSEL_UMASK2_SHIFT;
	const u16 event = (u16)branches_outside_loops();
	const struct pmu_caps *caps = counter_caps();

	FOR_EACH_COUNTER (c, caps->gp_mask & (caps->arch_pebs ? caps->v6.pebs : ~0ULL)) {
		if (!CONTROL(t, V6_07, records_loop(c, event, COUNT_BOTH),
			     "branches are recorded, IA32_PMC%u, event %#x", c, event))
			continue;
		CHECK(t, V6_07, !records_loop(c, event, COUNT_BOTH | mask),
		      "branches that aren't the loop's are recorded, IA32_PMC%u, UMASK2 %#lx", c,
		      mask >> IA32_PERFEVTSEL_UMASK2_SHIFT);
	}
}
