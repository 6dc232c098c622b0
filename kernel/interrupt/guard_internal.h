/* SPDX-License-Identifier: MIT */
/* The guard's interface for trap.h's dispatcher and for kernel/machine/. Only for kernel/
 * itself. */
#ifndef KERNEL_GUARD_INTERNAL_H
#define KERNEL_GUARD_INTERNAL_H

#include "kernel/interrupt/guard.h"

bool guard_is_running(void);

/* End the function that guard_run() runs, from inside an interrupt or exception. */
_Noreturn void guard_end(enum guard_outcome outcome, const struct trap_frame *frame, u64 cr2);

/* true: this NMI was that of the second deadline and has been handled. Doesn't return if the
 * deadline has passed. */
bool guard_take_nmi(const struct trap_frame *frame);

/*
 * Watching another processor's guard. The guard counts beats, and the watching processor measures
 * with its own TSC how long there has been none. The TSCs of two processors can't be compared:
 * firmware may leave them hours apart ("IA32_TSC_ADJUST MSR").
 */
struct guard_watch {
	bool begun, running;
	u32 beats;
	u64 since;		/* by the TSC of the watching processor */
};
/* Has that guard made no beat for its deadline plus us microseconds? A guard that doesn't run makes
 * no beat either. */
bool guard_is_overdue(struct guard_watch *watch, unsigned cpu, u64 us);

/* If another processor's guard runs a function beyond its deadline, end it by an NMI: for loops
 * with interrupts off. apic: the id of that processor's local APIC. false: the guard runs
 * nothing. */
bool guard_kick(unsigned cpu, u32 apic);

/* On a processor that was restarted: end the function that its guard ran. Returns if the guard ran
 * nothing: then there is no place to continue. */
void guard_restarted(void);

/* The first processor can't be recovered, and no other can give the machine back: print that and
 * reset it. Any other processor. */
_Noreturn void guard_give_up(void);

/* An exception while no guard is running is a bug of this program: say so, wait so that it can
 * be read, and reset the machine. */
_Noreturn void guard_panic(const struct trap_frame *frame, u64 cr2);

#endif
