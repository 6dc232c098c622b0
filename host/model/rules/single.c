/* SPDX-License-Identifier: MIT */
/*
 * Rules about one of many counters, registers, levels or forms of an access, on generations after
 * Haswell. refpmu/faults/fault_class.def breaks them. See rules.h.
 */
#include "host/model/rules/internal.h"

#define PREC_DIST_LOADS	0x81d0	/* event and umask, of Golden Cove too */
#define STORE_SAMPLE	0x02cd
#define BRANCHES	0xc4
#define FIXED0		BIT(32)
#define ADAPTIVE	BIT(34)
#define UMASK2_01	BIT(40)
#define HANDLER		0x5678
#define SPLIT		(ADDRESS + 0x35)	/* eight bytes from here on are in two lines */
#define STACK		32u			/* last branch records */
#define LEAST		256			/* events to an overflow with PDist */

enum { MEM = 1, GPR = 2 };
enum { APPLICABLE = 0x10, BASIC = 0x20, FIRST_GROUP = 0x20 };

/* ---- records ---- */

/* Bit 34 of IA32_PERFEVTSEL1 alone: IA32_PMC5's record is the basic group. */
static bool upper_counters_have_a_bit_of_their_own(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, GPR);
	fixture_wrmsr(r, 0x187, ADAPTIVE);
	fixture_program_pebs(r, 5, INST, 0, 2);
	fixture_start(r, BIT(5));
	fixture_nops(r, 4);
	return fixture_index(r) == FIXTURE_BUFFER + BASIC;
}

/* IA32_PMC1 and fixed counter 0 overflow on one instruction. */
static bool fixed_and_other_are_named(struct fixture *r)
{
	empty_buffer(r);
	fixture_program_pebs(r, 1, INST, 0, 20);
	fixture_wrmsr(r, 0x3f1, BIT(1) | FIXED0);
	fixture_wrmsr(r, 0x38d, 3);
	fixture_wrmsr(r, 0x309, MINUS(20));
	fixture_start(r, BIT(1) | FIXED0);
	fixture_nops(r, 24);
	return at(r, APPLICABLE) == (BIT(1) | FIXED0);
}

/* Fixed counter 0 is armed at CPL 3; an instruction there after these writes at CPL 0. */
static unsigned after_writes(struct fixture *r, u32 msr, u64 first, u64 second)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f1, FIXED0);
	fixture_wrmsr(r, 0x38d, 2);
	fixture_wrmsr(r, 0x309, MINUS(2));
	fixture_start(r, FIXED0);
	r->cpl = 3;
	fixture_nops(r, 2);
	r->cpl = 0;
	fixture_wrmsr(r, msr, first);
	fixture_wrmsr(r, msr, second);
	r->cpl = 3;
	fixture_nops(r, 2);
	r->cpl = 0;
	return (unsigned)(fixture_index(r) - FIXTURE_BUFFER) / BASIC;
}

RULE(another_field_disarms_nothing, after_writes(r, 0x38d, 0x32, 2) == 1)
RULE(pebs_enable_disarms_fixed_counters, after_writes(r, 0x3f1, 0, FIXED0) == 0)
RULE(metrics_have_index_0, model_rdpmc(&r->m, 0x20000000).status == MSR_DONE &&
				   model_rdpmc(&r->m, 0x20000001).status == MSR_GP)

static bool metrics_are_read_above_cpl_0(struct fixture *r)
{
	u64 value;

	fixture_wrmsr(r, 0x329, 0x10203040);
	value = get(r, 0x329);
	return value && model_rdpmc_user(&r->m, 0x20000000).value == value;
}

static bool split_stores_have_their_address(struct fixture *r)
{
	const struct model_retired store = { .stores = 1, .n_access = 1,
					     .access = { { SPLIT, 8, true, false } } };

	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, MEM);
	fixture_program_pebs(r, 0, STORE_SAMPLE, ADAPTIVE, 2);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 200 && fixture_index(r) == FIXTURE_BUFFER; i++) {
		struct model_retired one = store;

		fixture_retire(r, &one);
	}
	return at(r, FIRST_GROUP) == SPLIT;
}

