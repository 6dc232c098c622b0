/* SPDX-License-Identifier: MIT */
/*
 * Intentional crashes. Each crash leaves the processor in a different bad state: in a handler with
 * a vector in service, in an NMI handler with NMIs blocked, at CPL 3, on a full stack. After each,
 * the state that guard_run() guarantees is checked.
 */
#include "boot/crash.h"
#include "kernel/interrupt/apic.h"
#include "kernel/processor/cpu.h"
#include "kernel/output/fmt.h"
#include "kernel/interrupt/guard.h"
#include "kernel/interrupt/hpet.h"
#include "kernel/interrupt/intr.h"
#include "kernel/processor/time.h"
#include "kernel/interrupt/user.h"

#define DEADLINE_MS	2000
#define SHORT_MS	5
#define STOOD_STILL_MAX	10
#define NONCANONICAL	0x8000000000000000ULL
#define USER_ARGUMENT	0x1234u

static volatile bool arrived;

static void run_off(void)
{
	for (;;)
		__asm__ volatile("pause");
}

static void wait_for_interrupt(void)
{
	time_stall(1000);
}

static void do_ud(void *arg)
{
	(void)arg;
	__asm__ volatile("ud2");
}

static void do_gp(void *arg)
{
	u64 value;

	(void)arg;
	__asm__ volatile("mov (%1), %0" : "=r"(value) : "r"(NONCANONICAL));
}

static void do_pf(void *arg)
{
	u64 value;

	(void)arg;
	__asm__ volatile("mov (%1), %0" : "=r"(value) : "r"(0x10ULL));
}

/* Each call pushes, so the stack reaches the page that isn't present. */
static void do_overflow(void *arg)
{
	__asm__ volatile("1: push %0; jmp 1b" ::"r"(arg) : "memory");
}

static void do_unowned(void *arg)
{
	(void)arg;
	apic_self_ipi(VECTOR_IPI);
	wait_for_interrupt();
}

static void do_unowned_nmi(void *arg)
{
	(void)arg;
	apic_self_nmi();
	wait_for_interrupt();
}

static void abort_handler(struct trap_frame *frame)
{
	(void)frame;
	guard_abort();
}

static void do_abort_in_pmi(void *arg)
{
	(void)arg;
	intr_set_handler(VECTOR_PMI, abort_handler);
	apic_self_ipi(VECTOR_PMI);
	wait_for_interrupt();
}

static void do_abort_in_nmi(void *arg)
{
	(void)arg;
	intr_set_handler(VECTOR_NMI, abort_handler);
	apic_self_nmi();
	wait_for_interrupt();
}

static void fault_handler(struct trap_frame *frame)
{
	do_ud(frame);
}

static void do_fault_in_nmi(void *arg)
{
	(void)arg;
	intr_set_handler(VECTOR_NMI, fault_handler);
	apic_self_nmi();
	wait_for_interrupt();
}

static void do_deadline(void *arg)
{
	(void)arg;
	run_off();
}

static void do_deadline_interrupts_off(void *arg)
{
	(void)arg;
	intr_disable();
	run_off();
}

static void hang_handler(struct trap_frame *frame)
{
	(void)frame;
	run_off();
}

static void do_hang_in_pmi(void *arg)
{
	(void)arg;
	intr_set_handler(VECTOR_PMI, hang_handler);
	apic_self_ipi(VECTOR_PMI);
	wait_for_interrupt();
}

static u64 user_deadline(u64 arg)
{
	run_off();
	return arg;
}

static void do_deadline_in_user(void *arg)
{
	(void)arg;
	user_call(user_deadline, 0);
}

static u64 user_privileged(u64 arg)
{
	__asm__ volatile("cli");
	return arg;
}

static void do_privileged_in_user(void *arg)
{
	(void)arg;
	user_call(user_privileged, 0);
}

static void do_abort(void *arg)
{
	(void)arg;
	guard_abort();
}

static void do_leave_waiting(void *arg)
{
	(void)arg;
	intr_disable();
	apic_self_ipi(VECTOR_PMI);
}

static u64 user_add(u64 arg)
{
	u16 cs;

	__asm__ volatile("mov %%cs, %0" : "=r"(cs));
	return arg + (cs & 3u);
}

/* No crash: a call at CPL 3, which returns 3. */
static void do_nothing_wrong(void *arg)
{
	(void)arg;
	if (user_call(user_add, USER_ARGUMENT) != USER_ARGUMENT + 3)
		guard_abort();
}

