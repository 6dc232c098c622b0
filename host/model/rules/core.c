/* SPDX-License-Identifier: MIT */
/* Rules of two logical processors of a core, on a pair of rigs configured as the given one; but
 * there are always two. */
#include "host/model/rules/internal.h"


static struct fixture thread[CORE_THREADS];
static struct model_core core;

static void rules_core_open(const struct fixture *r)
{
	struct model_config config = r->m.config;

	config.hyper_threading = true;
	fixture_open_core(thread, &core, &config);
}

static void stores(unsigned n)
{
	while (n--)
		fixture_store(&thread[0], FIXTURE_MEMORY_BASE + 0x3000);
}

/* What thread 0 counts of that many instructions of each. */
static u64 counted(const struct fixture *r, u64 bits, unsigned own, unsigned siblings)
{
	rules_core_open(r);
	fixture_program(&thread[0], 0, INST, bits, 0);
	fixture_start(&thread[0], BIT(0));
	fixture_nops(&thread[0], own);
	fixture_nops(&thread[1], siblings);
	return fixture_get(&thread[0], MSR_IA32_PMC0);
}

static u64 counted_fixed(const struct fixture *r, u64 control)
{
	rules_core_open(r);
	fixture_set(&thread[0], MSR_IA32_FIXED_CTR_CTRL, control | IA32_FIXED_CTR_CTRL_EN0);
	fixture_set(&thread[0], MSR_IA32_FIXED_CTR0, 0);
	fixture_start(&thread[0], BIT(32));
	fixture_nops(&thread[1], 5);
	return fixture_get(&thread[0], MSR_IA32_FIXED_CTR0);
}

/* What thread 0 of one core counts of another core's. */
static u64 counted_elsewhere(const struct fixture *r, u32 counter, u64 enable)
{
	static struct fixture four[2 * CORE_THREADS];
	static struct model_core cores[2];
	struct model_config config = r->m.config;

	config.hyper_threading = true;
	fixture_open_package(four, 2 * CORE_THREADS, cores, NULL, &config);
	fixture_program(&four[0], 0, INST, IA32_PERFEVTSEL_ANY, 0);
	fixture_set(&four[0], MSR_IA32_FIXED_CTR_CTRL, IA32_FIXED_CTR_CTRL_ANY0 |
		    IA32_FIXED_CTR_CTRL_EN0);
	fixture_set(&four[0], counter, 0);
	fixture_start(&four[0], enable);
	fixture_nops(&four[2], 5);
	return fixture_get(&four[0], counter);
}

RULE(any_thread_counts_the_sibling, counted(r, IA32_PERFEVTSEL_ANY, 0, 5) == 5)
RULE(any_thread_counts_the_owner, counted(r, IA32_PERFEVTSEL_ANY, 4, 0) == 4)
RULE(any_thread_counts_no_other_core, counted_elsewhere(r, MSR_IA32_PMC0, BIT(0)) == 0)
RULE(without_it_nothing_of_the_sibling, counted(r, 0, 0, 5) == 0)
RULE(fixed_any_thread_counts_the_sibling, counted_fixed(r, IA32_FIXED_CTR_CTRL_ANY0) == 5)
RULE(fixed_any_thread_counts_no_other_core,
     counted_elsewhere(r, MSR_IA32_FIXED_CTR0, BIT(32)) == 0)
RULE(fixed_without_it_nothing_of_the_sibling, counted_fixed(r, 0) == 0)

static bool levels_are_of_who_has_the_event(struct fixture *r)
{
	rules_core_open(r);
	fixture_set(&thread[0], MSR_IA32_PERFEVTSEL0,
		    INST | IA32_PERFEVTSEL_ANY | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR);
	fixture_start(&thread[0], BIT(0));
	thread[1].cpl = 3;
	fixture_nops(&thread[1], 6);
	return fixture_get(&thread[0], MSR_IA32_PMC0) == 6;
}

static bool both_count_all_of_their_own(struct fixture *r)
{
	rules_core_open(r);
	for (unsigned t = 0; t < CORE_THREADS; t++) {
		fixture_program(&thread[t], 0, INST, 0, 0);
		fixture_start(&thread[t], BIT(0));
	}
	fixture_set(&thread[0], MSR_IA32_PMC0, 0);
	fixture_nops(&thread[0], 50);
	return fixture_get(&thread[0], MSR_IA32_PMC0) == 50;
}

