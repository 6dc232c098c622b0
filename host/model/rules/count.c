/* SPDX-License-Identifier: MIT */
/* Rules of counting, and of what the counters' registers take: see rules.h. */
#include "host/model/rules/internal.h"

#define CMASK	(1ULL << IA32_PERFEVTSEL_CMASK_SHIFT)

static bool counts_instructions(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 100);
	return PMC(0) == 100;
}

static bool pmc3_counts_as_pmc0(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_program(r, 3, INST, 0, 0);
	fixture_start(r, BIT(0) | BIT(3));
	fixture_nops(r, 100);
	return PMC(0) == PMC(3);
}

static bool counts_where_told(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PERFEVTSEL0, INST | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR);
	fixture_start(r, BIT(0));
	fixture_nops(r, 5);
	return PMC(0) == 0;
}

static bool counts_branches_not_taken(struct fixture *r)
{
	fixture_program(r, 0, EVENT_BR_INST_RETIRED_ALL_BRANCHES, 0, 0);
	fixture_start(r, BIT(0));
	fixture_branch(r, BRANCH_CONDITIONAL, false);
	fixture_branch(r, BRANCH_CONDITIONAL, true);
	return PMC(0) == 2;
}

static bool counts_loads_only(struct fixture *r)
{
	fixture_program(r, 0, LOADS, 0, 0);
	fixture_start(r, BIT(0));
	fixture_store(r, ADDRESS);
	fixture_load(r, ADDRESS);
	return PMC(0) == 1;
}

static bool counts_stores(struct fixture *r)
{
	fixture_program(r, 0, STORES, 0, 0);
	fixture_start(r, BIT(0));
	for (int i = 0; i < 40; i++)
		fixture_store(r, ADDRESS);
	return PMC(0) == 40;
}

static bool counts_locked_loads(struct fixture *r)
{
	fixture_program(r, 0, EVENT_MEM_UOPS_RETIRED_LOCK_LOADS, 0, 0);
	fixture_start(r, BIT(0));
	fixture_locked_add(r, ADDRESS);
	return PMC(0) == 1;
}

static bool cmask_needs_that_many(struct fixture *r)
{
	fixture_program(r, 0, INST, 255 * CMASK, 0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 20);
	return PMC(0) == 0;
}

static bool inv_counts_the_others(struct fixture *r)
{
	fixture_program(r, 0, INST, 255 * CMASK | IA32_PERFEVTSEL_INV, 0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 20);
	return PMC(0) == 20;
}

static bool edge_counts_transitions(struct fixture *r)
{
	fixture_program(r, 0, INST, CMASK | IA32_PERFEVTSEL_E, 0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 20);
	return PMC(0) == 1;
}

static bool rdpmc_is_rdmsr(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 20);
	return PMC(0) == model_rdpmc(&r->m, 0).value;
}

RULE(rdpmc_of_nothing_faults, model_rdpmc(&r->m, 8).status == MSR_GP)

static bool global_enable_is_needed(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_nops(r, 20);
	return PMC(0) == 0;
}

static bool fixed_0_counts_as_pmc0(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 3);
	fixture_start(r, BIT(0) | BIT(32));
	fixture_nops(r, 100);
	return PMC(0) == FIXED(0);
}

static bool wraps_at_48_bits(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_set(r, MSR_IA32_A_PMC0, BITS(0, 39));
	fixture_start(r, BIT(0));
	fixture_nops(r, 1);
	return PMC(0) == BIT(40) && !fixture_status(r);
}

RULE(reserved_bit_faults, fixture_wrmsr(r, MSR_IA32_PEBS_ENABLE, BIT(63)) == MSR_GP)

static bool sign_extends(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PMC0, 0x80000000);
	return PMC(0) == 0xffff80000000;
}

static bool takes_the_full_width(struct fixture *r)
{
	fixture_set(r, MSR_IA32_A_PMC0, 0x123456789abc);
	return PMC(0) == 0x123456789abc;
}

/* Counter 0 counts this for n instructions of a kind. */
static u64 rules_count_count(struct fixture *r, u32 event, u64 bits, enum model_branch branch,
			     bool taken, unsigned n)
{
	fixture_program(r, 0, event, bits, 0);
	fixture_start(r, BIT(0));
	while (n--)
		fixture_branch(r, branch, taken);
	fixture_stop(r);
	/* The WRMSR that stopped it retired, and is no branch. */
	return PMC(0);
}

