/* SPDX-License-Identifier: MIT */
/*
 * A logical processor that waits or is halted, while its counters count the events of the core's
 * other logical processor: SDM "Architectural Performance Monitoring Version 3" (AnyThread counts
 * the events of all logical processors of the core; Figure 18-7 has a bit for each fixed counter),
 * volume 3A "Local Vector Table".
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/intr.h"
#include "kernel/processor/time.h"
#include "pmu/pmi.h"
#include "spec/event.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/two_cpus.h"

#define FEWER	40
#define MORE	140
/* Rounds of many cycles, for the slow clock of fixed counter 2 too. They take at least so many
 * cycles of each clock; fixed counter 1 or 2 is preset to wrap after half of these. */
#define LONG_ROUNDS	4000
#define STRICT_LONG_ROUNDS 400
#define LEAST_CYCLES(rounds) ((rounds) / 8)
#define UNTIL_WRAP(rounds) (LEAST_CYCLES(rounds) / 2)
#define NEVER	255	/* more instructions than any cycle has */
#define UNTIL_ASLEEP 50	/* us: more than the few instructions before HLT */
#define VECTOR_WAKE (VECTOR_IPI + 1)

/* One processor counts at CPL 3 but never runs there; the other one works at CPL 3. */
struct sleeper {
	struct two_cpus both;
	unsigned side;			/* the side that counts */
	bool halts;
	u64 flags, n;
	u32 sleeper_id;			/* local APIC id of that side */
	unsigned wrapping;		/* counter with INT; WINDOW_COUNTERS: none */
	u64 value[WINDOW_COUNTERS];
	unsigned interrupts[2];
};

static volatile bool woken;

static void on_wake(struct trap_frame *frame)
{
	(void)frame;
	woken = true;
	apic_eoi();
}

/* Sleep until the other processor's interrupt: a PMI alone doesn't end the sleep. */
static void sleep_until_over(void)
{
	intr_disable();
	while (!woken)
		__asm__ volatile("sti; hlt; cli" ::: "memory");
	intr_enable();
}

static void program_all(const struct sleeper *s)
{
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(counters_all().bits & BIT(c)))
			continue;
		counter_program(c, EVENT_INST_RETIRED_ANY_P,
				s->flags | (c == s->wrapping ? COUNT_INT : 0));
		counter_write(c, 0);
	}
	if (s->wrapping < WINDOW_COUNTERS)
		counter_preset(s->wrapping, s->wrapping > PMC_FIXED(0) ? UNTIL_WRAP(s->n) : PERIOD);
}

static void count_asleep(void *arg)
{
	struct sleeper *s = arg;
	const unsigned side = two_cpus_side();
	const bool sleeps = side == s->side;
	intr_handler before = intr_set_handler(VECTOR_WAKE, on_wake);

	pmi_open(NULL);
	if (sleeps) {
		s->sleeper_id = apic_id();
		woken = false;
		program_all(s);
	}
	two_cpus_barrier(&s->both);	/* one side's start isn't counted by the other */
	if (sleeps)
		counters_enable(counters_all());
	two_cpus_barrier(&s->both);
	if (sleeps && s->halts) {
		sleep_until_over();
	} else if (!sleeps) {
		time_stall(UNTIL_ASLEEP);
		workload_run_user(&workload_load, s->n);
		if (s->halts)
			apic_ipi(s->sleeper_id, VECTOR_WAKE);
	}
	two_cpus_barrier(&s->both);
	if (sleeps)
		counters_disable();
	/* What a side does then isn't counted by the other one. */
	two_cpus_barrier(&s->both);
	s->interrupts[side] = pmi_settle()->count;
	pmi_close();
	for (unsigned c = 0; sleeps && c < WINDOW_COUNTERS; c++)
		s->value[c] = counters_all().bits & BIT(c) ? counter_read(c) : 0;
	counter_reset();
	intr_set_handler(VECTOR_WAKE, before);
	two_cpus_barrier(&s->both);
}