static bool the_other_goes_on_at_a_freeze(struct fixture *r)
{
	rules_core_open(r);
	fixture_program(&thread[1], 0, INST, 0, 0);
	fixture_start(&thread[1], BIT(0));
	fixture_set(&thread[0], MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	fixture_program(&thread[0], 0, INST, IA32_PERFEVTSEL_INT, 1);
	fixture_start(&thread[0], BIT(0));
	fixture_nops(&thread[0], 3);
	return fixture_get(&thread[1], MSR_IA32_PERF_GLOBAL_CTRL) == BIT(0);
}

static bool status_is_the_owners(struct fixture *r)
{
	rules_core_open(r);
	fixture_program(&thread[0], 0, INST, 0, 1);
	fixture_start(&thread[0], BIT(0));
	fixture_nops(&thread[0], 3);
	return fixture_status(&thread[0]) == BIT(0) && !fixture_status(&thread[1]);
}

/* Both have a DS area, each in memory of its own. */
static bool records_are_in_the_own_area(struct fixture *r)
{
	rules_core_open(r);
	fixture_ds(&thread[0], 8, 8);
	fixture_ds(&thread[1], 8, 8);
	fixture_set(&thread[1], MSR_IA32_DS_AREA, FIXTURE_DS + 0x200);
	fixture_program_pebs(&thread[0], 0, STORES, 0, 2);
	fixture_start(&thread[0], BIT(0));
	stores(5);
	return fixture_records(&thread[0]);
}

static bool the_thresholds_interrupt_comes_home(struct fixture *r)
{
	rules_core_open(r);
	fixture_ds(&thread[0], 8, 1);
	fixture_program_pebs(&thread[0], 0, STORES, 0, 4);
	fixture_start(&thread[0], BIT(0));
	stores(6);
	fixture_nops(&thread[1], 6);
	return thread[0].requests && !thread[1].requests;
}

static bool interrupts_come_home(struct fixture *r)
{
	rules_core_open(r);
	fixture_program(&thread[0], 0, INST, IA32_PERFEVTSEL_INT, 0);
	fixture_set(&thread[0], MSR_IA32_PMC0, MINUS(5));
	fixture_start(&thread[0], BIT(0));
	fixture_nops(&thread[0], 20);
	fixture_nops(&thread[1], 20);
	return thread[0].requests == 1 && !thread[1].requests;
}

static bool siblings_event_interrupts(struct fixture *r)
{
	rules_core_open(r);
	fixture_program(&thread[0], 0, LOADS, IA32_PERFEVTSEL_INT | IA32_PERFEVTSEL_ANY, 2);
	fixture_start(&thread[0], BIT(0));
	fixture_load(&thread[1], ADDRESS);
	fixture_load(&thread[1], ADDRESS);
	fixture_nops(&thread[0], 1);
	return thread[0].requests == 1;
}

/* The first one's handler has not cleared the mask bit of LVTPC yet. */
static bool both_are_interrupted(struct fixture *r)
{
	rules_core_open(r);
	for (unsigned t = 0; t < CORE_THREADS; t++) {
		fixture_program(&thread[t], 0, LOADS, IA32_PERFEVTSEL_INT, 2);
		fixture_start(&thread[t], BIT(0));
		loads(&thread[t], 2);
	}
	return thread[0].n_interrupts == 1 && thread[1].n_interrupts == 1;
}

rule *const core_rules[FAULT_COUNT] = {
	[FAULT_ANYTHREAD_ARCHITECTURAL_OWN] = any_thread_counts_the_sibling,
	[FAULT_ANYTHREAD_SIBLING_PMI_LOST] = siblings_event_interrupts,
	[FAULT_PMI_LOST_BESIDE_SIBLING] = both_are_interrupted,
	[FAULT_ANYTHREAD_OWN_ONLY] = any_thread_counts_the_sibling,
	[FAULT_ANYTHREAD_ALWAYS] = without_it_nothing_of_the_sibling,
	[FAULT_ANYTHREAD_SIBLING_ONLY] = any_thread_counts_the_owner,
	[FAULT_FIXED_ANYTHREAD_OWN_ONLY] = fixed_any_thread_counts_the_sibling,
	[FAULT_FIXED_ANYTHREAD_ALWAYS] = fixed_without_it_nothing_of_the_sibling,
	[FAULT_ANYTHREAD_ALL_CORES] = any_thread_counts_no_other_core,
	[FAULT_FIXED_ANYTHREAD_ALL_CORES] = fixed_any_thread_counts_no_other_core,
	[FAULT_ANYTHREAD_OWNER_CPL] = levels_are_of_who_has_the_event,
	[FAULT_SIBLINGS_DISTURB] = both_count_all_of_their_own,
	[FAULT_PMI_TO_BOTH] = interrupts_come_home,
	[FAULT_THRESHOLD_TO_SIBLING] = the_thresholds_interrupt_comes_home,
	[FAULT_FREEZE_STOPS_SIBLING] = the_other_goes_on_at_a_freeze,
	[FAULT_STATUS_SHARED] = status_is_the_owners,
	[FAULT_RECORD_TO_SIBLING] = records_are_in_the_own_area,
	[FAULT_PMI_TO_SIBLING] = interrupts_come_home,
};
