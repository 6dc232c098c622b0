/* SPDX-License-Identifier: MIT */
/* Rules of arming, records and the DS area: see rules.h. */
#include <string.h>

#include "host/model/rules/internal.h"

#define SECOND_DS (FIXTURE_MEMORY_BASE + 0x800)

static bool assist_waits_for_its_event(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 2);
	fixture_nops(r, 4);
	return fixture_status(r) == BIT(0) && fixture_index(r) == FIXTURE_BUFFER;
}

RULE(pebs_without_int_is_quiet, one_record(r, 0, 0) && !r->requests)

static bool disarmed_by_pebs_enable(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 2);
	fixture_set(r, MSR_IA32_PEBS_ENABLE, 0);
	loads(r, 2);
	return fixture_status(r) == BIT(0) && fixture_index(r) == FIXTURE_BUFFER;
}

static bool precise_distribution(struct fixture *r)
{
	u64 ip = precise_instruction(r);

	return fixture_record(r, 0, 0xb0) == ip;
}

static bool index_advances_by_c0(struct fixture *r)
{
	one_record(r, 0, 0);
	return fixture_index(r) == FIXTURE_BUFFER + 0xc0;
}

static bool registers_in_their_places(struct fixture *r)
{
	static const u8 offsets[REG_COUNT] = {
		[REG_RAX] = 0x10, [REG_RBX] = 0x18, [REG_RCX] = 0x20, [REG_RDX] = 0x28,
		[REG_RSI] = 0x30, [REG_RDI] = 0x38, [REG_RBP] = 0x40, [REG_RSP] = 0x48,
		[REG_R8] = 0x50, [REG_R9] = 0x58, [REG_R10] = 0x60, [REG_R11] = 0x68,
		[REG_R12] = 0x70, [REG_R13] = 0x78, [REG_R14] = 0x80, [REG_R15] = 0x88,
	};
	bool held = one_record(r, 0, 0);

	for (unsigned i = 0; i < REG_COUNT; i++)
		held = held && fixture_record(r, 0, offsets[i]) == r->regs.gpr[i];
	return held;
}

RULE(registers_after, one_record(r, 0, 0) && fixture_record(r, 0, 0x10) == r->regs.gpr[REG_RAX])
RULE(flags_after, one_record(r, 0, 0) && fixture_record(r, 0, 0x00) == r->regs.rflags)
RULE(eventing_ip, one_record(r, 0, 0) && fixture_record(r, 0, 0xb0) == r->ip - 4)
RULE(next_ip, one_record(r, 0, 0) && fixture_record(r, 0, 0x08) == r->ip)
RULE(status_before, one_record(r, 0, 0) && fixture_record(r, 0, 0x90) == BIT(0))
RULE(no_latency, one_record(r, 0, 0) && fixture_record(r, 0, 0xa8) == 0)
RULE(nothing_behind, one_record(r, 0, 0) && fixture_record(r, 1, 0) == 0)

static bool threshold_at_two(struct fixture *r)
{
	unsigned after_one;

	fixture_ds(r, 8, 2);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 3);
	after_one = r->requests;
	loads(r, 3);
	return !after_one && r->requests == 1;
}

static bool stops_at_maximum(struct fixture *r)
{
	fixture_ds(r, 1, 8);
	one_record(r, 0, 0);
	loads(r, 6);
	return fixture_index(r) == FIXTURE_BUFFER + 0xc0 && fixture_record(r, 1, 0x98) == 0;
}

RULE(reloads, one_record(r, 0, 0) && PMC(0) == MINUS(2))

static bool reloads_no_other(struct fixture *r)
{
	fixture_program(r, 1, INST, 0, 1);
	fixture_set_reset(r, 1, 0x1000);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0) | BIT(1));
	loads(r, 3);
	return fixture_records(r) == 1 && PMC(1) == 2;
}

static bool has_address(struct fixture *r)
{
	return fixture_record(r, 0, RECORD_DLA) == ADDRESS;
}

static bool record_at_its_level_only(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_set(r, MSR_IA32_PERFEVTSEL0, LOADS | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR);
	fixture_start(r, BIT(0));
	r->cpl = 3;
	loads(r, 2);
	r->cpl = 0;
	loads(r, 2);
	return fixture_records(r) == 0;
}

RULE(records_while_interrupts_are_off, one_record(r, 0, 0))

