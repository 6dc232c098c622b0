/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of CPUID leaf 23H, auto counter reload and architectural PEBS break. What
 * is wanted is typed from SDM volumes 1 and 4 and Linux's structures; Panther Lake's masks are
 * those of spec/generation.def.
 */
#include "host/model/rules/internal.h"

#define THERE(msr)		(model_rdmsr(&r->m, msr).status == MSR_DONE)

#define CTR(n)		(0x1900 + 4u * (n))
#define CFG_A(n)	(0x1901 + 4u * (n))
#define CFG_B(n)	(0x1902 + 4u * (n))
#define CFG_C(n)	(0x1903 + 4u * (n))
#define FX_CTR(i)	(0x1980 + 4u * (i))
#define FX_CFG_C(i)	(0x1983 + 4u * (i))
#define BASE		0x3f4
#define INDEX		0x3f5
#define STATUS		0x38e
#define GLOBAL		0x38f

#define PEBS		BIT(63)
#define AUX		BIT(62)
#define GPR		BIT(61)
#define XMM		BIT(49)
#define LBR(code)	((u64)(code) << 40)
#define ALLOW		BIT(35)
#define CNTR		(BIT(36) | BIT(37) | BIT(38))
#define EN		BIT(32)
#define THRESH(n)	((u64)(n) << 36)
#define NEVER		0x7fffffu
#define THRESHOLD_BIT	BIT(54)

#define BUFFER		(FIXTURE_PHYSICAL + 0x1000)
#define AT(offset)	fixture_peek(r, FIXTURE_BUFFER + (offset))
#define WR		(get(r, INDEX) >> 4 & 0x7fffff)

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

RULE(leaf_23_is_announced, leaf(r, 7, 1, 0) == 0x100 && leaf(r, 0x23, 0, 0) == 0x3f)
RULE(absent_subleaves_are_0,
     leaf_is(r, 6, 0, 0, 0, 0) && leaf_is(r, 31, 0, 0, 0, 0) && leaf_is(r, 33, 0, 0, 0, 0))
RULE(counters_are_in_the_bitmaps, leaf_is(r, 1, 0x3ff, 0xf, 0, 0) && THERE(0xca) && !THERE(0xcb) &&
					  THERE(0x30c) && !THERE(0x30d))
RULE(a_hole_is_a_hole, leaf_is(r, 1, 0xff, 0x77, 0, 0) && THERE(0x30b) && !THERE(0x30c) &&
			       THERE(0x30d) && THERE(0x30f) && !THERE(0x310))
RULE(events_are_the_other_way_round, leaf(r, 0x23, 3, 0) == (~leaf(r, 0xa, 0, 1) & 0xff))
RULE(subleaves_4_and_5_come_together,
     (leaf(r, 0x23, 0, 0) >> 4 & 1) == (leaf(r, 0x23, 0, 0) >> 5 & 1))

/* ---- selects ---- */

RULE(umask2_is_taken, TAKEN(0x187, BITS(40, 47)) && get(r, 0x187) == BITS(40, 47))
RULE(eq_is_taken, TAKEN(0x187, BIT(36)) && get(r, 0x187) == BIT(36))

/* 00C4 counts each branch, with UMASK2 01 far ones. */
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

/* An instruction with two loads is no cycle with one. */
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
	/* A cycle has more slots than one. */
	return !PMC(0) && PMC(1);
}

/* The knob, as it is drawn by some seeds. */
static bool hidden(struct fixture *r, bool by_register)
{
	r->m.latitude[LAT_RDPMC_USER_DISABLE] = 1;
	if (by_register)
		return TAKEN(0x187, BIT(37)) && TAKEN(0x38d, BIT(33)) && get(r, 0x187) == BIT(37);
	fixture_wrmsr(r, 0xc2, 5);
	fixture_wrmsr(r, 0x187, BIT(37));
	return !model_rdpmc_user(&r->m, 1).value && model_rdpmc(&r->m, 1).value == 5;
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

RULE(a_bank_takes_values_as_they_are, TAKEN(CTR(2), 0x80000000) && get(r, 0xc3) == 0x80000000)
RULE(selects_have_two_addresses, TAKEN(CFG_A(3), 0x4300c0) && get(r, 0x189) == 0x4300c0)

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
				       THERE(CFG_B(9)) && !THERE(CFG_B(10)))
