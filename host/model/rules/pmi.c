/* SPDX-License-Identifier: MIT */
/* Rules of overflow status, interrupts, freezing, and of what comes first: see rules.h. */
#include <string.h>

#include "host/model/rules/internal.h"

static bool fixed_overflow_interrupts(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR0, MINUS(3));
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0xb);
	fixture_start(r, BIT(32));
	fixture_nops(r, 3);
	return r->n_interrupts == 1;
}

RULE(handler_sees_the_overflow, one_overflow(r) && r->interrupt[0].status == BIT(0))
RULE(delivery_masks, one_overflow(r) && r->lvtpc & BIT(16))

static bool delivery_mode_counts(struct fixture *r)
{
	r->lvtpc = 0x4f0;
	return one_overflow(r) && r->interrupt[0].kind == PMI_NMI;
}

static bool reading_clears_nothing(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 3);
	fixture_start(r, BIT(0));
	fixture_nops(r, 3);
	fixture_stop(r);
	fixture_status(r);
	return fixture_status(r) == BIT(0);
}

static bool clears_what_is_written(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 3);
	fixture_program(r, 1, INST, 0, 3);
	fixture_start(r, BIT(0) | BIT(1));
	fixture_nops(r, 3);
	fixture_stop(r);
	fixture_set(r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(0));
	return fixture_status(r) == BIT(1);
}

static bool without_int_none(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 3);
	fixture_start(r, BIT(0));
	fixture_nops(r, 3);
	return !r->requests && fixture_status(r) == BIT(0);
}

RULE(status_is_read_only, fixture_wrmsr(r, MSR_IA32_PERF_GLOBAL_STATUS, 0) == MSR_GP)

static bool freezes(struct fixture *r)
{
	fixture_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	return one_overflow(r) && !fixture_get(r, MSR_IA32_PERF_GLOBAL_CTRL);
}

RULE(fixed_status_at_32, fixed_overflow_interrupts(r) && r->interrupt[0].status == BIT(32))
RULE(overflow_is_shown, one_overflow(r) && fixture_status(r) == BIT(0))

static bool all_that_wrap_are_shown(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 3);
	fixture_program(r, 2, INST, 0, 3);
	fixture_start(r, BIT(0) | BIT(2));
	fixture_nops(r, 3);
	return fixture_status(r) == (BIT(0) | BIT(2));
}

static bool one_interrupt(struct fixture *r)
{
	r->unmasks = true;
	return one_overflow(r);
}

static bool masked_is_not_delivered(struct fixture *r)
{
	r->lvtpc |= (u32)BIT(16);
	return !one_overflow(r);
}

static bool freezes_though_masked(struct fixture *r)
{
	fixture_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	return masked_is_not_delivered(r) && !fixture_get(r, MSR_IA32_PERF_GLOBAL_CTRL);
}

static bool branch_records_freeze(struct fixture *r)
{
	fixture_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI | IA32_DEBUGCTL_LBR);
	return one_overflow(r) && !(fixture_get(r, MSR_IA32_DEBUGCTL) & IA32_DEBUGCTL_LBR);
}

RULE(overflow_has_the_vector, one_overflow(r) && r->interrupt[0].vector == FIXTURE_VECTOR)

static bool interrupts_though_frozen(struct fixture *r)
{
	fixture_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	return one_overflow(r);
}

static bool branch_records_go_on(struct fixture *r)
{
	fixture_wrmsr(r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
	return one_overflow(r) && fixture_get(r, MSR_IA32_DEBUGCTL) & IA32_DEBUGCTL_LBR;
}

/* Counter n and PMC2 are due on one instruction: is the event in the record counter n's? */
static bool makes_the_record(struct fixture *r, unsigned n)
{
	fixture_program_pebs(r, n, LOADS, 0, 1);
	fixture_program_pebs(r, 3, EVENT_BR_INST_RETIRED_ALL_BRANCHES_PEBS, 0, 1);
	fixture_start(r, BIT(n) | BIT(3));
	for (int i = 0; i < 2; i++)
		fixture_retire(r, &(struct model_retired){
			.branch = BRANCH_CALL, .loads = 1, .n_access = 1,
			.access = { { ADDRESS, 8, false, false } } });
	return fixture_records(r) == 1 && fixture_record(r, 0, RECORD_DLA) == ADDRESS;
}

RULE(first_counter_makes_the_record, makes_the_record(r, 0))

/* PMC1 and PMC2: an overflow interrupt of one on the instruction of the other's assist. */
static bool both_served(struct fixture *r, unsigned interrupting, unsigned precise)
{
	fixture_program(r, interrupting, INST, INT, 2);
	fixture_program_pebs(r, precise, LOADS, 0, 1);
	fixture_start(r, BIT(1) | BIT(2));
	loads(r, 2);
	return r->n_interrupts == 1 && fixture_records(r) == 1;
}

RULE(interrupt_not_displaced, both_served(r, 1, 2))
RULE(assist_not_displaced, both_served(r, 2, 1))

static bool one_for_all(struct fixture *r)
{
	r->unmasks = true;
	fixture_program(r, 0, INST, INT, 3);
	fixture_program(r, 1, INST, INT, 3);
	fixture_start(r, BIT(0) | BIT(1));
	fixture_nops(r, 3);
	return r->n_interrupts == 1;
}

static bool none_before_the_assist(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, INT, 2);
	fixture_start(r, BIT(0));
	loads(r, 2);
	fixture_nops(r, 5);
	return !r->n_interrupts && fixture_status(r) == BIT(0);
}

