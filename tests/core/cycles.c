/* SPDX-License-Identifier: MIT */
/*
 * Counts that depend on more than the program: cycles, the events that CPUID marks as absent, a
 * counter that is written while it counts. SDM "Pre-defined Architectural Performance Events".
 */
#include "kernel/interrupt/fault.h"
#include "pmu/lbr/any.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/mem_sample.h"
#include "tests/measure/window.h"

#define SOME	50
#define MANY	400
#define EACH	200	/* rounds with an event in each, or in many */
#define STRICT_EACH 50
#define WRITTEN	(1u << 20)
#define ON_THE_WAY 256	/* most instructions from a write to the write that stops counting */
#define ON_THE_WAY_CYCLES BIT(24)
#define WINDOWS	4
#define SWITCHING	16	/* most instructions that opening and closing a window add */
#define STALLS	100	/* loads from memory; each waits for the previous one */
/* Architectural events, by their bits of CPUID.0AH:EBX. KVM knows those up to 6: it passes the
 * later ones through, and they may count although they are absent. Those from 7 to 11 are of slots;
 * the way to CPL 3 and back has many. */
#define LAST_KNOWN_TO_KVM	6
#define LAST_WITH_KNOWN_CODE	7	/* one source has the codes of the later ones */
#define LAST_WITHOUT_SLOTS	6
#define CMASK_NEVER 255	/* no cycle retires so many instructions */

/* Table 18-1, and events 7 to 12 (KVM's selftests): bit of CPUID.0AH:EBX, event select and umask.
 */
static const struct {
	unsigned bit;
	u16 event;
	const char *name;
} architectural[] = {
	{ 0, EVENT_UNHALTED_CORE_CYCLES, "unhalted core cycles" },
	{ 1, EVENT_INST_RETIRED_ANY_P, "instructions retired" },
	{ 2, EVENT_UNHALTED_REF_CYCLES, "unhalted reference cycles" },
	{ 3, EVENT_LONGEST_LAT_CACHE_REFERENCE, "last-level cache references" },
	{ 4, EVENT_LONGEST_LAT_CACHE_MISS, "last-level cache misses" },
	{ 5, EVENT_BR_INST_RETIRED_ALL_BRANCHES, "branches retired" },
	{ 6, EVENT_BR_MISP_RETIRED_ALL_BRANCHES, "mispredicted branches" },
	{ 7, EVENT_TOPDOWN_SLOTS_P, "top-down slots" },
	{ 8, EVENT_TOPDOWN_BACKEND_BOUND, "top-down back-end bound" },
	{ 9, EVENT_TOPDOWN_BAD_SPECULATION, "top-down bad speculation" },
	{ 10, EVENT_TOPDOWN_FRONTEND_BOUND, "top-down front-end bound" },
	{ 11, EVENT_TOPDOWN_RETIRING, "top-down retiring" },
	{ 12, EVENT_LBR_INSERTS, "entries of the last branch records" },
};

/* Is the event counted over the branches? True for mispredicted branches and bad speculation; all
 * others are counted over the loads. */
static bool is_of_branches(unsigned i)
{
	return architectural[i].event == EVENT_BR_MISP_RETIRED_ALL_BRANCHES ||
	       architectural[i].event == EVENT_TOPDOWN_BAD_SPECULATION;
}

/* Count this event on these counters at once, with so many rounds of the work that causes
 * architectural event i. */
static void count_over_work_of(unsigned i, u16 event, struct pmc_mask counters, u64 level,
			       bool user, u64 rounds, struct cache_workload *h, u64 value[])
{
	const struct workload *w = is_of_branches(i) ? &workload_random : h->workload;

	FOR_EACH_COUNTER (c, counters.bits) {
		counter_program(c, event, level);
		counter_write(c, 0);
	}
	if (user) {
		counters_enable(counters);
		if (w == h->workload)
			workload_run_user_at(w, rounds, &h->at);
		else
			workload_run_user(w, rounds);
		counters_disable();
	} else if (w == h->workload) {
		cache_workload_run(h, rounds, counters);
	} else {
		workload_run(w, rounds, counters);
	}
	FOR_EACH_COUNTER (c, counters.bits) {
		value[c] = counter_read(c);
		counter_program_disabled(c, 0, 0);
	}
}

