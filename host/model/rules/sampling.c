/* SPDX-License-Identifier: MIT */
/* Rules of refpmu/faults/fault_sampling.def: what shows at one place only. See rules.h. */
#include <string.h>

#include "host/model/rules/internal.h"

#define BRANCHES	EVENT_BR_INST_RETIRED_ALL_BRANCHES_PEBS
#define RFLAGS_DF	BIT(10)
#define OVF_BUF		IA32_PERF_GLOBAL_STATUS_OVF_BUF
#define FREEZE		IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI
#define NMI_MODE	0x400	/* of LVTPC */
#define CMASK_1		BIT(IA32_PERFEVTSEL_CMASK_SHIFT)

enum { RECORD_RIP = 0x08, RECORD_RAX = 0x10, RECORD_STATUS = 0x90, RECORD_EVENTING = 0xb0 };

/* All counters but PMC0 have overflowed, and the first record has set OvfBuf: the second one's
 * status. */
static bool image_is_whole(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	for (unsigned i = 1; i < 4; i++)
		fixture_program(r, i, INST, 0, 1);
	for (u32 i = 0; i < 3; i++)
		fixture_set(r, MSR_IA32_FIXED_CTR0 + i, MINUS(1));
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0x333);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BITS(0, 3) | BITS(32, 34));
	loads(r, 6);
	return fixture_record(r, 1, RECORD_STATUS) == (BITS(0, 3) | BITS(32, 34) | OVF_BUF);
}

static bool flags_are_whole(struct fixture *r)
{
	r->regs.rflags |= RFLAGS_DF;
	return one_record(r, 0, 0) && fixture_record(r, 0, 0) == r->regs.rflags &&
	       r->regs.rflags & RFLAGS_DF;
}

static bool branch_record_has_the_target(struct fixture *r)
{
	fixture_program_pebs(r, 0, BRANCHES, 0, 2);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 3; i++)
		fixture_branch(r, BRANCH_JUMP, true);
	return fixture_records(r) == 1 && fixture_record(r, 0, RECORD_RIP) == r->ip;
}

static bool code_addresses_are_whole(struct fixture *r)
{
	r->ip = 0xffff800000401000;
	return one_record(r, 0, 0) && fixture_record(r, 0, RECORD_RIP) == r->ip &&
	       fixture_record(r, 0, RECORD_EVENTING) == r->ip - 4;
}

RULE(registers_are_whole, one_record(r, 0, 0) &&
     fixture_record(r, 0, RECORD_RAX) == r->regs.gpr[REG_RAX])

/* Its instruction is the one that overflows, and its other fields are 0. */
static bool precise_distribution(struct fixture *r)
{
	u64 ip = precise_instruction(r);

	return fixture_records(r) == 1 && fixture_record(r, 0, RECORD_EVENTING) == ip &&
	       !fixture_record(r, 0, RECORD_DLA) && !fixture_record(r, 0, RECORD_SOURCE) &&
	       !fixture_record(r, 0, RECORD_LATENCY);
}

static bool no_records_with_cmask(struct fixture *r)
{
	return !one_record(r, 0, CMASK_1);
}

/* Its last 40H bytes are in the second page; the first one's begin isn't touched. */
static bool record_across_a_page(struct fixture *r)
{
	const u64 place = FIXTURE_BUFFER + 0x1000 - (FIXTURE_RECORD - 0x40);

	memset(r->memory + 0x1000, 0x5e, FIXTURE_RECORD);
	fixture_poke(r, FIXTURE_DS + 0x28, place);
	fixture_poke(r, FIXTURE_DS + 0x30, place + 0x800);
	fixture_poke(r, FIXTURE_DS + 0x38, place + 0x800);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 3);
	return fixture_peek(r, place + RECORD_RIP) == r->ip &&
	       fixture_peek(r, place + RECORD_DLA) == ADDRESS &&
	       fixture_peek(r, place + RECORD_EVENTING) == r->ip - 4 &&
	       fixture_peek(r, FIXTURE_BUFFER) == 0x5e5e5e5e5e5e5e5e;
}

