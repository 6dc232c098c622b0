/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of architectural PEBS break. The expected values are typed from SDM volumes
 * 1 and 4 and Linux's structures; Panther Lake's masks are those of spec/generation.def.
 */
#include "host/model/rules/internal.h"

#define BASE		0x3f4
#define INDEX		0x3f5
#define GLOBAL		0x38f

#define PEBS		BIT(63)
#define AUX		BIT(62)
#define GPR		BIT(61)
#define XMM		BIT(49)
#define YMMH		BIT(50)
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

/* ---- registers of architectural PEBS ---- */

RULE(pebs_registers_are_there, THERE(BASE) && THERE(INDEX) && !THERE(0x3f1) && !THERE(0x3f2))
RULE(base_is_a_page, TAKEN(BASE, 0xa00012345000 | 0xf) && get(r, BASE) == (0xa00012345000 | 0xf) &&
			     REFUSED(BASE, 0x12345010) && REFUSED(BASE, 0x12345800))
RULE(index_has_its_fields, TAKEN(INDEX, 0x7fffff187fffff0) && get(r, INDEX) == 0x7fffff187fffff0 &&
				   REFUSED(INDEX, 8) && REFUSED(INDEX, BIT(27)) &&
				   REFUSED(INDEX, BIT(33)) && REFUSED(INDEX, BIT(59)))
RULE(cfg_c_has_the_bits_of_the_leaf,
     TAKEN(CFG_C(1), 0xe0060378ffffffff) && get(r, CFG_C(1)) == 0xe0060378ffffffff &&
	     REFUSED(CFG_C(1), BIT(32)) && REFUSED(CFG_C(1), BIT(39)) &&
	     REFUSED(CFG_C(1), BIT(42)) && REFUSED(CFG_C(1), BIT(51)) && REFUSED(CFG_C(1), BIT(60)))

/* ---- records ---- */

/* Counter n makes a record with these groups at each 4th instruction; the threshold is so many
 * units. The counter isn't started. */
static void sampler(struct fixture *r, unsigned n, u64 groups, u64 threshold)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;
	fixture_wrmsr(r, BASE, BUFFER);
	fixture_wrmsr(r, INDEX, EN | THRESH(threshold));
	fixture_wrmsr(r, CFG_C(n), groups | PEBS | (-4ULL & 0xffffffff));
	fixture_program(r, n, INST, 0, 4);
}

/* The address of the instruction in the record of one(), which is the fourth; and of the next
 * one. */
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

/* Counter 2 has a different value than counter 0. */
static bool a_record_reloads(struct fixture *r)
{
	sampler(r, 2, 0, NEVER);
	fixture_wrmsr(r, CFG_C(0), 0xfffffff0);
	fixture_start(r, BIT(2));
	fixture_nops(r, 5);
	fixture_stop(r);
	return PMC(2) == MINUS(4) && WR == 4 && !fixture_status(r);
}

/* Neither of counters 2 and 3 has PDist: both are due on the fifth instruction. */
static bool two_on_one_are_both_recorded(struct fixture *r)
{
	sampler(r, 2, 0, NEVER);
	sampler(r, 3, 0, NEVER);
	fixture_start(r, BIT(2) | BIT(3));
	fixture_nops(r, 5);
	fixture_stop(r);
	return PMC(2) == MINUS(4) && PMC(3) == MINUS(4) && WR == 8 && !fixture_status(r);
}