static u64 long_rounds(const struct test *t)
{
	return test_rounds(t, STRICT_LONG_ROUNDS, LONG_ROUNDS);
}

static bool sleep_with(struct test *t, struct sleeper s, u64 flags, u64 n,
		       u64 value[WINDOW_COUNTERS])
{
	s.flags = flags;
	s.n = n;
	s.wrapping = WINDOW_COUNTERS;
	if (!two_cpus_run(t, &s.both, smp_sibling(), count_asleep, &s))
		return false;
	for (unsigned c = 0; c < WINDOW_COUNTERS; c++)
		value[c] = s.value[c];
	return true;
}

static u64 declared(u64 rounds)
{
	return workload_declared(&workload_load, WORKLOAD_INSTRUCTIONS, rounds);
}

/* Count cycles of the sibling by conditions. false: the test has ended. */
static bool check_conditions(struct test *t, struct sleeper s, const char *how)
{
	static const struct {
		u64 flags, least;
		const char *name;
	} rows[] = {
		{ COUNT_CMASK(1), 1, "CMASK = 1: cycles in which its sibling thread retires" },
		{ COUNT_CMASK(1) | COUNT_EDGE, 1, "CMASK = 1, E: its sibling begins to retire" },
		{ COUNT_CMASK(NEVER) | COUNT_INV, MORE / 8,
		  "CMASK = 255, INV: cycles of its sibling thread" },
	};
	u64 value[WINDOW_COUNTERS];

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!sleep_with(t, s, COUNT_USR | COUNT_ANY | rows[i].flags, MORE, value))
			return false;
		FOR_EACH_COUNTER (c, counters_gp().bits)
			if (any_thread_counts_despite_errata(t, c, COUNT_USR))
				CHECK_RANGE(t, CNT_47, rows[i].least, ~0ULL, value[c],
					    "IA32_PMC%u, %s, %s", c, how, rows[i].name);
	}
	return true;
}

static void check_asleep(struct test *t, bool halts)
{
	const char *how = halts ? "halted" : "waiting at CPL 0";
	const struct sleeper s = { .halts = halts };
	u64 few[WINDOW_COUNTERS], many[WINDOW_COUNTERS], cycles[WINDOW_COUNTERS];
	u64 own[WINDOW_COUNTERS], interrupting[WINDOW_COUNTERS];
	const u64 rounds = long_rounds(t);
	u64 more = declared(MORE) - declared(FEWER), slack = window_slack(t, PMC_FIXED(0));

	if (!sleep_with(t, s, COUNT_USR | COUNT_ANY, FEWER, few) ||
	    !sleep_with(t, s, COUNT_USR | COUNT_ANY, MORE, many) ||
	    !sleep_with(t, s, COUNT_USR | COUNT_ANY, rounds, cycles) ||
	    !sleep_with(t, s, COUNT_USR | COUNT_ANY | COUNT_INT, rounds, interrupting) ||
	    !sleep_with(t, s, COUNT_USR, rounds, own) || !check_conditions(t, s, how))
		return;
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		if (!any_thread_counts_despite_errata(t, c, COUNT_USR))
			continue;
		CHECK_EQ(t, CNT_47, more, many[c] - few[c],
			 "IA32_PMC%u, %s: instructions of 100 more rounds of its sibling thread", c,
			 how);
	}
	if (any_thread_counts_despite_errata(t, PMC_FIXED(0), COUNT_USR))
		CHECK_RANGE(t, MSR_39, more, more + 2 * slack,
			    many[PMC_FIXED(0)] - few[PMC_FIXED(0)] + slack,
			    "fixed counter 0, %s: instructions of 100 more rounds of its sibling "
			    "thread, and %lu",
			    how, slack);
	for (unsigned i = 1; i < 3; i++) {
		CHECK_RANGE(t, MSR_39, LEAST_CYCLES(rounds), ~0ULL, cycles[PMC_FIXED(i)],
			    "fixed counter %u, %s: cycles of %lu rounds of its sibling thread", i,
			    how, rounds);
		CHECK_RANGE(t, MSR_39, LEAST_CYCLES(rounds), ~0ULL, interrupting[PMC_FIXED(i)],
			    "fixed counter %u with its PMI bit, %s: cycles of %lu rounds of its "
			    "sibling thread",
			    i, how, rounds);
	}
	FOR_EACH_COUNTER (c, counters_gp().bits)
		CHECK_EQ(t, MSR_27, 0, own[c], "IA32_PMC%u without AnyThread, %s", c, how);
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask)
		CHECK_RANGE(t, MSR_39, 0, window_slack(t, PMC_FIXED(i)), own[PMC_FIXED(i)],
			    "fixed counter %u without AnyThread, %s", i, how);
}