RULE(cfg_c_is_of_what_has_pebs, THERE(CFG_C(0)) && THERE(CFG_C(9)) && !THERE(CFG_C(10)) &&
					THERE(FX_CFG_C(0)) && THERE(FX_CFG_C(3)) &&
					!THERE(FX_CFG_C(4)))

/* ---- auto counter reload: counter 3 overflows each 5 instructions, 2 would after 100 ---- */

static void reload(struct fixture *r, u64 mask_of_2, u64 mask_of_3)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;	/* what switches off doesn't count */
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

/* Fixed counter 0 overflows at the fifth instruction. */
static bool a_fixed_cause_reloads(struct fixture *r)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;
	fixture_wrmsr(r, CFG_B(2), BIT(32));
	fixture_wrmsr(r, CFG_C(2), -100ULL & 0xffffffff);
	fixture_program(r, 2, INST, 0, 200);
	fixture_wrmsr(r, 0x309, MINUS(5));
	fixture_wrmsr(r, 0x38d, 3);
	fixture_start(r, BIT(2) | BIT(32));
	fixture_nops(r, 7);
	fixture_stop(r);
	return PMC(2) == MINUS(98) && fixture_status(r) == BIT(32);
}

static bool without_a_mask_none_is(struct fixture *r)
{
	reload(r, 0, 0);
	return PMC(2) == MINUS(93) && PMC(3) == 2;
}

static bool what_is_no_cause_is_refused(struct fixture *r)
{
	return REFUSED(CFG_B(2), BIT(0)) && REFUSED(CFG_B(2), BIT(10)) && TAKEN(CFG_B(2), 0x3fc);
}

/* ---- registers of architectural PEBS ---- */

RULE(pebs_registers_are_there, THERE(BASE) && THERE(INDEX) && !THERE(0x3f1) && !THERE(0x3f2))
RULE(base_is_a_page, TAKEN(BASE, 0x12345000 | 0xf) && get(r, BASE) == (0x12345000 | 0xf) &&
			     REFUSED(BASE, 0x12345010) && REFUSED(BASE, 0x12345800))
RULE(index_has_its_fields, TAKEN(INDEX, 0x7fffff187fffff0) && get(r, INDEX) == 0x7fffff187fffff0 &&
				   REFUSED(INDEX, 8) && REFUSED(INDEX, BIT(27)) &&
				   REFUSED(INDEX, BIT(33)) && REFUSED(INDEX, BIT(59)))
RULE(cfg_c_has_the_bits_of_the_leaf,
     TAKEN(CFG_C(1), 0xe0020378ffffffff) && get(r, CFG_C(1)) == 0xe0020378ffffffff &&
	     REFUSED(CFG_C(1), BIT(32)) && REFUSED(CFG_C(1), BIT(39)) &&
	     REFUSED(CFG_C(1), BIT(42)) && REFUSED(CFG_C(1), BIT(50)) && REFUSED(CFG_C(1), BIT(60)))

/* ---- records ---- */

/* Counter n makes a record with these groups of each 4th instruction; the threshold is at so many
 * units. Not started. */
static void sampler(struct fixture *r, unsigned n, u64 groups, u64 threshold)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;
	fixture_wrmsr(r, BASE, BUFFER);
	fixture_wrmsr(r, INDEX, EN | THRESH(threshold));
	fixture_wrmsr(r, CFG_C(n), groups | PEBS | (-4ULL & 0xffffffff));
	fixture_program(r, n, INST, 0, 4);
}

