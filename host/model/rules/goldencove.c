/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of Golden Cove break. The expected values are typed from the SDM's volumes
 * 1 and 4, Linux and intel/perfmon.
 */
#include "host/model/rules/internal.h"

#define CTL		0x14ce
#define DEPTH		0x14cf
#define FROM(i)		get(r, 0x1500 + (i))
#define TO(i)		get(r, 0x1600 + (i))
#define INFO(i)		get(r, 0x1200 + (i))
#define ALL		0x7f0007	/* every kind, at both levels, enabled */

static u32 leaf_1c(struct fixture *r, unsigned reg)
{
	u32 regs[4] = { ~0u, ~0u, ~0u, ~0u };

	model_cpuid(&r->m, 0x1c, 0, regs);
	return regs[reg];
}

static const struct {
	enum model_branch kind;
	bool indirect;
	u64 control;		/* bit of IA32_LBR_CTL */
	u64 type;
} kinds[] = {
	{ BRANCH_CONDITIONAL, false, BIT(16), 0 }, { BRANCH_JUMP, true, BIT(18), 1 },
	{ BRANCH_JUMP, false, BIT(17), 2 },	   { BRANCH_CALL, true, BIT(20), 3 },
	{ BRANCH_CALL, false, BIT(19), 4 },	   { BRANCH_RETURN, false, BIT(21), 5 },
	{ BRANCH_FAR, false, BIT(22), 8 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void a_branch(struct fixture *r, size_t kind, u8 cpl)
{
	fixture_retire(r, &(struct model_retired){
		.branch = kinds[kind].kind, .indirect = kinds[kind].indirect, .taken = true,
		.cpl = cpl, .cpl_after = cpl,
			  });
}

static void one_of_each(struct fixture *r)
{
	for (size_t i = 0; i < KINDS; i++)
		a_branch(r, i, 3);
}

static unsigned used(struct fixture *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 32; i++)
		n += FROM(i) != 0;
	return n;
}

/* ---- registers ---- */

RULE(leaf_1c_has_depth_32, (leaf_1c(r, 0) & 0xff) == 0x0b && leaf_1c(r, 1) == 7 &&
				   leaf_1c(r, 2) == 7 && get(r, DEPTH) == 32)
RULE(control_has_its_bits, TAKEN(CTL, 0x7f000f) && get(r, CTL) == 0x7f000f &&
				   REFUSED(CTL, BIT(4)) && REFUSED(CTL, BIT(15)) &&
				   REFUSED(CTL, BIT(23)))
RULE(depths_are_those_of_leaf_1c, TAKEN(DEPTH, 8) && get(r, DEPTH) == 8 && REFUSED(DEPTH, 0) &&
					  REFUSED(DEPTH, 7) && REFUSED(DEPTH, 24) &&
					  REFUSED(DEPTH, 40) && get(r, DEPTH) == 8)
RULE(refused_control_is_not_taken,
     TAKEN(CTL, 0x2) && REFUSED(CTL, BIT(40) | BIT(2)) && get(r, CTL) == 0x2)
RULE(refused_depth_clears_nothing,
     TAKEN(0x1500, 0x1234) && REFUSED(DEPTH, 0) && get(r, 0x1500) == 0x1234)
RULE(event_logging_isnt_there, REFUSED(0x187, BIT(35)))
RULE(legacy_registers_are_gone,
     REFUSED(0x1c8, 0) && REFUSED(0x1c9, 0) && REFUSED(0x680, 0) && REFUSED(0xdc0, 0))
RULE(haswell_has_none, REFUSED(0x14ce, 0) && REFUSED(0x1500, 0) && leaf_1c(r, 0) == 0)

static bool entries_end_at_the_depth(struct fixture *r)
{
	fixture_wrmsr(r, DEPTH, 16);
	for (u32 bank = 0x1200; bank <= 0x1600; bank += bank == 0x1200 ? 0x300 : 0x100)
		if (!TAKEN(bank + 15, 1) || !REFUSED(bank + 16, 1) || !REFUSED(bank + 32, 1))
			return false;
	return true;
}

static bool entries_read_back(struct fixture *r)
{
	for (u32 i = 0; i < 32; i += 31) {
		fixture_wrmsr(r, 0x1500 + i, 0xffff8000deadb000 + i);
		fixture_wrmsr(r, 0x1600 + i, 0xffff8000deadc000 + i);
		fixture_wrmsr(r, 0x1200 + i, BIT(63) | 0x1234);
	}
	for (u32 i = 0; i < 32; i += 31)
		if (FROM(i) != 0xffff8000deadb000 + i || TO(i) != 0xffff8000deadc000 + i ||
		    INFO(i) != (BIT(63) | 0x1234))
			return false;
	return true;
}

static bool writing_the_depth_clears_while_frozen(struct fixture *r)
{
	fixture_wrmsr(r, 0x1500, 1);
	fixture_wrmsr(r, 0x391, BIT(58));
	fixture_wrmsr(r, DEPTH, get(r, DEPTH));
	return FROM(0) == 0;
}

static bool writing_the_depth_clears(struct fixture *r)
{
	for (u64 depth = 32; depth >= 8; depth /= 2) {
		for (u32 i = 0; i < 8; i++) {
			fixture_wrmsr(r, 0x1500 + i, 1);
			fixture_wrmsr(r, 0x1600 + i, 1);
			fixture_wrmsr(r, 0x1200 + i, 1);
		}
		fixture_wrmsr(r, DEPTH, depth);
		if (get(r, DEPTH) != depth)
			return false;
		for (u32 i = 0; i < 8; i++)
			if (FROM(i) || TO(i) || INFO(i))
				return false;
	}
	return true;
}

static bool threads_have_their_own(struct fixture *one)
{
	static const u32 registers[] = { CTL, 0x1500, 0x1600, 0x1200 };
	static struct fixture r[CORE_THREADS];
	static struct model_core core;
	struct model_config config = one->m.config;

	config.hyper_threading = true;
	fixture_open_core(r, &core, &config);
	fixture_wrmsr(&r[0], DEPTH, 8);
	return get(&r[1], DEPTH) == 32 &&
	       each_thread_has_its_own(one, registers, sizeof(registers) / sizeof(registers[0]));
}

/* ---- recording ---- */

static bool filters_let_their_kinds_in(struct fixture *r)
{
	for (size_t kind = 0; kind < KINDS; kind++) {
		fixture_wrmsr(r, DEPTH, 32);
		fixture_wrmsr(r, CTL, kinds[kind].control | 7);
		one_of_each(r);
		fixture_wrmsr(r, CTL, 0);
		if (used(r) != 1 || INFO(0) >> 56 != (kinds[kind].type | 0x10 | (kind ? 0 : 0x80)))
			return false;
	}
	return true;
}

static bool levels_let_their_branches_in(struct fixture *r)
{
	for (u64 levels = 0; levels < 4; levels++) {
		fixture_wrmsr(r, DEPTH, 32);
		fixture_wrmsr(r, CTL, (ALL & ~6ULL) | levels << 1);
		a_branch(r, 2, 0);
		a_branch(r, 2, 3);
		a_branch(r, 2, 3);
		fixture_wrmsr(r, CTL, 0);
		if (used(r) != (levels & 1 ? 1U : 0U) + (levels & 2 ? 2U : 0U))
			return false;
	}
	return true;
}

static bool branches_have_their_kind_at_each_level(struct fixture *r)
{
	fixture_wrmsr(r, DEPTH, 32);
	fixture_wrmsr(r, CTL, ALL);
	a_branch(r, 2, 0);
	r->cpl = 3;
	a_branch(r, 2, 3);
	r->cpl = 0;
	fixture_wrmsr(r, CTL, 0);
	return used(r) == 2 && (INFO(0) >> 56 & 0xf) == (INFO(1) >> 56 & 0xf);
}

static bool an_event_has_the_kind_of_far_branches(struct fixture *r)
{
	fixture_wrmsr(r, CTL, ALL);
	model_transfer(&r->m, 0x1234, 0x5678, 0, 0, 0);
	return (INFO(0) >> 56 & 0xf) >= 8;
}

static bool a_return_to_cpl_3_has_the_kind_of_far_branches(struct fixture *r)
{
	fixture_wrmsr(r, CTL, ALL);
	fixture_retire(r, &(struct model_retired){
				  .branch = BRANCH_FAR, .taken = true, .cpl_after = 3 });
	return (INFO(0) >> 56 & 0xf) >= 8;
}

/* FROM of a transfer from a level that is filtered out: SDM "CPL Filtering". */
static bool from_of_a_level_kept_out_is_hidden(struct fixture *r)
{
	fixture_wrmsr(r, CTL, ALL & ~4ULL);
	model_transfer(&r->m, 0x1234, 0x5678, 3, 0, 0);
	if (FROM(0) != ~0ULL || TO(0) != 0x5678)
		return false;
	fixture_wrmsr(r, CTL, ALL);
	model_transfer(&r->m, 0x1234, 0x5678, 3, 0, 0);
	return FROM(0) == 0x1234;
}

static bool newest_is_first(struct fixture *r)
{
	u64 ip[40], to[40];

	for (u64 depth = 32; depth >= 8; depth /= 2) {
		fixture_wrmsr(r, DEPTH, depth);
		fixture_wrmsr(r, CTL, ALL);
		for (unsigned i = 0; i < 40; i++) {
			ip[i] = r->ip;
			a_branch(r, 2, 0);
			to[i] = r->regs.rip;
		}
		fixture_wrmsr(r, CTL, 0);
		for (unsigned twice = 0; twice < 2; twice++)
			for (u32 i = 0; i < depth; i++)
				if (FROM(i) != ip[39 - i] || TO(i) != to[39 - i])
					return false;
	}
	return true;
}

static bool returns_pop_calls(struct fixture *r)
{
	u64 first;

	fixture_wrmsr(r, CTL, 0x38000f);	/* calls and returns, as a stack */
	first = r->ip;
	a_branch(r, 3, 0);
	a_branch(r, 3, 0);
	if (used(r) != 2)
		return false;
	a_branch(r, 5, 0);
	return used(r) == 1 && FROM(0) == first && !FROM(1) && !FROM(31);
}

static bool only_ctl_starts_and_stops(struct fixture *r)
{
	fixture_wrmsr(r, CTL, ALL & ~1ULL);
	fixture_wrmsr(r, 0x1d9, 1);
	a_branch(r, 2, 0);
	if (used(r) || get(r, 0x1d9))
		return false;
	fixture_wrmsr(r, CTL, ALL);
	fixture_wrmsr(r, 0x1d9, 0);
	a_branch(r, 2, 0);
	if (used(r) != 1 || get(r, CTL) != ALL)
		return false;
	fixture_wrmsr(r, CTL, 0);
	a_branch(r, 2, 0);
	fixture_wrmsr(r, 0x1600, 0x5678);
	fixture_wrmsr(r, CTL, ALL);
	return used(r) == 1 && TO(0) == 0x5678;
}

static bool cycles_end_at_ffff(struct fixture *r)
{
	fixture_wrmsr(r, CTL, ALL);
	fixture_nops(r, 70000);
	a_branch(r, 2, 0);
	if ((INFO(0) & 0xffff) != 0xffff)
		return false;
	a_branch(r, 2, 0);
	return (INFO(0) & 0xffff) < 100 && INFO(0) & BIT(60);
}

static bool debug_exceptions_and_freezes_stop(struct fixture *r)
{
	fixture_wrmsr(r, CTL, ALL);
	model_transfer(&r->m, 0x1234, 0x5678, 0, 0, true);
	if (get(r, CTL) != (ALL & ~1ULL) || used(r))
		return false;
	fixture_wrmsr(r, CTL, ALL);
	fixture_wrmsr(r, 0x391, BIT(58));
	a_branch(r, 2, 0);
	if (used(r))
		return false;
	fixture_wrmsr(r, 0x390, BIT(58));
	a_branch(r, 2, 0);
	return used(r) == 1;
}

/* Only faults that legacy records have too break this. */
static bool entries_are_right(struct fixture *r)
{
	static bool (*const rules[])(struct fixture *r) = {
		newest_is_first,   legacy_registers_are_gone, from_of_a_level_kept_out_is_hidden,
		returns_pop_calls, cycles_end_at_ffff,	      debug_exceptions_and_freezes_stop,
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		fixture_wrmsr(r, DEPTH, 32);
		if (!rules[i](r))
			return false;
	}
	return true;
}

/* ---- precise distribution, latencies, metrics ---- */

#define MEM	1

/* The record of the 300th load is of that one, with these counters enabled for PEBS. */
static bool fixed_0_is_precise_among(struct fixture *r, u64 enabled)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f1, enabled);
	fixture_wrmsr(r, 0x38d, 3);
	fixture_wrmsr(r, 0x309, MINUS(300));
	fixture_start(r, BIT(32));
	loads(r, 300);
	return fixture_index(r) == FIXTURE_BUFFER + 0x20 && at(r, 8) == r->ip - 4;
}