static const struct crash {
	const char *name;
	void (*fn)(void *arg);
	unsigned deadline_ms;
	enum guard_outcome outcome;
	u8 vector;		/* of the report's frame; not for GUARD_DONE, GUARD_ABORTED */
	bool needs_hpet;
} crashes[] = {
	{ "#UD", do_ud, DEADLINE_MS, GUARD_EXCEPTION, VECTOR_UD, false },
	{ "#GP", do_gp, DEADLINE_MS, GUARD_EXCEPTION, VECTOR_GP, false },
	{ "#PF", do_pf, DEADLINE_MS, GUARD_EXCEPTION, VECTOR_PF, false },
	{ "stack overflow", do_overflow, DEADLINE_MS, GUARD_EXCEPTION, VECTOR_DF, false },
	{ "unowned interrupt", do_unowned, DEADLINE_MS, GUARD_INTERRUPT, VECTOR_IPI, false },
	{ "unowned NMI", do_unowned_nmi, DEADLINE_MS, GUARD_INTERRUPT, VECTOR_NMI, false },
	{ "abort in a PMI handler", do_abort_in_pmi, DEADLINE_MS, GUARD_ABORTED, 0, false },
	{ "abort in an NMI handler", do_abort_in_nmi, DEADLINE_MS, GUARD_ABORTED, 0, false },
	{ "#UD in an NMI handler", do_fault_in_nmi, DEADLINE_MS, GUARD_EXCEPTION, VECTOR_UD,
	  false },
	{ "deadline", do_deadline, SHORT_MS, GUARD_DEADLINE, VECTOR_TIMER, false },
	{ "deadline at CPL 3", do_deadline_in_user, SHORT_MS, GUARD_DEADLINE, VECTOR_TIMER, false },
	{ "deadline with interrupts off", do_deadline_interrupts_off, SHORT_MS, GUARD_DEADLINE,
	  VECTOR_NMI, true },
	{ "hang in a PMI handler", do_hang_in_pmi, SHORT_MS, GUARD_DEADLINE, VECTOR_NMI, true },
	{ "#GP at CPL 3", do_privileged_in_user, DEADLINE_MS, GUARD_EXCEPTION, VECTOR_GP, false },
	{ "abort", do_abort, DEADLINE_MS, GUARD_ABORTED, 0, false },
	{ "a vector left waiting", do_leave_waiting, DEADLINE_MS, GUARD_DONE, 0, false },
	{ "no crash", do_nothing_wrong, DEADLINE_MS, GUARD_DONE, 0, false },
};

static void note_nmi(struct trap_frame *frame)
{
	(void)frame;
	arrived = true;
}

static bool has_arrived(void *arg)
{
	(void)arg;
	return arrived;
}

/* Check the state that guard_run() guarantees afterwards. Returns NULL, or what is wrong. */
static const char *left_behind(void)
{
	intr_handler before;
	bool came;

	if (rflags_read() & RFLAGS_IF)
		return "interrupts are on";
	if (apic_highest_isr() >= APIC_FIRST_OWN_VECTOR)
		return "a vector is in service";
	if (apic_highest_irr() >= APIC_FIRST_OWN_VECTOR)
		return "a vector is waiting";
	arrived = false;
	before = intr_set_handler(VECTOR_NMI, note_nmi);
	apic_self_nmi();
	came = wait_until(has_arrived, NULL, 10000);
	intr_set_handler(VECTOR_NMI, before);
	return came ? NULL : "NMIs are blocked";
}

static bool is_expected(const struct crash *crash, const struct guard_report *report)
{
	if (report->outcome != crash->outcome)
		return false;
	return crash->outcome == GUARD_DONE || crash->outcome == GUARD_ABORTED ||
	       report->frame.vector == crash->vector;
}

/*
 * The machine stood still for longer than SHORT_MS (a loaded host), so this run shows nothing.
 * Either the deadline came before the code had disabled interrupts, as the frame's IF shows; or
 * both interrupts of the deadline are pending, and the NMI comes first.
 */
static bool stood_still(const struct crash *crash, const struct guard_report *report)
{
	if (crash->outcome != GUARD_DEADLINE || report->outcome != GUARD_DEADLINE ||
	    !(report->frame.rflags & RFLAGS_IF))
		return false;
	return report->frame.vector == (crash->vector == VECTOR_NMI ? VECTOR_TIMER : VECTOR_NMI);
}

/* Run the crash, and again while the machine stood still. */
static struct guard_report crash_run(const struct crash *crash)
{
	struct guard_report report;

	for (unsigned i = 0; i < STOOD_STILL_MAX; i++) {
		report = guard_run(crash->fn, NULL, crash->deadline_ms);
		if (!stood_still(crash, &report))
			break;
	}
	return report;
}

bool crash_all(char *why, size_t size)
{
	for (unsigned i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
		const struct crash *crash = &crashes[i];
		struct guard_report report;
		const char *left;

		if (crash->needs_hpet && !hpet_is_usable())
			continue;
		report = crash_run(crash);
		left = left_behind();
		if (left) {
			fmt_print(why, size, "after %s %s", crash->name, left);
			return false;
		}
		if (!is_expected(crash, &report)) {
			fmt_print(why, size, "%s ended with outcome %u, vector %llu", crash->name,
				  (unsigned)report.outcome,
				  (unsigned long long)report.frame.vector);
			return false;
		}
	}
	return true;
}