/* Where the record of one() is from: the fourth instruction; and the one after it. */
static u64 sampled, next;
static struct model_registers after;

/* One record of counter 0, which has PDist. */
static void one(struct fixture *r, u64 groups)
{
	sampler(r, 0, groups, NEVER);
	fixture_start(r, BIT(0));
	sampled = r->ip + 12;
	next = r->ip + 16;
	fixture_nops(r, 4);
	after = r->regs;
	fixture_stop(r);
}

static bool wr_is_where_the_next_goes(struct fixture *r)
{
	sampler(r, 0, 0, NEVER);
	fixture_start(r, BIT(0));
	fixture_nops(r, 4);
	if (WR != 4)
		return false;
	fixture_nops(r, 4);
	fixture_stop(r);
	return WR == 8 && AT(0) == AT(0x40) && AT(0x10) + 16 == AT(0x50) && !AT(0x80);
}

static bool wr_0_is_the_base(struct fixture *r)
{
	one(r, 0);
	fixture_poke(r, FIXTURE_BUFFER, 0);
	fixture_wrmsr(r, INDEX, EN | THRESH(NEVER));
	fixture_start(r, BIT(0));
	fixture_nops(r, 4);
	fixture_stop(r);
	return WR == 4 && AT(0) && !AT(0x40);
}

static bool others_make_none(struct fixture *r)
{
	sampler(r, 0, 0, NEVER);
	fixture_wrmsr(r, CFG_C(0), 0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 9);
	fixture_stop(r);
	return !WR && !AT(0) && fixture_status(r) == BIT(0);
}

/* Counter 2 has another value than counter 0. */
static bool a_record_reloads(struct fixture *r)
{
	sampler(r, 2, 0, NEVER);
	fixture_wrmsr(r, CFG_C(0), 0xfffffff0);
	fixture_start(r, BIT(2));
	fixture_nops(r, 5);
	fixture_stop(r);
	return PMC(2) == MINUS(4) && WR == 4 && !fixture_status(r);
}

/* Neither of counters 1 and 2 has PDist: both are due on the fifth instruction. */
static bool two_on_one_are_both_recorded(struct fixture *r)
{
	sampler(r, 1, 0, NEVER);
	sampler(r, 2, 0, NEVER);
	fixture_start(r, BIT(1) | BIT(2));
	fixture_nops(r, 5);
	fixture_stop(r);
	return PMC(1) == MINUS(4) && PMC(2) == MINUS(4) && WR == 8 && !fixture_status(r);
}

static bool a_record_leaves_others_status(struct fixture *r)
{
	sampler(r, 2, 0, NEVER);
	fixture_program(r, 1, INST, 0, 2);
	fixture_start(r, BIT(1) | BIT(2));
	fixture_nops(r, 5);
	fixture_stop(r);
	return WR == 4 && fixture_status(r) == BIT(1);
}

/* A record has 4 units. */
static unsigned interrupts(struct fixture *r, u64 threshold, unsigned records)
{
	r->unmasks = true;
	sampler(r, 0, 0, threshold);
	fixture_start(r, BIT(0));
	fixture_nops(r, 4 * records);
	fixture_stop(r);
	return r->n_interrupts;
}

RULE(at_the_threshold_bit_54, interrupts(r, 8, 2) == 1 && fixture_status(r) == THRESHOLD_BIT)
RULE(below_it_none, !interrupts(r, 13, 3) && !fixture_status(r))
RULE(threshold_1_is_each, interrupts(r, 1, 3) == 3)

static bool status_is_cleared(struct fixture *r)
{
	interrupts(r, 4, 1);
	fixture_wrmsr(r, 0x390, THRESHOLD_BIT);
	return WR == 4 && !fixture_status(r);
}