static bool arms_of_others_stay(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_set(r, MSR_IA32_PEBS_ENABLE, BIT(0) | BIT(1));
	fixture_start(r, BIT(0));
	loads(r, 2);
	fixture_set(r, MSR_IA32_PEBS_ENABLE, BIT(0));
	loads(r, 1);
	return fixture_records(r) == 1;
}

/* The buffer's size and the threshold, in records. */
static bool one_record_signals(struct fixture *r, unsigned room, unsigned threshold)
{
	fixture_ds(r, room, threshold);
	return one_record(r, 0, 0) && r->requests == 1 && fixture_status(r) == OVF_BUF;
}

RULE(last_record_signals, one_record_signals(r, 1, 1))
RULE(threshold_at_base, one_record_signals(r, 8, 0))

static bool room_for_an_older_one_is_none(struct fixture *r)
{
	fixture_poke(r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + FIXTURE_RECORD_FMT1);
	one_record(r, 0, 0);
	return fixture_index(r) == FIXTURE_BUFFER;
}

/* Its overflow and the event that PMC0 is armed for are on one instruction. */
static bool fixed_1_comes_last(struct fixture *r)
{
	return fixed_beside_assist(r, 1, "ARM0 ASSIST0 OVERFLOW9");
}

static bool interrupt_of_a_lower_counter_first(struct fixture *r)
{
	fixture_program(r, 1, INST, INT, 2);
	fixture_program_pebs(r, 2, LOADS, 0, 1);
	fixture_start(r, BIT(1) | BIT(2));
	loads(r, 2);
	return !strcmp(fixture_actions(r), "ARM2 OVERFLOW1 ASSIST2");
}

static bool interrupt_beside_a_silent_one(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 3);
	fixture_program(r, 1, INST, INT, 3);
	fixture_start(r, BIT(0) | BIT(1));
	fixture_nops(r, 3);
	return r->n_interrupts == 1;
}

static bool one_level_interrupts(struct fixture *r)
{
	fixture_program(r, 0, INST, INT, 3);
	fixture_set(r, MSR_IA32_PERFEVTSEL0, INST | INT | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS);
	fixture_start(r, BIT(0));
	fixture_nops(r, 3);
	return r->n_interrupts == 1;
}

/* Fixed counter 2 alone. */
static bool fixed_2_interrupts(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR0 + 2, MINUS(3));
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0xb00);
	fixture_start(r, BIT(34));
	fixture_nops(r, 3);
	return r->n_interrupts == 1;
}

static bool two_interrupts(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	r->unmasks = true;
	one_record(r, 0, INT);
	return r->n_interrupts == 2;
}

RULE(second_has_the_vector, two_interrupts(r) && r->interrupt[1].vector == FIXTURE_VECTOR)

static bool two_though_frozen(struct fixture *r)
{
	fixture_set(r, MSR_IA32_DEBUGCTL, FREEZE);
	return two_interrupts(r);
}

static bool vector_of_the_last_write(struct fixture *r)
{
	fixture_write_lvtpc(r, FIXTURE_VECTOR + 1);
	fixture_write_lvtpc(r, FIXTURE_VECTOR + 2);
	return one_overflow(r) && r->interrupt[0].vector == FIXTURE_VECTOR + 2;
}

static bool freeze_stops_fixed_2(struct fixture *r)
{
	fixture_set(r, MSR_IA32_DEBUGCTL, FREEZE);
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0x300);
	fixture_program(r, 0, INST, INT, 3);
	fixture_start(r, BIT(0) | BIT(34));
	fixture_nops(r, 3);
	return r->n_interrupts == 1 && !fixture_get(r, MSR_IA32_PERF_GLOBAL_CTRL);
}

static bool freezing_stays_on(struct fixture *r)
{
	fixture_set(r, MSR_IA32_DEBUGCTL, FREEZE);
	return one_overflow(r) && fixture_get(r, MSR_IA32_DEBUGCTL) & FREEZE;
}

static bool nmi_masks(struct fixture *r)
{
	r->lvtpc |= NMI_MODE;
	return one_overflow(r) && r->lvtpc & BIT(16);
}