static bool own_enable_is_needed(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PERFEVTSEL0, INST | IA32_PERFEVTSEL_OS);
	fixture_start(r, BIT(0));
	fixture_nops(r, 20);
	return PMC(0) == 0;
}

static bool stopped_keeps(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PMC0, 0x1234);
	return PMC(0) == 0x1234 && PMC(0) == 0x1234;
}

static bool all_start_at_once(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_program(r, 1, INST, 0, 0);
	fixture_start(r, BIT(0) | BIT(1));
	fixture_nops(r, 50);
	return PMC(0) == PMC(1);
}

RULE(core_cycles_count,
     rules_count_count(r, EVENT_UNHALTED_CORE_CYCLES, 0, BRANCH_NONE, false, 10) == 11)
RULE(absent_event_is_silent,
     rules_count_count(r, EVENT_LONGEST_LAT_CACHE_REFERENCE, 0, BRANCH_NONE, false, 10) == 0)

static bool fixed_counts(struct fixture *r, unsigned n, unsigned wanted, u64 control)
{
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, control << 4 * n);
	fixture_start(r, BIT(32 + n));
	fixture_nops(r, 20);
	return FIXED(n) == wanted;
}

RULE(fixed1_counts, fixed_counts(r, 1, 20, 3))
RULE(fixed2_counts, fixed_counts(r, 2, 20, 3))
RULE(fixed_level, fixed_counts(r, 0, 0, 2))
RULE(fixed_is_off, fixed_counts(r, 0, 0, 0))
RULE(any_thread_adds_nothing,
     rules_count_count(r, INST, IA32_PERFEVTSEL_ANY, BRANCH_NONE, false, 10) == 11)

static bool no_level_no_count(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PERFEVTSEL0, INST | IA32_PERFEVTSEL_EN);
	fixture_start(r, BIT(0));
	fixture_nops(r, 20);
	return PMC(0) == 0;
}

static bool fixed_holds_48_bits(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR0, BIT(45));
	return FIXED(0) == BIT(45);
}

static bool a_string_is_one(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	fixture_retire(r, &(struct model_retired){ .loads = 9, .stores = 9 });
	return PMC(0) == 1;
}

/* What only the shell can break: it asks whether the fault is on. */
RULE(exceptions_dont_retire, !model_fault(&r->m, FAULT_FAULTS_RETIRE))
RULE(user_rdpmc_is_checked, !model_fault(&r->m, FAULT_RDPMC_USER_ALLOWED))
RULE(user_rdpmc_works, !model_fault(&r->m, FAULT_RDPMC_USER_REFUSED))

static bool handlers_count(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	fixture_nops(r, 3);
	r->ip += 0x1000;	/* an event: the program goes on in its handler */
	fixture_nops(r, 4);
	fixture_branch(r, BRANCH_FAR, true);	/* its IRET */
	fixture_nops(r, 2);
	return PMC(0) == 10;
}

RULE(inv_needs_cmask, rules_count_count(r, INST, IA32_PERFEVTSEL_INV, BRANCH_NONE, false, 10) == 11)
RULE(mispredicts_are_few,
     rules_count_count(r, EVENT_BR_MISP_RETIRED_ALL_BRANCHES, 0, BRANCH_JUMP, true, 10) == 0)
RULE(conditionals_only,
     rules_count_count(r, EVENT_BR_INST_RETIRED_CONDITIONAL, 0, BRANCH_JUMP, true, 10) == 0)
RULE(counts_calls,
     rules_count_count(r, EVENT_BR_INST_RETIRED_NEAR_CALL, 0, BRANCH_CALL, true, 10) == 10)
RULE(counts_returns,
     rules_count_count(r, EVENT_BR_INST_RETIRED_NEAR_RETURN, 0, BRANCH_RETURN, true, 10) == 10)
RULE(taken_only,
     rules_count_count(r, EVENT_BR_INST_RETIRED_NEAR_TAKEN, 0, BRANCH_CONDITIONAL, false, 10) == 0)

static bool prec_dist_counts(struct fixture *r)
{
	fixture_program(r, 1, EVENT_INST_RETIRED_PREC_DIST, 0, 0);
	fixture_start(r, BIT(1));
	fixture_nops(r, 40);
	return PMC(1) == 40;
}

