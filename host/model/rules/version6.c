/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of CPUID leaf 23H, of version 6's registers and of auto counter reload
 * break. The expected values are typed from SDM volumes 1 and 4; the masks are those of Panther
 * Lake's larger core, and of its smaller one.
 */
#include "host/model/rules/internal.h"

#define CTR(n)		(0x1900 + 4u * (n))
#define CFG_A(n)	(0x1901 + 4u * (n))
#define CFG_B(n)	(0x1902 + 4u * (n))
#define CFG_C_1		0x1907
#define PEBS_INDEX	0x3f5
#define PEBS		BIT(63)
#define FX_CTR(i)	(0x1980 + 4u * (i))
#define FX_CFG_B(i)	(0x1982 + 4u * (i))
#define FIXED_0		32u	/* bit of fixed counter 0 */
#define FIXED_2		34u

static u32 leaf(struct fixture *r, u32 number, u32 subleaf, unsigned reg)
{
	u32 regs[4] = { ~0u, ~0u, ~0u, ~0u };

	model_cpuid(&r->m, number, subleaf, regs);
	return regs[reg];
}

static bool leaf_is(struct fixture *r, u32 subleaf, u32 a, u32 b, u32 c, u32 d)
{
	return leaf(r, 0x23, subleaf, 0) == a && leaf(r, 0x23, subleaf, 1) == b &&
	       leaf(r, 0x23, subleaf, 2) == c && leaf(r, 0x23, subleaf, 3) == d;
}

/* ---- leaf 23H ---- */

RULE(leaf_23_is_announced, leaf(r, 7, 1, 0) == 0x100 && leaf(r, 0x23, 0, 0) == 0x3b)
RULE(absent_subleaves_are_0,
     leaf_is(r, 6, 0, 0, 0, 0) && leaf_is(r, 31, 0, 0, 0, 0) && leaf_is(r, 33, 0, 0, 0, 0))
RULE(counters_are_in_the_bitmaps, leaf_is(r, 1, 0x3ff, 0xf, 0, 0) && THERE(0xca) && !THERE(0xcb) &&
					  THERE(0x30c) && !THERE(0x30d))
RULE(a_hole_is_a_hole, leaf_is(r, 1, 0xff, 0x77, 0, 0) && THERE(0x30b) && !THERE(0x30c) &&
			       THERE(0x30d) && THERE(0x30f) && !THERE(0x310))
RULE(events_are_the_other_way_round, leaf(r, 0x23, 3, 0) == (~leaf(r, 0xa, 0, 1) & 0x1fff))
/* The number of a P-core that leaf 0AH has too, with the knob that shows both. */
static bool slots_are_those_of_leaf_0a(struct fixture *r)
{
	r->m.latitude[LAT_SLOTS_SHOWN] = 1;
	return leaf(r, 0x23, 0, 2) == (leaf(r, 0xa, 0, 3) >> 16 & 0xf);
}

RULE(subleaves_4_and_5_come_together,
     (leaf(r, 0x23, 0, 0) >> 4 & 1) == (leaf(r, 0x23, 0, 0) >> 5 & 1))

RULE(an_event_that_isnt_there_is_marked, leaf(r, 0xa, 0, 1) == BIT(9))

/* ---- selects ---- */

RULE(umask2_is_taken, TAKEN(0x187, BITS(40, 47)) && get(r, 0x187) == BITS(40, 47))
RULE(eq_is_taken, TAKEN(0x187, BIT(36)) && get(r, 0x187) == BIT(36))

/* 00C4 counts each branch, and with UMASK2 = 01 the far ones. */
static bool umask2_is_of_the_event(struct fixture *r)
{
	fixture_program(r, 1, 0xc4, BIT(40), 0);
	fixture_program(r, 2, 0xc4, 0, 0);
	fixture_start(r, BIT(1) | BIT(2));
	fixture_branch(r, BRANCH_JUMP, true);
	fixture_branch(r, BRANCH_FAR, true);
	fixture_stop(r);
	return PMC(1) == 1 && PMC(2) == 2;
}

/* With CMASK = 1: no cycle has a far branch. */
static bool umask2_is_of_the_event_with_cmask(struct fixture *r)
{
	fixture_program(r, 1, 0xc4, BIT(40) | BIT(24), 0);
	fixture_start(r, BIT(1));
	fixture_branch(r, BRANCH_JUMP, true);
	fixture_stop(r);
	return PMC(1) == 0;
}