static bool fixed_0_is_precise(struct fixture *r)
{
	return fixed_0_is_precise_among(r, BIT(32));
}

static bool fixed_0_is_precise_beside_another(struct fixture *r)
{
	return fixed_0_is_precise_among(r, BIT(32) | BIT(2));
}

static bool fixed_0_is_precise_at_cpl_3(struct fixture *r)
{
	bool precise;

	r->cpl = 3;
	precise = fixed_0_is_precise(r);
	r->cpl = 0;
	return precise;
}

static bool pmc0_is_precise(struct fixture *r)
{
	empty_buffer(r);
	fixture_program_pebs(r, 0, 0x81d0, 0, 300);
	fixture_start(r, BIT(0));
	loads(r, 300);
	return fixture_index(r) == FIXTURE_BUFFER + 0x20 && at(r, 8) == r->ip - 4;
}

static bool pmc0_is_precise_at_cpl_3(struct fixture *r)
{
	bool precise;

	r->cpl = 3;
	precise = pmc0_is_precise(r);
	r->cpl = 0;
	return precise;
}

static bool latencies_are_two(struct fixture *r)
{
	for (unsigned n = 1; n < 8; n++)
		if (!event_makes_record(r, n, 0x01cd) || !(at(r, 0x30) >> 32) ||
		    (at(r, 0x30) & 0xffff) != (at(r, 0x30) >> 32) + 4)
			return false;
	return true;
}