/* Both are due on the fifth instruction. */
static bool each_of_two_has_its_value(struct fixture *r)
{
	sampler(r, 2, 0, NEVER);
	sampler(r, 3, 0, NEVER);
	fixture_wrmsr(r, CFG_C(3), PEBS | (-9ULL & 0xffffffff));
	fixture_start(r, BIT(2) | BIT(3));
	fixture_nops(r, 5);
	fixture_stop(r);
	return PMC(2) == MINUS(4) && PMC(3) == MINUS(9);
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

static bool at_the_threshold_too_a_counter_is_loaded(struct fixture *r)
{
	return interrupts(r, 4, 1) == 1 && get(r, 0x1900) >> 32;
}

static bool status_is_cleared(struct fixture *r)
{
	interrupts(r, 4, 1);
	fixture_wrmsr(r, 0x390, THRESHOLD_BIT);
	return WR == 4 && !fixture_status(r);
}

static bool status_stays_below_the_threshold(struct fixture *r)
{
	return interrupts(r, 4, 1) == 1 && interrupts(r, NEVER, 1) == 1 && WR == 4 &&
	       fixture_status(r) == THRESHOLD_BIT;
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

/* The linear addresses of the memory differ from its physical ones. */
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

/* The data source in a record of counter n, which samples this event over accesses, each to another
 * page. 0: no record. */
static u64 source_of(struct fixture *r, unsigned n, u32 event, u64 threshold,
		     void (*access)(struct fixture *, u64))
{
	sampler(r, n, AUX, NEVER);
	fixture_wrmsr(r, 0x3f6, threshold);
	fixture_program(r, n, event, 0, 1);
	fixture_start(r, BIT(n));
	for (unsigned i = 0; i < 200 && !WR; i++)
		access(r, ADDRESS + 0x1000ULL * i);
	fixture_stop(r);
	return AT(0x68);
}

RULE(a_locked_load_has_bit_11, source_of(r, 2, 0x01cd, 3, fixture_locked_add) & BIT(11))
RULE(a_page_walk_has_bit_10, source_of(r, 2, 0x01cd, 3, fixture_load) & BIT(10))
RULE(a_locked_store_has_bit_11, source_of(r, 0, 0x02cd, 3, fixture_locked_add) & BIT(11))
RULE(none_is_above_ffff, (source_of(r, 2, 0x01cd, 0xffff, fixture_load), !WR))

static bool aux_has_all_bits_of_its_address(struct fixture *r)
{
	sampler(r, 0, AUX, NEVER);
	fixture_program(r, 0, LOADS, 0, 1);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 4 && !WR; i++)
		fixture_load(r, 0x7f1122334450);
	fixture_stop(r);
	return AT(0x40) == 0x7f1122334450;
}

static bool gpr_has_a0_bytes(struct fixture *r)
{
	one(r, GPR);
	return (AT(0) & 0xffff) == 0xe0 && WR == 0xe && AT(0x48) == next &&
	       AT(0xc8) == after.gpr[15];
}

static bool all_flags_are_in_it(struct fixture *r)
{
	r->regs.rflags |= BIT(21) | BIT(14) | BIT(12);
	one(r, GPR);
	return AT(0x40) == after.rflags && AT(0x40) & BIT(21) && AT(0x40) & BIT(14);
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

static bool upper_halves(void *ctx, u8 *bytes)
{
	(void)ctx;
	for (unsigned i = 0; i < 256; i++)
		bytes[i] = (u8)(0xff - i);
	return true;
}

static bool upper_halves_follow_xmm(struct fixture *r)
{
	r->xmm = 3;
	r->host.ymmh = upper_halves;
	one(r, XMM | YMMH);
	return (AT(0) & 0xffff) == 0x250 && AT(0x40) == (BIT(1) | BIT(2)) &&
	       AT(0x50) == 0x0a09080706050403 && AT(0x150) == 0xf8f9fafbfcfdfeff;
}

static bool only_ymm15(void *ctx, u8 *bytes)
{
	only_xmm15(ctx, bytes);
	return true;
}

static bool one_upper_half_is_enough(struct fixture *r)
{
	r->host.ymmh = only_ymm15;
	one(r, YMMH);
	return AT(0x40) == BIT(2) && AT(0x148) == 1ULL << 56;
}

/* This counter has no PDist. */
static bool counter_4_has_upper_halves(struct fixture *r)
{
	r->host.ymmh = upper_halves;
	sampler(r, 4, YMMH, NEVER);
	fixture_start(r, BIT(4));
	fixture_nops(r, 5);
	fixture_stop(r);
	return AT(0x40) == BIT(2);
}

static bool entries_have_events(struct fixture *r)
{
	fixture_wrmsr(r, 0x1200, BIT(32));
	one(r, LBR(1));
	return AT(0x80) == BIT(32);
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

static bool entries_are_as_many_while_off(struct fixture *r)
{
	branches(r);
	fixture_wrmsr(r, 0x14ce, 0x7f0006);
	one(r, LBR(2));
	return (AT(0) & 0xffff) == 0x70 + 0x18 * 16;
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

/* The sampler's CFG_C[35] is 0, that of counter 2 is 1. */
static bool sampler_is_in_it_as_others(struct fixture *r)
{
	fixture_wrmsr(r, CFG_C(2), ALLOW);
	one(r, CNTR);
	return AT(0x40) == 4;
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

/* Counters 0 and 2, with different groups. */
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

static bool pdist_is_exact_each_time(struct fixture *r)
{
	sampler(r, 0, BIT(61), NEVER);
	fixture_start(r, BIT(0));
	sampled = r->ip + 12;
	fixture_nops(r, 8);
	fixture_stop(r);
	return AT(0x10) == sampled && AT(WR * 8 + 0x10) == sampled + 16;
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

/* Fixed counter i makes a record of its second next event, which may be of any instruction. */
static void fixed_sampler(struct fixture *r, unsigned i, u64 groups, u64 threshold)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;
	fixture_wrmsr(r, BASE, BUFFER);
	fixture_wrmsr(r, INDEX, EN | THRESH(threshold));
	fixture_wrmsr(r, FX_CFG_C(i), groups | PEBS | 0xffffff00);
	fixture_wrmsr(r, 0x309u + i, MINUS(2));
	fixture_wrmsr(r, 0x38d, 3ULL << 4 * i);
}

/* It overflows on the second instruction, and has PDist. */
static bool fixed_0_is_precise(struct fixture *r)
{
	fixed_sampler(r, 0, 0, NEVER);
	fixture_wrmsr(r, GLOBAL, BIT(32));
	sampled = r->ip;
	fixture_nops(r, 6);
	fixture_stop(r);
	return WR == 4 && AT(0x10) <= sampled + 4;
}

static bool fixed_counters_reach_the_threshold(struct fixture *r)
{
	fixed_sampler(r, 0, 0, 4);
	fixture_wrmsr(r, GLOBAL, BIT(32));
	fixture_nops(r, 5);
	fixture_stop(r);
	return WR == 4 && r->n_interrupts == 1 && fixture_status(r) == THRESHOLD_BIT;
}

/* Fixed counter 6 counts slots that retire; fixed counter 2 has a different value. */
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

static bool a_header_of_compatibility_mode_is_not(struct fixture *r)
{
	sampler(r, 0, 0, NEVER);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 4; i++)
		fixture_retire(r, &(struct model_retired){ .compatibility = true });
	fixture_stop(r);
	return AT(0) == (BIT(63) | 0x40);
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

/* Slots and metrics are stopped. */
static bool slots_are_before_metrics(struct fixture *r)
{
	fixture_wrmsr(r, 0x30c, 0x333);
	fixture_wrmsr(r, 0x329, 0x10);
	one(r, CNTR | ALLOW);
	return AT(0x48) == 3 && AT(0x58) == 0x333 && AT(0x60) == 0x10;
}

static bool metrics_are_in_any_record(struct fixture *r)
{
	fixture_wrmsr(r, 0x30c, 0x333);
	sampler(r, 2, CNTR, NEVER);
	fixture_start(r, BIT(2));
	fixture_nops(r, 5);
	fixture_stop(r);
	return AT(0x48) == 3 && AT(0x50) == 0x333;
}

static bool metrics_are_in_it_as_they_run(struct fixture *r)
{
	fixture_wrmsr(r, 0x38d, 0x3000);
	sampler(r, 0, CNTR, NEVER);
	fixture_start(r, BIT(0) | BIT(35) | BIT(48));
	fixture_nops(r, 4);
	fixture_stop(r);
	return AT(0x48) == 3 && AT(0x50) && AT(0x58);
}

/* IA32_PMC0 and fixed counter 0, which both write records, with different groups. */
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
	[FAULT_ARCH_RELOAD_FIXED_4] = fixed_6_has_its_own,
	[FAULT_ARCH_OVFBUF_FIXED_4] = fixed_6_sets_bit_54_alone,
};

rule *const archpebs_rules[FAULT_COUNT] = {
	[FAULT_PEBS_BASE_MISSING] = pebs_registers_are_there,
	[FAULT_PEBS_ENABLE_STAYS] = pebs_registers_are_there,
	[FAULT_PEBS_BASE_32] = base_is_a_page,
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
	[FAULT_ARCH_RELOAD_OF_FIRST] = each_of_two_has_its_value,
	[FAULT_ARCH_RELOAD_PMC0] = a_record_reloads,
	[FAULT_ARCH_THRESHOLD_OVFBUF] = at_the_threshold_bit_54,
	[FAULT_ARCH_INTERRUPT_EACH] = below_it_none,
	[FAULT_ARCH_THRESHOLD_BEYOND] = at_the_threshold_bit_54,
	[FAULT_ARCH_THRESHOLD_ONE] = threshold_1_is_each,
	[FAULT_ARCH_THRESHOLD_NO_RELOAD] = at_the_threshold_too_a_counter_is_loaded,
	[FAULT_ARCH_OVFBUF_TOO] = at_the_threshold_bit_54,
	[FAULT_ARCH_THRESHOLD_STAYS] = status_is_cleared,
	[FAULT_ARCH_THRESHOLD_FALLS] = status_stays_below_the_threshold,
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
	[FAULT_ARCH_AUX_ADDRESS_32] = aux_has_all_bits_of_its_address,
	[FAULT_ARCH_LATENCIES_EXCHANGED] = aux_has_its_fields,
	[FAULT_ARCH_CACHE_LATENCY_ZERO] = aux_has_its_fields,
	[FAULT_ARCH_RFLAGS_16] = all_flags_are_in_it,
	[FAULT_ARCH_RFLAGS_NO_IOPL] = all_flags_are_in_it,
	[FAULT_ARCH_GPR_SHORT] = gpr_has_a0_bytes,
	[FAULT_ARCH_XSTATE_BV_ZERO] = xer_has_xmm,
	[FAULT_ARCH_YMMH_MISSING] = upper_halves_follow_xmm,
	[FAULT_ARCH_YMMH_FIRST] = upper_halves_follow_xmm,
	[FAULT_ARCH_YMMH_LOWER_HALVES] = upper_halves_follow_xmm,
	[FAULT_ARCH_XMM_REVERSED] = xer_has_xmm,
	[FAULT_ARCH_XER_LOWER_REGISTERS] = one_register_is_enough,
	[FAULT_ARCH_YMMH_LOWER_REGISTERS] = one_upper_half_is_enough,
	[FAULT_ARCH_YMMH_FIRST_FOUR] = counter_4_has_upper_halves,
	[FAULT_ARCH_AUX_UNLOCKED] = a_locked_load_has_bit_11,
	[FAULT_ARCH_AUX_STLB_HIT] = a_page_walk_has_bit_10,
	[FAULT_ARCH_STORE_BITS_LOST] = a_locked_store_has_bit_11,
	[FAULT_ARCH_LATENCY_THRESHOLD_3] = none_is_above_ffff,
	[FAULT_ARCH_METRICS_OF_PMC0] = metrics_are_in_any_record,
	[FAULT_ARCH_METRICS_RUNNING_ZERO] = metrics_are_in_it_as_they_run,
	[FAULT_ARCH_LBR_WITHOUT_EVENTS] = entries_have_events,
	[FAULT_ARCH_LBR_WITHOUT_HEAD] = lbr_has_head_and_entries,
	[FAULT_ARCH_LBR_ALL] = lbr_has_head_and_entries,
	[FAULT_ARCH_LBR_8_WHILE_OFF] = entries_are_as_many_while_off,
	[FAULT_ARCH_COUNTERS_REVERSED] = counters_are_in_order,
	[FAULT_ARCH_SAMPLER_ALWAYS] = sampler_is_in_it_as_others,
	[FAULT_ARCH_CONT_LOST] = cont_is_set_but_in_the_last,
	[FAULT_ARCH_CONT_SET] = cont_is_set_but_in_the_last,
	[FAULT_ARCH_ONE_LAYOUT] = each_has_its_layout,
	[FAULT_ARCH_PDIST_NEXT] = pdist_is_exact,
	[FAULT_ARCH_PDIST_FIRST_ALONE] = pdist_is_exact_each_time,
	[FAULT_ARCH_PDIST_BASIC_ALONE] = pdist_is_exact_each_time,
	[FAULT_ARCH_PDIST_FIXED_LATE] = fixed_0_is_precise,
	[FAULT_ARCH_THRESHOLD_NOT_FIXED] = fixed_counters_reach_the_threshold,
	[FAULT_ARCH_MODE_IN_COMPATIBILITY] = a_header_of_compatibility_mode_is_not,
	[FAULT_ARCH_MODE_CLEAR_CPL3] = a_header_of_cpl_3_is_of_64_bit_mode,
	[FAULT_ARCH_LBR_32] = code_3_is_the_depth,
	[FAULT_ARCH_COUNTERS_8] = counters_8_and_9_are_in_it,
	[FAULT_ARCH_METRICS_FIRST] = slots_are_before_metrics,
	[FAULT_ARCH_LAYOUT_OF_PMC0] = fixed_has_its_layout,
	[FAULT_ARCH_FIXED_AT_8] = fixed_counters_sample,
};
