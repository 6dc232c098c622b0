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

/* The calling thread. */
unsigned netburst_thread(void);

/* Can netburst_run() run a function there? On the calling thread always; from the first processor
 * on the other thread too, if there is one. */
bool netburst_runs_on(unsigned thread);

/* ESCR[3:0] of a thread, at any CPL. */
u64 netburst_both(unsigned thread);

/* Retired instructions, tagged or not. */
struct netburst_setting netburst_instructions(unsigned counter, u64 levels, u64 flags);
/* Of each group of counters the event with which its counters are tested: clocks, conditional
 * branches, packed additions, instructions; workload_packed has as many of the last but one as of
 * branches. */
struct netburst_setting netburst_usual(unsigned counter, u64 levels, u64 flags);

/* The value of the counter after one run of the workload from 0, switched on and off inside the
 * piece; user: the piece runs at CPL 3. */
u64 netburst_count(const struct netburst_setting *s, const struct workload *w, u64 n, bool user);
/* The same at that CPL. */
u64 netburst_count_at(unsigned cpl, const struct netburst_setting *s, const struct workload *w,
		      u64 n);

/*
 * The difference of the counts with NETBURST_MORE and NETBURST_FEWER. The constant that switching
 * adds cancels. For each size the median of several windows is used, because a window may contain a
 * sleeping thread's last instructions before HLT, or an SMI.
 */
u64 netburst_gain(const struct netburst_setting *s, const struct workload *w, bool user);
/* The same with one window each, for events that no other code has. */
u64 netburst_gain_once(const struct netburst_setting *s, const struct workload *w, bool user);
/* The declared one. */
u64 netburst_declared(const struct workload *w, enum workload_count what);

/* The state of the other thread meanwhile: in HLT, or in a loop without stores, at CPL 0 or 3. */
enum netburst_other { NETBURST_ASLEEP, NETBURST_IN_OS, NETBURST_IN_USR };

/*
 * Run fn(arg) on a thread of this core, at CPL 0. fn mustn't make checks; the caller makes them
 * afterwards. false, and the test is an ERROR: a thread couldn't be started, or didn't end
 * normally.
 */
bool netburst_run(struct test *t, unsigned thread, enum netburst_other other, void (*fn)(void *arg),
		  void *arg);
/* The same with a function for each, at once; both begin when both are there. fn[0] is T0's. */
bool netburst_run_both(struct test *t, void (*const fn[2])(void *arg), void *const arg[2]);

#endif
