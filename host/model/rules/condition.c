/* SPDX-License-Identifier: MIT */
/* Rules that faults of refpmu/faults/fault_condition.def break: see rules.h. */
#include "host/model/rules/internal.h"

#define CODE	(FIXTURE_MEMORY_BASE + 0x2000)	/* begins a page */
#define CMASK	(1ULL << IA32_PERFEVTSEL_CMASK_SHIFT)
#define RFLAGS_IF BIT(9)

/* ---- instructions ---- */

static void two_loads(struct fixture *r)
{
	struct model_retired i = { .loads = 2, .n_access = 2 };

	i.access[0] = i.access[1] = (struct model_access){ .linear = ADDRESS, .bytes = 8 };
	fixture_retire(r, &i);
}

/* Six loads: a wrap from -3 goes over 0 to 1. */
static bool jumps_over_0(struct fixture *r)
{
	fixture_program(r, 0, LOADS, 0, 3);
	fixture_start(r, BIT(0));
	two_loads(r);
	two_loads(r);
	return fixture_status(r) == BIT(0) && PMC(0) == 1;
}

/* What counter 0 counts of one instruction with this code. */
static u64 counted(struct fixture *r, u32 event, u64 code, struct model_retired i)
{
	fixture_poke(r, CODE, code);
	fixture_program(r, 0, event, 0, 0);
	fixture_start(r, BIT(0));
	r->ip = CODE;
	fixture_retire(r, &i);
	return PMC(0);
}

static bool sti_counts_once(struct fixture *r)
{
	struct model_retired sti = { .ip = CODE, .after.rflags = RFLAGS_IF };

	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	model_retire(&r->m, &sti);
	return PMC(0) == 1;
}

static bool across_a_page_counts_once(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	r->ip = CODE - 2;
	fixture_nops(r, 1);
	return PMC(0) == 1;
}

#define FAR	(struct model_retired){ .branch = BRANCH_FAR, .taken = true }
#define RETURN	(struct model_retired){ .branch = BRANCH_RETURN, .taken = true, .loads = 1 }
#define STRING	(struct model_retired){ .loads = 9 }

RULE(cpuid_counts, counted(r, INST, 0xa20f, (struct model_retired){ 0 }) == 1)
RULE(rdpmc_counts, counted(r, INST, 0x330f, (struct model_retired){ 0 }) == 1)
RULE(iretq_counts, counted(r, INST, 0xcf48, FAR) == 1)
RULE(iretq_is_a_branch, counted(r, EVENT_BR_INST_RETIRED_ALL_BRANCHES, 0xcf48, FAR) == 1)
RULE(ret_imm16_is_a_return, counted(r, EVENT_BR_INST_RETIRED_NEAR_RETURN, 0x0008c2, RETURN) == 1)
RULE(each_iteration_loads, counted(r, LOADS, 0xa4f3, STRING) == 9)
RULE(both_loads_count, counted(r, LOADS, 0xa7, (struct model_retired){ .loads = 2 }) == 2)
RULE(a_prefetch_is_no_load,
     counted(r, LOADS, 0, (struct model_retired){ .act = ACT_PREFETCH_L1 }) == 0)

/* ---- levels ---- */

static bool inv_stays_at_its_level(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PERFEVTSEL0, INST | 255 * CMASK | IA32_PERFEVTSEL_INV |
		    IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR);
	fixture_start(r, BIT(0));
	fixture_nops(r, 5);
	return PMC(0) == 0;
}

static bool each_has_its_levels(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	for (unsigned i = 1; i < 4; i++)
		fixture_set(r, MSR_IA32_PERFEVTSEL0 + i, INST | IA32_PERFEVTSEL_EN |
			    IA32_PERFEVTSEL_USR);
	fixture_start(r, BITS(0, 3));
	fixture_nops(r, 5);
	return PMC(1) + PMC(2) + PMC(3) == 0;
}

static bool fixed_have_their_level(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0x110);
	fixture_start(r, BITS(32, 34));
	r->cpl = 3;
	fixture_nops(r, 5);
	return FIXED(1) + FIXED(2) == 0;
}