static bool the_least_distance_is_precise(struct fixture *r)
{
	empty_buffer(r);
	fixture_program_pebs(r, 0, PREC_DIST_LOADS, 0, LEAST);
	fixture_start(r, BIT(0));
	loads(r, LEAST);
	return at(r, 8) == r->ip - 4;
}

static bool an_interrupt_leaves_it_precise(struct fixture *r)
{
	empty_buffer(r);
	fixture_program_pebs(r, 0, PREC_DIST_LOADS, INT, LEAST);
	fixture_start(r, BIT(0));
	loads(r, LEAST);
	return at(r, 8) == r->ip - 4;
}

/* The counter overflows twice; the second record must be of that very load. */
static bool a_reloaded_counter_is_precise(struct fixture *r)
{
	empty_buffer(r);
	fixture_poke(r, FIXTURE_DS + 0x40, MINUS(LEAST));
	fixture_program_pebs(r, 0, PREC_DIST_LOADS, 0, LEAST);
	fixture_start(r, BIT(0));
	loads(r, 2 * LEAST);
	return fixture_index(r) == FIXTURE_BUFFER + 0x40 && at(r, 0x28) == r->ip - 4;
}

/* A record of fixed counter 0 in a transaction. */
static bool a_fixed_record_aborts(struct fixture *r)
{
	const struct model_registers before = r->regs;

	empty_buffer(r);
	fixture_wrmsr(r, 0x3f1, FIXED0);
	fixture_wrmsr(r, 0x38d, 3);
	fixture_wrmsr(r, 0x309, MINUS(LEAST));
	fixture_start(r, FIXED0);
	fixture_nops(r, LEAST - 8);
	model_tx_begin(&r->m, &before, 0x600000);
	fixture_nops(r, 20);
	return !model_in_tx(&r->m) && fixture_index(r) != FIXTURE_BUFFER;
}

/* ---- last branch records ---- */

static bool a_frozen_stack_keeps_its_calls(struct fixture *r)
{
	fixture_set(r, 0x1c8, 0x3c4);	/* calls and returns, as a stack */
	fixture_set(r, 0x1d9, IA32_DEBUGCTL_LBR);
	fixture_branch(r, BRANCH_CALL, true);
	fixture_wrmsr(r, 0x391, BIT(58));
	fixture_branch(r, BRANCH_RETURN, true);
	return fixture_get(r, 0x1c9) == 1;
}

/* Each entry is first of a mispredicted branch, then of a predicted one. */
static bool each_entry_has_a_flag_of_its_own(struct fixture *r)
{
	fixture_set(r, 0x1d9, IA32_DEBUGCTL_LBR);
	for (unsigned i = 0; i < STACK; i++)
		fixture_branch(r, BRANCH_CONDITIONAL, true);
	for (unsigned i = 0; i < STACK; i++)
		fixture_branch(r, BRANCH_JUMP, true);
	for (unsigned i = 0; i < STACK; i++)
		if (get(r, 0xdc0 + i) & BIT(63))
			return false;
	return true;
}

static void to_cpl_0(struct fixture *r)
{
	model_transfer(&r->m, 0x1234, HANDLER, 3, 0, false);
}

static void to_cpl_0_with_error_code(struct fixture *r)
{
	model_transfer(&r->m, 0x1234, HANDLER, 3, 0, TRANSFER_ERROR_CODE);
}

static void to_cpl_3(struct fixture *r)
{
	fixture_retire(r, &(struct model_retired){
				  .branch = BRANCH_FAR, .taken = true, .cpl_after = 3 });
}

