/* SPDX-License-Identifier: MIT */
/*
 * What the files of NetBurst's rules share. Addresses, select numbers and bits are those of Tables
 * 18-63 to 18-67, 19-28 to 19-33 and Figures 17-7 and 17-8.
 */
#ifndef HOST_MODEL_RULES_NETBURST_H
#define HOST_MODEL_RULES_NETBURST_H

#include "host/model/netburst_fixture.h"

typedef bool netburst_rule_fn(struct netburst_fixture *r);

/* One that is an expression, of the rig r. */
#define NETBURST_RULE(name, ...) \
	static bool name(struct netburst_fixture *r) { return __VA_ARGS__; }

#define T1U	BIT(0)
#define T1O	BIT(1)
#define T0U	BIT(2)
#define T0O	BIT(3)
#define ENABLE	BIT(12)
#define SELECT(n) ((u64)(n) << 13)
#define ANY	(3ULL << 16)
#define COMPARE	BIT(18)
#define COMPLEMENT BIT(19)
#define THRESHOLD(n) ((u64)(n) << 20)
#define EDGE	BIT(24)
#define FORCE	BIT(25)
#define PMI_T0	BIT(26)
#define PMI_T1	BIT(27)
#define CASCADE	BIT(30)
#define OVF	BIT(31)
#define TOP	BITS(0, 39)
#define COUNTER(n) (0x300u + (n))
#define CCCR(n)	(0x360u + (n))
#define PEBS	0x3f1
#define VERT	0x3f2
#define MY	BIT(25)
#define OTHER	BIT(26)
#define UOP_TAG	BIT(24)

static inline u64 escr(unsigned event, u64 mask, u64 flags)
{
	return (u64)event << 25 | mask << 9 | flags;
}

/* Counter n, which its CCCR gives ESCR number `select`, at this MSR. */
static inline void program(struct netburst_fixture *r, unsigned n, u32 escr_msr, unsigned select,
			   u64 value, u64 cccr, u64 from)
{
	nbfixture_set(r, 0, COUNTER(n), from);
	nbfixture_set(r, 0, escr_msr, value);
	nbfixture_set(r, 0, CCCR(n), SELECT(select) | ANY | cccr);
}

/* instr_retired on MSR_IQ_COUNTER0. */
static inline void instructions(struct netburst_fixture *r, u64 flags, u64 cccr, u64 from)
{
	program(r, 12, 0x3b8, 4, escr(2, 3, flags), cccr, from);
}

static inline u64 value(struct netburst_fixture *r, unsigned n)
{
	return nbfixture_get(r, 0, COUNTER(n));
}

/* netburst_tag.c: tagged micro-operations and records. */
netburst_rule_fn netburst_loads_are_tagged, netburst_arithmetic_is_tagged,
	netburst_replay_needs_all, netburst_own_counter_samples, netburst_precise_events_only,
	netburst_three_events_sample,
	netburst_my_thread, netburst_nobody_asked, netburst_both_sample, netburst_areas_are_own,
	netburst_whole_record, netburst_reload_and_index,
	netburst_ends_at_maximum, netburst_threshold_interrupts, netburst_loads_wait,
	netburst_mispredictions_are_tagged, netburst_counter_13_counts_tags;

#endif