static bool locked_loads_have_the_same_two(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, MEM);
	fixture_wrmsr(r, 0x3f6, 3);
	fixture_program_pebs(r, 1, 0x01cd, BIT(34), 2);
	fixture_start(r, BIT(1));
	for (unsigned i = 0; i < 200 && fixture_index(r) == FIXTURE_BUFFER; i++) {
		struct model_retired one = {
			.loads = 1,
					     .n_access = 1,
			.access = { { ADDRESS + 0x40ULL * i, 8, false, true } }
		};

		fixture_retire(r, &one);
	}
	fixture_stop(r);
	return (at(r, 0x30) & 0xffff) == (at(r, 0x30) >> 32) + 4;
}

/* An instruction that loads and then stores somewhere else. */
static bool moves_are_sampled_as_stores(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, MEM);
	fixture_program_pebs(r, 0, 0x02cd, BIT(34), 2);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 200 && fixture_index(r) == FIXTURE_BUFFER; i++)
		fixture_retire(r, &(struct model_retired){
					  .loads = 1, .stores = 1, .n_access = 2,
					  .access = { { ADDRESS, 8, false, false },
						      { ADDRESS + 0x80, 8, true, false } } });
	fixture_stop(r);
	return at(r, 0x20) == ADDRESS + 0x80;
}