/* Room for 64 records and none more. */
static bool nothing_beyond_the_end(struct fixture *r)
{
	u64 from;

	sampler(r, 0, 0, NEVER);
	fixture_start(r, BIT(0));
	from = r->ip;
	fixture_nops(r, 4 * 64);
	if (WR != 0x100 || get(r, INDEX) & BIT(31))
		return false;
	fixture_nops(r, 8);
	fixture_stop(r);
	return WR == 0x100 && get(r, INDEX) & BIT(31) && !AT(0x1000) && AT(0x10) == from + 12;
}

/* Memory's linear addresses are others. */
static bool base_is_physical(struct fixture *r)
{
	one(r, 0);
	return WR == 4 && AT(0);
}

RULE(the_header_tells_the_bytes, (one(r, AUX | GPR), (AT(0) & 0xffff) == 0x120) && WR == 0x12)
RULE(a_header_is_of_64_bit_mode, (one(r, 0), AT(0) == (BIT(63) | BIT(30) | 0x40)))
RULE(a_header_tells_the_groups,
     (one(r, AUX | GPR | XMM | LBR(1) | CNTR | ALLOW),
      (AT(0) & ~0xffffULL) == (PEBS | AUX | GPR | XMM | LBR(1) | BIT(36) | BIT(38) | BIT(30))))

static bool reserved_bits_are_written(struct fixture *r)
{
	fixture_poke(r, FIXTURE_BUFFER + 8, ~0ULL);
	fixture_poke(r, FIXTURE_BUFFER + 0x38, ~0ULL);
	one(r, 0);
	return !AT(8) && !AT(0x38) && AT(0x10) == sampled;
}

/* AUX at 40H, GPR at 80H: RFLAGS, RIP, RAX. */
static bool groups_are_in_order(struct fixture *r)
{
	one(r, AUX | GPR);
	return AT(0x88) == next && AT(0x80) == after.rflags && AT(0x90) == after.gpr[0] &&
	       AT(0x110) == 0;
}

static bool basic_has_its_fields(struct fixture *r)
{
	one(r, 0);
	return AT(0x10) == sampled && AT(0x18) == BIT(0) && AT(0x20) && AT(0x28) >> 16 == 1 &&
	       AT(0x28) & 0xffff;
}

/* Load latency on counter 2, of a load from memory. */
static bool aux_has_its_fields(struct fixture *r)
{
	sampler(r, 2, AUX, NEVER);
	fixture_wrmsr(r, 0x3f6, 3);
	fixture_program(r, 2, 0x01cd, 0, 1);
	fixture_start(r, BIT(2));
	for (unsigned i = 0; i < 60 && !WR; i++)
		fixture_load(r, ADDRESS + 0x40ULL * i);
	fixture_stop(r);
	return AT(0x40) >= ADDRESS && AT(0x68) && !AT(0x48) &&
	       (AT(0x70) & 0xffff) == (AT(0x70) >> 32) + 4;
}

static bool gpr_has_a0_bytes(struct fixture *r)
{
	one(r, GPR);
	return (AT(0) & 0xffff) == 0xe0 && WR == 0xe && AT(0x48) == next &&
	       AT(0xc8) == after.gpr[15];
}

static bool xer_has_xmm(struct fixture *r)
{
	r->xmm = 3;
	one(r, XMM);
	return (AT(0) & 0xffff) == 0x150 && AT(0x40) == BIT(1) && !AT(0x48) &&
	       AT(0x50) == 0x0a09080706050403 && AT(0x60) == 0x1a19181716151413;
}

static void only_xmm15(void *ctx, u8 *bytes)
{
	(void)ctx;
	memset(bytes, 0, 256);
	bytes[255] = 1;
}

static bool one_register_is_enough(struct fixture *r)
{
	r->host.xmm = only_xmm15;
	one(r, XMM);
	return (AT(0) & 0xffff) == 0x150 && AT(0x40) == BIT(1) && AT(0x148) == 1ULL << 56;
}