/*
 * MSR-27  With its AnyThread bit set a counter must count the events of all logical processors of
 *         its core.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3
 * MSR-39  With its AnyThread bit set a fixed counter must count the events of all logical
 *         processors of its core, and without it its own alone.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3, Figure 18-7
 * CNT-47  The USR and OS bits of a counter with AnyThread must go by the privilege level of the
 *         logical processor that has the event.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3; 18.2.1.1 (USR, OS)
 *
 * Given  all counters of the first thread count at CPL 3, where it never is; its sibling works
 *        there
 * When   the first thread waits at CPL 0, and when it is halted
 * Then   AnyThread = 1: each counter of instructions counts those of 100 more rounds of the sibling
 *        AnyThread = 1, CMASK = 1: each general-purpose counter counts one cycle or more
 *        AnyThread = 1, CMASK = 1, E = 1: each general-purpose counter counts once or more
 *        AnyThread = 1, CMASK = 255, INV = 1: each general-purpose counter counts an eighth of the
 *        rounds or more
 *        AnyThread = 1, PMI bit 0 and 1: each fixed counter of cycles counts an eighth of the
 *        rounds or more
 *        AnyThread = 0: no counter counts anything
 *        By an erratum a fixed counter may count a few more or fewer
 */
TEST(count, each_counter_with_any_thread_counts_while_its_own_thread_is_halted,
     REQS(MSR_27, MSR_39, CNT_47),
     NEEDS(need_perfmon, need_instructions, need_fixed_0_to_2, need_any_thread,
	   need_sibling_thread))
{
	check_asleep(t, false);
	check_asleep(t, true);
}

/*
 * MSR-27  With its AnyThread bit set a counter must count the events of all logical processors of
 *         its core.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3
 * MSR-39  With its AnyThread bit set a fixed counter must count the events of all logical
 *         processors of its core, and without it its own alone.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3, Figure 18-7
 * CNT-47  The USR and OS bits of a counter with AnyThread must go by the privilege level of the
 *         logical processor that has the event.
 *         SDM 18.2.3 Architectural Performance Monitoring Version 3; 18.2.1.1 (USR, OS)
 *
 * Given  all counters of the second thread count at CPL 3, where it never is; its sibling works
 *        there
 * When   the second thread is halted, with AnyThread = 1 and with 0
 * Then   with 1 each counter of instructions counts one a round or more, and each fixed counter of
 *        cycles an eighth of that; with 0 none counts anything. By an erratum a fixed counter may
 *        count a few more or fewer
 */