static u64 each_of(const struct test *t)
{
	return test_rounds(t, STRICT_EACH, EACH);
}

/* Count architectural event i on these counters at once, with the work that causes it. */
static void count_at_once(const struct test *t, unsigned i, struct pmc_mask counters, u64 level,
			  bool user, struct cache_workload *h, u64 value[])
{
	count_over_work_of(i, architectural[i].event, counters, level, user, each_of(t), h, value);
}

static u64 count_architectural(const struct test *t, unsigned i, unsigned c, u64 level,
			       struct cache_workload *h)
{
	u64 value[WINDOW_COUNTERS];

	count_at_once(t, i, pmc_one(c), level, false, h, value);
	return value[c];
}

/* LBR inserts are left out: requirement CNT-51 covers them. Events above LAST_WITH_KNOWN_CODE are
 * judged only where every requirement is. */
static bool is_judged(const struct test *t, unsigned i)
{
	return !(counter_caps()->events_absent & BIT(architectural[i].bit)) &&
	       (architectural[i].bit <= LAST_WITH_KNOWN_CODE || test_is_strict(t)) &&
	       architectural[i].event != EVENT_LBR_INSERTS;
}

/* Count this event over the work of architectural event i, and for LBR inserts with last branch
 * records on, where there are any. */
static u64 count_with_records(const struct test *t, unsigned i, u16 event, unsigned c,
			      struct cache_workload *h)
{
	const bool records = architectural[i].event == EVENT_LBR_INSERTS && lbr_any_depth();
	u64 value[WINDOW_COUNTERS];

	if (records) {
		lbr_any_open();
		msr_write(lbr_any_switch().msr, lbr_any_switch().on);
	}
	count_over_work_of(i, event, pmc_one(c), COUNT_BOTH, false, each_of(t), h, value);
	if (records) {
		msr_write(lbr_any_switch().msr, 0);
		lbr_any_close();
	}
	return value[c];
}

/*
 * CNT-24  An architectural event that CPUID.0AH:EBX marks as not available must count nothing.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events; KVM
 *
 * Given  the architectural events that CPUID.0AH:EBX, or CPUID.(23H,3):EAX where it is there, marks
 *        as absent. The manual doesn't say what a processor does with them, and KVM counts them,
 *        except in Linux 5.18 to 6.8. So this is judged on the reference PMU only
 * When   the last general-purpose counter counts each of them over work that would cause it: over
 *        a branch by unpredictable bits, or over loads each of which waits for memory
 * Then   it counts nothing
 * Control: over the same work the counter counts instructions, which are there
 */
TEST(count, event_that_cpuid_marks_absent_counts_nothing, REQS(CNT_24),
     NEEDS(need_perfmon, need_instructions))
{
	const struct pmu_caps *caps = counter_caps();
	/* A bit beyond the vector's length (EAX[31:24]) has no meaning. On a hybrid leaf 0AH marks
	 * an event that one of the core types doesn't have; CPUID.(23H,3) describes this core. */
	const u32 told = caps_absent_events(caps);
	unsigned absent = 0, last = counter_last();
	struct cache_workload h;

	if (!mem_sample_prepare(t, ACCESS_MEMORY, &h))
		return;
	for (unsigned i = 0; i < sizeof(architectural) / sizeof(architectural[0]); i++) {
		if (!(told & BIT(architectural[i].bit)) ||
		    (architectural[i].bit > LAST_KNOWN_TO_KVM && caps->hypervisor))
			continue;
		CONTROL_RANGE(t, CNT_24, 1, ~0ULL,
			      count_with_records(t, i, EVENT_INST_RETIRED_ANY_P, last, &h),
			      "instructions over the work of %s, IA32_PMC%u", architectural[i].name,
			      last);
		CHECK_EQ(t, CNT_24, 0, count_with_records(t, i, architectural[i].event, last, &h),
			 "%s, absent by bit %u of CPUID.0AH:EBX or (23H,3):EAX",
			 architectural[i].name, architectural[i].bit);
		absent++;
	}
	if (!absent)
		test_skip(t,
			  "no architectural event that is judged here is absent (CPUID.0AH:EBX = "
			  "%#x, EAX = %#x)",
			  caps->leaf_0a_ebx, caps->leaf_0a_eax);
}

