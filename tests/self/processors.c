/* SPDX-License-Identifier: MIT */
/*
 * The self test of kernel/machine/smp.c: the other processors run the functions that they are
 * given, at both privilege levels, and an error on one of them doesn't affect the others.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/machine/smp.h"
#include "kernel/processor/time.h"
#include "kernel/interrupt/user.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"

#define DEADLINE_MS	2000u
#define TURN_MS		8000u	/* a barrier, on a host that has no time for both sides */
#define SHORT_MS	10u
#define ROUNDS		20u

/* In tests/measure/workload.asm. */
u64 selftest_cs(u64 arg);

struct visit {
	unsigned cpu;
	u64 kernel_cs, user_cs;
	u32 apic_id;
};

static void visit(void *arg)
{
	struct visit *v = arg;

	v->cpu = cpu_index();
	v->apic_id = apic_id();
	v->kernel_cs = selftest_cs(0);
	v->user_cs = user_call(selftest_cs, 0);
}

/* Run fn on cpu and say how that ended; false: it can't be told. */
static bool run_on(struct test *t, unsigned cpu, void (*fn)(void *arg), void *arg,
		   unsigned deadline_ms, struct guard_report *report)
{
	return HARNESS_CHECK(t, smp_start(cpu, fn, arg, deadline_ms), "processor %u starts", cpu) &&
	       HARNESS_CHECK(t, smp_wait(cpu, report), "processor %u is lost", cpu);
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  each processor but the first, at rest
 * When   it is started with a function that asks for its number, its local APIC id, and CS at CPL
 *        0 and 3
 * Then   the function ends; the number and the APIC id are that processor's; CS has RPL 0 and RPL
 *        3
 */
TEST(selftest, each_processor_runs_a_function_at_both_levels, NO_REQS, NEEDS(need_second_processor))
{
	for (unsigned cpu = 1; cpu < smp_count(); cpu++) {
		struct guard_report report;
		struct visit v = { .cpu = 0 };

		if (smp_is_left_out(cpu))
			continue;
		if (!run_on(t, cpu, visit, &v, DEADLINE_MS, &report))
			return;
		HARNESS_CHECK(t, report.outcome == GUARD_DONE, "outcome %u",
			      (unsigned)report.outcome);
		HARNESS_CHECK(t, v.cpu == cpu, "processor %u says it is %u", cpu, v.cpu);
		HARNESS_CHECK(t, v.apic_id == smp_apic_id(cpu) && v.apic_id != apic_id(),
			      "local APIC id %#x on processor %u", v.apic_id, cpu);
		HARNESS_CHECK(t, (v.kernel_cs & 3) == 0 && (v.user_cs & 3) == 3, "CS %#lx and %#lx",
			      v.kernel_cs, v.user_cs);
	}
}

struct turns {
	struct smp_barrier barrier;
	unsigned count;
	unsigned log[2 * ROUNDS];
};

/* One turn each, in the order of the processors. Where both are threads of a busy host's processor
 * a turn may take milliseconds: each that is through is progress. */
static void take_turns(void *arg)
{
	struct turns *turns = arg;

	for (unsigned i = 0; i < 2 * ROUNDS; i++) {
		guard_renew();
		smp_barrier_wait(&turns->barrier);
		if ((i & 1) == (cpu_index() != CPU_BOOT))
			turns->log[turns->count++] = cpu_index();
	}
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  two processors with a barrier between turns; where both are threads of a busy host's
 *        processor a turn may take milliseconds, so each turn counts as progress
 * When   in turn each adds its number to a log, ROUNDS times
 * Then   the log has 2 * ROUNDS entries, alternately of the first and the other processor
 */
TEST(selftest, barrier_holds_until_both_processors_have_come, NO_REQS, NEEDS(need_second_processor))
{
	static struct turns turns;
	struct guard_report report;
	unsigned cpu = smp_second(), wrong = 0;

	turns = (struct turns){ .barrier.count = 2 };
	if (!HARNESS_CHECK(t, smp_start(cpu, take_turns, &turns, TURN_MS), "processor %u starts",
			   cpu))
		return;
	take_turns(&turns);
	if (!HARNESS_CHECK(t, smp_wait(cpu, &report), "processor %u is lost", cpu))
		return;
	for (unsigned i = 0; i < turns.count; i++)
		if (turns.log[i] != (i & 1 ? cpu : CPU_BOOT))
			wrong++;
	HARNESS_CHECK(t, turns.count == 2 * ROUNDS && !wrong, "%u turns, %u out of turn",
		      turns.count, wrong);
}

#define STEPPING_MS	20u
#define STEPS_US	150000u		/* more than that and 100 ms, after which an NMI comes */
#define STEP_US		1000u
#define RENEW_TRIES	50u

/* *arg: for how long it went on, in microseconds. */
static void go_on_for_long(void *arg)
{
	volatile u64 *us = arg;
	u64 begin = tsc_read();

	while (*us < STEPS_US) {
		time_stall(STEP_US);
		guard_renew();
		*us = (tsc_read() - begin) / time_tsc_per_us;
	}
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  another processor with a deadline of STEPPING_MS
 * When   it works for longer than that, and says every STEP_US that it is making progress
 * Then   it ends by itself, or runs for longer than twice its deadline. A host that suspends it for
 *        longer makes the deadline end it, and the test tries again
 */
TEST(selftest, deadline_of_a_processor_counts_from_its_last_progress, NO_REQS,
     NEEDS(need_second_processor))
{
	static volatile u64 us;
	struct guard_report report;
	unsigned cpu = smp_second();
	bool beyond = false;

	for (unsigned i = 0; i < RENEW_TRIES && !beyond; i++) {
		us = 0;
		if (!run_on(t, cpu, go_on_for_long, (void *)&us, STEPPING_MS, &report))
			return;
		beyond = report.outcome == GUARD_DONE || us > 2 * STEPPING_MS * 1000;
	}
	HARNESS_CHECK(t, beyond, "outcome %u after %lu us", (unsigned)report.outcome, us);
}

static bool has_come(void *arg)
{
	return ((struct smp_barrier *)arg)->waiting == 1;
}

static void wait_in_vain(void *arg)
{
	smp_barrier_wait(arg);
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  another processor that waits at a barrier for two, as when a test ends by an exception
 *        here; deadly.exception_on_another_processor_ends_a_barrier is the reverse
 * When   the first processor settles all others, and doesn't go to the barrier
 * Then   no processor is lost, none has failed, and this takes less than half of the other one's
 *        deadline
 */
TEST(selftest, processor_at_a_barrier_is_freed_when_a_test_ends, NO_REQS,
     NEEDS(need_second_processor))
{
	static struct smp_barrier barrier;
	struct smp_settled settled;
	unsigned cpu = smp_second();
	u64 start;

	barrier = (struct smp_barrier){ .count = 2 };
	if (!HARNESS_CHECK(t, smp_start(cpu, wait_in_vain, &barrier, DEADLINE_MS),
			   "processor %u starts", cpu) ||
	    !HARNESS_CHECK(t, wait_until(has_come, &barrier, DEADLINE_MS * 1000),
			   "processor %u waits", cpu))
		return;
	start = tsc_read();
	settled = smp_settle();
	HARNESS_CHECK(t, !settled.lost && !settled.failed, "%u lost, %u failed", settled.lost,
		      settled.failed);
	HARNESS_CHECK(t, tsc_read() - start < time_tsc_per_us * DEADLINE_MS * 1000 / 2,
		      "%lu us to settle, the deadline is %u ms",
		      (tsc_read() - start) / time_tsc_per_us, DEADLINE_MS);
}

static void do_invalid(void *arg)
{
	(void)arg;
	__asm__ volatile("ud2");
}

static void do_hang(void *arg)
{
	(void)arg;
	for (;;)
		__asm__ volatile("pause");
}

static void do_hang_deaf(void *arg)
{
	intr_disable();
	do_hang(arg);
}

static void go_wrong_on(struct test *t, unsigned cpu)
{
	static const struct {
		const char *what;
		void (*fn)(void *arg);
		unsigned deadline_ms;
		enum guard_outcome outcome;
	} wrongs[] = {
		{ "#UD", do_invalid, DEADLINE_MS, GUARD_EXCEPTION },
		{ "a loop", do_hang, SHORT_MS, GUARD_DEADLINE },
		{ "a loop with interrupts off", do_hang_deaf, SHORT_MS, GUARD_DEADLINE },
	};

	for (unsigned i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		struct guard_report report;
		struct visit v = { .cpu = 0 };

		if (!run_on(t, cpu, wrongs[i].fn, NULL, wrongs[i].deadline_ms, &report))
			return;
		HARNESS_CHECK(t, report.outcome == wrongs[i].outcome, "%s: outcome %u",
			      wrongs[i].what, (unsigned)report.outcome);
		if (!run_on(t, cpu, visit, &v, DEADLINE_MS, &report))
			return;
		HARNESS_CHECK(t, v.cpu == cpu, "after %s processor %u is itself", wrongs[i].what,
			      cpu);
	}
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  a thread of this core, where there is one, and the last processor of all
 * When   it executes UD2; loops; loops with interrupts off
 * Then   the report names an exception, a deadline and a deadline, and after each the processor
 *        runs the next function
 */
TEST(selftest, exception_or_hang_on_a_processor_is_contained, NO_REQS, NEEDS(need_second_processor))
{
	unsigned last = smp_count() - 1;

	go_wrong_on(t, smp_second());
	if (last != smp_second() && smp_is_idle(last))
		go_wrong_on(t, last);
}