/* 01D1 with UMASK2 = 01 counts loads that hit the L1, after the line is there. */
static bool umask2_is_of_loads(struct fixture *r)
{
	fixture_program(r, 1, 0x01d1, BIT(40), 0);
	fixture_start(r, BIT(1));
	for (unsigned i = 0; i < 1000; i++)
		fixture_load(r, ADDRESS);
	fixture_stop(r);
	return PMC(1) > 0;
}

static bool umask2_is_of_what_is_recorded(struct fixture *r)
{
	fixture_wrmsr(r, PEBS_INDEX, BIT(32));
	fixture_wrmsr(r, CFG_C_1, PEBS);
	fixture_program(r, 1, 0xc4, BIT(40), 0);
	fixture_start(r, BIT(1));
	fixture_branch(r, BRANCH_JUMP, true);
	fixture_stop(r);
	return PMC(1) == 0;
}

/* The cycle of an instruction with two loads isn't a cycle with exactly one. */
static bool eq_wants_as_many(struct fixture *r)
{
	struct model_retired two = { .loads = 2, .n_access = 2,
				     .access = { { ADDRESS, 8, false, false },
						 { ADDRESS + 8, 8, false, false } } };

	fixture_program(r, 0, 0x01a4, BIT(36) | 1ULL << 24, 0);
	fixture_program(r, 1, 0x01a4, 1ULL << 24, 0);
	fixture_start(r, BIT(0) | BIT(1));
	fixture_retire(r, &two);
	fixture_stop(r);
	/* A cycle has more than one slot. */
	return !PMC(0) && PMC(1);
}

/* No cycle has 21H instructions. */
static bool eq_compares_each_bit(struct fixture *r)
{
	fixture_program(r, 0, INST, BIT(36) | 0x21ULL << 24, 0);
	fixture_program(r, 1, INST, BIT(36) | 1ULL << 24, 0);
	fixture_start(r, BIT(0) | BIT(1));
	fixture_nops(r, 100);
	fixture_stop(r);
	return !PMC(0) && PMC(1);
}

/* The knob has the value that some seeds draw. */
static bool hidden(struct fixture *r, bool by_register)
{
	r->m.latitude[LAT_RDPMC_USER_DISABLE] = 1;
	if (by_register)
		return TAKEN(0x187, BIT(37)) && TAKEN(0x38d, BIT(33)) && get(r, 0x187) == BIT(37);
	fixture_wrmsr(r, 0xc2, 5);
	fixture_wrmsr(r, 0x187, BIT(37));
	fixture_wrmsr(r, 0xc3, 6);
	fixture_wrmsr(r, 0x188, BIT(37));
	return !model_rdpmc_user(&r->m, 1).value && !model_rdpmc_user(&r->m, 2).value &&
	       model_rdpmc(&r->m, 1).value == 5;
}
RULE(counters_can_be_hidden, hidden(r, true))
RULE(hidden_counters_read_0, hidden(r, false))

/* ---- registers from 1900H on ---- */

static bool banks_are_the_counters(struct fixture *r)
{
	for (u32 n = 0; n < 10; n++) {
		if (!TAKEN(CTR(n), 0x123456780000u + n) ||
		    get(r, 0xc1 + n) != 0x123456780000u + n || !TAKEN(0x4c1 + n, 0x42 + n) ||
		    get(r, CTR(n)) != 0x42 + n || !TAKEN(CFG_A(n), 0x5300c0 + n) ||
		    get(r, 0x186 + n) != 0x5300c0 + n || !TAKEN(0x186 + n, 0x4200c4) ||
		    get(r, CFG_A(n)) != 0x4200c4)
			return false;
	}
	return !THERE(CTR(10)) && !THERE(CFG_A(10)) && !THERE(0x1981);
}

RULE(banks_take_each_bit, TAKEN(0x1904, BITS(0, 47)) && get(r, 0xc2) == BITS(0, 47) &&
				  TAKEN(0x1984, BITS(0, 47)) && get(r, 0x30a) == BITS(0, 47))

RULE(a_bank_takes_values_as_they_are, TAKEN(CTR(2), 0x80000000) && get(r, 0xc3) == 0x80000000)
RULE(selects_have_two_addresses, TAKEN(CFG_A(3), 0x4300c0) && get(r, 0x189) == 0x4300c0)

