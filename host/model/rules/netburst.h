/* SPDX-License-Identifier: MIT */
/* What rules of NetBurst's PMU are written with: bits and addresses, and a counter that counts. */
#ifndef HOST_MODEL_RULES_NETBURST_H
#define HOST_MODEL_RULES_NETBURST_H

#include "host/model/netburst_fixture.h"
#include "host/model/rules/internal.h"

typedef bool netburst_rule_fn(struct netburst_fixture *r);

/* Those of netburst_each.c. */
/* MSR_FIRM_ESCR0 tags an addition with bit 0, MSR_FIRM_ESCR1 with that bit of its own; does counter
 * 12 count the addition by this mask? */
bool netburst_two_tags(struct netburst_fixture *r, u64 second, u64 counted);

extern netburst_rule_fn *const netburst_each_rules[];

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
#define THRESHOLD(n) ((u64)(n) << 20)
#define EDGE	BIT(24)
#define CASCADE	BIT(30)
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

/* front_end_event with uop_type tagging what `mask` says, counter n of the even or odd IQ half. */
static inline void front_end(struct netburst_fixture *r, unsigned n, u64 mask, u64 from)
{
	bool odd = n & 1 ? n != 13 : n == 14;

	nbfixture_set(r, 0, odd ? 0x3bd : 0x3bc, escr(2, mask, 15));
	program(r, n, odd ? 0x3cd : 0x3cc, 5, escr(8, 1, 15), ENABLE, from);
}

#endif