/* The number of entries with this filter, for an exception at CPL 3 and an IRET there. */
static u64 filtered(struct fixture *r, u64 select, void (*transfer)(struct fixture *r))
{
	u64 before = fixture_get(r, 0x1c9);

	fixture_set(r, 0x1c8, select);
	fixture_set(r, 0x1d9, IA32_DEBUGCTL_LBR);
	transfer(r);
	fixture_set(r, 0x1d9, 0);
	return (fixture_get(r, 0x1c9) - before) & 31;
}

static bool levels_are_where_branches_end(struct fixture *r)
{
	const u64 no_0 = LBR_SELECT_CPL_EQ_0, no_3 = LBR_SELECT_CPL_NEQ_0;

	return filtered(r, no_3, to_cpl_0) == 1 && filtered(r, no_0, to_cpl_0) == 0 &&
	       filtered(r, no_3, to_cpl_3) == 0 && filtered(r, no_0, to_cpl_3) == 1 &&
	       filtered(r, no_3, to_cpl_0_with_error_code) == 1 &&
	       filtered(r, no_0, to_cpl_0_with_error_code) == 0;
}

static bool from_is_hidden(struct fixture *r)
{
	const u64 kinds = 0x7f0001, os = 2, usr = 4;
	bool hidden;

	fixture_wrmsr(r, 0x14ce, kinds | os);
	to_cpl_0(r);
	hidden = get(r, 0x1500) == ~0ULL;
	fixture_wrmsr(r, 0x14ce, kinds | usr);
	to_cpl_3(r);
	return hidden && get(r, 0x1500) == ~0ULL;
}

/* ---- version 6 ---- */

static bool umask2_is_of_upper_counters(struct fixture *r)
{
	fixture_program(r, 5, BRANCHES, UMASK2_01, 0);
	fixture_start(r, BIT(5));
	fixture_branch(r, BRANCH_JUMP, true);
	fixture_stop(r);
	return PMC(5) == 0;
}

static bool ctr_frz_is_set_beside_lbr_frz(struct fixture *r)
{
	fixture_wrmsr(r, 0x391, BIT(58));
	fixture_wrmsr(r, 0x1d9, BIT(12));
	return one_overflow(r) && (fixture_status(r) & BITS(58, 59)) == BITS(58, 59);
}

static bool a_threshold_leaves_recording_on(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	fixture_wrmsr(r, 0x1d9, BIT(0) | BIT(11));
	return one_record(r, 0, 0) && fixture_status(r) & BIT(58) && get(r, 0x1d9) & BIT(0);
}

/* Its overflow froze the counters; then only CTR_Frz is cleared. */
static bool the_counter_that_froze_goes_on(struct fixture *r)
{
	u64 frozen;

	fixture_wrmsr(r, 0x1d9, BIT(12));
	if (!one_overflow(r))
		return false;
	frozen = PMC(0);
	fixture_wrmsr(r, 0x390, BIT(59));
	fixture_nops(r, 5);
	return PMC(0) >= frozen + 5 && fixture_status(r) == BIT(0);
}

static bool fixed_3_leaves_the_bit_of_metrics(struct fixture *r)
{
	fixture_wrmsr(r, 0x391, BIT(48) | BIT(35));
	fixture_wrmsr(r, 0x390, BIT(35));
	return fixture_status(r) == BIT(48);
}

RULE(absent_fixed_counters_have_no_bits, REFUSED(0x38d, BIT(48)) && REFUSED(0x38d, BIT(63)))
RULE(counters_8_and_9_are_not_there, !THERE(0xc9) && REFUSED(0x18e, 0))
RULE(bit_2_of_debugctl_is_reserved, REFUSED(0x1d9, BIT(2)))

/* IA32_PMC3 and another counter of instructions at CPL 3 are armed there; software clears their
 * status bits; the next instruction there finds room for one record. select, value: MSRs of the
 * other one; bit: its bit of IA32_PERF_GLOBAL_CTRL. */
