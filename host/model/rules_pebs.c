/* SPDX-License-Identifier: MIT */
/* Rules of interrupts, records and the DS area, for faults of spec/fault.def: see rules.c. */
#include <string.h>

#include "host/model/rules_internal.h"

#define INST	EVENT_INST_RETIRED_ANY_P
#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define STORES	EVENT_MEM_UOPS_RETIRED_ALL_STORES
#define INT	IA32_PERFEVTSEL_INT
#define ADDRESS	(RIG_MEMORY_BASE + 0x3008)
#define MINUS(n) (-(u64)(n) & BITS(0, 47))
#define PMC(n)	rig_get(r, MSR_IA32_PMC0 + (n))
#define SECOND_DS (RIG_MEMORY_BASE + 0x800)

enum { DLA = 0x98, SOURCE = 0xa0 };

static void loads(struct rig *r, unsigned n)
{
	while (n--)
		rig_load(r, ADDRESS);
}

/* Counter n: two loads arm it, the third makes a record. */
static bool one_record(struct rig *r, unsigned n, u64 bits)
{
	rig_program_pebs(r, n, LOADS, bits, 2);
	rig_start(r, BIT(n));
	loads(r, 3);
	return rig_records(r) == 1;
}

static bool has_address(struct rig *r)
{
	return rig_record(r, 0, DLA) == ADDRESS;
}

static bool overflow(struct rig *r)
{
	rig_program(r, 0, INST, INT, 3);
	rig_start(r, BIT(0));
	rig_nops(r, 3);
	return r->n_interrupts == 1;
}

static bool overflow_is_shown(struct rig *r)
{
	return overflow(r) && rig_status(r) == BIT(0);
}

static bool all_that_wrap_are_shown(struct rig *r)
{
	rig_program(r, 0, INST, 0, 3);
	rig_program(r, 2, INST, 0, 3);
	rig_start(r, BIT(0) | BIT(2));
	rig_nops(r, 3);
	return rig_status(r) == (BIT(0) | BIT(2));
}

static bool one_interrupt(struct rig *r)
{
	r->unmasks = true;
	return overflow(r);
}

static bool interrupts_now(struct rig *r)
{
	return overflow(r);
}

static bool delivery_masks(struct rig *r)
{
	return overflow(r) && r->lvtpc & BIT(16);
}

static bool masked_is_not_delivered(struct rig *r)
{
	r->lvtpc |= (u32)BIT(16);
	return !overflow(r);
}

static bool freezes_though_masked(struct rig *r)
{
	rig_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	return masked_is_not_delivered(r) && !rig_get(r, MSR_IA32_PERF_GLOBAL_CTRL);
}

static bool branch_records_freeze(struct rig *r)
{
	rig_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI | IA32_DEBUGCTL_LBR);
	return overflow(r) && !(rig_get(r, MSR_IA32_DEBUGCTL) & IA32_DEBUGCTL_LBR);
}

static bool record_at_its_level_only(struct rig *r)
{
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_set(r, MSR_IA32_PERFEVTSEL0, LOADS | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR);
	rig_start(r, BIT(0));
	r->cpl = 3;
	loads(r, 2);
	r->cpl = 0;
	loads(r, 2);
	return rig_records(r) == 0;
}

static bool records_while_interrupts_are_off(struct rig *r)
{
	return one_record(r, 0, 0);
}

static bool enabling_arms_nothing(struct rig *r)
{
	rig_program_pebs(r, 0, LOADS, 0, 10);
	rig_start(r, BIT(0));
	loads(r, 3);
	return rig_records(r) == 0;
}

static bool pebs_bit_is_needed(struct rig *r)
{
	rig_program(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0));
	loads(r, 4);
	return rig_records(r) == 0;
}

static bool pmc2_can_do_pebs(struct rig *r)
{
	return one_record(r, 2, 0);
}

static bool flags_come_first(struct rig *r)
{
	return one_record(r, 0, 0) && rig_record(r, 0, 0) == r->regs.rflags;
}

static bool image_shows_all(struct rig *r)
{
	rig_program(r, 1, INST, 0, 1);
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0) | BIT(1));
	loads(r, 3);
	return rig_record(r, 0, 0x90) == (BIT(0) | BIT(1));
}

static bool address_on_pmc3(struct rig *r)
{
	return one_record(r, 3, 0) && has_address(r);
}