static bool fixed_have_levels_of_their_own(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0x331);
	fixture_start(r, BITS(32, 34));
	r->cpl = 3;
	fixture_nops(r, 5);
	return FIXED(0) == 0 && FIXED(1) && FIXED(2);
}

/* ---- enables and registers ---- */

static bool starts_by_either_enable(struct fixture *r)
{
	for (unsigned i = 0; i < 4; i++)
		fixture_set(r, MSR_IA32_PERFEVTSEL0 + i, 0);
	fixture_start(r, BITS(0, 3));
	for (unsigned i = 0; i < 4; i++)
		fixture_program(r, i, INST, 0, 0);
	fixture_nops(r, 5);
	return PMC(0) && PMC(1) && PMC(2) && PMC(3);
}

static bool fixed_start_by_either_enable(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0);
	fixture_start(r, BITS(32, 34));
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0x333);
	fixture_nops(r, 5);
	return FIXED(0) && FIXED(1) && FIXED(2);
}

static bool stops_by_its_own_bit(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0x330);
	fixture_start(r, BIT(34));
	fixture_nops(r, 5);
	return FIXED(1) == 0 && FIXED(2) > 0;
}

static bool control_leaves_the_value(struct fixture *r)
{
	fixture_set(r, MSR_IA32_FIXED_CTR0 + 1, 0x1234);
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0x30);
	return FIXED(1) == 0x1234;
}

static bool reading_loses_nothing(struct fixture *r)
{
	for (unsigned i = 0; i < 4; i++)
		fixture_program(r, i, INST, 0, 0);
	fixture_start(r, BITS(0, 3));
	fixture_nops(r, 5);
	for (unsigned i = 0; i < 4; i++)
		if (PMC(i) != 5 || PMC(i) != 5)
			return false;
	return true;
}

/* Both at once would hide an exchange. */
static bool rdpmc_reads_each_fixed(struct fixture *r, unsigned n)
{
	for (unsigned i = 0; i < 3; i++)
		fixture_set(r, MSR_IA32_FIXED_CTR0 + i, 0x1000 + i);
	return model_rdpmc(&r->m, 0x40000000 + n).value == 0x1000 + n;
}

RULE(rdpmc_reads_fixed1, rdpmc_reads_each_fixed(r, 1))
RULE(rdpmc_reads_fixed2, rdpmc_reads_each_fixed(r, 2))

static bool rdpmc_reads_pmc3(struct fixture *r)
{
	for (u32 i = 0; i < 4; i++)
		fixture_set(r, MSR_IA32_PMC0 + i, 0x1000 + i);
	return model_rdpmc(&r->m, 3).value == 0x1003;
}

/* What only the shell can break: it asks whether the fault is on. */
RULE(rdmsr_clears_rax, !model_fault(&r->m, FAULT_RDMSR_KEEPS_RAX))
RULE(rdpmc_clears_rax, !model_fault(&r->m, FAULT_RDPMC_KEEPS_RAX))
RULE(rdmsr_clears_rdx, !model_fault(&r->m, FAULT_RDMSR_KEEPS_RDX))
RULE(rdpmc_clears_rdx, !model_fault(&r->m, FAULT_RDPMC_KEEPS_RDX))

static bool ovfbuf_is_cleared_beside_others(struct fixture *r)
{
	fixture_ds(r, 8, 1);
	one_record(r, 0, 0);
	fixture_stop(r);
	fixture_set(r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(62) | BIT(0));
	return fixture_status(r) == 0;
}

static bool cleared_while_it_counts(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 1);
	fixture_start(r, BIT(0));
	fixture_nops(r, 5);
	fixture_set(r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(0));
	return fixture_status(r) == 0;
}

static bool offcore_registers_are_two(struct fixture *r)
{
	fixture_set(r, MSR_OFFCORE_RSP_0, 0x10001);
	fixture_set(r, MSR_OFFCORE_RSP_1, 0x10002);
	return fixture_get(r, MSR_OFFCORE_RSP_0) == 0x10001;
}