static bool starts_from_the_value(struct fixture *r)
{
	fixture_program(r, 0, LOADS, 0, 0);
	fixture_set(r, MSR_IA32_PMC0, 0x1237);
	fixture_start(r, BIT(0));
	fixture_load(r, ADDRESS);
	return PMC(0) == 0x1238;
}

static bool written_while_counting(struct fixture *r)
{
	fixture_program(r, 0, LOADS, 0, 0);
	fixture_start(r, BIT(0));
	fixture_load(r, ADDRESS);
	fixture_set(r, MSR_IA32_PMC0, 100);
	return PMC(0) == 100;
}

static bool rdpmc_reads_fixed(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR0, 77);
	return model_rdpmc(&r->m, (u32)BIT(30)).value == 77;
}

static bool rdpmc_shows_the_width(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PMC0, 0x80000000);
	return model_rdpmc(&r->m, 0).value == 0xffff80000000;
}

RULE(no_fast_rdpmc, model_rdpmc(&r->m, (u32)BIT(31)).status == MSR_GP)

static bool rdmsr_shows_the_width(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PMC0, 0x80000000);
	return PMC(0) == 0xffff80000000;
}

RULE(absent_counters_fault,
     r->m.config.hyper_threading ? model_rdmsr(&r->m, MSR_IA32_PMC0 + 4).status == MSR_GP :
				   !model_fault(&r->m, FAULT_ABSENT_COUNTERS_ANSWER))
RULE(no_precise_store, fixture_wrmsr(r, MSR_IA32_PEBS_ENABLE, BIT(63)) == MSR_GP)
RULE(has_ll_enable, fixture_wrmsr(r, MSR_IA32_PEBS_ENABLE, BIT(33)) == MSR_DONE)
RULE(has_offcore_rsp_1, model_rdmsr(&r->m, MSR_OFFCORE_RSP_1).status == MSR_DONE)
RULE(has_offcore_rsp_0, model_rdmsr(&r->m, MSR_OFFCORE_RSP_0).status == MSR_DONE)
RULE(freeze_can_be_set, fixture_wrmsr(r, MSR_IA32_DEBUGCTL, BIT(12)) == MSR_DONE)
RULE(pebs_enable_reads, model_rdmsr(&r->m, MSR_IA32_PEBS_ENABLE).status == MSR_DONE)
RULE(capabilities_read, model_rdmsr(&r->m, MSR_IA32_PERF_CAPABILITIES).status == MSR_DONE)
RULE(rdpmc_works, model_rdpmc(&r->m, 0).status == MSR_DONE)

static bool refuses_and_keeps(struct fixture *r, u32 msr)
{
	u64 before = model_rdmsr(&r->m, msr).value;

	return model_wrmsr(&r->m, msr, before ^ 1).status == MSR_GP &&
	       model_rdmsr(&r->m, msr).value == before;
}

RULE(status_stays, refuses_and_keeps(r, MSR_IA32_PERF_GLOBAL_STATUS))
RULE(capabilities_stay, refuses_and_keeps(r, MSR_IA32_PERF_CAPABILITIES))

static u32 leaf_0ah(struct fixture *r)
{
	u32 regs[4] = { 0 };

	model_cpuid(&r->m, 0xa, 0, regs);
	return regs[0];
}

RULE(enumerates_its_counters, (leaf_0ah(r) >> 8 & 0xff) == (r->m.config.hyper_threading ? 4 : 8))
RULE(enumerates_its_width, (leaf_0ah(r) >> 16 & 0xff) == 48)
RULE(shows_pebs, !(fixture_get(r, MSR_IA32_MISC_ENABLE) & BIT(12)))