static bool address_of_a_store(struct rig *r)
{
	rig_program_pebs(r, 0, STORES, 0, 2);
	rig_start(r, BIT(0));
	for (int i = 0; i < 3; i++)
		rig_store(r, ADDRESS);
	return rig_records(r) == 1 && has_address(r);
}

static bool exact_address(struct rig *r)
{
	return one_record(r, 0, 0) && has_address(r);
}

static bool source_is_zero(struct rig *r)
{
	return one_record(r, 0, 0) && rig_record(r, 0, SOURCE) == 0;
}

/* Two records, each with its EventingIP; nothing behind. */
static bool two_in_their_places(struct rig *r)
{
	u64 ip[2];

	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0));
	for (unsigned i = 0; i < 2; i++) {
		loads(r, 3);
		ip[i] = r->ip - 4;
		if (rig_index(r) != RIG_BUFFER + (i + 1) * 0xc0ULL ||
		    rig_record(r, i, 0xb0) != ip[i])
			return false;
	}
	return rig_record(r, 0, 0xb0) == ip[0] && rig_record(r, 2, 0xb0) == 0;
}

static bool index_and_record_together(struct rig *r)
{
	return one_record(r, 0, 0) && rig_index(r) == RIG_BUFFER + 0xc0;
}

static bool not_in_the_bts_buffer(struct rig *r)
{
	rig_poke(r, RIG_DS, RIG_BUFFER + 0x1000);
	rig_poke(r, RIG_DS + 8, RIG_BUFFER + 0x1000);
	rig_poke(r, RIG_DS + 0x10, RIG_BUFFER + 0x1800);
	rig_poke(r, RIG_DS + 0x18, RIG_BUFFER + 0x1800);
	one_record(r, 0, 0);
	return rig_records(r) == 1 && rig_peek(r, RIG_BUFFER + 0x10b0) == 0;
}

/* The threshold is at record 3: how many requests after each of four records? */
static bool requests_are(struct rig *r, unsigned one, unsigned two, unsigned three, unsigned four)
{
	const unsigned wanted[4] = { one, two, three, four };
	bool held = true;

	rig_ds(r, 8, 3);
	r->unmasks = true;
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0));
	for (unsigned i = 0; i < 4; i++) {
		loads(r, 3);
		held = held && r->requests == wanted[i];
	}
	return held;
}

static bool threshold_is_reached_at_three(struct rig *r)
{
	return requests_are(r, 0, 0, 1, 2);
}

static bool threshold_has_the_vector(struct rig *r)
{
	rig_ds(r, 8, 1);
	one_record(r, 0, 0);
	return r->n_interrupts == 1 && r->interrupt[0].vector == RIG_VECTOR;
}

static bool threshold_freezes(struct rig *r)
{
	rig_ds(r, 8, 1);
	rig_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	one_record(r, 0, 0);
	return !rig_get(r, MSR_IA32_PERF_GLOBAL_CTRL);
}

static bool arming_is_quiet(struct rig *r)
{
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0));
	loads(r, 2);
	return !r->requests && rig_status(r) == BIT(0);
}

static bool sets_ovfbuf(struct rig *r)
{
	rig_ds(r, 8, 1);
	return one_record(r, 0, 0) && rig_status(r) == BIT(62);
}

static bool clears_its_bits_only(struct rig *r)
{
	rig_program(r, 1, INST, 0, 1);
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0) | BIT(1));
	loads(r, 3);
	return rig_status(r) == BIT(1);
}

static bool reloads_its_slot(struct rig *r)
{
	rig_set_reset(r, 1, 0x1111);
	return one_record(r, 0, 0) && PMC(0) == MINUS(2);
}

static bool reloads_all_that_overflowed(struct rig *r)
{
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_program_pebs(r, 1, LOADS, 0, 2);
	rig_start(r, BIT(0) | BIT(1));
	loads(r, 3);
	return PMC(0) == MINUS(2) && PMC(1) == MINUS(2);
}

static bool uses_the_area_set_last(struct rig *r)
{
	rig_set(r, MSR_IA32_DS_AREA, RIG_DS + 0x200);
	memcpy(r->memory + (SECOND_DS - RIG_MEMORY_BASE), r->memory, 0x60);
	rig_set(r, MSR_IA32_DS_AREA, SECOND_DS);
	rig_poke(r, SECOND_DS + 0x40, MINUS(2));
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0));
	loads(r, 3);
	return rig_peek(r, SECOND_DS + 0x28) == RIG_BUFFER + 0xc0;
}

