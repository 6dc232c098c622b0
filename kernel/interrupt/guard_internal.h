/* SPDX-License-Identifier: MIT */
/* The guard, as trap.h's dispatcher and the machine see it; for the parts of kernel/ only. */
#ifndef KERNEL_GUARD_INTERNAL_H
#define KERNEL_GUARD_INTERNAL_H

#include "kernel/interrupt/guard.h"

bool guard_is_running(void);

/* End what guard_run() runs, from inside an interrupt or exception. */
_Noreturn void guard_end(enum guard_outcome outcome, const struct trap_frame *frame, u64 cr2);

/* true: this NMI was the second deadline's and is dealt with. Doesn't return if it was due. */
bool guard_take_nmi(const struct trap_frame *frame);

/*
 * Watching another processor's guard: it counts beats, and the one that watches knows by its own
 * clock how long there has been none. TSCs of two processors aren't comparable: firmware may leave
 * them hours apart ("IA32_TSC_ADJUST MSR").
 */
struct guard_watch {
	bool begun, running;
	u32 beats;
	u64 since;		/* by the clock of the one that watches */
};
/* Has that guard made no beat for the time that it has and us microseconds more? One that doesn't
 * run makes none either. */
bool guard_is_overdue(struct guard_watch *watch, unsigned cpu, u64 us);

/* End what another processor's guard runs beyond its deadline by an NMI: for loops with interrupts
 * off. apic: its local APIC's id. false: it runs nothing. */
bool guard_kick(unsigned cpu, u32 apic);

/* On a processor that has been started again: what its guard ran is over. Returns if it ran
 * nothing: then there is nowhere to go on. */
void guard_restarted(void);

/* The first processor can't be recovered, and no other can give the machine back: print that and
 * reset it. Any other processor. */
_Noreturn void guard_give_up(void);

/* An exception while no guard is running is a bug of this program: say so, wait so that it can
 * be read, and reset the machine. */
_Noreturn void guard_panic(const struct trap_frame *frame, u64 cr2);

#endif
