/* SPDX-License-Identifier: MIT */
/*
 * Running code that may go wrong. guard_run() calls fn(arg); an unexpected exception or interrupt,
 * an expired deadline or guard_abort() ends it, and guard_run() returns with the reason and the
 * registers. Afterwards interrupts are off, NMIs are not blocked, no vector of ours is in service
 * and the timer is stopped.
 */
#ifndef KERNEL_GUARD_H
#define KERNEL_GUARD_H

#include "kernel/interrupt/fault.h"

enum guard_outcome {
	GUARD_DONE,		/* fn returned */
	GUARD_EXCEPTION,	/* outside the exception table */
	GUARD_INTERRUPT,	/* a vector without a handler */
	GUARD_DEADLINE,
	GUARD_ABORTED,		/* guard_abort() */
	GUARD_RESTARTED,	/* by INIT and SIPI, because nothing else reached it (smp.h) */
};

struct guard_report {
	enum guard_outcome outcome;
	struct trap_frame frame;	/* not for GUARD_DONE and GUARD_RESTARTED */
	u64 cr2;
};

/*
 * One at a time on each processor. Called with the machine borrowed; fn starts with interrupts on
 * and TPR such that only vectors of the highest class (ours) arrive. The deadline is by the TSC;
 * while fn has interrupts off it is noticed 100 ms late, on the first processor by an NMI of the
 * HPET, if there is one, else not at all, and on others by smp_wait(). DR7 and CR4 are put back; on
 * any outcome but GUARD_DONE also the handlers that fn has set.
 */
struct guard_report guard_run(void (*fn)(void *arg), void *arg, unsigned deadline_ms);

/* The running fn makes progress: its deadline counts from now on. For what goes on for long by its
 * nature, or beside others that may be slow. */
void guard_renew(void);

/* End the running fn from anywhere, an interrupt or NMI handler included. */
_Noreturn void guard_abort(void);

/* "vector 13 error 0 rip ... " in a few lines, for a log. Pure. */
void guard_format(const struct guard_report *report, char *text, size_t size);

#endif