static bool index_after_a_branch(struct rig *r)
{
	rig_program_pebs(r, 0, EVENT_BR_INST_RETIRED_ALL_BRANCHES_PEBS, 0, 2);
	rig_start(r, BIT(0));
	for (unsigned i = 0; i < 3; i++)
		rig_branch(r, BRANCH_JUMP, true);
	return rig_index(r) == RIG_BUFFER + 0xc0;
}

static bool pmc3_records_the_next(struct rig *r)
{
	return one_record(r, 3, 0);
}

static bool maximum_and_threshold(struct rig *r)
{
	rig_ds(r, 1, 6);
	one_record(r, 0, 0);
	return !r->requests;
}

static bool full_stays(struct rig *r)
{
	rig_ds(r, 0, 8);
	one_record(r, 0, 0);
	return rig_index(r) == RIG_BUFFER;
}

static bool below_the_base_nothing(struct rig *r)
{
	rig_poke(r, RIG_DS + 0x20, RIG_BUFFER + 0x300);
	one_record(r, 0, 0);
	return rig_index(r) == RIG_BUFFER;
}

static bool goes_on_after_a_reset(struct rig *r)
{
	rig_ds(r, 1, 8);
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0));
	loads(r, 9);
	rig_poke(r, RIG_DS + 0x28, RIG_BUFFER);
	rig_set(r, MSR_IA32_PMC0, 0xffffffff);
	loads(r, 2);
	return rig_records(r) == 1;
}

/* Counter n and one behind it are due on one instruction: whose event is in the record? */
static bool pmc1_before_pmc2(struct rig *r)
{
	rig_program_pebs(r, 1, LOADS, 0, 1);
	rig_program_pebs(r, 2, EVENT_BR_INST_RETIRED_ALL_BRANCHES_PEBS, 0, 1);
	rig_start(r, BIT(1) | BIT(2));
	for (int i = 0; i < 2; i++)
		rig_retire(r, &(struct model_retired){
			.branch = BRANCH_CALL, .loads = 1, .n_access = 1,
			.access = { { ADDRESS, 8, false, false } } });
	return rig_records(r) == 1 && has_address(r);
}

static bool fixed_counters_come_last(struct rig *r)
{
	rig_ds(r, 8, 1);
	rig_set(r, MSR_IA32_FIXED_CTR0, MINUS(3));
	rig_set(r, MSR_IA32_FIXED_CTR_CTRL, 0xb);
	rig_program_pebs(r, 0, LOADS, 0, 2);
	rig_start(r, BIT(0) | BIT(32));
	loads(r, 3);
	return !strcmp(rig_actions(r), "ARM0 ASSIST0 THRESHOLD0 OVERFLOW8");
}

static bool index_is_written_last(struct rig *r)
{
	/* Nothing in memory tells; the model's own question does. */
	return !model_fault(&r->m, FAULT_INDEX_FIRST) && one_record(r, 0, 0);
}

static bool earlier_is_served_first(struct rig *r)
{
	rig_program_pebs(r, 0, LOADS, 0, 3);
	rig_program_pebs(r, 1, LOADS, 0, 2);
	rig_start(r, BIT(0) | BIT(1));
	loads(r, 3);
	return rig_records(r) == 1;
}

static bool overflow_has_the_vector(struct rig *r)
{
	return overflow(r) && r->interrupt[0].vector == RIG_VECTOR;
}

static bool interrupts_though_frozen(struct rig *r)
{
	rig_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	return overflow(r);
}

static bool branch_records_go_on(struct rig *r)
{
	rig_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
	return overflow(r) && rig_get(r, MSR_IA32_DEBUGCTL) & IA32_DEBUGCTL_LBR;
}

/* The BTS index, at offset 8 of the DS area. */
static bool bts_index_stays(struct rig *r)
{
	rig_poke(r, RIG_DS + 8, RIG_BUFFER + 0x1000);
	one_record(r, 0, 0);
	return rig_records(r) == 1 && rig_peek(r, RIG_DS + 8) == RIG_BUFFER + 0x1000;
}