/* Counter 3 selects branches by one address, then instructions by the other one; it is written
 * while it counts. */
static bool banks_are_what_counts(struct fixture *r)
{
	fixture_program(r, 3, 0xc4, 0, 0);
	fixture_wrmsr(r, CFG_A(3), 0x4300c0);
	fixture_start(r, BIT(3));
	fixture_wrmsr(r, CTR(3), 0x1000);
	fixture_nops(r, 5);
	return PMC(3) >= 0x1005 && PMC(3) < 0x1010;
}

static bool fixed_banks_have_the_hole(struct fixture *r)
{
	static const u8 there[] = { 0, 1, 2, 4, 5, 6 };

	for (u32 n = 0; n < 6; n++)
		if (!TAKEN(FX_CTR(there[n]), 7 + n) || get(r, 0x309u + there[n]) != 7 + n)
			return false;
	for (u32 n = 0; n < 6; n++)
		if (get(r, FX_CTR(there[n])) != 7 + n)
			return false;
	return !THERE(FX_CTR(3)) && !THERE(FX_CTR(7));
}

RULE(cfg_b_is_of_what_reloads, !THERE(CFG_B(0)) && !THERE(CFG_B(1)) && THERE(CFG_B(2)) &&
				       THERE(CFG_B(7)) && !THERE(CFG_B(8)) && THERE(FX_CFG_B(0)) &&
				       THERE(FX_CFG_B(1)) && !THERE(FX_CFG_B(2)))
RULE(cfg_c_is_of_what_has_pebs, THERE(CFG_C(0)) && THERE(CFG_C(9)) && !THERE(CFG_C(10)) &&
					THERE(FX_CFG_C(0)) && THERE(FX_CFG_C(3)) &&
					!THERE(FX_CFG_C(4)))

/*
 * ---- auto counter reload, which the smaller core has: counter 3 overflows each 5 instructions, 2
 * would after 100 ----
 */

static void reload(struct fixture *r, u64 mask_of_2, u64 mask_of_3)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;	/* the stopping write doesn't count */
	fixture_wrmsr(r, CFG_B(2), mask_of_2);
	fixture_wrmsr(r, CFG_B(3), mask_of_3);
	fixture_wrmsr(r, CFG_C(2), -100ULL & 0xffffffff);
	fixture_wrmsr(r, CFG_C(3), -5ULL & 0xffffffff);
	fixture_program(r, 2, INST, 0, 100);
	fixture_program(r, 3, INST, 0, 5);
	fixture_start(r, BIT(2) | BIT(3));
	fixture_nops(r, 7);
	fixture_stop(r);
}

static bool a_cause_reloads(struct fixture *r)
{
	reload(r, BIT(3), 0);
	return PMC(2) == MINUS(98) && fixture_status(r) == BIT(3);
}

static bool one_reloads_itself(struct fixture *r)
{
	reload(r, 0, BIT(3));
	return PMC(3) == MINUS(3) && PMC(2) == MINUS(93) && !fixture_status(r);
}

static bool one_reloads_itself_and_is_reloaded(struct fixture *r)
{
	reload(r, 0, BIT(3) | BIT(2) | BIT(32));
	return PMC(3) == MINUS(3) && !fixture_status(r);
}

static bool one_that_names_another_shows(struct fixture *r)
{
	reload(r, 0, BIT(2));
	return PMC(3) == 2 && fixture_status(r) == BIT(3);
}

static bool each_that_names_it_is_reloaded(struct fixture *r)
{
	fixture_wrmsr(r, CFG_B(4), BIT(3));
	fixture_wrmsr(r, CFG_C(4), -200ULL & 0xffffffff);
	reload(r, BIT(3), 0);
	return PMC(2) == MINUS(98) && PMC(4) == MINUS(200);
}

/* The two counters of reload(); one of them has PEBS enabled. */
static bool reloads_with_pebs(struct fixture *r, unsigned n)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;
	fixture_wrmsr(r, CFG_B(2), BIT(3));
	fixture_wrmsr(r, CFG_C(2), -100ULL & 0xffffffff);
	fixture_wrmsr(r, CFG_C(n), (-100ULL & 0xffffffff) | BIT(63));
	fixture_program(r, 2, INST, 0, 100);
	fixture_program(r, 3, INST, 0, 5);
	fixture_start(r, BIT(2) | BIT(3));
	fixture_nops(r, 7);
	fixture_stop(r);
	return PMC(2) == MINUS(98);
}
RULE(a_cause_with_pebs_reloads, reloads_with_pebs(r, 3))
RULE(one_with_pebs_is_reloaded, reloads_with_pebs(r, 2))