RULE(status_refuses_62, fixture_wrmsr(r, MSR_IA32_PERF_GLOBAL_STATUS, BIT(62)) == MSR_GP)

RULE(misc_enable_shows_counters, fixture_get(r, MSR_IA32_MISC_ENABLE) & BIT(7))

static bool status_has_that_bit_alone(struct fixture *r)
{
	fixture_program(r, 2, INST, 0, 1);
	fixture_start(r, BIT(2));
	fixture_nops(r, 5);
	return fixture_status(r) == BIT(2);
}

static bool leaf_0ah_has_no_subleaf(struct fixture *r)
{
	u32 regs[4] = { 0 };

	model_cpuid(&r->m, 0xa, 1, regs);
	return regs[0];
}

rule *const condition_rules[FAULT_COUNT] = {
	[FAULT_OVERFLOW_AT_ZERO_ONLY] = jumps_over_0,
	[FAULT_IF_SETTERS_COUNT_TWICE] = sti_counts_once,
	[FAULT_PAGE_CROSSERS_COUNT_TWICE] = across_a_page_counts_once,
	[FAULT_CPUID_UNCOUNTED] = cpuid_counts,
	[FAULT_RDPMC_UNCOUNTED] = rdpmc_counts,
	[FAULT_IRETQ_UNCOUNTED] = iretq_counts,
	[FAULT_IRETQ_IS_NO_BRANCH] = iretq_is_a_branch,
	[FAULT_RET_IMM16_UNCOUNTED] = ret_imm16_is_a_return,
	[FAULT_REP_LOADS_COUNT_ONCE] = each_iteration_loads,
	[FAULT_TWO_LOADS_COUNT_ONCE] = both_loads_count,
	[FAULT_PREFETCHES_ARE_LOADS] = a_prefetch_is_no_load,
	[FAULT_INV_COUNTS_EVERY_LEVEL] = inv_stays_at_its_level,
	[FAULT_LEVELS_OF_LOWEST] = each_has_its_levels,
	[FAULT_FIXED12_COUNT_USER] = fixed_have_their_level,
	[FAULT_FIXED_LEVELS_OF_FIRST] = fixed_have_levels_of_their_own,
	[FAULT_FIXED_AFTER_GLOBAL] = fixed_start_by_either_enable,
	[FAULT_EN_AFTER_GLOBAL] = starts_by_either_enable,
	[FAULT_FIXED1_WITHOUT_GLOBAL] = stops_by_its_own_bit,
	[FAULT_FIXED_CTRL_CLEARS] = control_leaves_the_value,
	[FAULT_RDMSR_LOSES_ONE] = reading_loses_nothing,
	[FAULT_RDPMC_FIXED2_READS_1] = rdpmc_reads_fixed2,
	[FAULT_RDPMC_FIXED1_READS_0] = rdpmc_reads_fixed1,
	[FAULT_RDPMC_PMC3_READS_2] = rdpmc_reads_pmc3,
	[FAULT_RDMSR_KEEPS_RAX] = rdmsr_clears_rax,
	[FAULT_RDPMC_KEEPS_RAX] = rdpmc_clears_rax,
	[FAULT_RDMSR_KEEPS_RDX] = rdmsr_clears_rdx,
	[FAULT_RDPMC_KEEPS_RDX] = rdpmc_clears_rdx,
	[FAULT_OVFBUF_STAYS_BESIDE] = ovfbuf_is_cleared_beside_others,
	[FAULT_RUNNING_BITS_STAY] = cleared_while_it_counts,
	[FAULT_OFFCORE_REGISTERS_ONE] = offcore_registers_are_two,
	[FAULT_STATUS_62_WRITABLE] = status_refuses_62,
	[FAULT_STATUS_RESERVED_SET] = status_has_that_bit_alone,
	[FAULT_PERFMON_SHOWN_ABSENT] = misc_enable_shows_counters,
	[FAULT_CPUID_0AH_SUBLEAF] = leaf_0ah_has_no_subleaf,
};
