/* SPDX-License-Identifier: MIT */
/*
 * The other processors. Each runs smp_serve() for as long as we have it: it saves the firmware's
 * state, sleeps in HLT, and runs functions that the first processor gives it, under a guard of its
 * own. It stays ours also while the first processor gives the machine back to the firmware between
 * groups.
 *
 * Unless said otherwise these functions are called on the first processor. Barriers (struct
 * smp_barrier) synchronise functions that run on several processors.
 *
 * While they sleep, the other processors check every few seconds whether the first one hangs. If
 * so, they end its function by an NMI; if that doesn't help, they reset the machine.
 */
#ifndef KERNEL_SMP_H
#define KERNEL_SMP_H

#include "kernel/interrupt/guard.h"
#include "kernel/processor/percpu.h"
#include "kernel/processor/topology.h"

/* Called on another processor, with the firmware's state in place: take it as cpu, run the
 * functions that it is given until smp_dismiss(), give it back and return. */
void smp_serve(unsigned cpu);

/* Before any of them is started, while the firmware has the machine. */
void smp_prepare(void);
/* Continue without a processor that hasn't started. If it starts later, it returns to the firmware
 * at once. false: it has started now. */
bool smp_leave_out(unsigned cpu);
bool smp_is_left_out(unsigned cpu);
/* IA32_TSC_ADJUST of a processor of ours, as it was when the processor started. false: it has
 * none. */
bool smp_tsc_adjust(unsigned cpu, u64 *value);

/* Is that processor sleeping in smp_serve()? CPU_BOOT never is. */
bool smp_is_idle(unsigned cpu);
/* Wait for it, us microseconds at most. */
bool smp_wait_idle(unsigned cpu, u64 us);
/* How many there are, including the first one. The others have the numbers 1 to smp_count() - 1,
 * without those that were lost or left out. */
unsigned smp_count(void);
/* The first of the others that is idle; 0: there is none. */
unsigned smp_second(void);
/* The first idle processor that is another thread of the first processor's core, or that is on
 * another core, in its package or elsewhere; of the same kind (CPUID.1AH). 0: there is none. */
unsigned smp_sibling(void);
unsigned smp_other_core(void);
/* The first idle processor of another kind. */
unsigned smp_other_kind(void);
/* Are all other threads of the calling processor's core in HLT, or a few instructions before it?
 * The first processor is while smp_run() waits. */
bool smp_siblings_asleep(void);
/* Its number in the machine, for names. It is equal to cpu if we have all processors of the
 * machine. */
void smp_set_number(unsigned cpu, unsigned number);
unsigned smp_number(unsigned cpu);
/* Local APIC id of a processor that is ours, and where it is. */
u32 smp_apic_id(unsigned cpu);
struct topology smp_topology(unsigned cpu);
/* The place of a processor with that local APIC id, even if it isn't ours. May be called before any
 * other function here. */
struct topology smp_topology_of(u32 id);

/* Make cpu run fn(arg) as guard_run() does. false: it isn't idle, or it is lost. While the machine
 * is borrowed. */
bool smp_start(unsigned cpu, void (*fn)(void *arg), void *arg, unsigned deadline_ms);

/* The same, and wait for its end as smp_wait() does. The first processor sleeps meanwhile, so that
 * only fn runs. Not under a guard. */
bool smp_run(unsigned cpu, void (*fn)(void *arg), void *arg, unsigned deadline_ms,
	     struct guard_report *report);

/*
 * Wait for the end of fn, and say how it ended. If a processor is 100 ms late, an NMI ends fn. If
 * the NMI doesn't help (a loop with NMIs blocked, a shutdown), an INIT stops the processor, and it
 * is restarted: GUARD_RESTARTED. A wake-up that has no effect is repeated for five seconds. false:
 * the processor didn't restart; it is lost (smp_is_lost()) and held by the INIT. Bounded by these
 * times and the deadline plus a second; each guard_renew() on that processor restarts the deadline.
 */
bool smp_wait(unsigned cpu, struct guard_report *report);

/* The result of smp_settle(): numbers of processors, 0 for none. */
struct smp_settled {
	unsigned lost;			/* one that got lost now */
	unsigned failed;		/* one that hasn't returned from what it ran */
	struct guard_report report;	/* how that one ended */
};
/* At the end of a test: end the functions that still run, at once if they wait at a barrier, and
 * wait for them. Functions whose end smp_wait() has already reported aren't reported again. */
struct smp_settled smp_settle(void);
/* Did that processor get lost? */
bool smp_is_lost(unsigned cpu);
/* A processor that was lost in this run; 0: none. */
unsigned smp_lost(void);

/* Has it run anything since this was last asked? */
bool smp_has_run(unsigned cpu);

/* Let all of them return to the firmware. A second call wakes those that still sleep. */
void smp_dismiss(void);

/*
 * All processors of a barrier wait for each other, any number of times. Set count; all else is 0.
 * Called under a guard, on any processor. If another processor's function has ended without
 * returning, or if smp_settle() is called, a waiting processor's function is ended as by
 * guard_abort(), because the barrier will never be complete. Otherwise the deadline of guard_run()
 * bounds the wait.
 */
struct smp_barrier {
	unsigned count;
	volatile unsigned waiting, round;
};
void smp_barrier_wait(struct smp_barrier *barrier);

#endif
