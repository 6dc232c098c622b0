/* SPDX-License-Identifier: MIT */
/*
 * Runs code that may crash or hang: on its own stack, with a deadline by the local APIC's timer,
 * and with an exit from any depth. The handler runs on the interrupted stack; then guard_leave()
 * drops this stack. A loop with interrupts off is ended by a second deadline a little later, an NMI
 * of the HPET. Nothing ends a loop inside an NMI handler.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/output/console.h"
#include "kernel/processor/cpu.h"
#include "kernel/interrupt/guard_internal.h"
#include "kernel/interrupt/hpet.h"
#include "kernel/interrupt/intr.h"
#include "kernel/processor/percpu.h"
#include "kernel/interrupt/reset.h"
#include "kernel/memory/stack.h"
#include "kernel/memory/string.h"
#include "kernel/processor/time.h"
#include "kernel/interrupt/trap.h"

#define PANIC_US	10000000	/* long enough to photograph the screen */
#define SHOW_US		2000000		/* results are collected up to the last group */
#define NMI_MARGIN_US	100000		/* from the first deadline to the second one */

/* guard.asm */
void guard_enter(void (*fn)(void *arg), void *arg, u64 stack_top, u64 *caller_rsp);
_Noreturn void guard_leave(u64 caller_rsp);

static struct guard {
	volatile bool running, kicked;
	volatile u32 beats;
	volatile u64 time;		/* TSC ticks from a beat to the deadline */
	u64 deadline, caller_rsp;
	struct guard_report report;
	struct intr_handlers handlers;
} guards[CPU_MAX];

static struct guard *guard_this_cpu(void)
{
	return &guards[cpu_index()];
}

bool guard_is_running(void)
{
	return guard_this_cpu()->running;
}

void guard_end(enum guard_outcome outcome, const struct trap_frame *frame, u64 cr2)
{
	struct guard *guard = guard_this_cpu();

	guard->running = false;
	guard->report.outcome = outcome;
	guard->report.frame = *frame;
	guard->report.cr2 = cr2;
	guard_leave(guard->caller_rsp);
}

static void on_timer(struct trap_frame *frame)
{
	const struct guard *guard = guard_this_cpu();

	apic_eoi();
	if (!guard->running)
		return;
	if (time_expired(guard->deadline))
		guard_end(GUARD_DEADLINE, frame, 0);
	/* The timer's counter is shorter than the deadline, or the timer runs a little too fast. */
	apic_timer_start(guard->deadline);
}

bool guard_take_nmi(const struct trap_frame *frame)
{
	struct guard *guard = guard_this_cpu();
	bool by_hpet = cpu_index() == CPU_BOOT && hpet_nmi_is_due();

	if (!by_hpet && !guard->kicked)
		return false;
	guard->kicked = false;
	if (guard->running && time_expired(guard->deadline))
		guard_end(GUARD_DEADLINE, frame, 0);
	if (guard->running && by_hpet)	/* the comparator is too narrow for the whole time */
		hpet_nmi_at((guard->deadline - tsc_read()) / time_tsc_per_us + NMI_MARGIN_US);
	return true;
}

static void beat(struct guard *guard)
{
	guard->deadline = tsc_read() + guard->time;
	__atomic_add_fetch(&guard->beats, 1, __ATOMIC_RELEASE);
	apic_timer_start(guard->deadline);
	if (cpu_index() == CPU_BOOT)
		hpet_nmi_at(guard->time / time_tsc_per_us + NMI_MARGIN_US);
}

void guard_renew(void)
{
	if (guard_is_running())
		beat(guard_this_cpu());
}

struct guard_report guard_run(void (*fn)(void *arg), void *arg, unsigned deadline_ms)
{
	u64 cr4 = cr4_read(), dr7 = dr7_read();
	struct guard *guard = guard_this_cpu();
	bool has_hpet = cpu_index() == CPU_BOOT;

	guard->report = (struct guard_report){ .outcome = GUARD_DONE };
	guard->time = (u64)deadline_ms * 1000 * time_tsc_per_us;
	intr_set_handler(VECTOR_TIMER, on_timer);
	intr_save_handlers(&guard->handlers);
	guard->running = true;
	beat(guard);
	guard_enter(fn, arg, stack_top(STACK_GUARD), &guard->caller_rsp);
	guard->running = false;

	if (has_hpet)
		hpet_nmi_cancel();
	apic_timer_stop();
	dr7_write(dr7);
	cr4_write(cr4);
	apic_open_own_class();
	intr_drain();
	if (guard->report.outcome != GUARD_DONE)
		intr_restore_handlers(&guard->handlers);
	return guard->report;
}

bool guard_kick(unsigned cpu, u32 apic)
{
	if (!guards[cpu].running)
		return false;
	guards[cpu].kicked = true;
	apic_nmi(apic);
	return true;
}

void guard_restarted(void)
{
	static const struct trap_frame none;

	if (guard_is_running())
		guard_end(GUARD_RESTARTED, &none, 0);
}

bool guard_is_overdue(struct guard_watch *watch, unsigned cpu, u64 us)
{
	const struct guard *guard = &guards[cpu];
	u32 beats = __atomic_load_n(&guard->beats, __ATOMIC_ACQUIRE);
	bool running = guard->running;
	u64 now = tsc_read();

	if (watch->begun && watch->beats == beats && watch->running == running)
		return now - watch->since >= guard->time + us * time_tsc_per_us;
	*watch = (struct guard_watch){ true, running, beats, now };
	return false;
}

void guard_give_up(void)
{
	console_bail_out();
	console_line("");
	console_line("Bail out! the first processor hangs: neither interrupts nor NMIs reach it");
	time_stall(SHOW_US);
	machine_reset();
}

void guard_panic(const struct trap_frame *frame, u64 cr2)
{
	static struct guard_report report;
	static char text[1024];
	char *line = text;

	report = (struct guard_report){ GUARD_EXCEPTION, *frame, cr2 };
	guard_format(&report, text, sizeof text);
	console_bail_out();
	console_line("Bail out! an exception outside any test");
	while (*line) {
		char *end = line;

		while (*end && *end != '\n')
			end++;
		if (*end)
			*end++ = '\0';
		console_line(line);
		line = end;
	}
	time_stall(PANIC_US);
	machine_reset();
}
