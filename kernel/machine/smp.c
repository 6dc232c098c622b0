/* SPDX-License-Identifier: MIT */
/*
 * There is one slot for each processor. Only one side changes it at a time: the first processor
 * changes IDLE to WORK and DONE to IDLE, the other processor makes all other changes. VECTOR_IPI
 * wakes a sleeping processor. STI blocks this interrupt until HLT has begun, so that no wake-up is
 * lost between the check and HLT. If a processor sees its work before the interrupt arrives, it
 * waits for the interrupt, which mustn't arrive during a measurement. A wake-up without effect is
 * sent again. No processor uses another one's TSC, because TSCs may differ by hours.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/processor/cpu.h"
#include "kernel/processor/cpuid.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/guard_internal.h"
#include "kernel/interrupt/intr.h"
#include "kernel/machine/machine.h"
#include "kernel/machine/smp.h"
#include "kernel/memory/stack.h"
#include "kernel/machine/startup.h"
#include "kernel/processor/time.h"
#include "spec/generation.h"
#include "spec/msr.h"

#define WAKE_US		100000	/* after so long without an effect a wake-up is sent again, */
#define WAKES		50u	/* at most so often */
#define LATE_US		100000	/* after its deadline a processor is ended by NMI */
#define KICK_US		100000	/* time for it to leave its code after the NMI */
#define KICKS		10u	/* under a hypervisor the processor may not run for a while */
#define INIT_US		10000	/* "MP Initialization Protocol": INIT, 10 ms, SIPI, SIPI */
#define STARTUP_US	1000000
#define STARTUPS	2u
#define LOOK_US		3000000	/* interval in which a sleeper checks the first processor */
#define OVERDUE_US	3000000	/* after the second deadline */

/* LEAVING: on its way back to the firmware. LEFT_OUT: it hasn't arrived in time, and will not be
 * used. */
enum state { AWAY, IDLE, WORK, DONE, LEAVE, LEAVING, LOST, LEFT_OUT };

static struct slot {
	volatile u32 state;
	u32 apic_id;
	bool has_topology;
	struct topology topology;
	unsigned number;
	void (*fn)(void *arg);
	void *arg;
	unsigned deadline_ms;
	bool has_run, has_tsc_adjust;
	u64 tsc_adjust;
	volatile bool woken, asleep;
	volatile bool begun;		/* the function to run in state WORK */
	struct guard_watch first;	/* its view of the first processor's guard */
	volatile bool wake_first;	/* wake the first processor, which sleeps until the end */
	struct guard_report report;
} slots[CPU_MAX];

static enum state state_of(unsigned cpu)
{
	return (enum state)__atomic_load_n(&slots[cpu].state, __ATOMIC_ACQUIRE);
}

static void set_state(unsigned cpu, enum state state)
{
	__atomic_store_n(&slots[cpu].state, (u32)state, __ATOMIC_RELEASE);
}

static void on_wake(struct trap_frame *frame)
{
	(void)frame;
	slots[cpu_index()].woken = true;
	apic_eoi();
}