static bool pmc3_is_served(struct fixture *r, u64 bit, u32 select, u32 value, u32 slot)
{
	const u64 user = BIT(22) | BIT(16) | INST, far = MINUS(1000);

	empty_buffer(r);
	fixture_poke(r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + BASIC);
	fixture_poke(r, FIXTURE_DS + 0x58, far);
	fixture_poke(r, FIXTURE_DS + slot, far);
	fixture_wrmsr(r, 0x3f1, BIT(3) | bit);
	fixture_wrmsr(r, 0x189, user);
	fixture_wrmsr(r, select, select == 0x38d ? 2 : user);
	fixture_wrmsr(r, 0x4c4, MINUS(2));
	fixture_wrmsr(r, value, MINUS(2));
	fixture_start(r, BIT(3) | bit);
	r->cpl = 3;
	fixture_nops(r, 2);
	r->cpl = 0;
	fixture_wrmsr(r, 0x390, BIT(3) | bit);
	r->cpl = 3;
	fixture_nops(r, 1);
	r->cpl = 0;
	return PMC(3) == far && get(r, value) < far;
}

RULE(pmc3_is_before_pmc5, pmc3_is_served(r, BIT(5), 0x18b, 0x4c6, 0x68))
RULE(pmc3_is_before_fixed_0, pmc3_is_served(r, FIXED0, 0x38d, 0x309, 0x80))

static bool pmc3_and_pmc5_are_reloaded(struct fixture *r)
{
	empty_buffer(r);
	fixture_program_pebs(r, 3, INST, 0, 20);
	fixture_program_pebs(r, 5, INST, 0, 20);
	fixture_start(r, BIT(3) | BIT(5));
	fixture_nops(r, 24);
	return PMC(3) >= MINUS(20) && PMC(5) >= MINUS(20);
}

rule *const single_icelake_rules[FAULT_COUNT] = {
	[FAULT_FIXED_CTRL_UPPER_TAKEN] = absent_fixed_counters_have_no_bits,
	[FAULT_PMC_8_ANSWERS] = counters_8_and_9_are_not_there,
	[FAULT_DEBUGCTL_BIT_2_TAKEN] = bit_2_of_debugctl_is_reserved,
	[FAULT_PMC4_FIRST] = pmc3_is_before_pmc5,
	[FAULT_FIXED_ASSIST_FIRST] = pmc3_is_before_fixed_0,
	[FAULT_RELOAD_OWN_OR_LOW] = pmc3_and_pmc5_are_reloaded,
	[FAULT_ADAPTIVE_UPPER_ALWAYS] = upper_counters_have_a_bit_of_their_own,
	[FAULT_ADAPTIVE_BY_ANY_SELECT] = upper_counters_have_a_bit_of_their_own,
	[FAULT_FIXED3_CLEARS_METRICS] = fixed_3_leaves_the_bit_of_metrics,
	[FAULT_APPLICABLE_DROPS_FIXED] = fixed_and_other_are_named,
	[FAULT_FIXED_CTRL_DISARMS_ALL] = another_field_disarms_nothing,
	[FAULT_PEBS_OFF_KEEPS_FIXED] = pebs_enable_disarms_fixed_counters,
	[FAULT_METRICS_USER_ZERO] = metrics_are_read_above_cpl_0,
	[FAULT_RDPMC_METRICS_ANY_INDEX] = metrics_have_index_0,
};

/* An entry is written after a branch, by its present number. */
static bool entries_are_written_where_they_are(struct fixture *r)
{
	fixture_wrmsr(r, 0x14ce, 0x7f0007);
	fixture_branch(r, BRANCH_JUMP, true);
	fixture_wrmsr(r, 0x14ce, 0);
	return TAKEN(0x1501, 0x1234) && get(r, 0x1501) == 0x1234;
}

