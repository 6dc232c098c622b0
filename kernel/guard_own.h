/* SPDX-License-Identifier: MIT */
/* The guard, as trap.h's dispatcher and the machine see it; for the parts of kernel/ only. */
#ifndef KERNEL_GUARD_OWN_H
#define KERNEL_GUARD_OWN_H

#include "kernel/guard.h"

bool guard_is_running(void);

/* End what guard_run() runs, from inside an interrupt or exception. */
_Noreturn void guard_end(enum guard_outcome outcome, const struct trap_frame *frame, u64 cr2);

/* true: this NMI was the second deadline's and is dealt with. Doesn't return if it was due. */
bool guard_take_nmi(const struct trap_frame *frame);

/* End what another processor's guard runs, if its deadline has passed, by an NMI: for loops with
 * interrupts off. apic: its local APIC's id. false: it runs nothing, or still may. */
bool guard_kick(unsigned cpu, u32 apic);

/* On a processor that has been started again: what its guard ran is over. */
_Noreturn void guard_restarted(void);

/* Is the first processor's guard so many microseconds behind its deadline? Any processor. */
bool guard_is_overdue(u64 us);

/* The first processor is beyond help, and nobody else can give the machine back: say so and reset
 * it. Any other processor. */
_Noreturn void guard_give_up(void);

/* An exception while no guard is running is a bug of this program: say so, wait so that it can
 * be read, and reset the machine. */
_Noreturn void guard_panic(const struct trap_frame *frame, u64 cr2);

#endif