/*
 * CNT-23  An architectural event that CPUID.0AH enumerates as available must count.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events
 *
 * Given  loads each of which waits for memory, and a branch by unpredictable bits
 * When   each general-purpose counter counts each architectural event that isn't marked as
 *        absent: mispredicted branches and bad speculation over the branches, all others over the
 *        loads, but LBR inserts, which CNT-51 is about; events above 7 only where every requirement
 *        is judged
 * Then   it counts 1 or more
 */
TEST(count, each_event_that_cpuid_marks_available_counts, REQS(CNT_23),
     NEEDS(need_perfmon, need_instructions))
{
	struct cache_workload h;

	if (!mem_sample_prepare(t, ACCESS_MEMORY, &h))
		return;
	for (unsigned i = 0; i < sizeof(architectural) / sizeof(architectural[0]); i++)
		FOR_EACH_COUNTER (c, is_judged(t, i) ? counters_gp().bits : 0)
			CHECK_RANGE(t, CNT_23, 1, ~0ULL,
				    count_architectural(t, i, c, COUNT_BOTH, &h),
				    "%s on IA32_PMC%u, available by CPUID.0AH:EBX[%u]",
				    architectural[i].name, c, architectural[i].bit);
}

/* The general-purpose counters that count at both levels. */
static struct pmc_mask counters_of_both_levels(struct test *t)
{
	struct pmc_mask counters = { 0 };

	FOR_EACH_COUNTER (c, counters_gp().bits)
		if (level_counts_despite_errata(t, c, COUNT_USR) &&
		    level_counts_despite_errata(t, c, COUNT_OS))
			counters.bits |= BIT(c);
	return counters;
}

static void check_event_at_levels(struct test *t, unsigned i, struct cache_workload *h)
{
	const struct pmc_mask counters = counters_of_both_levels(t);
	u64 usr_at_0[WINDOW_COUNTERS], os_at_0[WINDOW_COUNTERS];
	u64 usr_at_3[WINDOW_COUNTERS], os_at_3[WINDOW_COUNTERS];
	u64 more_usr[WINDOW_COUNTERS], more_os[WINDOW_COUNTERS];
	const u16 event = architectural[i].event;

	count_at_once(t, i, counters, COUNT_USR, false, h, usr_at_0);
	count_at_once(t, i, counters, COUNT_OS, false, h, os_at_0);
	count_at_once(t, i, counters, COUNT_USR, true, h, usr_at_3);
	count_at_once(t, i, counters, COUNT_OS, true, h, os_at_3);
	count_over_work_of(i, event, counters, COUNT_USR, true, 3 * each_of(t), h, more_usr);
	count_over_work_of(i, event, counters, COUNT_OS, true, 3 * each_of(t), h, more_os);
	FOR_EACH_COUNTER (c, counters.bits) {
		CHECK_EQ(t, CNT_10, 0, usr_at_0[c], "%s on IA32_PMC%u at CPL 0, USR alone",
			 architectural[i].name, c);
		CONTROL_RANGE(t, CNT_10, 1, ~0ULL, os_at_0[c],
			      "%s on IA32_PMC%u at CPL 0, OS alone", architectural[i].name, c);
		CHECK_RANGE(t, CNT_10, 1, ~0ULL, usr_at_3[c],
			    "%s on IA32_PMC%u at CPL 3, USR alone", architectural[i].name, c);
		if (architectural[i].bit <= LAST_WITHOUT_SLOTS)
			CHECK_RANGE(t, CNT_10, 0,
				    window_other_level_most(os_at_3[c], usr_at_3[c], more_usr[c]),
				    more_os[c],
				    "%s on IA32_PMC%u, OS alone, over %lu rounds at CPL 3; %lu had "
				    "%lu",
				    architectural[i].name, c, 3 * each_of(t), each_of(t),
				    os_at_3[c]);
	}
}