static bool one_with_an_interrupt_reloads_itself(struct fixture *r)
{
	fixture_wrmsr(r, CFG_B(3), BIT(3));
	fixture_wrmsr(r, CFG_C(3), -5ULL & 0xffffffff);
	fixture_program(r, 3, INST, INT, 5);
	fixture_start(r, BIT(3));
	fixture_nops(r, 7);
	return !fixture_status(r);
}

/* This counter reloads counter 2, which is so far from its overflow. It overflows at the fifth of
 * seven instructions: IA32_PMCn, or fixed counter 0. */
static void reloaded_by(struct fixture *r, unsigned cause, u64 flags, u64 away)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;
	fixture_wrmsr(r, CFG_B(2), BIT(cause));
	fixture_wrmsr(r, CFG_C(2), -100ULL & 0xffffffff);
	fixture_program(r, 2, INST, 0, away);
	if (cause == FIXED_0) {
		fixture_wrmsr(r, 0x309, MINUS(5));
		fixture_wrmsr(r, 0x38d, 3);
	} else {
		fixture_program(r, cause, INST, flags, 5);
	}
	fixture_start(r, BIT(2) | BIT(cause));
	fixture_nops(r, 7);
}

static bool one_that_overflows_too_is_reloaded(struct fixture *r)
{
	reloaded_by(r, 3, 0, 5);
	fixture_stop(r);
	return PMC(2) == MINUS(98);
}

static bool a_fixed_cause_reloads(struct fixture *r)
{
	reloaded_by(r, FIXED_0, 0, 200);
	fixture_stop(r);
	return PMC(2) == MINUS(98) && fixture_status(r) == BIT(FIXED_0);
}

/* Counter 2 names counter 3, which is far from its overflow. This one overflows at the fifth of
 * seven instructions: IA32_PMC4, or fixed counter 2, which counts clocks. */
static bool one_that_isnt_named_reloads(struct fixture *r, unsigned cause)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;
	fixture_wrmsr(r, CFG_B(2), BIT(3));
	fixture_wrmsr(r, CFG_C(2), -100ULL & 0xffffffff);
	fixture_program(r, 2, INST, 0, 200);
	fixture_program(r, 3, INST, 0, 200);
	if (cause == FIXED_2) {
		fixture_wrmsr(r, 0x30b, MINUS(1));
		fixture_wrmsr(r, 0x38d, 0x300);
	} else {
		fixture_program(r, cause, INST, 0, 5);
	}
	fixture_start(r, BIT(2) | BIT(3) | BIT(cause));
	fixture_nops(r, 7);
	fixture_stop(r);
	return PMC(2) != MINUS(193) || !(fixture_status(r) & BIT(cause));
}

RULE(a_cause_that_isnt_named_reloads_nothing, !one_that_isnt_named_reloads(r, 4))
RULE(fixed_counter_2_reloads_nothing, !one_that_isnt_named_reloads(r, FIXED_2))

/* Counter 3, which counter 2 names, names counter 4. */
static bool each_has_names_of_its_own(struct fixture *r)
{
	fixture_wrmsr(r, CFG_B(3), BIT(4));
	fixture_wrmsr(r, CFG_C(3), -100ULL & 0xffffffff);
	return !one_that_isnt_named_reloads(r, 4);
}

/* CFG_B of counter 2 is written while the two count. */
static bool one_named_while_it_counts_reloads(struct fixture *r)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;
	fixture_wrmsr(r, CFG_C(2), -100ULL & 0xffffffff);
	fixture_program(r, 2, INST, 0, 200);
	fixture_program(r, 3, INST, 0, 5);
	fixture_start(r, BIT(2) | BIT(3));
	fixture_wrmsr(r, CFG_B(2), BIT(3));
	fixture_nops(r, 9);
	return PMC(2) >= MINUS(100) && PMC(2) < MINUS(90);
}

/* With IA32_DEBUGCTL[12]. */
static bool a_cause_that_freezes_reloads(struct fixture *r)
{
	fixture_wrmsr(r, 0x1d9, BIT(12));
	reloaded_by(r, 3, INT, 200);
	return PMC(2) >= MINUS(100) && PMC(2) < MINUS(90);
}