rule *const pebs_rules[FAULT_COUNT] = {
	[FAULT_PMI_OTHER_VECTOR] = overflow_has_the_vector,
	[FAULT_FREEZE_DROPS_PMI] = interrupts_though_frozen,
	[FAULT_LBR_ALWAYS_FROZEN] = branch_records_go_on,
	[FAULT_BTS_INDEX_MOVES] = bts_index_stays,
	[FAULT_STATUS_DROPPED] = overflow_is_shown,
	[FAULT_STATUS_DOUBLED] = overflow_is_shown,
	[FAULT_STATUS_FIRST_ONLY] = all_that_wrap_are_shown,
	[FAULT_PMI_DOUBLED] = one_interrupt,
	[FAULT_PMI_LATE] = interrupts_now,
	[FAULT_LVTPC_MASK_LATE] = delivery_masks,
	[FAULT_LVTPC_MASK_IGNORED] = masked_is_not_delivered,
	[FAULT_FREEZE_AT_DELIVERY] = freezes_though_masked,
	[FAULT_LBR_NOT_FROZEN] = branch_records_freeze,
	[FAULT_ASSIST_AT_ANY_CPL] = record_at_its_level_only,
	[FAULT_IF_HOLDS_RECORDS] = records_while_interrupts_are_off,
	[FAULT_ENABLE_ARMS] = enabling_arms_nothing,
	[FAULT_PEBS_ENABLE_IGNORED] = pebs_bit_is_needed,
	[FAULT_PMC2_NO_PEBS] = pmc2_can_do_pebs,
	[FAULT_RECORD_WITHOUT_FLAGS] = flags_come_first,
	[FAULT_STATUS_IMAGE_PEBS_ONLY] = image_shows_all,
	[FAULT_DLA_PMC0_ONLY] = address_on_pmc3,
	[FAULT_DLA_LOADS_ONLY] = address_of_a_store,
	[FAULT_DLA_LINE] = exact_address,
	[FAULT_DLA_NEEDS_LL] = exact_address,
	[FAULT_DATA_SOURCE_EXTRA] = source_is_zero,
	[FAULT_RECORD_DROPPED] = two_in_their_places,
	[FAULT_RECORD_DOUBLED] = two_in_their_places,
	[FAULT_RECORD_LATE] = two_in_their_places,
	[FAULT_RECORD_OUT_OF_ORDER] = two_in_their_places,
	[FAULT_RECORD_AT_BASE] = two_in_their_places,
	[FAULT_RECORDS_TO_BTS] = not_in_the_bts_buffer,
	[FAULT_INDEX_DOUBLED] = index_and_record_together,
	[FAULT_INDEX_LATE] = index_and_record_together,
	[FAULT_INDEX_FIRST] = index_is_written_last,
	[FAULT_THRESHOLD_MINUS_1] = threshold_is_reached_at_three,
	[FAULT_THRESHOLD_EQUAL] = threshold_is_reached_at_three,
	[FAULT_THRESHOLD_DROPPED] = threshold_is_reached_at_three,
	[FAULT_THRESHOLD_DOUBLED] = threshold_is_reached_at_three,
	[FAULT_THRESHOLD_OTHER_VECTOR] = threshold_has_the_vector,
	[FAULT_THRESHOLD_NO_FREEZE] = threshold_freezes,
	[FAULT_THRESHOLD_AT_ARM] = arming_is_quiet,
	[FAULT_OVFBUF_DROPPED] = sets_ovfbuf,
	[FAULT_ASSIST_KEEPS_STATUS] = clears_its_bits_only,
	[FAULT_ASSIST_CLEARS_ALL] = clears_its_bits_only,
	[FAULT_RELOAD_LATE] = reloads_its_slot,
	[FAULT_RELOAD_NEXT_SLOT] = reloads_its_slot,
	[FAULT_RELOAD_OWN_ONLY] = reloads_all_that_overflowed,
	[FAULT_DS_AREA_FIRST] = uses_the_area_set_last,
	[FAULT_DS_AREA_STICKS] = uses_the_area_set_last,
	[FAULT_BRANCH_INDEX_DOUBLED] = index_after_a_branch,
	[FAULT_PMC3_NEXT_BUT_ONE] = pmc3_records_the_next,
	[FAULT_DS_FIELDS_EXCHANGED] = maximum_and_threshold,
	[FAULT_FULL_INDEX_ADVANCES] = full_stays,
	[FAULT_BASE_UNCHECKED] = below_the_base_nothing,
	[FAULT_FULL_STAYS_FULL] = goes_on_after_a_reset,
	[FAULT_PMC1_LAST] = pmc1_before_pmc2,
	[FAULT_FIXED_FIRST] = fixed_counters_come_last,
	[FAULT_NEWEST_FIRST] = earlier_is_served_first,
};