/*
 * CNT-10  A counter must count only at the privilege levels that its OS and USR bits select.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: USR, OS
 *
 * Given  the same work at CPL 0 and at CPL 3; each architectural event that isn't marked as absent,
 *        except LBR inserts; events above 7 only where every requirement is judged; all
 *        general-purpose counters at once
 * When   each counter counts it with USR alone; with OS alone
 * Then   at CPL 0 it counts 0 with USR. At CPL 3 it counts 1 or more with USR. With OS it counts
 *        there only the way to CPL 3 and back: over more work the counts of the events 0 to 6 grow
 *        by at most half of what they grow by with USR
 * Control: at CPL 0 it counts 1 or more with OS
 */
TEST(count, architectural_events_count_at_their_levels, REQS(CNT_10),
     NEEDS(need_perfmon, need_instructions))
{
	struct cache_workload h;

	if (!mem_sample_prepare(t, ACCESS_MEMORY, &h))
		return;
	for (unsigned i = 0; i < sizeof(architectural) / sizeof(architectural[0]); i++)
		if (is_judged(t, i))
			check_event_at_levels(t, i, &h);
}

/* Compare fixed counters 1 and 2 over one loop, at CPL 0 or 3. */
static void check_rate(struct test *t, bool user)
{
	enum { EDGE = 128 };	/* cycles: the step of a slow clock, and the start and the stop */
	const struct pmc_mask both = pmc_or(pmc_one(PMC_FIXED(1)), pmc_one(PMC_FIXED(2)));
	u64 cycles;

	for (unsigned i = 1; i < 3; i++) {
		counter_program(PMC_FIXED(i), 0, COUNT_BOTH);
		counter_write(PMC_FIXED(i), 0);
	}
	counters_enable(both);
	if (user)
		workload_run_user(&workload_load, 16 * SOME);
	else
		workload_run_uncounted(&workload_load, 16 * SOME);
	counters_disable();
	cycles = counter_read(PMC_FIXED(1));
	CHECK_RANGE(t, CNT_26, cycles < EDGE ? 0 : cycles - EDGE, cycles + EDGE,
		    counter_read(PMC_FIXED(2)), "reference cycles of %lu core cycles at CPL %u",
		    cycles, user ? 3 : 0);
}

/*
 * CNT-26  Fixed counter 2 must advance at a fixed rate while the core is not halted.
 *         SDM 18.2.1.2 Pre-defined Architectural Performance Events: UnHalted Reference Cycles
 *
 * Given  SOME rounds of loads, and sixteen times as many; the ratio of the reference clock to the
 *        core clock isn't known
 * When   fixed counter 2 counts both, four times; the least count of each is taken, because the
 *        first misses of caches and TLBs don't belong to the work
 * Then   the longer one counts more. In a strict run, whose reference clock is the core clock, the
 *        count of a loop at CPL 0 and at CPL 3 is that of fixed counter 1, within 128
 * Control: the longer one counts something
 */
TEST(count, fixed_counter_2_advances_with_time, REQS(CNT_26),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	u64 less = ~0ULL, more = ~0ULL, value;

	/* Take the minimum of several windows: first accesses to caches and TLBs take extra
	 * cycles. */
	for (unsigned i = 0; i < WINDOWS; i++) {
		if (!window_count_one(t, PMC_FIXED(2), 0, COUNT_BOTH, &workload_load, SOME, &value))
			return;
		less = value < less ? value : less;
		if (!window_count_one(t, PMC_FIXED(2), 0, COUNT_BOTH, &workload_load, 16 * SOME,
				      &value))
			return;
		more = value < more ? value : more;
	}
	CONTROL_RANGE(t, CNT_26, 1, ~0ULL, more, "reference cycles of 2400 instructions");
	CHECK_RANGE(t, CNT_26, less + 1, ~0ULL, more,
		    "reference cycles of 2400 instructions, against %lu of 150", less);
	for (unsigned user = 0; user < 2 && test_is_strict(t); user++)
		check_rate(t, user);
}

