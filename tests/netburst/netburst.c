/* SPDX-License-Identifier: MIT */
/*
 * Windows and threads of the NetBurst tests. The counters are shared. So while one thread measures,
 * the other thread must be in a state whose events the setting either doesn't count or counts
 * completely. HLT is the only state in which nothing ever counts.
 */
#include "tests/netburst/netburst.h"
#include "tests/frame/needs.h"

#include "kernel/interrupt/apic.h"
#include "kernel/processor/cpuid.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/machine/smp.h"
#include "kernel/processor/time.h"
#include "kernel/interrupt/user.h"

#define WINDOWS		3u
#define DEADLINE_MS	5000u
#define ASLEEP_US	2000u	/* from just before HLT into it: a host's time slice */
#define TIRED_US	10000u	/* from the end of its work to HLT: time slices */

unsigned netburst_thread(void)
{
	return cpuid_get(CPUID_INITIAL_APIC_ID) & 1;
}

u64 netburst_both(unsigned thread)
{
	return thread ? NETBURST_T1 : NETBURST_T0;
}

struct netburst_setting netburst_instructions(unsigned counter, u64 levels, u64 flags)
{
	return (struct netburst_setting){
		.counter = counter,
		.event = NB_EVENT_INSTR_RETIRED,
		.levels = levels,
		.flags = flags,
		.mask = NB_INSTR_RETIRED_NBOGUSNTAG | NB_INSTR_RETIRED_NBOGUSTAG,
	};
}

struct netburst_setting netburst_usual(unsigned counter, u64 levels, u64 flags)
{
	static const struct {
		enum netburst_event event;
		u32 mask;
	} usual[] = {
		{ NB_EVENT_GLOBAL_POWER_EVENTS, NB_GLOBAL_POWER_EVENTS_RUNNING },
		{ NB_EVENT_RETIRED_BRANCH_TYPE, NB_RETIRED_BRANCH_TYPE_CONDITIONAL },
		{ NB_EVENT_PACKED_SP_UOP, NB_PACKED_SP_UOP_ALL },
	};
	struct netburst_setting s = { .counter = counter, .levels = levels, .flags = flags };

	for (unsigned i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		s.event = usual[i].event;
		s.mask = usual[i].mask;
		if (netburst_escr_msr(counter, s.event))
			return s;
	}
	return netburst_instructions(counter, levels, flags);
}

u64 netburst_count_at(unsigned cpl, const struct netburst_setting *s, const struct workload *w,
		      u64 n)
{
	const struct workload_switch by = {
		.msr = netburst_cccr_msr(s->counter), .off = netburst_cccr(s),
		.on = netburst_cccr(s) | NB_CCCR_ENABLE,
	};

	netburst_program(s);
	netburst_write(s->counter, 0);
	netburst_beside(s, true);
	if (cpl) {
		msr_write(by.msr, by.on);
		workload_run_at_cpl(cpl, w, n);
		msr_write(by.msr, by.off);
	} else {
		workload_run_switched(w, n, &by);
	}
	netburst_beside(s, false);
	return netburst_read(s->counter);
}

u64 netburst_count(const struct netburst_setting *s, const struct workload *w, u64 n, bool user)
{
	return netburst_count_at(user ? 3 : 0, s, w, n);
}

static u64 median(u64 value[WINDOWS])
{
	for (unsigned i = 1; i < WINDOWS; i++)
		for (unsigned j = i; j && value[j - 1] > value[j]; j--) {
			u64 other = value[j];

			value[j] = value[j - 1];
			value[j - 1] = other;
		}
	return value[WINDOWS / 2];
}

u64 netburst_gain(const struct netburst_setting *s, const struct workload *w, bool user)
{
	u64 fewer[WINDOWS], more[WINDOWS];

	for (unsigned i = 0; i < WINDOWS; i++) {
		fewer[i] = netburst_count(s, w, NETBURST_FEWER, user);
		more[i] = netburst_count(s, w, NETBURST_MORE, user);
	}
	return median(more) - median(fewer);
}

u64 netburst_gain_once(const struct netburst_setting *s, const struct workload *w, bool user)
{
	u64 fewer = netburst_count(s, w, NETBURST_FEWER, user);

	return netburst_count(s, w, NETBURST_MORE, user) - fewer;
}

u64 netburst_declared(const struct workload *w, enum workload_count what)
{
	return workload_declared(w, what, NETBURST_MORE) -
	       workload_declared(w, what, NETBURST_FEWER);
}

/* State that the two threads share. */
static struct pair {
	void (*fn)(void *arg);
	void *arg;
	u32 waker;		/* local APIC id of the sleeping thread */
	volatile bool ready, done, woken, asleep;
} pair;