rule *const count_rules[FAULT_COUNT] = {
	[FAULT_INERT] = counts_instructions,
	[FAULT_INSTRUCTIONS_MISSED] = counts_instructions,
	[FAULT_PMC3_COUNTS_TWICE] = pmc3_counts_as_pmc0,
	[FAULT_CPL_IGNORED] = counts_where_told,
	[FAULT_BRANCH_TAKEN_ONLY] = counts_branches_not_taken,
	[FAULT_LOADS_COUNT_STORES] = counts_loads_only,
	[FAULT_STORES_MISSED] = counts_stores,
	[FAULT_LOCK_IGNORED] = counts_locked_loads,
	[FAULT_CMASK_IGNORED] = cmask_needs_that_many,
	[FAULT_INV_IGNORED] = inv_counts_the_others,
	[FAULT_EDGE_IGNORED] = edge_counts_transitions,
	[FAULT_RDPMC_STALE] = rdpmc_is_rdmsr,
	[FAULT_RDPMC_ABSENT_ANSWERS] = rdpmc_of_nothing_faults,
	[FAULT_GLOBAL_CTRL_IGNORED] = global_enable_is_needed,
	[FAULT_FIXED_TWIN_OFF] = fixed_0_counts_as_pmc0,
	[FAULT_WIDTH_40] = wraps_at_48_bits,
	[FAULT_RESERVED_ACCEPTED] = reserved_bit_faults,
	[FAULT_PMC_NOT_SIGN_EXTENDED] = sign_extends,
	[FAULT_FULL_WIDTH_TRUNCATED] = takes_the_full_width,
	[FAULT_ENABLE_BIT_IGNORED] = own_enable_is_needed,
	[FAULT_STOPPED_READ_CLEARS] = stopped_keeps,
	[FAULT_START_STAGGERED] = all_start_at_once,
	[FAULT_CORE_CYCLES_SILENT] = core_cycles_count,
	[FAULT_ABSENT_EVENT_COUNTS] = absent_event_is_silent,
	[FAULT_FIXED1_HALF] = fixed1_counts,
	[FAULT_FIXED2_STOPS] = fixed2_counts,
	[FAULT_ANYTHREAD_DOUBLES] = any_thread_adds_nothing,
	[FAULT_FIXED_CPL_IGNORED] = fixed_level,
	[FAULT_FIXED_OFF_COUNTS] = fixed_is_off,
	[FAULT_FREEZE_REFUSED] = freeze_can_be_set,
	[FAULT_PEBS_ENABLE_UNREADABLE] = pebs_enable_reads,
	[FAULT_CAPABILITIES_UNREADABLE] = capabilities_read,
	[FAULT_NO_LEVEL_COUNTS] = no_level_no_count,
	[FAULT_FIXED_WIDTH_40] = fixed_holds_48_bits,
	[FAULT_REP_COUNTS_ITERATIONS] = a_string_is_one,
	[FAULT_FAULTS_RETIRE] = exceptions_dont_retire,
	[FAULT_HANDLERS_UNCOUNTED] = handlers_count,
	[FAULT_INV_WITHOUT_CMASK] = inv_needs_cmask,
	[FAULT_MISPREDICTS_EXCEED] = mispredicts_are_few,
	[FAULT_CONDITIONAL_COUNTS_ALL] = conditionals_only,
	[FAULT_CALLS_MISSED] = counts_calls,
	[FAULT_RETURNS_MISSED] = counts_returns,
	[FAULT_TAKEN_COUNTS_ALL] = taken_only,
	[FAULT_PREC_DIST_MISSED] = prec_dist_counts,
	[FAULT_START_ROUNDS] = starts_from_the_value,
	[FAULT_WRITE_WHILE_COUNTING_LOST] = written_while_counting,
	[FAULT_RDPMC_FIXED_AS_GP] = rdpmc_reads_fixed,
	[FAULT_RDPMC_ABOVE_WIDTH] = rdpmc_shows_the_width,
	[FAULT_RDPMC_USER_ALLOWED] = user_rdpmc_is_checked,
	[FAULT_RDPMC_USER_REFUSED] = user_rdpmc_works,
	[FAULT_RDPMC_FAST_ALLOWED] = no_fast_rdpmc,
	[FAULT_COUNTERS_ABOVE_WIDTH] = rdmsr_shows_the_width,
	[FAULT_ABSENT_COUNTERS_ANSWER] = absent_counters_fault,
	[FAULT_PRECISE_STORE_EXISTS] = no_precise_store,
	[FAULT_LL_ENABLE_MISSING] = has_ll_enable,
	[FAULT_OFFCORE_RSP_1_MISSING] = has_offcore_rsp_1,
	[FAULT_OFFCORE_RSP_0_MISSING] = has_offcore_rsp_0,
	[FAULT_RDPMC_REFUSED] = rdpmc_works,
	[FAULT_STATUS_TAKES_WRITES] = status_stays,
	[FAULT_CAPABILITIES_TAKE_WRITES] = capabilities_stay,
	[FAULT_CPUID_COUNTER_MISSING] = enumerates_its_counters,
	[FAULT_CPUID_WIDTH_40] = enumerates_its_width,
	[FAULT_PEBS_SHOWN_UNAVAILABLE] = shows_pebs,
};