/*
 * CNT-37  With INV set and a CMASK that no cycle can reach a counter must count every unhalted
 *         core cycle.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: INV, CMASK
 *
 * Given  one window of MANY rounds, 1200 instructions with a load each three
 * When   IA32_PMC0 counts core cycles, IA32_PMC1 cycles of less than 255 instructions
 * Then   both are the same within a sixteenth and 16
 * Control: IA32_PMC0 counts MANY cycles or more
 */
TEST(count, inv_with_an_unreachable_cmask_counts_every_cycle, REQS(CNT_37),
     NEEDS(need_perfmon, need_instructions, need_cycles, need_two_counters))
{
	struct pmc_mask both = pmc_or(pmc_one(0), pmc_one(1));
	u64 cycles, below;

	counter_program(0, EVENT_UNHALTED_CORE_CYCLES, COUNT_BOTH);
	counter_program(1, EVENT_INST_RETIRED_ANY_P,
			COUNT_BOTH | COUNT_INV | COUNT_CMASK(CMASK_NEVER));
	counter_write(0, 0);
	counter_write(1, 0);
	workload_run(&workload_load, MANY, both);
	cycles = counter_read(0);
	below = counter_read(1);
	CONTROL_RANGE(t, CNT_37, MANY, ~0ULL, cycles,
		      "core cycles of 1200 instructions, a load each three");
	CHECK_RANGE(t, CNT_37, cycles - cycles / 16 - 16, cycles + cycles / 16 + 16, below,
		    "cycles with fewer than %u instructions, of %lu", CMASK_NEVER, cycles);
}

/* Loads from memory, each of which waits for the previous one, and settings for three counters, the
 * first one of which is the general-purpose counter `first` or a later one. */
struct waits {
	unsigned first;
	struct {
		u16 event;
		u64 flags;
	} set[3];
	u64 value[3], cycles, instructions; /* the last two from fixed counters */
	u64 declared;			    /* instructions, without those that start and stop */
	struct cache_workload h;
};

/* Counter n of those from `first` on, not counting the counter of load latency: with load latency
 * on it the source of each load is known. */
static unsigned nth_free(unsigned first, unsigned n, const struct mem_sample_setup *setup)
{
	for (unsigned i = 0; i <= n; i++)
		if (counter_from(first, i) == setup->counter)
			return counter_from(first, n + 1);
	return counter_from(first, n);
}

static bool count_waits(struct test *t, struct waits *w)
{
	struct mem_sample_setup setup = mem_sample_loads(t);
	struct pmc_mask on = pmc_or(pmc_one(PMC_FIXED(0)), pmc_one(PMC_FIXED(1)));

	if (!mem_sample_prepare(t, ACCESS_MEMORY, &w->h))
		return false;
	w->declared = workload_declared(w->h.workload, WORKLOAD_INSTRUCTIONS, STALLS);
	counter_program(PMC_FIXED(0), 0, COUNT_BOTH);
	counter_program(PMC_FIXED(1), 0, COUNT_BOTH);
	counter_write(PMC_FIXED(0), 0);
	counter_write(PMC_FIXED(1), 0);
	for (unsigned c = 0; c < 3; c++) {
		const unsigned counter = nth_free(w->first, c, &setup);

		counter_program(counter, w->set[c].event, w->set[c].flags | COUNT_BOTH);
		counter_write(counter, 0);
		on = pmc_or(on, pmc_one(counter));
	}
	mem_sample_arm(&setup, NEVER);
	cache_workload_run(&w->h, STALLS, pmc_or(on, pmc_one(setup.counter)));
	for (unsigned c = 0; c < 3; c++)
		w->value[c] = counter_read(nth_free(w->first, c, &setup));
	w->instructions = counter_read(PMC_FIXED(0));
	w->cycles = counter_read(PMC_FIXED(1));
	mem_sample_off(&setup);
	return true;
}

static u64 cycle_slack(const struct waits *w)
{
	return w->cycles / 16 + 16;
}