static void on_wake(struct trap_frame *frame)
{
	(void)frame;
	pair.woken = true;
	apic_eoi();
}

static void sleep_until_done(void)
{
	intr_disable();
	pair.asleep = true;
	while (!pair.done || !pair.woken)	/* the wake-up may come after the work */
		__asm__ volatile("sti; hlt; cli" ::: "memory");
	intr_enable();
}

static u64 spin_until_done(u64 arg)
{
	pair.ready = true;
	while (!pair.done)
		__asm__ volatile("pause");
	return arg;
}

static void be_busy(enum netburst_other how)
{
	if (how == NETBURST_IN_USR)
		user_call(spin_until_done, 0);
	else
		spin_until_done(0);
}

static void be_busy_in_os(void *arg)
{
	(void)arg;
	be_busy(NETBURST_IN_OS);
}

static void be_busy_in_usr(void *arg)
{
	(void)arg;
	be_busy(NETBURST_IN_USR);
}

static void wait_until_ready(void)
{
	while (!pair.ready)
		__asm__ volatile("pause");
}

static void work_beside_a_busy_one(void *arg)
{
	(void)arg;
	wait_until_ready();
	pair.fn(pair.arg);
	pair.done = true;
}

static bool sibling_is_asleep(void *arg)
{
	(void)arg;
	return smp_siblings_asleep();
}

static bool waker_is_asleep(void *arg)
{
	(void)arg;
	return pair.asleep;
}

static void wait_until_asleep(bool (*cond)(void *arg))
{
	wait_until(cond, NULL, TIRED_US);
	time_stall(ASLEEP_US);
}

static void work_beside_a_sleeper(void *arg)
{
	(void)arg;
	wait_until_asleep(waker_is_asleep);
	pair.fn(pair.arg);
	pair.done = true;
	apic_ipi(pair.waker, VECTOR_IPI);
}

static bool ended(struct test *t, unsigned cpu)
{
	struct guard_report report;

	return test_check_harness(t, smp_wait(cpu, &report) && report.outcome == GUARD_DONE, "done",
				  __FILE__, __LINE__,
				  "processor %u, the other thread, "
				  "ends what it was given",
				  cpu);
}

static bool started(struct test *t, unsigned cpu, void (*fn)(void *arg), void *arg)
{
	return test_check_harness(t, cpu && smp_start(cpu, fn, arg, DEADLINE_MS), "started",
				  __FILE__, __LINE__, "processor %u starts", cpu);
}

static bool run_here(struct test *t, enum netburst_other other, void (*fn)(void *arg), void *arg)
{
	unsigned cpu = smp_sibling();

	if (other == NETBURST_ASLEEP) {
		wait_until_asleep(sibling_is_asleep);
		fn(arg);
		return true;
	}
	if (!started(t, cpu, other == NETBURST_IN_USR ? be_busy_in_usr : be_busy_in_os, NULL))
		return false;
	wait_until_ready();
	fn(arg);
	pair.done = true;
	return ended(t, cpu);
}

static bool run_there(struct test *t, enum netburst_other other)
{
	bool asleep = other == NETBURST_ASLEEP, good;
	intr_handler before = intr_set_handler(VECTOR_IPI, on_wake);
	unsigned cpu = smp_sibling();

	good = started(t, cpu, asleep ? work_beside_a_sleeper : work_beside_a_busy_one, NULL);
	if (good && asleep)
		sleep_until_done();
	else if (good)
		be_busy(other);
	intr_set_handler(VECTOR_IPI, before);
	return good && ended(t, cpu);
}

bool netburst_run(struct test *t, unsigned thread, enum netburst_other other, void (*fn)(void *arg),
		  void *arg)
{
	pair = (struct pair){ .fn = fn, .arg = arg, .waker = apic_id() };
	return thread == netburst_thread() ? run_here(t, other, fn, arg) : run_there(t, other);
}

bool netburst_runs_on(unsigned thread)
{
	char reason[96];

	return thread == netburst_thread() ||
	       (cpu_index() == CPU_BOOT && need_sibling_thread(reason, sizeof(reason)));
}

static struct smp_barrier both_are_there;

static void begin_with_the_other(void *arg)
{
	smp_barrier_wait(&both_are_there);
	pair.fn(arg);
}

bool netburst_run_both(struct test *t, void (*const fn[2])(void *arg), void *const arg[2])
{
	unsigned here = netburst_thread(), cpu = smp_sibling();

	pair = (struct pair){ .fn = fn[!here] };
	both_are_there = (struct smp_barrier){ .count = 2 };
	if (!started(t, cpu, begin_with_the_other, arg[!here]))
		return false;
	smp_barrier_wait(&both_are_there);
	fn[here](arg[here]);
	return ended(t, cpu);
}
