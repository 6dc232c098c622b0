/* SPDX-License-Identifier: MIT */
/*
 * The other processors. Each runs smp_serve() for as long as we have it: it takes itself from the
 * firmware, sleeps in HLT and runs what the first processor gives it, under a guard of its own. It
 * stays ours while the first one visits the firmware in between.
 *
 * Unless said otherwise functions are called on the first processor. What one of them does at the
 * same time as another is the business of barriers (struct smp_barrier).
 *
 * While they sleep the others look every few seconds whether the first one hangs for good: an NMI
 * ends what it does then; if that doesn't help, they end the machine.
 */
#ifndef KERNEL_SMP_H
#define KERNEL_SMP_H

#include "kernel/interrupt/guard.h"
#include "kernel/processor/percpu.h"
#include "kernel/processor/topology.h"

/* On another processor, with the firmware's state in place: take it as cpu, run what is asked for
 * until smp_dismiss(), give it back and return. */
void smp_serve(unsigned cpu);

/* Before any of them is to come. Machine given back. */
void smp_prepare(void);
/* Go on without one that hasn't come: should it come later, it returns to the firmware at once.
 * false: now it is there. */
bool smp_leave_out(unsigned cpu);
bool smp_is_left_out(unsigned cpu);
/* IA32_TSC_ADJUST of a processor that is ours, as it was when it came. false: it has none. */
bool smp_tsc_adjust(unsigned cpu, u64 *value);

/* Is that processor sleeping in smp_serve()? CPU_BOOT never is. */
bool smp_is_idle(unsigned cpu);
/* Wait for it, us microseconds at most. */
bool smp_wait_idle(unsigned cpu, u64 us);
/* How many there are, the first one included; the others are 1 to smp_count() - 1, less those
 * that were lost or left out. */
unsigned smp_count(void);
/* The first of the others that is idle; 0: there is none. */
unsigned smp_second(void);
/* The first that is idle and another thread of the first processor's core, or of another core in
 * its package or elsewhere, and of the same kind (CPUID.1AH); 0: there is none. */
unsigned smp_sibling(void);
unsigned smp_other_core(void);
/* The first that is idle and of another kind. */
unsigned smp_other_kind(void);
/* Have all other threads of the calling processor's core come to their HLT, but for a few
 * instructions? The first processor does while smp_run() waits. */
bool smp_siblings_asleep(void);
/* The machine's number of it, for names: ours where all of the machine's processors are. */
void smp_set_number(unsigned cpu, unsigned number);
unsigned smp_number(unsigned cpu);
/* Local APIC id of a processor that is ours, and where it is. */
u32 smp_apic_id(unsigned cpu);
struct topology smp_topology(unsigned cpu);
/* Where one with that local APIC id would be, whether it is ours or not; before any other function
 * here as well. */
struct topology smp_topology_of(u32 id);

/* Have cpu run fn(arg) as guard_run() does. false: it isn't idle, or lost. Machine borrowed. */
bool smp_start(unsigned cpu, void (*fn)(void *arg), void *arg, unsigned deadline_ms);

/* The same, and how it ended, as smp_wait() says. The first processor sleeps meanwhile: nothing
 * runs but fn. Not under a guard. */
bool smp_run(unsigned cpu, void (*fn)(void *arg), void *arg, unsigned deadline_ms,
	     struct guard_report *report);

/*
 * How that ended. A processor that is 100 ms late is ended by an NMI; where not even that helps (a
 * loop with NMIs blocked, a shutdown) by an INIT, after which it is started again:
 * GUARD_RESTARTED. A wake-up that has no effect is repeated for five seconds. false: it didn't come
 * back, the processor is lost (smp_is_lost()), held by the INIT. Bounded by those and the deadline
 * plus a second; the deadline counts anew with each guard_renew() there.
 */
bool smp_wait(unsigned cpu, struct guard_report *report);

/* What smp_settle() met: numbers of processors, 0 for none. */
struct smp_settled {
	unsigned lost;			/* one that got lost now */
	unsigned failed;		/* one that hasn't returned from what it ran */
	struct guard_report report;	/* how that one ended */
};
/* End whatever still runs when the test that has started it is over, at once if it waits at a
 * barrier, and wait for it. Ends that smp_wait() has told before aren't told again. */
struct smp_settled smp_settle(void);
/* Did that processor get lost? */
bool smp_is_lost(unsigned cpu);
/* One that did, in this run; 0: none. */
unsigned smp_lost(void);

/* Has it run anything since this was last asked? */
bool smp_has_run(unsigned cpu);

/* Let all of them go. They return to the firmware on their own. Again: wake those that still
 * sleep. */
void smp_dismiss(void);

/*
 * All processors of a barrier wait for each other, as often as one likes. Zeroed but for count.
 * Under a guard, any processor. One that waits is ended as by guard_abort() when another processor
 * has ended by anything but returning, or when smp_settle() is called: the one that it waits for
 * never comes. Else the deadline of guard_run() bounds it.
 */
struct smp_barrier {
	unsigned count;
	volatile unsigned waiting, round;
};
void smp_barrier_wait(struct smp_barrier *barrier);

#endif