static bool enabling_arms_nothing(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 10);
	fixture_start(r, BIT(0));
	loads(r, 3);
	return fixture_records(r) == 0;
}

static bool pebs_bit_is_needed(struct fixture *r)
{
	fixture_program(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 4);
	return fixture_records(r) == 0;
}

RULE(pmc2_can_do_pebs, one_record(r, 2, 0))
RULE(flags_come_first, one_record(r, 0, 0) && fixture_record(r, 0, 0) == r->regs.rflags)

static bool image_shows_all(struct fixture *r)
{
	fixture_program(r, 1, INST, 0, 1);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0) | BIT(1));
	loads(r, 3);
	return fixture_record(r, 0, 0x90) == (BIT(0) | BIT(1));
}

RULE(address_on_pmc3, one_record(r, 3, 0) && has_address(r))

static bool address_of_a_store(struct fixture *r)
{
	fixture_program_pebs(r, 0, STORES, 0, 2);
	fixture_start(r, BIT(0));
	for (int i = 0; i < 3; i++)
		fixture_store(r, ADDRESS);
	return fixture_records(r) == 1 && has_address(r);
}

RULE(exact_address, one_record(r, 0, 0) && has_address(r))
RULE(source_is_zero, one_record(r, 0, 0) && fixture_record(r, 0, RECORD_SOURCE) == 0)

/* Two records, each with its EventingIP; nothing after them. */
static bool two_in_their_places(struct fixture *r)
{
	u64 ip[2];

	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 2; i++) {
		loads(r, 3);
		ip[i] = r->ip - 4;
		if (fixture_index(r) != FIXTURE_BUFFER + (i + 1) * 0xc0ULL ||
		    fixture_record(r, i, 0xb0) != ip[i])
			return false;
	}
	return fixture_record(r, 0, 0xb0) == ip[0] && fixture_record(r, 2, 0xb0) == 0;
}

RULE(index_and_record_together, one_record(r, 0, 0) && fixture_index(r) == FIXTURE_BUFFER + 0xc0)

static bool not_in_the_bts_buffer(struct fixture *r)
{
	fixture_poke(r, FIXTURE_DS, FIXTURE_BUFFER + 0x1000);
	fixture_poke(r, FIXTURE_DS + 8, FIXTURE_BUFFER + 0x1000);
	fixture_poke(r, FIXTURE_DS + 0x10, FIXTURE_BUFFER + 0x1800);
	fixture_poke(r, FIXTURE_DS + 0x18, FIXTURE_BUFFER + 0x1800);
	one_record(r, 0, 0);
	return fixture_records(r) == 1 && fixture_peek(r, FIXTURE_BUFFER + 0x10b0) == 0;
}

/* The threshold is at record 3: how many requests after each of four records? */
static bool requests_are(struct fixture *r, unsigned one, unsigned two, unsigned three,
			 unsigned four)
{
	const unsigned wanted[4] = { one, two, three, four };
	bool held = true;

	fixture_ds(r, 8, 3);
	r->unmasks = true;
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 4; i++) {
		loads(r, 3);
		held = held && r->requests == wanted[i];
	}
	return held;
}

RULE(threshold_is_reached_at_three, requests_are(r, 0, 0, 1, 2))

static bool threshold_has_the_vector(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	one_record(r, 0, 0);
	return r->n_interrupts == 1 && r->interrupt[0].vector == FIXTURE_VECTOR;
}

static bool threshold_freezes(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	fixture_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	one_record(r, 0, 0);
	return !fixture_get(r, MSR_IA32_PERF_GLOBAL_CTRL);
}

static bool arming_is_quiet(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 2);
	return !r->requests && fixture_status(r) == BIT(0);
}

static bool sets_ovfbuf(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	return one_record(r, 0, 0) && fixture_status(r) == BIT(62);
}

static bool clears_its_bits_only(struct fixture *r)
{
	fixture_program(r, 1, INST, 0, 1);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0) | BIT(1));
	loads(r, 3);
	return fixture_status(r) == BIT(1);
}

static bool reloads_its_slot(struct fixture *r)
{
	fixture_set_reset(r, 1, 0x1111);
	return one_record(r, 0, 0) && PMC(0) == MINUS(2);
}

static bool reloads_all_that_overflowed(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_program_pebs(r, 1, LOADS, 0, 2);
	fixture_start(r, BIT(0) | BIT(1));
	loads(r, 3);
	return PMC(0) == MINUS(2) && PMC(1) == MINUS(2);
}