rule *const single_goldencove_rules[FAULT_COUNT] = {
	[FAULT_ARCH_LBR_PUT_IN_PLACE] = entries_are_written_where_they_are,
	[FAULT_STORE_SAMPLE_SPLIT_SECOND] = split_stores_have_their_address,
	[FAULT_PDIST_WITHOUT_INT] = an_interrupt_leaves_it_precise,
	[FAULT_PDIST_FIRST_RECORD] = a_reloaded_counter_is_precise,
	[FAULT_TX_RECORD_COMMITS_FIXED] = a_fixed_record_aborts,
	[FAULT_PDIST_FROM_257] = the_least_distance_is_precise,
	[FAULT_ARCH_LBR_FROM_OF_EVENTS] = from_is_hidden,
	[FAULT_ARCH_LBR_FROM_OF_RETURNS] = from_is_hidden,
};

static bool a_debug_exception_ends_frozen_recording(struct fixture *r)
{
	fixture_wrmsr(r, 0x1d9, BIT(0));
	fixture_wrmsr(r, 0x391, BIT(58));
	model_transfer(&r->m, 0x1234, 0x5678, 0, 0, true);
	return fixture_get(r, 0x1d9) == 0;
}

/* Counters 0 and 1 wait for a store while counter 2 makes its record. */
static bool all_three_are_named(struct fixture *r)
{
	fixture_program_pebs(r, 0, STORES, 0, 1);
	fixture_program_pebs(r, 1, STORES, 0, 1);
	fixture_program_pebs(r, 2, LOADS, 0, 1);
	fixture_start(r, BIT(0) | BIT(1) | BIT(2));
	fixture_store(r, ADDRESS);
	loads(r, 2);
	return fixture_records(r) == 1 && fixture_record(r, 0, 0x90) == 7;
}

/* A far branch comes after many cycles, and a jump right after it. */
static bool cycles_begin_at_far_branches(struct fixture *r)
{
	fixture_set(r, 0x1d9, IA32_DEBUGCTL_LBR);
	fixture_nops(r, 1000);
	model_transfer(&r->m, 0x1234, HANDLER, 0, 0, false);
	fixture_branch(r, BRANCH_JUMP, true);
	return (get(r, 0xdc1) & 0xffff) > 900 && (get(r, 0xdc2) & 0xffff) < 100;
}

static bool info_of_entry_16_is_new(struct fixture *r)
{
	fixture_wrmsr(r, 0xdd0, 0xffff);
	fixture_set(r, 0x1c9, 15);
	fixture_set(r, 0x1d9, IA32_DEBUGCTL_LBR);
	fixture_branch(r, BRANCH_JUMP, true);
	return fixture_get(r, 0x1c9) == 16 && get(r, 0xdd0) < 100;
}

RULE(info_is_kept_by_reads, TAKEN(0xdc1, 5) && get(r, 0xdc1) == 5 && get(r, 0xdc1) == 5)

rule *const single_skylake_rules[FAULT_COUNT] = {
	[FAULT_LBR_CYCLES_PASS_FAR] = cycles_begin_at_far_branches,
	[FAULT_LBR_INFO_UPPER_STALE] = info_of_entry_16_is_new,
	[FAULT_LBR_INFO_READ_CLEARS] = info_is_kept_by_reads,
	[FAULT_APPLICABLE_TWO] = all_three_are_named,
	[FAULT_APPLICABLE_DUE_ONLY] = all_three_are_named,
	[FAULT_LBR_DEBUG_KEEPS_FROZEN] = a_debug_exception_ends_frozen_recording,
	[FAULT_CTR_FRZ_NOT_BESIDE_LBR_FRZ] = ctr_frz_is_set_beside_lbr_frz,
	[FAULT_CTR_FRZ_HOLDS_OVERFLOWED] = the_counter_that_froze_goes_on,
	[FAULT_THRESHOLD_CLEARS_LBR] = a_threshold_leaves_recording_on,
	[FAULT_LBR_FRZ_POPS] = a_frozen_stack_keeps_its_calls,
	[FAULT_LBR_MISPRED_STAYS] = each_entry_has_a_flag_of_its_own,
	[FAULT_LBR_EVENTS_BY_BEGIN] = levels_are_where_branches_end,
	[FAULT_LBR_ERROR_CODE_BY_BEGIN] = levels_are_where_branches_end,
	[FAULT_LBR_RETURNS_BY_BEGIN] = levels_are_where_branches_end,
};

