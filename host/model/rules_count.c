/* SPDX-License-Identifier: MIT */
/* Rules of counting and of registers, for faults of spec/fault.def: see rules.c. */
#include "host/model/rules_internal.h"

#define INST	EVENT_INST_RETIRED_ANY_P
#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define ADDRESS	(RIG_MEMORY_BASE + 0x3000)
#define PMC(n)	rig_get(r, MSR_IA32_PMC0 + (n))
#define FIXED(n) rig_get(r, MSR_IA32_FIXED_CTR0 + (n))

/* Counter 0 counts this for n instructions of a kind. */
static u64 count(struct rig *r, u32 event, u64 bits, enum model_branch branch, bool taken,
		 unsigned n)
{
	rig_program(r, 0, event, bits, 0);
	rig_start(r, BIT(0));
	while (n--)
		rig_branch(r, branch, taken);
	rig_stop(r);
	/* The WRMSR that stopped it retired, and is no branch. */
	return PMC(0);
}

static bool own_enable_is_needed(struct rig *r)
{
	rig_set(r, MSR_IA32_PERFEVTSEL0, INST | IA32_PERFEVTSEL_OS);
	rig_start(r, BIT(0));
	rig_nops(r, 20);
	return PMC(0) == 0;
}

static bool stopped_keeps(struct rig *r)
{
	rig_set(r, MSR_IA32_PMC0, 0x1234);
	return PMC(0) == 0x1234 && PMC(0) == 0x1234;
}

static bool all_start_at_once(struct rig *r)
{
	rig_program(r, 0, INST, 0, 0);
	rig_program(r, 1, INST, 0, 0);
	rig_start(r, BIT(0) | BIT(1));
	rig_nops(r, 50);
	return PMC(0) == PMC(1);
}

static bool core_cycles_count(struct rig *r)
{
	return count(r, EVENT_UNHALTED_CORE_CYCLES, 0, BRANCH_NONE, false, 10) == 11;
}

static bool absent_event_is_silent(struct rig *r)
{
	return count(r, 0x4f2e, 0, BRANCH_NONE, false, 10) == 0;
}

static bool fixed_counts(struct rig *r, unsigned n, unsigned wanted, u64 control)
{
	rig_set(r, MSR_IA32_FIXED_CTR_CTRL, control << 4 * n);
	rig_start(r, BIT(32 + n));
	rig_nops(r, 20);
	return FIXED(n) == wanted;
}

static bool fixed1_counts(struct rig *r)
{
	return fixed_counts(r, 1, 20, 3);
}

static bool fixed2_counts(struct rig *r)
{
	return fixed_counts(r, 2, 20, 3);
}

static bool fixed_level(struct rig *r)
{
	return fixed_counts(r, 0, 0, 2);
}

static bool fixed_is_off(struct rig *r)
{
	return fixed_counts(r, 0, 0, 0);
}

static bool any_thread_adds_nothing(struct rig *r)
{
	return count(r, INST, IA32_PERFEVTSEL_ANY, BRANCH_NONE, false, 10) == 11;
}

static bool no_level_no_count(struct rig *r)
{
	rig_set(r, MSR_IA32_PERFEVTSEL0, INST | IA32_PERFEVTSEL_EN);
	rig_start(r, BIT(0));
	rig_nops(r, 20);
	return PMC(0) == 0;
}

static bool fixed_holds_48_bits(struct rig *r)
{
	rig_set(r, MSR_IA32_FIXED_CTR0, BIT(45));
	return FIXED(0) == BIT(45);
}

static bool a_string_is_one(struct rig *r)
{
	rig_program(r, 0, INST, 0, 0);
	rig_start(r, BIT(0));
	rig_retire(r, &(struct model_retired){ .loads = 9, .stores = 9 });
	return PMC(0) == 1;
}

/* The shell reports an exception as retired if this fault is on. */
static bool exceptions_dont_retire(struct rig *r)
{
	return !model_fault(&r->m, FAULT_FAULTS_RETIRE);
}

static bool user_rdpmc_is_checked(struct rig *r)
{
	return !model_fault(&r->m, FAULT_RDPMC_USER_ALLOWED);
}

static bool user_rdpmc_works(struct rig *r)
{
	return !model_fault(&r->m, FAULT_RDPMC_USER_REFUSED);
}

static bool handlers_count(struct rig *r)
{
	rig_program(r, 0, INST, 0, 0);
	rig_start(r, BIT(0));
	rig_nops(r, 3);
	r->ip += 0x1000;	/* an event: the program goes on in its handler */
	rig_nops(r, 4);
	rig_branch(r, BRANCH_FAR, true);	/* its IRET */
	rig_nops(r, 2);
	return PMC(0) == 10;
}

static bool inv_needs_cmask(struct rig *r)
{
	return count(r, INST, IA32_PERFEVTSEL_INV, BRANCH_NONE, false, 10) == 11;
}

static bool mispredicts_are_few(struct rig *r)
{
	return count(r, EVENT_BR_MISP_RETIRED_ALL_BRANCHES, 0, BRANCH_JUMP, true, 10) == 0;
}

static bool conditionals_only(struct rig *r)
{
	return count(r, EVENT_BR_INST_RETIRED_CONDITIONAL, 0, BRANCH_JUMP, true, 10) == 0;
}