RULE(stores_are_sampled, event_makes_record(r, 0, 0x02cd) && at(r, 0x20) == ADDRESS + 0x80)
static u32 leaf_0d(struct fixture *r, u32 subleaf, unsigned reg)
{
	u32 regs[4] = { ~0u, ~0u, ~0u, ~0u };

	model_cpuid(&r->m, 0xd, subleaf, regs);
	return regs[reg];
}

RULE(no_state_of_branch_records, !(leaf_0d(r, 1, 2) & BIT(15)) && !leaf_0d(r, 15, 0))
RULE(frontend_has_bit_3,
     TAKEN(0x3f7, 0x7fff1f) && get(r, 0x3f7) == 0x7fff1f && REFUSED(0x3f7, BIT(5)))

static bool a_long_latency_is_whole(struct fixture *r)
{
	r->m.latitude[LAT_INSTRUCTION_LATENCY] = 300;
	return event_makes_record(r, 1, 0x01cd) &&
	       (at(r, 0x30) & 0xffff) == (at(r, 0x30) >> 32) + 300;
}

static bool pmc0_is_precise_beside_another(struct fixture *r)
{
	fixture_wrmsr(r, 0x3f1, BIT(1));
	return pmc0_is_precise(r);
}

/* Fixed counter 0's record is at the threshold. */
static bool a_threshold_leaves_lbren(struct fixture *r)
{
	empty_buffer(r);
	fixture_poke(r, FIXTURE_DS + 0x38, FIXTURE_BUFFER + 8);
	fixture_wrmsr(r, CTL, ALL);
	fixture_wrmsr(r, 0x1d9, BIT(11) | BIT(12));
	fixture_wrmsr(r, 0x3f1, BIT(32));
	fixture_wrmsr(r, 0x38d, 3);
	fixture_wrmsr(r, 0x309, MINUS(300));
	fixture_start(r, BIT(32));
	loads(r, 310);
	return get(r, CTL) == ALL && (fixture_status(r) & BITS(58, 59)) == BITS(58, 59);
}