static bool a_cause_interrupts(struct fixture *r)
{
	reloaded_by(r, 3, INT, 100);
	return r->n_interrupts == 1;
}

static bool without_a_mask_none_is(struct fixture *r)
{
	reload(r, 0, 0);
	return PMC(2) == MINUS(93) && PMC(3) == 2;
}

static bool what_is_no_cause_is_refused(struct fixture *r)
{
	return REFUSED(CFG_B(2), BIT(0)) && REFUSED(CFG_B(2), BIT(8)) && TAKEN(CFG_B(2), 0xfc);
}

RULE(cfg_b_reads_back, TAKEN(CFG_B(2), BIT(3)) && get(r, CFG_B(2)) == BIT(3))

rule *const version6_smaller_core_rules[FAULT_COUNT] = {
	[FAULT_EXT_HOLE_FILLED] = a_hole_is_a_hole,
	[FAULT_V6_FIXED_NEXT] = fixed_banks_have_the_hole,
	[FAULT_CFG_B_EVERYWHERE] = cfg_b_is_of_what_reloads,
	[FAULT_CFG_B_READS_ZERO] = cfg_b_reads_back,
	[FAULT_RELOAD_NEVER] = a_cause_reloads,
	[FAULT_RELOAD_ZERO] = a_cause_reloads,
	[FAULT_RELOAD_NOT_BY_PEBS] = a_cause_with_pebs_reloads,
	[FAULT_RELOAD_NOT_OF_PEBS] = one_with_pebs_is_reloaded,
	[FAULT_RELOAD_LOWEST_ALONE] = each_that_names_it_is_reloaded,
	[FAULT_RELOAD_SHOWS_WITH_INT] = one_with_an_interrupt_reloads_itself,
	[FAULT_RELOAD_SHOWS] = one_reloads_itself,
	[FAULT_RELOAD_HIDES_ANY] = one_that_names_another_shows,
	[FAULT_RELOAD_NOT_BESIDE_WRAP] = one_that_overflows_too_is_reloaded,
	[FAULT_RELOAD_UNNAMED] = without_a_mask_none_is,
	[FAULT_RELOAD_BY_ANY_CAUSE] = a_cause_that_isnt_named_reloads_nothing,
	[FAULT_RELOAD_ONE_SET] = each_has_names_of_its_own,
	[FAULT_RELOAD_LATCHED] = one_named_while_it_counts_reloads,
	[FAULT_RELOAD_NOT_WITH_FREEZE] = a_cause_that_freezes_reloads,
	[FAULT_RELOAD_BY_FIXED_2] = fixed_counter_2_reloads_nothing,
	[FAULT_RELOAD_BY_PMC0] = what_is_no_cause_is_refused,
	[FAULT_RELOAD_NOT_BY_FIXED] = a_fixed_cause_reloads,
	[FAULT_RELOAD_SHOWS_WITH_OTHERS] = one_reloads_itself_and_is_reloaded,
	[FAULT_RELOAD_WITHOUT_PMI] = a_cause_interrupts,
};

/* ---- LBR inserts ---- */

/* Two jumps and a return with this value in IA32_LBR_CTL; then an interrupt. */
static u64 inserts(struct fixture *r, u64 control)
{
	fixture_program(r, 2, 0x01e4, 0, 0);
	fixture_wrmsr(r, 0x14ce, control);
	fixture_start(r, BIT(2));
	fixture_branch(r, BRANCH_JUMP, true);
	fixture_branch(r, BRANCH_JUMP, true);
	fixture_branch(r, BRANCH_RETURN, true);
	model_transfer(&r->m, 0x1000, 0x2000, 0, 0, 0);
	fixture_stop(r);
	return PMC(2);
}

/* Jumps, which leave some of the front end's slots empty, and use others. */
static bool slots_have_events(struct fixture *r)
{
	fixture_program(r, 2, 0x019c, 0, 0);
	fixture_program(r, 3, 0x02c2, 0, 0);
	fixture_start(r, BIT(2) | BIT(3));
	fixture_nops(r, 10);
	fixture_stop(r);
	return PMC(2) > 0 && PMC(3) > 0;
}

