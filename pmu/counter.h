/* SPDX-License-Identifier: MIT */
/*
 * The counters of the processor that calls, through their architectural MSRs. A counter is named by
 * its position in IA32_PERF_GLOBAL_CTRL: n for general-purpose counter n, PMC_FIXED(i) for fixed
 * counter i. Every function needs CPL 0 and counter_init(); if a counter doesn't exist, or if the
 * processor refuses a write, the fault ends the running test.
 */
#ifndef PMU_COUNTER_H
#define PMU_COUNTER_H

#include "pmu/caps.h"
#include "pmu/reset.h"
#include "spec/event.h"
#include "spec/msr.h"

#define PMC_FIXED(i)	(32u + (i))
#define PMC_IS_FIXED(c)	((c) >= 32u)

/* A set of counters; not an integer, so that a cut to 32 bits is a compile error. */
struct pmc_mask {
	u64 bits;
};

static inline struct pmc_mask pmc_one(unsigned counter)
{
	return (struct pmc_mask){ BIT(counter) };
}

static inline struct pmc_mask pmc_or(struct pmc_mask a, struct pmc_mask b)
{
	return (struct pmc_mask){ a.bits | b.bits };
}

/* Bits of IA32_PERFEVTSELx beside the event, under short names; EN is in none of them. */
#define COUNT_USR	IA32_PERFEVTSEL_USR
#define COUNT_OS	IA32_PERFEVTSEL_OS
#define COUNT_BOTH	(IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_OS)
#define COUNT_EDGE	IA32_PERFEVTSEL_E
#define COUNT_INT	IA32_PERFEVTSEL_INT
#define COUNT_INV	IA32_PERFEVTSEL_INV
#define COUNT_ANY	IA32_PERFEVTSEL_ANY	/* version 3 */
#define COUNT_ADAPTIVE	IA32_PERFEVTSEL_ADAPTIVE	/* where baseline is 1 */
#define COUNT_CMASK(n)	((u64)(n) << IA32_PERFEVTSEL_CMASK_SHIFT)

/* Read the processor's capabilities, once on each processor. The other functions use them. */
void counter_init(void);
const struct pmu_caps *counter_caps(void);
const struct pmu_caps *counter_caps_of(unsigned cpu);

/*
 * Switch everything off and write 0: global control, PEBS, event selects, counters, status, debug
 * control, DS area (pmu/reset.h), or the registers of another kind of PMU (pmu/operations.h).
 * Returns false if the processor refused a write that matters. Does nothing without a PMU. May be
 * called in a handler and while the machine is given back.
 */
bool counter_reset(void);
/* Switch off only what counts, records or interrupts by itself: between two tests, if the second
 * begins with counter_reset(). */
void counter_quiet(void);
/* The refused write of the last counter_reset() on that processor that returned false. */
const struct reset_refusal *counter_refusal(unsigned cpu);

unsigned counter_width(unsigned counter);	/* bits */

/*
 * Program a counter with its local enable; counting starts with the bit in IA32_PERF_GLOBAL_CTRL.
 * flags are COUNT_*. For fixed counters the event is the counter's own and only COUNT_USR,
 * COUNT_OS, COUNT_ANY, COUNT_INT and COUNT_ADAPTIVE have a meaning.
 */
void counter_program(unsigned counter, u16 event, u64 flags);
/* The same without the local enable. */
void counter_program_disabled(unsigned counter, u16 event, u64 flags);

/*
 * Set a counter's value. General-purpose counters are written through IA32_A_PMCx where it
 * exists, else through IA32_PMCx, which reaches only values whose upper bits equal bit 31:
 * false for any other value then, with nothing written.
 */
bool counter_write(unsigned counter, u64 value);
/* Set the counter to overflow on the nth event from now, 1 <= n <= 2^31. */
void counter_preset(unsigned counter, u64 n);
u64 counter_read(unsigned counter);

/* Set the counter's Adaptive_Record bit to on; nothing else changes. Only if baseline is 1. */
void counter_set_adaptive(unsigned counter, bool on);

/* IA32_PERF_GLOBAL_CTRL. */
void counters_enable(struct pmc_mask mask);
void counters_disable(void);
/* IA32_PERF_GLOBAL_STATUS, and clearing bits of it through IA32_PERF_GLOBAL_OVF_CTRL. */
u64 counters_status(void);
void counters_clear(u64 status);

/*
 * counters_gp(): every general-purpose counter. There may be holes between them (CPUID.(23H,1)).
 * counters_fixed(): every fixed counter that counts in any window, which are 0 to 3. Fixed counters
 * from 4 on count slots of bad speculation and similar events, which may not happen.
 */
struct pmc_mask counters_gp(void);
unsigned counters_gp_number(void);
unsigned counter_last(void);	/* of general-purpose counters; there must be one */
/* The nth general-purpose counter of those from `first` on; after the last one the lowest follows.
 */
unsigned counter_from(unsigned first, unsigned n);
struct pmc_mask counters_fixed(void);
/* All counters of both kinds: FOR_EACH_COUNTER(c, counters_all().bits). */
struct pmc_mask counters_all(void);

#endif