static bool counts_calls(struct rig *r)
{
	return count(r, EVENT_BR_INST_RETIRED_NEAR_CALL, 0, BRANCH_CALL, true, 10) == 10;
}

static bool counts_returns(struct rig *r)
{
	return count(r, EVENT_BR_INST_RETIRED_NEAR_RETURN, 0, BRANCH_RETURN, true, 10) == 10;
}

static bool taken_only(struct rig *r)
{
	return count(r, EVENT_BR_INST_RETIRED_NEAR_TAKEN, 0, BRANCH_CONDITIONAL, false, 10) == 0;
}

static bool prec_dist_counts(struct rig *r)
{
	rig_program(r, 1, EVENT_INST_RETIRED_PREC_DIST, 0, 0);
	rig_start(r, BIT(1));
	rig_nops(r, 40);
	return PMC(1) == 40;
}

static bool starts_from_the_value(struct rig *r)
{
	rig_program(r, 0, LOADS, 0, 0);
	rig_set(r, MSR_IA32_PMC0, 0x1237);
	rig_start(r, BIT(0));
	rig_load(r, ADDRESS);
	return PMC(0) == 0x1238;
}

static bool written_while_counting(struct rig *r)
{
	rig_program(r, 0, LOADS, 0, 0);
	rig_start(r, BIT(0));
	rig_load(r, ADDRESS);
	rig_set(r, MSR_IA32_PMC0, 100);
	return PMC(0) == 100;
}

static bool rdpmc_reads_fixed(struct rig *r)
{
	rig_set(r, MSR_IA32_FIXED_CTR0, 77);
	return model_rdpmc(&r->m, (u32)BIT(30)).value == 77;
}

static bool rdpmc_shows_the_width(struct rig *r)
{
	rig_set(r, MSR_IA32_PMC0, 0x80000000);
	return model_rdpmc(&r->m, 0).value == 0xffff80000000;
}

static bool no_fast_rdpmc(struct rig *r)
{
	return model_rdpmc(&r->m, (u32)BIT(31)).status == MSR_GP;
}

static bool rdmsr_shows_the_width(struct rig *r)
{
	rig_set(r, MSR_IA32_PMC0, 0x80000000);
	return PMC(0) == 0xffff80000000;
}

static bool absent_counters_fault(struct rig *r)
{
	return r->m.config.hyper_threading ?
		model_rdmsr(&r->m, MSR_IA32_PMC0 + 4).status == MSR_GP :
		!model_fault(&r->m, FAULT_ABSENT_COUNTERS_ANSWER);
}

static bool no_precise_store(struct rig *r)
{
	return rig_wrmsr(r, MSR_IA32_PEBS_ENABLE, BIT(63)) == MSR_GP;
}

static bool has_ll_enable(struct rig *r)
{
	return rig_wrmsr(r, MSR_IA32_PEBS_ENABLE, BIT(33)) == MSR_DONE;
}

static bool has_offcore_rsp_1(struct rig *r)
{
	return model_rdmsr(&r->m, MSR_OFFCORE_RSP_1).status == MSR_DONE;
}

static bool has_offcore_rsp_0(struct rig *r)
{
	return model_rdmsr(&r->m, MSR_OFFCORE_RSP_0).status == MSR_DONE;
}

static bool freeze_can_be_set(struct rig *r)
{
	return rig_wrmsr(r, MSR_IA32_DEBUGCTL, BIT(12)) == MSR_DONE;
}

static bool pebs_enable_reads(struct rig *r)
{
	return model_rdmsr(&r->m, MSR_IA32_PEBS_ENABLE).status == MSR_DONE;
}

static bool capabilities_read(struct rig *r)
{
	return model_rdmsr(&r->m, MSR_IA32_PERF_CAPABILITIES).status == MSR_DONE;
}

static bool rdpmc_works(struct rig *r)
{
	return model_rdpmc(&r->m, 0).status == MSR_DONE;
}

static bool refuses_and_keeps(struct rig *r, u32 msr)
{
	u64 before = model_rdmsr(&r->m, msr).value;

	return model_wrmsr(&r->m, msr, before ^ 1).status == MSR_GP &&
	       model_rdmsr(&r->m, msr).value == before;
}

static bool status_stays(struct rig *r)
{
	return refuses_and_keeps(r, MSR_IA32_PERF_GLOBAL_STATUS);
}

static bool capabilities_stay(struct rig *r)
{
	return refuses_and_keeps(r, MSR_IA32_PERF_CAPABILITIES);
}

static u32 leaf_0ah(struct rig *r)
{
	u32 regs[4] = { 0 };

	model_cpuid(&r->m, 0xa, 0, regs);
	return regs[0];
}

static bool enumerates_its_counters(struct rig *r)
{
	return (leaf_0ah(r) >> 8 & 0xff) == (r->m.config.hyper_threading ? 4 : 8);
}

static bool enumerates_its_width(struct rig *r)
{
	return (leaf_0ah(r) >> 16 & 0xff) == 48;
}

static bool shows_pebs(struct rig *r)
{
	return !(rig_get(r, MSR_IA32_MISC_ENABLE) & BIT(12));
}

rule *const further_rules[FAULT_COUNT] = {
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
