/* SPDX-License-Identifier: MIT */
/* Rules of two logical processors of a core, on a pair of rigs configured as the given one; but
 * there are always two. */
#include "host/model/rules_internal.h"


static struct rig thread[CORE_THREADS];
static struct model_core core;

static void open(const struct rig *r)
{
	struct model_config config = r->m.config;

	config.hyper_threading = true;
	rig_open_core(thread, &core, &config);
}

static void stores(unsigned n)
{
	while (n--)
		rig_store(&thread[0], RIG_MEMORY_BASE + 0x3000);
}

/* What thread 0 counts of that many instructions of each. */
static u64 counted(const struct rig *r, u64 bits, unsigned own, unsigned siblings)
{
	open(r);
	rig_program(&thread[0], 0, INST, bits, 0);
	rig_start(&thread[0], BIT(0));
	rig_nops(&thread[0], own);
	rig_nops(&thread[1], siblings);
	return rig_get(&thread[0], MSR_IA32_PMC0);
}

static u64 counted_fixed(const struct rig *r, u64 control)
{
	open(r);
	rig_set(&thread[0], MSR_IA32_FIXED_CTR_CTRL, control | IA32_FIXED_CTR_CTRL_EN0);
	rig_set(&thread[0], MSR_IA32_FIXED_CTR0, 0);
	rig_start(&thread[0], BIT(32));
	rig_nops(&thread[1], 5);
	return rig_get(&thread[0], MSR_IA32_FIXED_CTR0);
}

/* What thread 0 of one core counts of another core's. */
static u64 counted_elsewhere(const struct rig *r, u32 counter, u64 enable)
{
	static struct rig four[2 * CORE_THREADS];
	static struct model_core cores[2];
	struct model_config config = r->m.config;

	config.hyper_threading = true;
	rig_open_package(four, 2 * CORE_THREADS, cores, NULL, &config);
	rig_program(&four[0], 0, INST, IA32_PERFEVTSEL_ANY, 0);
	rig_set(&four[0], MSR_IA32_FIXED_CTR_CTRL, IA32_FIXED_CTR_CTRL_ANY0 |
		IA32_FIXED_CTR_CTRL_EN0);
	rig_set(&four[0], counter, 0);
	rig_start(&four[0], enable);
	rig_nops(&four[2], 5);
	return rig_get(&four[0], counter);
}

RULE(any_thread_counts_the_sibling, counted(r, IA32_PERFEVTSEL_ANY, 0, 5) == 5)
RULE(any_thread_counts_the_owner, counted(r, IA32_PERFEVTSEL_ANY, 4, 0) == 4)
RULE(any_thread_counts_no_other_core, counted_elsewhere(r, MSR_IA32_PMC0, BIT(0)) == 0)
RULE(without_it_nothing_of_the_sibling, counted(r, 0, 0, 5) == 0)
RULE(fixed_any_thread_counts_the_sibling, counted_fixed(r, IA32_FIXED_CTR_CTRL_ANY0) == 5)
RULE(fixed_any_thread_counts_no_other_core,
     counted_elsewhere(r, MSR_IA32_FIXED_CTR0, BIT(32)) == 0)
RULE(fixed_without_it_nothing_of_the_sibling, counted_fixed(r, 0) == 0)

static bool levels_are_of_who_has_the_event(struct rig *r)
{
	open(r);
	rig_set(&thread[0], MSR_IA32_PERFEVTSEL0, INST | IA32_PERFEVTSEL_ANY | IA32_PERFEVTSEL_EN |
		IA32_PERFEVTSEL_USR);
	rig_start(&thread[0], BIT(0));
	thread[1].cpl = 3;
	rig_nops(&thread[1], 6);
	return rig_get(&thread[0], MSR_IA32_PMC0) == 6;
}

static bool both_count_all_of_their_own(struct rig *r)
{
	open(r);
	for (unsigned t = 0; t < CORE_THREADS; t++) {
		rig_program(&thread[t], 0, INST, 0, 0);
		rig_start(&thread[t], BIT(0));
	}
	rig_set(&thread[0], MSR_IA32_PMC0, 0);
	rig_nops(&thread[0], 50);
	return rig_get(&thread[0], MSR_IA32_PMC0) == 50;
}

static bool the_other_goes_on_at_a_freeze(struct rig *r)
{
	open(r);
	rig_program(&thread[1], 0, INST, 0, 0);
	rig_start(&thread[1], BIT(0));
	rig_set(&thread[0], MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	rig_program(&thread[0], 0, INST, IA32_PERFEVTSEL_INT, 1);
	rig_start(&thread[0], BIT(0));
	rig_nops(&thread[0], 3);
	return rig_get(&thread[1], MSR_IA32_PERF_GLOBAL_CTRL) == BIT(0);
}

static bool status_is_the_owners(struct rig *r)
{
	open(r);
	rig_program(&thread[0], 0, INST, 0, 1);
	rig_start(&thread[0], BIT(0));
	rig_nops(&thread[0], 3);
	return rig_status(&thread[0]) == BIT(0) && !rig_status(&thread[1]);
}

/* Both have a DS area, each in memory of its own. */
static bool records_are_in_the_own_area(struct rig *r)
{
	open(r);
	rig_ds(&thread[0], 8, 8);
	rig_ds(&thread[1], 8, 8);
	rig_set(&thread[1], MSR_IA32_DS_AREA, RIG_DS + 0x200);
	rig_program_pebs(&thread[0], 0, STORES, 0, 2);
	rig_start(&thread[0], BIT(0));
	stores(5);
	return rig_records(&thread[0]);
}

static bool the_thresholds_interrupt_comes_home(struct rig *r)
{
	open(r);
	rig_ds(&thread[0], 8, 1);
	rig_program_pebs(&thread[0], 0, STORES, 0, 4);
	rig_start(&thread[0], BIT(0));
	stores(6);
	rig_nops(&thread[1], 6);
	return thread[0].requests && !thread[1].requests;
}

static bool interrupts_come_home(struct rig *r)
{
	open(r);
	rig_program(&thread[0], 0, INST, IA32_PERFEVTSEL_INT, 0);
	rig_set(&thread[0], MSR_IA32_PMC0, MINUS(5));
	rig_start(&thread[0], BIT(0));
	rig_nops(&thread[0], 20);
	rig_nops(&thread[1], 20);
	return thread[0].requests == 1 && !thread[1].requests;
}

static bool siblings_event_interrupts(struct rig *r)
{
	open(r);
	rig_program(&thread[0], 0, LOADS, IA32_PERFEVTSEL_INT | IA32_PERFEVTSEL_ANY, 2);
	rig_start(&thread[0], BIT(0));
	rig_load(&thread[1], ADDRESS);
	rig_load(&thread[1], ADDRESS);
	rig_nops(&thread[0], 1);
	return thread[0].requests == 1;
}

/* The first one's handler has not cleared the mask bit of LVTPC yet. */
static bool both_are_interrupted(struct rig *r)
{
	open(r);
	for (unsigned t = 0; t < CORE_THREADS; t++) {
		rig_program(&thread[t], 0, LOADS, IA32_PERFEVTSEL_INT, 2);
		rig_start(&thread[t], BIT(0));
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