TEST(count, each_counter_of_the_second_thread_with_any_thread_counts_while_it_is_halted,
     REQS(MSR_27, MSR_39, CNT_47),
     NEEDS(need_perfmon, need_instructions, need_fixed_0_to_2, need_any_thread,
	   need_sibling_thread))
{
	const struct sleeper s = { .side = 1, .halts = true };
	const u64 rounds = long_rounds(t);
	u64 any[WINDOW_COUNTERS], own[WINDOW_COUNTERS];

	if (!sleep_with(t, s, COUNT_USR | COUNT_ANY, rounds, any) ||
	    !sleep_with(t, s, COUNT_USR, rounds, own))
		return;
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		if (any_thread_counts_despite_errata(t, c, COUNT_USR))
			CHECK_RANGE(t, CNT_47, rounds, ~0ULL, any[c],
				    "IA32_PMC%u: instructions of %lu rounds of its sibling thread",
				    c, rounds);
		CHECK_EQ(t, MSR_27, 0, own[c], "IA32_PMC%u without AnyThread", c);
	}
	for (unsigned i = 0; i < 3; i++) {
		const unsigned c = PMC_FIXED(i);
		const u64 least = i ? LEAST_CYCLES(rounds) : rounds - window_slack(t, c);

		if (i || any_thread_counts_despite_errata(t, c, COUNT_USR))
			CHECK_RANGE(t, MSR_39, least, ~0ULL, any[c],
				    "fixed counter %u, of %lu rounds of its sibling thread", i,
				    rounds);
		CHECK_RANGE(t, MSR_39, 0, window_slack(t, c), own[c],
			    "fixed counter %u without AnyThread", i);
	}
}

/*
 * PMI-01  The overflow of a general-purpose counter whose INT bit is set must raise an interrupt
 *         through the local APIC's LVTPC.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 * PMI-02  The overflow of a fixed counter whose PMI bit is set must raise an interrupt through
 *         LVTPC.
 *         SDM 18.2.2 Architectural Performance Monitoring Version 2
 * PMI-22  The interrupt of a counter must go to the local APIC of the logical processor whose
 *         counter it is, and to no other.
 *         SDM volume 3A, Local Vector Table; 18.2 Architectural Performance Monitoring
 *
 * Given  a counter of the first thread with AnyThread and INT, each that counts instructions or
 *        cycles. The thread waits at CPL 0, or is halted; what wakes it at the end isn't a PMI
 * When   the counter overflows on an instruction or cycle of the sibling
 * Then   the first thread has one interrupt, and the sibling none. Where an erratum makes a fixed
 *        counter interrupt again, the first thread may have more
 */
TEST(pmi, overflow_of_a_counter_of_a_halted_thread_interrupts_it, REQS(PMI_01, PMI_02, PMI_22),
     NEEDS(need_perfmon, need_instructions, need_fixed_0_to_2, need_any_thread,
	   need_sibling_thread))
{
	const u64 counters = counters_gp().bits | BITS(PMC_FIXED(0), PMC_FIXED(2));

	for (unsigned c = 0; c < WINDOW_COUNTERS; c++) {
		if (!(counters & BIT(c)) || !any_thread_counts_despite_errata(t, c, COUNT_USR))
			continue;
		for (unsigned halts = 0; halts < 2; halts++) {
			struct sleeper s = {
				.halts = halts, .flags = COUNT_USR | COUNT_ANY,
				.n = c > PMC_FIXED(0) ? long_rounds(t) : MORE, .wrapping = c,
			};

			if (!two_cpus_run(t, &s.both, smp_sibling(), count_asleep, &s))
				return;
			if (PMC_IS_FIXED(c))
				CHECK_RANGE(t, PMI_02, 1,
					    overflow_allowed(t, 1 + overflow_extra(t, c),
							     s.interrupts[0]),
					    s.interrupts[0],
					    "interrupts of fixed counter %u's thread, halted = %u",
					    c - PMC_FIXED(0), halts);
			else
				CHECK_RANGE(t, PMI_01, 1, overflow_allowed(t, 1, s.interrupts[0]),
					    s.interrupts[0],
					    "interrupts of IA32_PMC%u's thread, halted = %u", c,
					    halts);
			CHECK_EQ(t, PMI_22, 0, s.interrupts[1], "interrupts of its sibling thread");
		}
	}
}