static bool level_2_is_in_level_1(struct fixture *r)
{
	u64 value;

	fixture_wrmsr(r, 0x38d, 0x3000);
	fixture_wrmsr(r, 0x38f, BIT(35) | BIT(48));
	fixture_nops(r, 50);
	fixture_store(r, ADDRESS);
	fixture_wrmsr(r, 0x38f, 0);
	value = get(r, 0x329);
	for (unsigned i = 0; i < 32; i += 8)
		if ((value >> (32 + i) & 0xff) > (value >> i & 0xff))
			return false;
	return value & 0xff;
}

/* Branches in the upper half, with format 4: for a jump FROM[63:61] is 0; for the first conditional
 * branch there bit 63 is 1. */
static bool flags_are_not_of_the_address(struct fixture *r)
{
	fixture_wrmsr(r, 0x1d9, BIT(0));
	r->ip = 0xffffff8000001000;
	fixture_branch(r, BRANCH_JUMP, true);
	fixture_branch(r, BRANCH_CONDITIONAL, true);
	return get(r, 0x681) >> 61 == 0 && get(r, 0x682) >> 61 == 4;
}

/* Predicted branches, as many mispredicted ones, and a load that waits. */
static bool level_2_has_its_parts(struct fixture *r)
{
	u64 value;

	fixture_wrmsr(r, 0x38d, 0x3000);
	fixture_wrmsr(r, 0x38f, BIT(35) | BIT(48));
	for (unsigned i = 0; i < 100; i++) {
		fixture_branch(r, BRANCH_JUMP, true);
		fixture_branch(r, BRANCH_CONDITIONAL, true);
	}
	fixture_load(r, ADDRESS);
	fixture_wrmsr(r, 0x38f, 0);
	value = get(r, 0x329);
	return value >> 40 & 0xff && value >> 48 & 0xff && value >> 56 & 0xff;
}