static void branches(struct fixture *r)
{
	fixture_wrmsr(r, 0x14cf, 32);
	fixture_wrmsr(r, 0x14ce, 0x7f0007);
	for (unsigned i = 0; i < 32; i++)
		fixture_branch(r, BRANCH_JUMP, true);
}

static bool lbr_has_head_and_entries(struct fixture *r)
{
	static const unsigned entries[] = { 0, 8, 16, 32 };

	for (unsigned code = 1; code <= 3; code++) {
		branches(r);
		one(r, LBR(code));
		if ((AT(0) & 0xffff) != 0x70 + 0x18 * entries[code] || AT(0x48) != 0x7f0007 ||
		    AT(0x50) != 32 || AT(0x70) != get(r, 0x1500) || AT(0x78) != get(r, 0x1600) ||
		    AT(0x88) != get(r, 0x1501))
			return false;
	}
	return true;
}

/* Counters 0, 2 and fixed 1; slots and metrics. */
static bool counters_are_in_order(struct fixture *r)
{
	fixture_wrmsr(r, 0x4c3, 0x222);
	fixture_wrmsr(r, 0x30a, 0x111);
	fixture_wrmsr(r, CFG_C(2), ALLOW);
	fixture_wrmsr(r, FX_CFG_C(1), ALLOW);
	one(r, CNTR | ALLOW);
	return (AT(0) & 0xffff) == 0x80 && AT(0x40) == (BIT(33) | 5) && AT(0x48) == 3 &&
	       !AT(0x50) && AT(0x58) == 0x222 && AT(0x60) == 0x111;
}

static bool fragments(struct fixture *r, u32 knob)
{
	u64 second;

	r->m.latitude[LAT_PEBS_FRAGMENTS] = knob;
	one(r, GPR | LBR(1));
	if (!knob)
		return !(AT(0) & BIT(31)) && (AT(0) & 0xffff) == 0x1d0;
	if (AT(0) != (PEBS | GPR | BIT(31) | BIT(30) | 0xe0))
		return false;
	second = 0xe0;
	if (knob == 2 && (AT(second) != 0x10 || (second += 0x10) != 0xf0))
		return false;
	return AT(second) == (LBR(1) | BIT(30) | 0x100);
}
RULE(cont_is_set_but_in_the_last, fragments(r, 0) && fragments(r, 1) && fragments(r, 2))

/* Counters 0 and 2, with other groups. */
static bool each_has_its_layout(struct fixture *r)
{
	sampler(r, 0, GPR, NEVER);
	sampler(r, 2, AUX, NEVER);
	fixture_start(r, BIT(0) | BIT(2));
	fixture_nops(r, 5);
	fixture_stop(r);
	return (AT(0) & 0xffff) == 0xe0 && (AT(0xe0) & 0xffff) == 0x80 && AT(0xe0) & AUX;
}

static bool pdist_is_exact(struct fixture *r)
{
	one(r, 0);
	return WR == 4 && AT(0x10) == sampled;
}

static bool fixed_counters_sample(struct fixture *r)
{
	for (unsigned i = 0; i < 4; i++) {
		fixture_wrmsr(r, BASE, BUFFER);
		fixture_wrmsr(r, INDEX, EN | THRESH(NEVER));
		fixture_wrmsr(r, FX_CFG_C(i), PEBS | 0xffffff00);
		fixture_wrmsr(r, 0x309u + i, MINUS(2));
		fixture_wrmsr(r, 0x38d, 3ULL << 4 * i);
		fixture_wrmsr(r, GLOBAL, BIT(32 + i));
		fixture_nops(r, 5);
		fixture_stop(r);
		if (WR < 4 || AT(0x18) != BIT(32 + i))
			return false;
		fixture_wrmsr(r, FX_CFG_C(i), 0);
	}
	return true;
}