static bool uses_the_area_set_last(struct fixture *r)
{
	fixture_set(r, MSR_IA32_DS_AREA, FIXTURE_DS + 0x200);
	memcpy(r->memory + (SECOND_DS - FIXTURE_MEMORY_BASE), r->memory, 0x60);
	fixture_set(r, MSR_IA32_DS_AREA, SECOND_DS);
	fixture_poke(r, SECOND_DS + 0x40, MINUS(2));
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 3);
	return fixture_peek(r, SECOND_DS + 0x28) == FIXTURE_BUFFER + 0xc0;
}

static bool index_after_a_branch(struct fixture *r)
{
	fixture_program_pebs(r, 0, EVENT_BR_INST_RETIRED_ALL_BRANCHES_PEBS, 0, 2);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 3; i++)
		fixture_branch(r, BRANCH_JUMP, true);
	return fixture_index(r) == FIXTURE_BUFFER + 0xc0;
}

RULE(pmc3_records_the_next, one_record(r, 3, 0))

static bool maximum_and_threshold(struct fixture *r)
{
	fixture_ds(r, 1, 6);
	one_record(r, 0, 0);
	return !r->requests;
}

static bool full_stays(struct fixture *r)
{
	fixture_ds(r, 0, 8);
	one_record(r, 0, 0);
	return fixture_index(r) == FIXTURE_BUFFER;
}

static bool below_the_base_nothing(struct fixture *r)
{
	fixture_poke(r, FIXTURE_DS + 0x20, FIXTURE_BUFFER + 0x300);
	one_record(r, 0, 0);
	return fixture_index(r) == FIXTURE_BUFFER;
}

static bool goes_on_after_a_reset(struct fixture *r)
{
	fixture_ds(r, 1, 8);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 9);
	fixture_poke(r, FIXTURE_DS + 0x28, FIXTURE_BUFFER);
	fixture_set(r, MSR_IA32_PMC0, 0xffffffff);
	loads(r, 2);
	return fixture_records(r) == 1;
}

static bool index_is_written_last(struct fixture *r)
{
	/* Nothing in memory tells; the model's own question does. */
	return !model_fault(&r->m, FAULT_INDEX_FIRST) && one_record(r, 0, 0);
}

/* The BTS index, at offset 8 of the DS area. */
static bool bts_index_stays(struct fixture *r)
{
	fixture_poke(r, FIXTURE_DS + 8, FIXTURE_BUFFER + 0x1000);
	one_record(r, 0, 0);
	return fixture_records(r) == 1 &&
	       fixture_peek(r, FIXTURE_DS + 8) == FIXTURE_BUFFER + 0x1000;
}

rule *const pebs_rules[FAULT_COUNT] = {
	[FAULT_ASSIST_AT_ANY] = assist_waits_for_its_event,
	[FAULT_PEBS_INTERRUPTS] = pebs_without_int_is_quiet,
	[FAULT_ARM_SURVIVES] = disarmed_by_pebs_enable,
	[FAULT_PDIR_SKIDS] = precise_distribution,
	[FAULT_RECORD_AT_OVERFLOW] = assist_waits_for_its_event,
	[FAULT_RECORD_SIZE_B0] = index_advances_by_c0,
	[FAULT_GPR_ORDER] = registers_in_their_places,
	[FAULT_GPR_STALE] = registers_after,
	[FAULT_FLAGS_STALE] = flags_after,
	[FAULT_EVENTING_IP_NEXT] = eventing_ip,
	[FAULT_RIP_EVENTING] = next_ip,
	[FAULT_STATUS_AFTER_ASSIST] = status_before,
	[FAULT_LATENCY_LEFT] = no_latency,
	[FAULT_WRITE_PAST_RECORD] = nothing_behind,
	[FAULT_INDEX_NOT_ADVANCED] = index_advances_by_c0,
	[FAULT_THRESHOLD_LATE] = threshold_at_two,
	[FAULT_THRESHOLD_ALWAYS] = threshold_at_two,
	[FAULT_PAST_MAXIMUM] = stops_at_maximum,
	[FAULT_NO_RELOAD] = reloads,
	[FAULT_RELOAD_ALL] = reloads_no_other,
	[FAULT_BTS_INDEX_MOVES] = bts_index_stays,
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
};