static bool two_in_order(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	r->unmasks = true;
	one_record(r, 0, INT);
	return r->n_interrupts == 2;
}

RULE(threshold_first, two_in_order(r) && r->interrupt[0].status & BIT(62))

static bool record_before_interrupt(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	one_record(r, 0, 0);
	return r->n_interrupts == 1 && r->interrupt[0].index == FIXTURE_BUFFER + 0xc0 &&
	       fixture_record(r, 0, RECORD_DLA) == ADDRESS;
}

RULE(pmc1_before_pmc2, makes_the_record(r, 1))
RULE(pmc2_before_pmc3, makes_the_record(r, 2))

static bool fixed_counters_come_last(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	return fixed_beside_assist(r, 0, "ARM0 ASSIST0 THRESHOLD0 OVERFLOW8");
}

static bool earlier_is_served_first(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 3);
	fixture_program_pebs(r, 1, LOADS, 0, 2);
	fixture_start(r, BIT(0) | BIT(1));
	loads(r, 3);
	return fixture_records(r) == 1;
}

rule *const pmi_rules[FAULT_COUNT] = {
	[FAULT_GP_PMI_LOST] = one_overflow,
	[FAULT_FIXED_PMI_LOST] = fixed_overflow_interrupts,
	[FAULT_STATUS_LATE] = handler_sees_the_overflow,
	[FAULT_LVTPC_NOT_MASKED] = delivery_masks,
	[FAULT_NMI_AS_FIXED] = delivery_mode_counts,
	[FAULT_STATUS_CLEARED_BY_READ] = reading_clears_nothing,
	[FAULT_OVF_CTRL_CLEARS_ALL] = clears_what_is_written,
	[FAULT_INT_IGNORED] = without_int_none,
	[FAULT_STATUS_WRITABLE] = status_is_read_only,
	[FAULT_FREEZE_IGNORED] = freezes,
	[FAULT_FIXED_STATUS_MISPLACED] = fixed_status_at_32,
	[FAULT_PRIORITY_REVERSED] = first_counter_makes_the_record,
	[FAULT_ASSIST_DROPS_INTERRUPT] = interrupt_not_displaced,
	[FAULT_INTERRUPT_DROPS_ASSIST] = assist_not_displaced,
	[FAULT_PMI_PER_COUNTER] = one_for_all,
	[FAULT_OVF_AT_WRAP] = none_before_the_assist,
	[FAULT_THRESHOLD_LAST] = threshold_first,
	[FAULT_TWO_MERGED] = two_in_order,
	[FAULT_RECORD_AFTER_PMI] = record_before_interrupt,
	[FAULT_PMI_OTHER_VECTOR] = overflow_has_the_vector,
	[FAULT_FREEZE_DROPS_PMI] = interrupts_though_frozen,
	[FAULT_LBR_ALWAYS_FROZEN] = branch_records_go_on,
	[FAULT_STATUS_DROPPED] = overflow_is_shown,
	[FAULT_STATUS_DOUBLED] = overflow_is_shown,
	[FAULT_STATUS_FIRST_ONLY] = all_that_wrap_are_shown,
	[FAULT_PMI_DOUBLED] = one_interrupt,
	[FAULT_PMI_LATE] = one_overflow,
	[FAULT_LVTPC_MASK_LATE] = delivery_masks,
	[FAULT_LVTPC_MASK_IGNORED] = masked_is_not_delivered,
	[FAULT_FREEZE_AT_DELIVERY] = freezes_though_masked,
	[FAULT_LBR_NOT_FROZEN] = branch_records_freeze,
	[FAULT_PMC0_LAST] = first_counter_makes_the_record,
	[FAULT_PMC1_LAST] = pmc1_before_pmc2,
	[FAULT_PMC3_BEFORE_PMC2] = pmc2_before_pmc3,
	[FAULT_FIXED_FIRST] = fixed_counters_come_last,
	[FAULT_NEWEST_FIRST] = earlier_is_served_first,
};
