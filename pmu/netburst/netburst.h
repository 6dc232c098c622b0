/* SPDX-License-Identifier: MIT */
/*
 * The counters of processors based on the Intel NetBurst microarchitecture with Hyper-Threading.
 * The two logical processors of a core (T0 and T1, by bit 0 of the initial APIC ID) share all of
 * them: a write by one takes effect for both, and events are qualified by thread in the ESCR. A
 * thread's own are its DS area, its debug control and its LVTPC. Names are those of
 * spec/netburst.h.
 *
 * Every function needs CPL 0 and a processor that has them (pmu/netburst/caps.h); one thread of a
 * core at a time.
 */
#ifndef PMU_NETBURST_H
#define PMU_NETBURST_H

#include "pmu/operations.h"
#include "spec/netburst.h"
#include "spec/types.h"

/* ESCR[3:0]: whose events are counted, at which privilege level. */
#define NETBURST_T0	(NB_ESCR_T0_OS | NB_ESCR_T0_USR)
#define NETBURST_T1	(NB_ESCR_T1_OS | NB_ESCR_T1_USR)

/* What the rest of pmu/ calls (pmu/operations.h): its status is netburst_status(). */
extern const struct pmu_operations netburst_operations;

/* The two counters of which PEBS takes records, of T0 and of T1. */
#define NETBURST_PEBS_COUNTER(thread) ((thread) ? NB_IQ_COUNTER5 : NB_IQ_COUNTER4)

/* Both levels of each thread that there is: without Hyper-Threading T1's flags are reserved. */
u64 netburst_every_level(void);

/* What a counter counts. */
struct netburst_setting {
	unsigned counter;		/* NB_<name>, 0 to NB_COUNTERS - 1 */
	enum netburst_event event;	/* one that netburst_can_count() */
	u32 mask;			/* NB_<event>_<name> ... */
	u64 levels;			/* NB_ESCR_T0_OS ... */
	u64 flags;			/* NB_CCCR_* beside ENABLE, ESCR_SELECT, ACTIVE_THREAD */
	u64 without;			/* bits of ACTIVE_THREAD, which is "any" otherwise */
	u32 beside;			/* netburst_beside(): CCCR of another counter; 0: none */
	u64 beside_cccr;
};

/* Everything off and zero (ACTIVE_THREAD as it must be without Hyper-Threading): counters, their
 * CCCRs, ESCRs, PEBS and its matrix, and this thread's DS area and debug control. false: the
 * processor refused one of the writes. */
bool netburst_reset(void);

u32 netburst_cccr_msr(unsigned counter);
/* The ESCR through which that counter can count the event; 0: there is none. */
u32 netburst_escr_msr(unsigned counter, enum netburst_event event);
/* CCCR of a setting, without ENABLE. */
u64 netburst_cccr(const struct netburst_setting *s);

/* Stop the counter, clear its OVF and select what it counts. Its value stays. */
void netburst_program(const struct netburst_setting *s);
/* ENABLE alone; OVF stays. */
void netburst_start(unsigned counter);
void netburst_stop(unsigned counter);

/* All NB_WIDTH bits of the counter, while it is stopped. */
void netburst_write(unsigned counter, u64 value);
/* Make it overflow on the nth event from now; n from 1. */
void netburst_preset(unsigned counter, u64 n);
u64 netburst_read(unsigned counter);

bool netburst_overflowed(unsigned counter);	/* OVF */
void netburst_clear(unsigned counter);		/* OVF, and nothing else */
/* All counters: which have OVF set (bit n: counter n); stop all; clear OVF of these. */
u32 netburst_status(void);
void netburst_stop_all(void);
void netburst_clear_all(u32 status);

/*
 * Count a metric of Tables 19-31 to 19-33 on a counter of the IQ group: the upstream event tags for
 * both threads at both levels; levels and flags are those of the downstream event. Where its ESCR
 * feeds no counter that is in use, another counter must run in each window. PEBS stays off.
 */
struct netburst_setting netburst_metric(enum netburst_metric metric, unsigned counter, u64 levels,
					u64 flags);
/* Let that counter run, or stop it: nothing if there is none. */
void netburst_beside(const struct netburst_setting *s, bool run);

/* MSR_PEBS_ENABLE's two enables, for the thread that calls and for the other one; the bits of the
 * replay metrics stay. */
void netburst_pebs(bool mine, bool others);

#endif
