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
	GUARD_RESTARTED,	/* by INIT and SIPI, because nothing else ended fn (smp.h) */
};

struct guard_report {
	enum guard_outcome outcome;
	struct trap_frame frame;	/* not for GUARD_DONE and GUARD_RESTARTED */
	u64 cr2;
};

/*
 * One guard at a time on each processor, while the machine is borrowed. fn starts with interrupts
 * on, and with TPR such that only vectors of the highest class (ours) arrive. The deadline is
 * measured by the TSC. If fn has interrupts off, the deadline takes effect 100 ms late: on the
 * first processor by an NMI of the HPET (without a usable HPET not at all), on the others by
 * smp_wait(). DR7 and CR4 are restored. After any outcome except GUARD_DONE the handlers that fn
 * has set are restored too.
 */
struct guard_report guard_run(void (*fn)(void *arg), void *arg, unsigned deadline_ms);

/* The running fn makes progress: its deadline begins anew. For an fn that takes long, or that waits
 * for other processors that may be slow. */
void guard_renew(void);

/* End the running fn, from any place, also from an interrupt or NMI handler. */
_Noreturn void guard_abort(void);

/* "vector 13 error 0 rip ... " in a few lines, for a log. Pure. */
void guard_format(const struct guard_report *report, char *text, size_t size);

#endif