static bool wrmsr_overflows(struct fixture *r)
{
	fixture_program(r, 0, INST, INT, 1);
	fixture_start(r, BIT(0));
	fixture_set(r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, 0);
	return r->n_interrupts == 1;
}

static bool interrupt_waits_for_if(struct fixture *r)
{
	r->regs.rflags &= ~BIT(9);
	return one_overflow(r);
}

RULE(without_if_it_stays_fixed, interrupt_waits_for_if(r) &&
     r->interrupt[0].kind == PMI_FIXED)

static bool halting_loses_nothing(struct fixture *r)
{
	one_overflow(r);
	model_halt(&r->m);
	return r->n_interrupts == 1;
}

static bool status_needs_no_clearing(struct fixture *r)
{
	r->unmasks = true;
	one_overflow(r);
	fixture_set(r, MSR_IA32_PMC0, MINUS(3) & BITS(0, 31));
	fixture_nops(r, 3);
	return r->n_interrupts == 2;
}

rule *const sampling_rules[FAULT_COUNT] = {
	[FAULT_STATUS_IMAGE_LOW] = image_is_whole,
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_IMAGE_BIT(token, bit, name, title) [FAULT_##token] = image_is_whole,
#include "refpmu/faults/fault_sampling.def"
#undef FAULT
	[FAULT_RFLAGS_NO_DF] = flags_are_whole,
	[FAULT_RFLAGS_UPPER_RAX] = flags_are_whole,
	[FAULT_BRANCH_RIP_EVENTING] = branch_record_has_the_target,
	[FAULT_CODE_ADDRESS_32] = code_addresses_are_whole,
	[FAULT_REGISTERS_32] = registers_are_whole,
	[FAULT_PDIR_BEFORE] = precise_distribution,
	[FAULT_PDIR_DATA] = precise_distribution,
	[FAULT_CMASK_RECORDS] = no_records_with_cmask,
	[FAULT_RECORD_TAIL_LOST] = record_across_a_page,
	[FAULT_RECORD_TAIL_WRAPS] = record_across_a_page,
	[FAULT_BRANCHES_NO_RECORD] = branch_record_has_the_target,
	[FAULT_INSTRUCTIONS_NO_RECORD] = precise_distribution,
	[FAULT_PEBS_CLEAR_DROPS_ARMS] = arms_of_others_stay,
	[FAULT_LAST_RECORD_QUIET] = last_record_signals,
	[FAULT_THRESHOLD_AT_BASE_LOST] = threshold_at_base,
	[FAULT_OLDER_ROOM_SUFFICES] = room_for_an_older_one_is_none,
	[FAULT_FIXED_12_FIRST] = fixed_1_comes_last,
	[FAULT_ASSISTS_FIRST] = interrupt_of_a_lower_counter_first,
	[FAULT_LOWER_WITHOUT_INT] = interrupt_beside_a_silent_one,
	[FAULT_INT_NEEDS_BOTH_LEVELS] = one_level_interrupts,
	[FAULT_FIXED_INT_OF_FIRST] = fixed_2_interrupts,
	[FAULT_PMI_VECTOR_BEFORE] = vector_of_the_last_write,
	[FAULT_SECOND_OTHER_VECTOR] = second_has_the_vector,
	[FAULT_SECOND_LATE] = two_interrupts,
	[FAULT_FREEZE_DROPS_SECOND] = two_though_frozen,
	[FAULT_FREEZE_LEAVES_FIXED2] = freeze_stops_fixed_2,
	[FAULT_FREEZE_ONCE] = freezing_stays_on,
	[FAULT_NMI_LEAVES_UNMASKED] = nmi_masks,
	[FAULT_WRMSR_OVERFLOW_QUIET] = wrmsr_overflows,
	[FAULT_PMI_LOST_WITHOUT_IF] = interrupt_waits_for_if,
	[FAULT_PMI_IGNORES_IF] = without_if_it_stays_fixed,
	[FAULT_PMI_LOST_IN_HLT] = halting_loses_nothing,
	[FAULT_PMI_WAITS_FOR_STATUS] = status_needs_no_clearing,
};
