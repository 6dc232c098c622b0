/* SPDX-License-Identifier: MIT */
/*
 * Measured windows of NetBurst's counters, and work for the two logical processors of a core, which
 * are named as the manual does: T0 and T1, by bit 0 of the initial APIC ID.
 */
#ifndef TESTS_NETBURST_NETBURST_H
#define TESTS_NETBURST_NETBURST_H

#include "pmu/netburst/netburst.h"
#include "tests/frame/test.h"
#include "tests/measure/workload.h"

/* The two sizes of a workload whose counts are compared. */
#define NETBURST_FEWER	20u
#define NETBURST_MORE	60u

/* An overflow that no window reaches. */
#define NETBURST_NEVER	(1ULL << 30)

/* The thread that calls. */
unsigned netburst_thread(void);

/* ESCR[3:0] of a thread, at any CPL. */
u64 netburst_both(unsigned thread);

/* Retired instructions, tagged or not. */
struct netburst_setting netburst_instructions(unsigned counter, u64 levels, u64 flags);
/* Of each group of counters the event with which its counters are tested: clocks, conditional
 * branches, packed additions, instructions; workload_packed has as many of the last but one as of
 * branches. */
struct netburst_setting netburst_usual(unsigned counter, u64 levels, u64 flags);

/* What the counter shows after one run of the workload from 0, switched on and off inside the
 * piece; at CPL 3 around it. */
u64 netburst_count(const struct netburst_setting *s, const struct workload *w, u64 n, bool user);
/* The same at that CPL. */
u64 netburst_count_at(unsigned cpl, const struct netburst_setting *s, const struct workload *w,
		      u64 n);

/*
 * How much more is counted with NETBURST_MORE than with NETBURST_FEWER. The constant that switching
 * adds drops out; of each size the median of several windows is taken, because a sleeping thread's
 * last instructions before HLT, or an SMI, may fall into one.
 */
u64 netburst_gain(const struct netburst_setting *s, const struct workload *w, bool user);
/* The same of one window each, for events that nothing else has. */
u64 netburst_gain_once(const struct netburst_setting *s, const struct workload *w, bool user);
/* The declared one. */
u64 netburst_declared(const struct workload *w, enum workload_count what);

/* What the other thread does meanwhile: HLT, or a loop without stores, at CPL 0 or 3. */
enum netburst_other { NETBURST_ASLEEP, NETBURST_IN_OS, NETBURST_IN_USR };

/*
 * Run fn(arg) on a thread of this core, at CPL 0. fn makes no checks; those come after. false, and
 * the test is an ERROR: a thread couldn't be started, or didn't end well.
 */
bool netburst_run(struct test *t, unsigned thread, enum netburst_other other, void (*fn)(void *arg),
		  void *arg);
/* The same with a function for each, at once; both begin when both are there. fn[0] is T0's. */
bool netburst_run_both(struct test *t, void (*const fn[2])(void *arg), void *const arg[2]);

#endif
