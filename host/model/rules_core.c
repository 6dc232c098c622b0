/* SPDX-License-Identifier: MIT */
/* Rules of two logical processors of a core, on a pair of rigs configured as the given one; but
 * there are always two. */
#include "host/model/rules_internal.h"

#define INST	EVENT_INST_RETIRED_ANY_P
#define MINUS(n) (-(u64)(n) & BITS(0, 47))

static struct rig thread[CORE_THREADS];
static struct model_core core;

static void open(const struct rig *r)
{
	struct model_config config = r->m.config;

	config.hyper_threading = true;
	rig_open_core(thread, &core, &config);
}

static u64 siblings_instructions(const struct rig *r, u64 bits)
{
	open(r);
	rig_program(&thread[0], 0, INST, bits, 0);
	rig_start(&thread[0], BIT(0));
	rig_nops(&thread[1], 5);
	return rig_get(&thread[0], MSR_IA32_PMC0);
}

static bool any_thread_counts_the_sibling(struct rig *r)
{
	return siblings_instructions(r, IA32_PERFEVTSEL_ANY) == 5;
}

static bool without_it_nothing_of_the_sibling(struct rig *r)
{
	return siblings_instructions(r, 0) == 0;
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

rule *const core_rules[FAULT_COUNT] = {
	[FAULT_ANY_THREAD_IGNORED] = any_thread_counts_the_sibling,
	[FAULT_ANY_THREAD_ALONE] = without_it_nothing_of_the_sibling,
	[FAULT_PMI_TO_SIBLING] = interrupts_come_home,
};