/* There are stores before the write, and none after it. */
static bool a_write_clears_level_2(struct fixture *r)
{
	fixture_wrmsr(r, 0x38d, 0x3000);
	for (unsigned i = 0; i < 2; i++) {
		fixture_wrmsr(r, 0x38f, BIT(35) | BIT(48));
		for (unsigned n = 0; n < 50 && !i; n++)
			fixture_store(r, ADDRESS);
		fixture_nops(r, 50);
		fixture_wrmsr(r, 0x38f, 0);
		if (!i)
			fixture_wrmsr(r, 0x329, 0);
	}
	return get(r, 0x329) & 0xff && !(get(r, 0x329) >> 32 & 0xff);
}

#define METRICS_VALUE	0x0102030410203040

RULE(metrics_are_written_whole, TAKEN(0x329, METRICS_VALUE) && get(r, 0x329) == METRICS_VALUE)
RULE(metrics_are_read_whole_above_cpl_0,
     TAKEN(0x329, METRICS_VALUE) && model_rdpmc_user(&r->m, 0x20000000).value == METRICS_VALUE)

rule *const without_arch_lbr_rules[FAULT_COUNT] = {
	[FAULT_LBR_MISPRED_SIGN] = flags_are_not_of_the_address,
	[FAULT_LBR_MISPRED_UPPER_LOST] = flags_are_not_of_the_address,
	[FAULT_ARCH_LBR_UNANNOUNCED] = haswell_has_none,
};