/* Fixed counter i makes a record of its next event but one, which is that of any instruction. */
static void fixed_sampler(struct fixture *r, unsigned i, u64 groups, u64 threshold)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;
	fixture_wrmsr(r, BASE, BUFFER);
	fixture_wrmsr(r, INDEX, EN | THRESH(threshold));
	fixture_wrmsr(r, FX_CFG_C(i), groups | PEBS | 0xffffff00);
	fixture_wrmsr(r, 0x309u + i, MINUS(2));
	fixture_wrmsr(r, 0x38d, 3ULL << 4 * i);
}

static bool fixed_counters_reach_the_threshold(struct fixture *r)
{
	fixed_sampler(r, 0, 0, 4);
	fixture_wrmsr(r, GLOBAL, BIT(32));
	fixture_nops(r, 5);
	fixture_stop(r);
	return WR == 4 && r->n_interrupts == 1 && fixture_status(r) == THRESHOLD_BIT;
}

/* Fixed counter 6: slots of what retires; fixed counter 2 has another value. */
static bool fixed_6_has_its_own(struct fixture *r)
{
	fixed_sampler(r, 6, 0, 4);
	fixture_wrmsr(r, FX_CFG_C(2), 0xffff0000);
	fixture_wrmsr(r, GLOBAL, BIT(38));
	fixture_nops(r, 5);
	fixture_stop(r);
	return WR == 4 && AT(0x18) == BIT(38) && get(r, 0x30f) >= MINUS(0x100);
}
RULE(fixed_6_sets_bit_54_alone, fixed_6_has_its_own(r) && fixture_status(r) == THRESHOLD_BIT)

static bool a_header_of_cpl_3_is_of_64_bit_mode(struct fixture *r)
{
	sampler(r, 0, 0, NEVER);
	fixture_start(r, BIT(0));
	r->cpl = 3;
	fixture_nops(r, 4);
	r->cpl = 0;
	fixture_stop(r);
	return AT(0) == (BIT(63) | BIT(30) | 0x40);
}

static bool code_3_is_the_depth(struct fixture *r)
{
	fixture_wrmsr(r, 0x14cf, 16);
	one(r, LBR(3));
	return (AT(0) & 0xffff) == 0x70 + 0x18 * 16 && AT(0x50) == 16;
}

static bool counters_8_and_9_are_in_it(struct fixture *r)
{
	fixture_wrmsr(r, 0x4c9, 0x888);
	fixture_wrmsr(r, CFG_C(8), ALLOW);
	fixture_wrmsr(r, CFG_C(9), ALLOW);
	one(r, BIT(36) | ALLOW);
	return AT(0x40) == (BIT(0) | BIT(8) | BIT(9)) && AT(0x58) == 0x888;
}

/* Which stand still. */
static bool slots_are_before_metrics(struct fixture *r)
{
	fixture_wrmsr(r, 0x30c, 0x333);
	fixture_wrmsr(r, 0x329, 0x10);
	one(r, CNTR | ALLOW);
	return AT(0x48) == 3 && AT(0x58) == 0x333 && AT(0x60) == 0x10;
}

/* IA32_PMC0, and fixed counter 0, of which both write: with other groups. */
static bool fixed_has_its_layout(struct fixture *r)
{
	fixed_sampler(r, 0, AUX, NEVER);
	fixture_wrmsr(r, CFG_C(0), GPR | PEBS | (-4ULL & 0xffffffff));
	fixture_program(r, 0, INST, 0, 9);
	fixture_start(r, BIT(0) | BIT(32));
	fixture_nops(r, 12);
	fixture_stop(r);
	return AT(0x18) == BIT(32) && (AT(0) & (AUX | GPR)) == AUX &&
	       (AT(0x80) & (AUX | GPR)) == GPR;
}

rule *const archpebs_hole_rules[FAULT_COUNT] = {
	[FAULT_EXT_HOLE_FILLED] = a_hole_is_a_hole,
	[FAULT_V6_FIXED_NEXT] = fixed_banks_have_the_hole,
	[FAULT_ARCH_RELOAD_FIXED_4] = fixed_6_has_its_own,
	[FAULT_ARCH_OVFBUF_FIXED_4] = fixed_6_sets_bit_54_alone,
};