static void check_waits(struct test *t, unsigned first)
{
	struct waits w = {
		.first = first,
		.set[0] = { EVENT_INST_RETIRED_ANY_P, COUNT_CMASK(1) | COUNT_EDGE },
		.set[1] = { EVENT_INST_RETIRED_ANY_P, COUNT_CMASK(1) | COUNT_INV },
		.set[2] = { EVENT_INST_RETIRED_ANY_P, COUNT_CMASK(1) | COUNT_INV | COUNT_EDGE },
	};
	u64 most;

	if (!count_waits(t, &w))
		return;
	most = w.declared + SWITCHING + window_slack(t, PMC_FIXED(0));
	CONTROL_RANGE(t, CNT_08, w.declared, most, w.instructions, "instructions of %u fenced %s",
		      STALLS, w.h.name);
	CONTROL_RANGE(t, IDS(CNT_08, CNT_09), 2 * most + 1, ~0ULL, w.cycles,
		      "core cycles of %lu instructions", most);
	CHECK_RANGE(t, CNT_08, w.cycles - most - cycle_slack(&w), w.cycles + cycle_slack(&w),
		    w.value[1], "cycles without an instruction, of %lu, from IA32_PMC%u on",
		    w.cycles, first);
	CHECK_RANGE(t, CNT_09, STALLS, most, w.value[2],
		    "begins of cycles without an instruction, of %u loads from memory, from "
		    "IA32_PMC%u on",
		    STALLS, first);
	CHECK_RANGE(t, CNT_09, w.value[2] - 2, w.value[2] + 2, w.value[0],
		    "begins of cycles with an instruction, of %lu without, from IA32_PMC%u on",
		    w.value[2], first);
}

/*
 * CNT-08  With INV set and CMASK = n > 0 a counter must count the cycles in which fewer than n
 *         events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: INV
 * CNT-09  With the edge bit set a counter must count the deasserted to asserted transitions of its
 *         condition.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: E
 *
 * Given  STALLS loads from memory, each of which waits for the previous one. There are at most as
 *        many cycles with a retirement as there are instructions; in all others no instruction
 *        retires. Each load causes a wait, which ends with a retirement
 * When   of three counters the first one counts how often cycles of at least one instruction begin
 *        (E = 1, CMASK = 1), the second one cycles of less than one (INV = 1), and the third one
 *        how often these begin; each general-purpose counter in each place
 * Then   the second one counts the number of such cycles or more, and at most all cycles, within a
 *        sixteenth. The third one counts STALLS or more, and at most the number of instructions.
 *        The first one and the third one are the same except at the window's ends, because each end
 *        of one condition is a beginning of the other
 * Control: there are more than twice as many cycles as instructions, and these are those of the
 *          workload
 */
TEST(count, inv_counts_each_cycle_of_a_wait_and_edge_each_wait, REQS(CNT_08, CNT_09),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_instructions, need_fixed_0_to_2,
	   need_four_counters))
{
	FOR_EACH_COUNTER (c, counters_gp().bits)
		check_waits(t, c);
}

static void check_cycles_of_waits(struct test *t, unsigned first)
{
	struct waits w = {
		.first = first,
		.set[0] = { EVENT_UNHALTED_CORE_CYCLES, COUNT_CMASK(1) },
		.set[1] = { EVENT_UNHALTED_CORE_CYCLES, COUNT_CMASK(2) },
		.set[2] = { EVENT_UNHALTED_CORE_CYCLES, COUNT_CMASK(2) | COUNT_INV },
	};

	if (!count_waits(t, &w))
		return;
	CONTROL_RANGE(t, IDS(CNT_07, CNT_08), STALLS, ~0ULL, w.cycles,
		      "core cycles of %u fenced %s", STALLS, w.h.name);
	CHECK_RANGE(t, CNT_07, w.cycles - cycle_slack(&w), w.cycles + cycle_slack(&w), w.value[0],
		    "cycles with at least one core cycle, of %lu, from IA32_PMC%u on", w.cycles,
		    first);
	CHECK_EQ(t, CNT_07, 0, w.value[1],
		 "cycles with at least two core cycles, from IA32_PMC%u on", first);
	CHECK_RANGE(t, CNT_08, w.cycles - cycle_slack(&w), w.cycles + cycle_slack(&w), w.value[2],
		    "cycles with fewer than two core cycles, of %lu, from IA32_PMC%u on", w.cycles,
		    first);
}

