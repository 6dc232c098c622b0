/* SPDX-License-Identifier: MIT */
/*
 * From a vector to its handler. The order is: the exception table, the guard's NMI and INT, the
 * vector's handler. If there is no handler, the guard ends the running test. See "Interrupt and
 * Exception Handling". A fault of the exception table inside an NMI handler ends in an IRETQ, which
 * unblocks NMIs early ("Handling Multiple NMIs"): a second NMI before the handler's end would reuse
 * its stack. So NMI handlers shouldn't use instructions that may fault.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/output/console.h"
#include "kernel/processor/cpu.h"
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/extable.h"
#include "kernel/interrupt/guard.h"
#include "kernel/interrupt/guard_internal.h"
#include "kernel/interrupt/intr.h"
#include "kernel/processor/percpu.h"
#include "kernel/interrupt/trap.h"

#define FIRST_INTERRUPT	32	/* vectors below belong to the processor */
#define DRAIN_ROUNDS	64

/* In vectors.asm: bit n is vector n, whose exception pushes an error code. */
extern const u32 vectors_with_error_code __attribute__((visibility("hidden")));

static struct {
	struct intr_handlers handlers;
	bool draining;
	u32 drained[INTR_VECTORS / 32];		/* vectors since the last drain began */
} cpus[CPU_MAX];

intr_handler intr_set_handler(u8 vector, intr_handler handler)
{
	intr_handler *place = &cpus[cpu_index()].handlers.of[vector];
	intr_handler before = *place;

	*place = handler;
	return before;
}

void intr_save_handlers(struct intr_handlers *copy)
{
	*copy = cpus[cpu_index()].handlers;
}

void intr_restore_handlers(const struct intr_handlers *copy)
{
	cpus[cpu_index()].handlers = *copy;
}

void intr_drain(void)
{
	bool *draining = &cpus[cpu_index()].draining;

	apic_eoi_all();		/* an interrupt in service blocks its whole class */
	*draining = true;
	for (unsigned i = 0; i < DRAIN_ROUNDS && apic_highest_irr() >= APIC_FIRST_OWN_VECTOR; i++)
		intr_window();
	*draining = false;
	apic_eoi_all();
}

void intr_drain_exceptions(void)
{
	unsigned cpu = cpu_index();
	u32 waiting = apic_low_irr();

	if (!waiting || waiting & vectors_with_error_code)
		return;
	__builtin_memset(cpus[cpu].drained, 0, sizeof(cpus[cpu].drained));
	cpus[cpu].draining = true;
	apic_open_all_classes();
	for (unsigned i = 0; i < DRAIN_ROUNDS && apic_low_irr(); i++)
		intr_window();
	apic_open_own_class();
	cpus[cpu].draining = false;
	for (unsigned vector = FIRST_INTERRUPT; vector < APIC_FIRST_OWN_VECTOR; vector++)
		if (cpus[cpu].drained[vector / 32] & BIT(vector % 32))
			apic_self_ipi((u8)vector);
}

static bool is_interrupt(const struct trap_frame *frame)
{
	return frame->vector >= FIRST_INTERRUPT || frame->vector == VECTOR_NMI;
}

/* An interrupt without a handler, or an unexpected exception. */
static void unowned(struct trap_frame *frame, u64 cr2)
{
	u8 vector = (u8)frame->vector;

	if (vector == VECTOR_SPURIOUS && !apic_isr(vector))
		return;		/* "Spurious Interrupt": no EOI */
	if (guard_is_running())
		guard_end(is_interrupt(frame) ? GUARD_INTERRUPT : GUARD_EXCEPTION, frame, cr2);
	if (!is_interrupt(frame))
		guard_panic(frame, cr2);
	console_line("# an interrupt outside any test was dropped");
	if (vector != VECTOR_NMI && apic_isr(vector))
		apic_eoi();
}

void trap_dispatch(struct trap_frame *frame)
{
	u8 vector = (u8)frame->vector;
	u64 cr2 = cr2_read();
	unsigned cpu;

	if (extable_fix(frame, cr2))
		return;
	if (vector == VECTOR_NMI && guard_take_nmi(frame))
		return;
	if (vector == VECTOR_GUARD_ABORT && guard_is_running() && !apic_isr(vector))
		guard_end(GUARD_ABORTED, frame, 0);
	cpu = cpu_index();
	if (cpus[cpu].draining && (is_interrupt(frame) || apic_isr(vector))) {
		if (vector != VECTOR_NMI && apic_isr(vector)) {
			cpus[cpu].drained[vector / 32] |= (u32)BIT(vector % 32);
			apic_eoi();
		}
		return;
	}
	if (cpus[cpu].handlers.of[vector])
		cpus[cpu].handlers.of[vector](frame);
	else
		unowned(frame, cr2);
}