/* ---- version 6 and architectural PEBS: conditions that rules/archpebs.c doesn't have ---- */

/* A select is written by its other address, with UMASK2. */
RULE(selects_are_whole, TAKEN(0x190d, BIT(40)) && get(r, 0x189) == BIT(40))

/* Counter n makes a record of the fourth instruction or the next one, at this byte of a buffer of
 * 1000H << size. */
static u64 arch_index_in(struct fixture *r, u64 base, unsigned n, u64 size, u64 byte)
{
	r->m.latitude[LAT_DISABLE_COUNTS] = 1;
	fixture_wrmsr(r, 0x3f4, base | size);
	fixture_wrmsr(r, 0x3f5, BIT(32) | 0x7fffffULL << 36 | byte);
	fixture_wrmsr(r, 0x1903 + 4 * n, BIT(63) | 0xf0000000);
	fixture_program(r, n, INST, 0, 4);
	fixture_start(r, BIT(n));
	fixture_nops(r, 6);
	fixture_stop(r);
	return get(r, 0x3f5) & BITS(4, 26);
}

static u64 arch_index_after(struct fixture *r, unsigned n, u64 size, u64 byte)
{
	return arch_index_in(r, FIXTURE_PHYSICAL + 0x1000, n, size, byte);
}

RULE(size_is_that_of_base, arch_index_after(r, 0, 1, 0xfe0) == 0x1020)
RULE(a_buffer_may_have_128_kib,
     arch_index_in(r, FIXTURE_PHYSICAL + 0x1000 - 0x10000, 0, 5, 0xffe0) == 0x10020)
RULE(a_record_ends_in_the_buffer, arch_index_after(r, 0, 0, 0xfe0) == 0xfe0)
RULE(each_record_has_an_address,
     arch_index_after(r, 5, 0, 0) == 0x40 && fixture_peek(r, FIXTURE_BUFFER + 0x10))

RULE(a_record_goes_on_in_a_second_page,
     arch_index_after(r, 0, 1, 0xff0) == 0x1030 && fixture_peek(r, FIXTURE_BUFFER + 0x1000))
RULE(bits_above_the_width_are_refused, REFUSED(0x1904, BIT(48)) && REFUSED(0x1984, BIT(63)))
RULE(absent_selects_are_not_there, !THERE(0x1901 + 4 * 10))
RULE(absent_registers_refuse_writes, REFUSED(0x1900 + 4 * 10, 0) && REFUSED(0x3f1, 0))

rule *const single_version_6_rules[FAULT_COUNT] = {
	[FAULT_ARCH_SECOND_PAGE_ZERO] = a_record_goes_on_in_a_second_page,
	[FAULT_V6_CTR_UPPER_TAKEN] = bits_above_the_width_are_refused,
	[FAULT_V6_CFG_A_ABSENT_ANSWERS] = absent_selects_are_not_there,
	[FAULT_EXT_ABSENT_TAKE_WRITES] = absent_registers_refuse_writes,
	[FAULT_V6_CFG_A_32_BITS] = selects_are_whole,
	[FAULT_ARCH_END_UNCHECKED] = a_record_ends_in_the_buffer,
	[FAULT_ARCH_BUFFER_64K] = a_buffer_may_have_128_kib,
	[FAULT_ARCH_BUFFER_1000H] = size_is_that_of_base,
	[FAULT_ARCH_IP_FIRST_FOUR] = each_record_has_an_address,
	[FAULT_UMASK2_LOWER_COUNTERS] = umask2_is_of_upper_counters,
};