rule *const archpebs_rules[FAULT_COUNT] = {
	[FAULT_EXT_UNANNOUNCED] = leaf_23_is_announced,
	[FAULT_EXT_ABSENT_SUBLEAF] = absent_subleaves_are_0,
	[FAULT_EXT_SUBLEAF_MODULO] = absent_subleaves_are_0,
	[FAULT_EXT_GP_SHORT] = counters_are_in_the_bitmaps,
	[FAULT_EXT_EVENTS_ABSENT] = events_are_the_other_way_round,
	[FAULT_EXT_PEBS_HALF] = subleaves_4_and_5_come_together,
	[FAULT_UMASK2_REFUSED] = umask2_is_taken,
	[FAULT_UMASK2_IGNORED] = umask2_is_of_the_event,
	[FAULT_EQ_REFUSED] = eq_is_taken,
	[FAULT_EQ_AT_LEAST] = eq_wants_as_many,
	[FAULT_RDPMC_HIDE_REFUSED] = counters_can_be_hidden,
	[FAULT_RDPMC_HIDE_LEAKS] = hidden_counters_read_0,
	[FAULT_V6_CTR_DROPPED] = banks_are_the_counters,
	[FAULT_V6_CTR_EXTENDED] = a_bank_takes_values_as_they_are,
	[FAULT_V6_CFG_A_DROPPED] = selects_have_two_addresses,
	[FAULT_CFG_B_EVERYWHERE] = cfg_b_is_of_what_reloads,
	[FAULT_CFG_C_OF_FIXED_MISSING] = cfg_c_is_of_what_has_pebs,
	[FAULT_RELOAD_NEVER] = a_cause_reloads,
	[FAULT_RELOAD_ZERO] = a_cause_reloads,
	[FAULT_RELOAD_SHOWS] = one_reloads_itself,
	[FAULT_RELOAD_HIDES_ANY] = one_that_names_another_shows,
	[FAULT_RELOAD_UNNAMED] = without_a_mask_none_is,
	[FAULT_RELOAD_BY_PMC0] = what_is_no_cause_is_refused,
	[FAULT_PEBS_BASE_MISSING] = pebs_registers_are_there,
	[FAULT_PEBS_ENABLE_STAYS] = pebs_registers_are_there,
	[FAULT_PEBS_BASE_UNALIGNED] = base_is_a_page,
	[FAULT_PEBS_THRESH_SHORT] = index_has_its_fields,
	[FAULT_CFG_C_ANY_BIT] = cfg_c_has_the_bits_of_the_leaf,
	[FAULT_PEBS_BASE_WRITE_DROPPED] = base_is_a_page,
	[FAULT_PEBS_BASE_READS_ZERO] = base_is_a_page,
	[FAULT_PEBS_BASE_RESERVED_ACCEPTED] = base_is_a_page,
	[FAULT_PEBS_INDEX_WRITE_DROPPED] = index_has_its_fields,
	[FAULT_PEBS_INDEX_READS_ZERO] = index_has_its_fields,
	[FAULT_PEBS_INDEX_RESERVED_ACCEPTED] = index_has_its_fields,
	[FAULT_CFG_C_WRITE_DROPPED] = cfg_c_has_the_bits_of_the_leaf,
	[FAULT_CFG_C_READS_ZERO] = cfg_c_has_the_bits_of_the_leaf,
	[FAULT_CFG_C_RESERVED_ACCEPTED] = cfg_c_has_the_bits_of_the_leaf,
	[FAULT_ARCH_WR_IN_BYTES] = wr_is_where_the_next_goes,
	[FAULT_ARCH_WR_KEPT] = wr_0_is_the_base,
	[FAULT_ARCH_ANY_COUNTER] = others_make_none,
	[FAULT_ARCH_NO_RELOAD] = a_record_reloads,
	[FAULT_ARCH_FIRST_ENDS_OTHERS] = two_on_one_are_both_recorded,
	[FAULT_ARCH_CLEARS_OTHERS] = a_record_leaves_others_status,
	[FAULT_ARCH_RELOAD_PMC0] = a_record_reloads,
	[FAULT_ARCH_THRESHOLD_OVFBUF] = at_the_threshold_bit_54,
	[FAULT_ARCH_INTERRUPT_EACH] = below_it_none,
	[FAULT_ARCH_THRESHOLD_BEYOND] = at_the_threshold_bit_54,
	[FAULT_ARCH_THRESHOLD_ONE] = threshold_1_is_each,
	[FAULT_ARCH_OVFBUF_TOO] = at_the_threshold_bit_54,
	[FAULT_ARCH_THRESHOLD_STAYS] = status_is_cleared,
	[FAULT_ARCH_OVERRUN] = nothing_beyond_the_end,
	[FAULT_ARCH_WRAPS] = nothing_beyond_the_end,
	[FAULT_ARCH_BASE_LINEAR] = base_is_physical,
	[FAULT_ARCH_SIZE_OF_GROUPS] = the_header_tells_the_bytes,
	[FAULT_ARCH_MODE_CLEAR] = a_header_is_of_64_bit_mode,
	[FAULT_ARCH_HEADER_WITHOUT_GPR] = a_header_tells_the_groups,
	[FAULT_ARCH_RESERVED_KEPT] = reserved_bits_are_written,
	[FAULT_ARCH_GPR_FIRST] = groups_are_in_order,
	[FAULT_ARCH_BASIC_EXCHANGED] = basic_has_its_fields,
	[FAULT_ARCH_RETIRE_ZERO] = basic_has_its_fields,
	[FAULT_ARCH_AUX_AS_MEMORY] = aux_has_its_fields,
	[FAULT_ARCH_LATENCIES_EXCHANGED] = aux_has_its_fields,
	[FAULT_ARCH_GPR_SHORT] = gpr_has_a0_bytes,
	[FAULT_ARCH_XSTATE_BV_ZERO] = xer_has_xmm,
	[FAULT_ARCH_XMM_REVERSED] = xer_has_xmm,
	[FAULT_ARCH_XER_LOWER_REGISTERS] = one_register_is_enough,
	[FAULT_ARCH_LBR_WITHOUT_HEAD] = lbr_has_head_and_entries,
	[FAULT_ARCH_LBR_ALL] = lbr_has_head_and_entries,
	[FAULT_ARCH_COUNTERS_REVERSED] = counters_are_in_order,
	[FAULT_ARCH_CONT_SET] = cont_is_set_but_in_the_last,
	[FAULT_ARCH_ONE_LAYOUT] = each_has_its_layout,
	[FAULT_ARCH_PDIST_NEXT] = pdist_is_exact,
	[FAULT_RELOAD_NOT_BY_FIXED] = a_fixed_cause_reloads,
	[FAULT_RELOAD_SHOWS_WITH_OTHERS] = one_reloads_itself_and_is_reloaded,
	[FAULT_ARCH_THRESHOLD_NOT_FIXED] = fixed_counters_reach_the_threshold,
	[FAULT_ARCH_MODE_CLEAR_CPL3] = a_header_of_cpl_3_is_of_64_bit_mode,
	[FAULT_ARCH_LBR_32] = code_3_is_the_depth,
	[FAULT_ARCH_COUNTERS_8] = counters_8_and_9_are_in_it,
	[FAULT_ARCH_METRICS_FIRST] = slots_are_before_metrics,
	[FAULT_ARCH_LAYOUT_OF_PMC0] = fixed_has_its_layout,
	[FAULT_ARCH_FIXED_AT_8] = fixed_counters_sample,
};