/*
 * CNT-07  With CMASK = n > 0 a counter must count the cycles in which at least n events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: CMASK
 * CNT-08  With INV set and CMASK = n > 0 a counter must count the cycles in which fewer than n
 *         events occurred.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: INV
 *
 * Given  STALLS loads from memory, each of which waits for the previous one: instructions that take
 *        many cycles; each cycle is one event of core cycles
 * When   three counters count core cycles, with CMASK = 1, with CMASK = 2, and with CMASK = 2 and
 *        INV = 1; each general-purpose counter in each place
 * Then   the first and the third count all cycles, within a sixteenth, and the second one none
 * Control: there are cycles
 */
TEST(count, cmask_and_inv_compare_with_one_event_for_each_core_cycle, REQS(CNT_07, CNT_08),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_cycles, need_fixed_0_to_2,
	   need_four_counters))
{
	FOR_EACH_COUNTER (c, counters_gp().bits)
		check_cycles_of_waits(t, c);
}

/* Write this register while the counter counts instructions or cycles. */
static void check_running(struct test *t, unsigned counter, u32 msr, u64 written, u64 from)
{
	const u64 most = counter == PMC_FIXED(1) ? ON_THE_WAY_CYCLES : ON_THE_WAY;
	u64 meanwhile;

	counter_program(counter, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
	counter_write(counter, 0);
	counters_enable(pmc_one(counter));
	msr_write(msr, written);
	msr_read(MSR_IA32_PERF_GLOBAL_CTRL);	/* adds instructions */
	meanwhile = msr_read(msr);
	counters_disable();
	CHECK_RANGE(t, CNT_45, from + 1, from + most, meanwhile,
		    "MSR 0x%x of counter %u, while it counts and 0x%lx was written to it", msr,
		    counter, written);
	CHECK_RANGE(t, CNT_45, from + 1, from + most, counter_read(counter),
		    "counter %u, while it counted 0x%lx was written to MSR 0x%x", counter, written,
		    msr);
	counter_program_disabled(counter, 0, 0);
}

/*
 * CNT-45  A counter that is written while it counts must go on from the written value.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities: EN (must be 0
 *         before the counter is written)
 *
 * Given  each general-purpose counter and fixed counter 0 counts instructions, fixed counter 1
 *        cycles. On a processor the result is only reported, because software's write races with
 *        the counting
 * When   values with bits in each part of the width are written to it while it counts, through
 *        IA32_A_PMCx too where that exists; there are several instructions between this write and
 *        the one that stops the counter
 * Then   it reads more than the value, of instructions by no more than ON_THE_WAY: while it counts,
 *        through the register that was written, and after it has stopped. IA32_PMCx takes 32 bits,
 *        sign-extended
 */
TEST(count, running_counter_goes_on_from_a_written_value, REQS(CNT_45),
     NEEDS(need_perfmon, need_instructions))
{
	const struct pmu_caps *caps = counter_caps();
	const u64 gp = BIT(caps->gp_width) - 1, fixed = BIT(caps->fixed_width) - 1;
	static const u64 values[] = { WRITTEN, 0x92345678, 0x123492345678, 0xfedc12345678 };

	for (unsigned v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
		FOR_EACH_COUNTER (c, counters_gp().bits) {
			check_running(t, c, MSR_IA32_PMC0 + c, (u32)values[v],
				      (u64)(int64_t)(int32_t)values[v] & gp);
			if (caps->full_width)
				check_running(t, c, MSR_IA32_A_PMC0 + c, values[v] & gp,
					      values[v] & gp);
		}
		for (unsigned i = 0; i < caps->fixed && i < 2; i++)
			check_running(t, PMC_FIXED(i), MSR_IA32_FIXED_CTR0 + i, values[v] & fixed,
				      values[v] & fixed);
	}
}
