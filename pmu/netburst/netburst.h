/* SPDX-License-Identifier: MIT */
/*
 * The counters of processors based on the Intel NetBurst microarchitecture with Hyper-Threading.
 * The two logical processors of a core (T0 and T1, by bit 0 of the initial APIC ID) share all of
 * them: a write by one takes effect for both, and the ESCR selects whose events count. Only the DS
 * area, the debug control and LVTPC belong to one thread. Names are those of spec/netburst.h.
 *
 * Every function needs CPL 0 and a processor with these counters (pmu/netburst/caps.h). Only one
 * thread of a core may call them at a time.
 */
#ifndef PMU_NETBURST_H
#define PMU_NETBURST_H

#include "pmu/operations.h"
#include "spec/netburst.h"
#include "spec/types.h"

/* ESCR[3:0]: whose events are counted, at which privilege level. */
#define NETBURST_T0	(NB_ESCR_T0_OS | NB_ESCR_T0_USR)
#define NETBURST_T1	(NB_ESCR_T1_OS | NB_ESCR_T1_USR)

/* The table that the rest of pmu/ calls (pmu/operations.h); its status is that of
 * netburst_status(). */
extern const struct pmu_operations netburst_operations;

/* The counters for which PEBS writes records, for T0 and for T1. */
#define NETBURST_PEBS_COUNTER(thread) ((thread) ? NB_IQ_COUNTER5 : NB_IQ_COUNTER4)

/* The flags for both levels of each existing thread: without Hyper-Threading T1's flags are
 * reserved. */
u64 netburst_every_level(void);

/* The setting of a counter. */
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

/* Switch everything off and write 0 (but ACTIVE_THREAD as required without Hyper-Threading):
 * counters, CCCRs, ESCRs, PEBS and its matrix, and this thread's DS area and debug control. false:
 * the processor refused one of the writes. */
bool netburst_reset(void);

u32 netburst_cccr_msr(unsigned counter);
/* The ESCR through which that counter can count the event; 0: there is none. */
u32 netburst_escr_msr(unsigned counter, enum netburst_event event);
/* CCCR of a setting, without ENABLE. */
u64 netburst_cccr(const struct netburst_setting *s);

/* Stop the counter, clear its OVF and select its event. Its value stays. */
void netburst_program(const struct netburst_setting *s);
/* Set ENABLE only; OVF stays. */
void netburst_start(unsigned counter);
void netburst_stop(unsigned counter);

/* All NB_WIDTH bits of the counter, while it is stopped. */
void netburst_write(unsigned counter, u64 value);
/* Set the counter to overflow on the nth event from now; n from 1. */
void netburst_preset(unsigned counter, u64 n);
u64 netburst_read(unsigned counter);

bool netburst_overflowed(unsigned counter);	/* OVF */
void netburst_clear(unsigned counter);		/* OVF, and nothing else */
/* For all counters: the set with OVF = 1 (bit n: counter n); stop all; clear OVF of this set. */
u32 netburst_status(void);
void netburst_stop_all(void);
void netburst_clear_all(u32 status);

/*
 * Count a metric of Tables 19-31 to 19-33 on a counter of the IQ group: the upstream event tags for
 * both threads at both levels; levels and flags are those of the downstream event. If the upstream
 * event's ESCR feeds no counter in use, another counter must run in each window. PEBS stays off.
 */
struct netburst_setting netburst_metric(enum netburst_metric metric, unsigned counter, u64 levels,
					u64 flags);
/* Start or stop that other counter; does nothing if there is none. */
void netburst_beside(const struct netburst_setting *s, bool run);

/* Set the two enables in MSR_PEBS_ENABLE, for the calling thread and for the other one; the bits of
 * the replay metrics stay. */
void netburst_pebs(bool mine, bool others);

#endif