/* false: the processor is in another state. */
static bool change_state(unsigned cpu, enum state from, enum state to)
{
	u32 expected = (u32)from;

	return __atomic_compare_exchange_n(&slots[cpu].state, &expected, (u32)to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static volatile unsigned starting;	/* the processor that is being restarted */
static unsigned lost;			/* the last processor that was lost; 0: none */
static bool settling;			/* no processor may wait at a barrier any more */

static struct topology topology_by(u32 initial_apic_id, u32 x2apic_id)
{
	const struct topology_cpuid cpuid = {
		.htt = cpuid_get(CPUID_HTT),
		.logical_processors = cpuid_get(CPUID_LOGICAL_PROCESSORS),
		.initial_apic_id = initial_apic_id,
		.cores = cpuid_get(CPUID_CORES),
		.level = {
			{ cpuid_get(CPUID_LEVEL0_SHIFT), cpuid_get(CPUID_LEVEL0_PROCESSORS),
			  cpuid_get(CPUID_LEVEL0_TYPE) },
			{ cpuid_get(CPUID_LEVEL1_SHIFT), cpuid_get(CPUID_LEVEL1_PROCESSORS),
			  cpuid_get(CPUID_LEVEL1_TYPE) },
		},
		.x2apic_id = x2apic_id,
	};

	return topology_of(&cpuid);
}

static struct topology topology_read(void)
{
	struct topology here = topology_by((u32)cpuid_get(CPUID_INITIAL_APIC_ID),
					   (u32)cpuid_get(CPUID_X2APIC_ID));

	here.kind = (u32)(cpuid_get(CPUID_CORE_TYPE) << CORE_TYPE_SHIFT |
			  cpuid_get(CPUID_NATIVE_MODEL));
	return here;
}

/* The topology of this borrowed processor. It is read once, because that takes twenty CPUIDs, and
 * in a guest each is an exit. */
static const struct topology *topology_here(void)
{
	struct slot *slot = &slots[cpu_index()];

	if (!slot->has_topology)
		slot->topology = topology_read();
	slot->has_topology = true;
	return &slot->topology;
}

struct topology smp_topology_of(u32 id)
{
	return topology_by(id, id);
}

/* End the code that hangs there by up to KICKS NMIs, KICK_US apart. true: the guard there has ended
 * it or sees progress, or nothing runs there. */
static bool end_by_nmi(unsigned cpu)
{
	struct guard_watch watch = { .begun = false };

	guard_is_overdue(&watch, cpu, 0);
	for (unsigned i = 0; i < KICKS; i++) {
		const struct guard_watch before = watch;

		if (!guard_kick(cpu, slots[cpu].apic_id))
			return true;
		time_stall(KICK_US);
		guard_is_overdue(&watch, cpu, 0);
		if (watch.since != before.since)
			return true;
	}
	return false;
}

/* If the first processor hangs: the first sleeper that notices it sends an NMI, for a first
 * processor without HPET, and ends the machine if that doesn't help. The other processors needn't
 * do anything. */
static void look_after_first(unsigned cpu)
{
	static bool seen;

	if (!guard_is_overdue(&slots[cpu].first, CPU_BOOT, OVERDUE_US) ||
	    !slots[cpu].first.running || __atomic_exchange_n(&seen, true, __ATOMIC_ACQUIRE))
		return;
	if (!end_by_nmi(CPU_BOOT))
		guard_give_up();
	__atomic_store_n(&seen, false, __ATOMIC_RELEASE);
}

static void on_look(struct trap_frame *frame)
{
	(void)frame;
	apic_eoi();
	look_after_first(cpu_index());
	apic_timer_start(time_deadline(LOOK_US));
}

/* Interrupts are disabled before and after this. */
static void sleep(unsigned cpu)
{
	intr_set_handler(VECTOR_IPI, on_wake);
	intr_set_handler(VECTOR_TIMER, on_look);
	apic_timer_start(time_deadline(LOOK_US));
	slots[cpu].woken = false;
	slots[cpu].asleep = true;
	while (state_of(cpu) == IDLE || !slots[cpu].woken)
		__asm__ volatile("sti; hlt; cli" ::: "memory");
	slots[cpu].woken = slots[cpu].asleep = false;
	apic_timer_stop();
}

/* The work is done; wait until the first processor has seen this. */
static void fall_back(unsigned cpu)
{
	u64 again = time_deadline(0);

	set_state(cpu, DONE);
	while (state_of(cpu) == DONE) {
		if (slots[cpu].wake_first && time_expired(again)) {
			apic_ipi(slots[CPU_BOOT].apic_id, VECTOR_IPI);
			again = time_deadline(WAKE_US);
		}
		look_after_first(cpu);
	}
}

void smp_serve(unsigned cpu)
{
	struct slot *slot = &slots[cpu];

	if (state_of(cpu) == LEFT_OUT)
		return;
	machine_borrow_cpu(cpu);
	slot->apic_id = apic_id();
	slot->has_topology = false;	/* another processor may have used the slot */
	(void)topology_here();
	slot->has_tsc_adjust = cpuid_get(CPUID_TSC_ADJUST);
	if (slot->has_tsc_adjust)
		slot->tsc_adjust = msr_read(MSR_IA32_TSC_ADJUST);
	if (!change_state(cpu, AWAY, IDLE)) {
		machine_return_cpu();
		return;
	}
	for (;;) {
		sleep(cpu);
		if (change_state(cpu, LEAVE, LEAVING))
			break;
		slot->begun = true;
		slot->report = guard_run(slot->fn, slot->arg, slot->deadline_ms);
		fall_back(cpu);
	}
	machine_return_cpu();
	set_state(cpu, AWAY);
}

void smp_prepare(void)
{
	struct slot *first = &slots[CPU_BOOT];

	first->apic_id = apic_id();
	first->has_tsc_adjust = cpuid_get(CPUID_TSC_ADJUST);
	if (first->has_tsc_adjust)
		first->tsc_adjust = msr_read(MSR_IA32_TSC_ADJUST);
}

bool smp_leave_out(unsigned cpu)
{
	return change_state(cpu, AWAY, LEFT_OUT);
}

bool smp_tsc_adjust(unsigned cpu, u64 *value)
{
	*value = slots[cpu].tsc_adjust;
	return slots[cpu].has_tsc_adjust;
}

bool smp_is_idle(unsigned cpu)
{
	return state_of(cpu) == IDLE;
}

bool smp_is_left_out(unsigned cpu)
{
	return state_of(cpu) == LEFT_OUT;
}

bool smp_is_lost(unsigned cpu)
{
	return state_of(cpu) == LOST;
}

static bool is_idle(void *arg)
{
	return smp_is_idle(*(unsigned *)arg);
}

bool smp_wait_idle(unsigned cpu, u64 us)
{
	return wait_until(is_idle, &cpu, us);
}

unsigned smp_count(void)
{
	unsigned count = 1;

	for (unsigned i = 1; i < CPU_MAX; i++)
		if (state_of(i) != AWAY && !smp_is_left_out(i))
			count = i + 1;
	return count;
}

unsigned smp_second(void)
{
	for (unsigned i = 1; i < CPU_MAX; i++)
		if (smp_is_idle(i))
			return i;
	return 0;
}

/* A processor of the first one's kind, or of another kind. */
static unsigned smp_find(bool same_core, bool same_kind)
{
	const struct topology *first = topology_here();

	for (unsigned i = 1; i < CPU_MAX; i++)
		if (smp_is_idle(i) && topology_same_core(first, &slots[i].topology) == same_core &&
		    topology_same_kind(first, &slots[i].topology) == same_kind)
			return i;
	return 0;
}

unsigned smp_sibling(void)
{
	return smp_find(true, true);
}

unsigned smp_other_core(void)
{
	return smp_find(false, true);
}

unsigned smp_other_kind(void)
{
	unsigned cpu = smp_find(false, false);

	return cpu ? cpu : smp_find(true, false);
}

bool smp_siblings_asleep(void)
{
	const struct topology *own = topology_here();
	unsigned self = cpu_index();

	for (unsigned i = 0; i < CPU_MAX; i++) {
		bool ours = i == CPU_BOOT || smp_is_idle(i) || state_of(i) == WORK ||
			    state_of(i) == DONE;

		if (i != self && ours && !slots[i].asleep &&
		    topology_same_core(own, &slots[i].topology))
			return false;
	}
	return true;
}

void smp_set_number(unsigned cpu, unsigned number)
{
	slots[cpu].number = number;
}

unsigned smp_number(unsigned cpu)
{
	return slots[cpu].number;
}

struct topology smp_topology(unsigned cpu)
{
	return cpu == CPU_BOOT ? topology_read() : slots[cpu].topology;
}

u32 smp_apic_id(unsigned cpu)
{
	return cpu == CPU_BOOT ? apic_id() : slots[cpu].apic_id;
}

bool smp_start(unsigned cpu, void (*fn)(void *arg), void *arg, unsigned deadline_ms)
{
	struct slot *slot = &slots[cpu];

	if (!smp_is_idle(cpu))
		return false;
	slot->fn = fn;
	slot->arg = arg;
	slot->deadline_ms = deadline_ms;
	slot->has_run = true;
	slot->begun = false;
	set_state(cpu, WORK);
	apic_ipi(slot->apic_id, VECTOR_IPI);
	return true;
}

static bool is_done(void *arg)
{
	return state_of(*(unsigned *)arg) == DONE;
}

static void on_timer(struct trap_frame *frame)
{
	(void)frame;
	apic_eoi();
}

bool smp_run(unsigned cpu, void (*fn)(void *arg), void *arg, unsigned deadline_ms,
	     struct guard_report *report)
{
	u64 deadline = time_deadline((u64)deadline_ms * 1000 + LATE_US);
	struct slot *first = &slots[CPU_BOOT];

	if (!smp_is_idle(cpu))
		return false;
	(void)topology_here();
	first->woken = false;
	slots[cpu].wake_first = true;
	intr_set_handler(VECTOR_IPI, on_wake);
	intr_set_handler(VECTOR_TIMER, on_timer);
	smp_start(cpu, fn, arg, deadline_ms);
	first->asleep = true;
	while (!first->woken && !time_expired(deadline)) {
		apic_timer_start(deadline);
		__asm__ volatile("sti; hlt; cli" ::: "memory");
	}
	first->asleep = false;
	apic_timer_stop();
	slots[cpu].wake_first = false;
	return smp_wait(cpu, report);
}

/* Called by kernel/machine/startup.asm on the processor that an INIT has reset. The caller of its
 * guard is still on the stack from the firmware. */
_Noreturn void smp_restarted(void);
_Noreturn void smp_restarted(void)
{
	machine_resume_cpu(starting);
	guard_restarted();
	for (;;)		/* until the INIT that stops a lost processor */
		__asm__ volatile("cli; hlt");
}

/* It has begun but isn't in a guard: it is about to enter one or to reach DONE, and after an INIT
 * it would have no place to go back to. */
static bool is_between(unsigned cpu)
{
	struct guard_watch watch = { .begun = false };

	guard_is_overdue(&watch, cpu, 0);
	return slots[cpu].begun && !watch.running;
}

/* End the code there by INIT, and let the processor continue after it. */
static bool restart(unsigned cpu)
{
	struct slot *slot = &slots[cpu];
	bool done = is_between(cpu) && wait_until(is_done, &cpu, STARTUP_US);

	if (done)
		return true;
	apic_init_ipi(slot->apic_id);
	if (!startup_vector() || !slot->begun)
		return false;
	starting = cpu;
	startup_stack = stack_top_of(cpu, STACK_GUARD);
	time_stall(INIT_US);
	for (unsigned i = 0; !done && i < STARTUPS; i++) {
		apic_startup_ipi(slot->apic_id, startup_vector());
		done = wait_until(is_done, &cpu, STARTUP_US);
	}
	if (!done)
		apic_init_ipi(slot->apic_id);
	return done;
}

static bool has_begun(void *arg)
{
	return slots[*(unsigned *)arg].begun;
}

static bool wait_for_begin(unsigned cpu)
{
	bool begun = wait_until(has_begun, &cpu, WAKE_US);

	for (unsigned i = 1; !begun && i < WAKES; i++) {
		apic_ipi(slots[cpu].apic_id, VECTOR_IPI);
		begun = wait_until(has_begun, &cpu, WAKE_US);
	}
	return begun;
}

/* Wait until the work is done, or has made no progress for the allowed time and a little more. */
static bool wait_for_end(unsigned cpu)
{
	struct guard_watch watch = { .begun = false };

	while (!is_done(&cpu)) {
		if (guard_is_overdue(&watch, cpu, LATE_US))
			return is_done(&cpu);
		__asm__ volatile("pause");
	}
	return true;
}

bool smp_wait(unsigned cpu, struct guard_report *report)
{
	struct slot *slot = &slots[cpu];
	bool done = is_done(&cpu) || (wait_for_begin(cpu) && wait_for_end(cpu));

	if (!done && slot->begun) {
		end_by_nmi(cpu);
		done = wait_until(is_done, &cpu, KICKS * KICK_US);
	}
	if (!done && !restart(cpu)) {
		set_state(cpu, LOST);
		lost = cpu;
		return false;
	}
	*report = slot->report;
	set_state(cpu, IDLE);
	return true;
}

struct smp_settled smp_settle(void)
{
	struct smp_settled settled = { .lost = 0 };
	struct guard_report report;

	__atomic_store_n(&settling, true, __ATOMIC_RELEASE);
	for (unsigned i = 1; i < CPU_MAX; i++) {
		if (state_of(i) != WORK && state_of(i) != DONE)
			continue;
		if (!smp_wait(i, &report)) {
			settled.lost = i;
		} else if (!settled.failed && report.outcome != GUARD_DONE &&
			   report.outcome != GUARD_ABORTED) {
			settled.failed = i;
			settled.report = report;
		}
	}
	__atomic_store_n(&settling, false, __ATOMIC_RELEASE);
	return settled;
}

bool smp_has_run(unsigned cpu)
{
	bool has_run = slots[cpu].has_run;

	slots[cpu].has_run = false;
	return has_run;
}

void smp_dismiss(void)
{
	for (unsigned i = 1; i < CPU_MAX; i++) {
		if (smp_is_idle(i))
			set_state(i, LEAVE);
		if (state_of(i) == LEAVE)
			apic_ipi(slots[i].apic_id, VECTOR_IPI);
	}
}

unsigned smp_lost(void)
{
	return lost;
}

/* Is there a processor that won't reach any barrier again? Its report is written before its state
 * is DONE. */
static bool one_is_gone(void)
{
	if (__atomic_load_n(&settling, __ATOMIC_ACQUIRE))
		return true;
	for (unsigned i = 1; i < CPU_MAX; i++)
		if (state_of(i) == DONE && slots[i].report.outcome != GUARD_DONE)
			return true;
	return false;
}

/* The waiting loop looks for lost processors once in so many rounds. They are rare. */
#define LOOKS_AT_BARRIER 32u

void smp_barrier_wait(struct smp_barrier *barrier)
{
	unsigned round = barrier->round;

	if (__atomic_add_fetch(&barrier->waiting, 1, __ATOMIC_ACQ_REL) == barrier->count) {
		barrier->waiting = 0;
		__atomic_store_n(&barrier->round, round + 1, __ATOMIC_RELEASE);
		return;
	}
	for (unsigned i = 1; __atomic_load_n(&barrier->round, __ATOMIC_ACQUIRE) == round; i++) {
		if (i % LOOKS_AT_BARRIER == 0 && one_is_gone())
			guard_abort();
		__asm__ volatile("pause");
	}
}
