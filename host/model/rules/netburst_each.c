/* SPDX-License-Identifier: MIT */
/* Further rules of NetBurst's PMU: of counters that a cascade has started, of either logical
 * processor, and of registers in use. See netburst.c. */
#include "host/model/rules/netburst.h"

/* 14, which 12 starts, with these flags, from this value. */
static void start_14(struct netburst_fixture *r, u64 flags, u64 from)
{
	program(r, 14, 0x3b9, 4, escr(2, 3, T0O), CASCADE | flags, from);
	instructions(r, T0O, ENABLE, TOP - 2);
	nbfixture_nops(r, 0, false, 12);
}

static bool a_started_one_interrupts(struct netburst_fixture *r)
{
	start_14(r, BIT(26), TOP - 1);
	return r->requests[0] == 1;
}

static bool a_started_one_compares(struct netburst_fixture *r)
{
	start_14(r, COMPARE | THRESHOLD(15), 0);
	return value(r, 14) == 0;
}

/* No instruction is more than one event: counter n on MSR_CRU_ESCR0 or 1. */
static bool exceeds_nothing(struct netburst_fixture *r, unsigned n, unsigned t, unsigned threshold)
{
	program(r, n, n == 12 ? 0x3b8 : 0x3b9, 4, escr(2, 3, t ? T1O : T0O),
		ENABLE | COMPARE | THRESHOLD(threshold), 0);
	nbfixture_nops(r, t, false, 5);
	return value(r, n) == 0;
}

NETBURST_RULE(thresholds_of_17_hold, exceeds_nothing(r, 17, 0, 4))
NETBURST_RULE(t1_compares, exceeds_nothing(r, 12, 1, 15))

static bool an_escr_in_use_is_taken(struct netburst_fixture *r)
{
	u64 before;

	instructions(r, T0O, ENABLE, 0);
	nbfixture_set(r, 0, 0x3b8, escr(2, 3, 0));
	before = value(r, 12);
	nbfixture_nops(r, 0, false, 5);
	return value(r, 12) == before;
}

static bool t1_reads_by_rdpmc(struct netburst_fixture *r)
{
	nbfixture_set(r, 0, COUNTER(12), 0x5a);
	return model_rdpmc(&r->m[1], 12).value == 0x5a;
}

static bool bogus_ones_are_none(struct netburst_fixture *r)
{
	program(r, 12, 0x3b8, 4, escr(2, 4 | 8, T0O), ENABLE, 0);
	nbfixture_nops(r, 0, false, 5);
	return value(r, 12) == 0;
}

/* A condition that always holds on 13, beside one on 12 that begins with each branch. */
static bool edges_are_its_own(struct netburst_fixture *r)
{
	u64 before;

	program(r, 12, 0x3cc, 5, escr(6, 15, T0O), ENABLE | COMPARE | EDGE, 0);
	program(r, 13, 0x3b8, 4, escr(2, 3, T0O), ENABLE | COMPARE | BIT(19) | THRESHOLD(15) | EDGE,
		0);
	before = value(r, 13);
	for (unsigned i = 0; i < 5; i++) {
		nbfixture_nops(r, 0, false, 1);
		nbfixture_branch(r, 0, BRANCH_CALL, true);
	}
	return value(r, 13) <= before + 1;
}

/* The overflow is by T0, the next event by T1; OVF_PMI_T0. */
static bool the_next_event_is_of_either(struct netburst_fixture *r)
{
	program(r, 8, 0x3a4, 1, escr(8, BIT(15), 15), ENABLE | BIT(26), TOP);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	nbfixture_compute(r, 1, false, ARITHMETIC_PACKED_SP);
	nbfixture_nops(r, 0, false, 1);
	return r->requests[0] == 1;
}

/* MSR_FIRM_ESCR0 tags packed additions, but at no level. */
static bool without_flags_nothing_is_tagged(struct netburst_fixture *r)
{
	program(r, 8, 0x3a4, 1, escr(8, BIT(15), 0) | BIT(4) | BIT(5), ENABLE, 0);
	program(r, 12, 0x3cc, 5, escr(12, 1, 15), ENABLE, 0);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	return value(r, 12) == 0;
}

#define BIT_11 BIT(11)

/* 16 starts 12 by bit 11, and 12 starts 14 by the cascade flag. */
static bool one_that_bit_11_starts_starts_another(struct netburst_fixture *r)
{
	program(r, 14, 0x3b9, 4, escr(2, 3, T0O), CASCADE, 0);
	instructions(r, T0O, BIT_11, TOP - 2);
	program(r, 16, 0x3b8, 4, escr(2, 3, T0O), ENABLE, TOP - 2);
	nbfixture_nops(r, 0, false, 20);
	return value(r, 14) != 0;
}

/* 12 has bit 11 and the cascade flag. */
static bool either_flag_starts(struct netburst_fixture *r, unsigned from)
{
	instructions(r, T0O, BIT_11 | CASCADE, 0);
	program(r, from, from == 14 ? 0x3b9 : 0x3b8, 4, escr(2, 3, T0O), ENABLE, TOP - 2);
	nbfixture_nops(r, 0, false, 20);
	return value(r, 12) != 0;
}

NETBURST_RULE(bit_11_starts_beside_the_flag, either_flag_starts(r, 16))
NETBURST_RULE(the_flag_starts_beside_bit_11, either_flag_starts(r, 14))

bool netburst_two_tags(struct netburst_fixture *r, u64 second, u64 counted)
{
	program(r, 8, 0x3a4, 1, escr(8, BIT(15), 15) | BIT(4) | BIT(5), ENABLE, 0);
	program(r, 10, 0x3a5, 1, escr(8, BIT(15), 15) | BIT(4) | second, ENABLE, 0);
	program(r, 12, 0x3cc, 5, escr(12, counted, 15), ENABLE, 0);
	nbfixture_compute(r, 0, false, ARITHMETIC_PACKED_SP);
	return value(r, 12) == 1;
}

NETBURST_RULE(each_tag_of_two_counts, netburst_two_tags(r, BIT(8), BIT(3)))

netburst_rule_fn *const netburst_each_rules[FAULT_COUNT] = {
	[FAULT_NB_CASCADED_PMI] = a_started_one_interrupts,
	[FAULT_NB_CASCADED_COMPARE] = a_started_one_compares,
	[FAULT_NB_THRESHOLD_OTHERS] = thresholds_of_17_hold,
	[FAULT_NB_COMPARE_T0] = t1_compares,
	[FAULT_NB_EDGE_STATE_PAIRS] = edges_are_its_own,
	[FAULT_NB_PMI_NEXT_SAME] = the_next_event_is_of_either,
	[FAULT_NB_ESCR_RUNNING] = an_escr_in_use_is_taken,
	[FAULT_NB_RDPMC_SECOND] = t1_reads_by_rdpmc,
	[FAULT_NB_BOGUS_COUNTS] = bogus_ones_are_none,
	[FAULT_NB_EXTENDED_NO_CHAIN] = one_that_bit_11_starts_starts_another,
	[FAULT_NB_EXTENDED_NOT_BOTH] = bit_11_starts_beside_the_flag,
	[FAULT_NB_CASCADE_NOT_BOTH] = the_flag_starts_beside_bit_11,
	[FAULT_NB_TAG_3_BESIDE_0] = each_tag_of_two_counts,
	[FAULT_NB_EXECUTION_FLAGS] = without_flags_nothing_is_tagged,
};