rule *const goldencove_rules[FAULT_COUNT] = {
	[FAULT_PDIST_SKIDS_AT_CPL_3] = fixed_0_is_precise_at_cpl_3,
	[FAULT_PDIST_PMC0_SKIDS_AT_CPL_3] = pmc0_is_precise_at_cpl_3,
	[FAULT_PDIST_FIXED_LATE] = fixed_0_is_precise,
	[FAULT_PDIST_FIXED_ALONE] = fixed_0_is_precise_beside_another,
	[FAULT_PDIST_ADAPTIVE_ONLY] = pmc0_is_precise,
	[FAULT_PDIST_PMC0_NEXT] = pmc0_is_precise,
	[FAULT_THRESHOLD_CLEARS_LBREN] = a_threshold_leaves_lbren,
	[FAULT_PDIST_PMC0_ALONE] = pmc0_is_precise_beside_another,
	[FAULT_LATENCY_INSTRUCTION_8_BITS] = a_long_latency_is_whole,
	[FAULT_LATENCY_ONE_FIELD] = latencies_are_two,
	[FAULT_LATENCIES_EXCHANGED] = latencies_are_two,
	[FAULT_LATENCIES_EXCHANGED_IF_LOCKED] = locked_loads_have_the_same_two,
	[FAULT_LATENCY_FIRST_FOUR] = latencies_are_two,
	[FAULT_STORE_SAMPLE_FIRST] = moves_are_sampled_as_stores,
	[FAULT_STORE_SAMPLE_LOADS] = stores_are_sampled,
	[FAULT_METRICS_NO_MISPREDICTS] = level_2_has_its_parts,
	[FAULT_METRICS_NO_FETCH_LATENCY] = level_2_has_its_parts,
	[FAULT_METRICS_NO_MEMORY_BOUND] = level_2_has_its_parts,
	[FAULT_METRICS_PARTS_KEPT] = a_write_clears_level_2,
	[FAULT_METRICS_WRITE_32] = metrics_are_written_whole,
	[FAULT_METRICS_USER_32] = metrics_are_read_whole_above_cpl_0,
	[FAULT_METRICS_LEVEL_2_NEXT] = level_2_is_in_level_1,
	[FAULT_METRICS_LEVEL_2_REST] = level_2_is_in_level_1,
	[FAULT_FRONTEND_BIT_3_DROPPED] = frontend_has_bit_3,
	[FAULT_FRONTEND_BIT_5_TAKEN] = frontend_has_bit_3,
	[FAULT_ARCH_LBR_MISSING] = entries_read_back,
	[FAULT_ARCH_LBR_DEPTH_UNLISTED] = leaf_1c_has_depth_32,
	[FAULT_ARCH_LBR_STATE_SHORT] = no_state_of_branch_records,
	[FAULT_ARCH_LBR_FROZEN_DEPTH_KEEPS] = writing_the_depth_clears_while_frozen,
	[FAULT_ARCH_LBR_SAME_DEPTH_KEEPS] = writing_the_depth_clears,
	[FAULT_ARCH_LBR_DEPTH_KEEPS_INFO] = writing_the_depth_clears,
	[FAULT_ARCH_LBR_ON_CLEARS] = only_ctl_starts_and_stops,
	[FAULT_ARCH_LBR_BY_DEBUGCTL] = only_ctl_starts_and_stops,
	[FAULT_ARCH_LBR_DEBUGCTL_STOPS] = only_ctl_starts_and_stops,
	[FAULT_ARCH_LBR_ON_CLEARS_INFO] = only_ctl_starts_and_stops,
	[FAULT_ARCH_LBR_DEPTH_ONE] = threads_have_their_own,
	[FAULT_ARCH_LBR_BEYOND_DEPTH] = entries_end_at_the_depth,
	[FAULT_ARCH_LBR_TOS_ORDER] = newest_is_first,
	[FAULT_ARCH_LBR_READ_MOVES] = entries_are_right,
	[FAULT_ARCH_LBR_EVENT_LOGGING] = event_logging_isnt_there,
	[FAULT_ARCH_LBR_KEEPS_OUT] = filters_let_their_kinds_in,
	[FAULT_ARCH_LBR_JUMPS_EXCHANGED] = filters_let_their_kinds_in,
	[FAULT_ARCH_LBR_SELECT_ORDER] = filters_let_their_kinds_in,
	[FAULT_ARCH_LBR_ANY_LEVEL] = levels_let_their_branches_in,
	[FAULT_ARCH_LBR_TYPE_JUMPS] = filters_let_their_kinds_in,
	[FAULT_ARCH_LBR_TYPE_CALLS] = filters_let_their_kinds_in,
	[FAULT_ARCH_LBR_NO_TYPE_OF_EVENTS] = an_event_has_the_kind_of_far_branches,
	[FAULT_ARCH_LBR_NO_TYPE_AT_CPL_3] = branches_have_their_kind_at_each_level,
	[FAULT_ARCH_LBR_TYPE_TO_USER] = a_return_to_cpl_3_has_the_kind_of_far_branches,
	[FAULT_ARCH_LBR_TYPE_FAR] = filters_let_their_kinds_in,
	[FAULT_ARCH_LBR_CTL_WRITE_DROPPED] = control_has_its_bits,
	[FAULT_ARCH_LBR_CTL_READS_ZERO] = control_has_its_bits,
	[FAULT_ARCH_LBR_CTL_RESERVED_ACCEPTED] = control_has_its_bits,
	[FAULT_ARCH_LBR_DEPTH_WRITE_DROPPED] = writing_the_depth_clears,
	[FAULT_ARCH_LBR_DEPTH_READS_ZERO] = depths_are_those_of_leaf_1c,
	[FAULT_ARCH_LBR_DEPTH_RESERVED_ACCEPTED] = depths_are_those_of_leaf_1c,
	[FAULT_ARCH_LBR_FROM_READS_ZERO] = entries_read_back,
	[FAULT_ARCH_LBR_TO_READS_ZERO] = entries_read_back,
	[FAULT_ARCH_LBR_INFO_READS_ZERO] = entries_read_back,
	[FAULT_ARCH_LBR_CTL_SHARED] = threads_have_their_own,
	[FAULT_ARCH_LBR_CTL_REFUSED_TAKEN] = refused_control_is_not_taken,
	[FAULT_ARCH_LBR_DEPTH_REFUSED_TAKEN] = refused_depth_clears_nothing,
	[FAULT_ARCH_LBR_DEPTH_SHARED] = threads_have_their_own,
	[FAULT_ARCH_LBR_FROM_SHARED] = threads_have_their_own,
	[FAULT_ARCH_LBR_TO_SHARED] = threads_have_their_own,
	[FAULT_ARCH_LBR_INFO_SHARED] = threads_have_their_own,
};