static bool inserts_are_none_while_frozen(struct fixture *r)
{
	fixture_wrmsr(r, 0x391, BIT(58));
	return inserts(r, 0x7f0007) == 0;
}

static bool inserts_are_counted_at_cpl_3(struct fixture *r)
{
	fixture_program(r, 2, 0x01e4, 0, 0);
	fixture_wrmsr(r, 0x14ce, 0x7f0007);
	fixture_start(r, BIT(2));
	r->cpl = 3;
	fixture_branch(r, BRANCH_JUMP, true);
	r->cpl = 0;
	fixture_stop(r);
	return PMC(2) == 1;
}

RULE(inserts_are_entries, inserts(r, 0x7f0007) == 4)
RULE(inserts_go_by_the_filter, inserts(r, 0x200007) == 1)
RULE(inserts_are_none_while_off, inserts(r, 0x7f0006) == 0)
/* Call-stack mode, of returns alone. */
RULE(inserts_are_not_removals, inserts(r, 0x20000f) == 0)

rule *const version6_rules[FAULT_COUNT] = {
	[FAULT_TOPDOWN_EVENTS_SILENT] = slots_have_events,
	[FAULT_LBR_INSERTS_FROZEN] = inserts_are_none_while_frozen,
	[FAULT_LBR_INSERTS_OS_ONLY] = inserts_are_counted_at_cpl_3,
	[FAULT_LBR_INSERTS_UNFILTERED] = inserts_go_by_the_filter,
	[FAULT_LBR_INSERTS_WHILE_OFF] = inserts_are_none_while_off,
	[FAULT_LBR_INSERTS_OF_BRANCHES] = inserts_are_entries,
	[FAULT_LBR_INSERTS_OF_RETURNS] = inserts_are_not_removals,
	[FAULT_EXT_UNANNOUNCED] = leaf_23_is_announced,
	[FAULT_EXT_ABSENT_SUBLEAF] = absent_subleaves_are_0,
	[FAULT_EXT_SUBLEAF_MODULO] = absent_subleaves_are_0,
	[FAULT_EXT_SLOTS_OF_ANOTHER] = slots_are_those_of_leaf_0a,
	[FAULT_EXT_GP_SHORT] = counters_are_in_the_bitmaps,
	[FAULT_CPUID_EVENT_SHOWN] = an_event_that_isnt_there_is_marked,
	[FAULT_EXT_EVENTS_ABSENT] = events_are_the_other_way_round,
	[FAULT_EXT_PEBS_HALF] = subleaves_4_and_5_come_together,
	[FAULT_UMASK2_REFUSED] = umask2_is_taken,
	[FAULT_UMASK2_IGNORED] = umask2_is_of_the_event,
	[FAULT_UMASK2_WITHOUT_CMASK] = umask2_is_of_the_event_with_cmask,
	[FAULT_UMASK2_COUNTS_NOTHING] = umask2_is_of_the_event,
	[FAULT_UMASK2_OF_LOADS_COUNTS_NOTHING] = umask2_is_of_loads,
	[FAULT_UMASK2_RECORDS_ANY] = umask2_is_of_what_is_recorded,
	[FAULT_EQ_REFUSED] = eq_is_taken,
	[FAULT_EQ_AT_LEAST] = eq_wants_as_many,
	[FAULT_EQ_3_BITS] = eq_compares_each_bit,
	[FAULT_RDPMC_HIDE_REFUSED] = counters_can_be_hidden,
	[FAULT_RDPMC_HIDE_LEAKS] = hidden_counters_read_0,
	[FAULT_RDPMC_HIDE_CPL_3_ALONE] = hidden_counters_read_0,
	[FAULT_RDPMC_HIDE_LOWEST_ALONE] = hidden_counters_read_0,
	[FAULT_V6_CTR_DROPPED] = banks_are_the_counters,
	[FAULT_V6_CTR_42_BITS] = banks_take_each_bit,
	[FAULT_V6_CTR_EXTENDED] = a_bank_takes_values_as_they_are,
	[FAULT_V6_CTR_RUNNING_KEPT] = banks_are_what_counts,
	[FAULT_V6_CFG_A_EVENT_STAYS] = banks_are_what_counts,
	[FAULT_V6_CFG_A_DROPPED] = selects_have_two_addresses,
	[FAULT_CFG_C_OF_FIXED_MISSING] = cfg_c_is_of_what_has_pebs,
};
